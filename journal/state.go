package journal

import (
	"cmp"
	"iter"
	"maps"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"
	"unique"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/hpo"
	"tutti/mpi"
)

// State is the state of a campaign, computed from the records of its journal. The zero value is the state
// before the first record. A State is not safe for concurrent use.
type State struct {
	Problems      []*ProblemState // in the order of their first record, without those of Preflight
	Verifications []*Verification // in the order of their first record
	Rounds        []*Round        // of Problems, in the order of their first record
	Jobs          []*Job          // of problems, preflights and verifications, in the order of their first record

	Created time.Time // of the campaign, in the header
	Version string    // of tutti, in the header

	preflights  []*ProblemState
	sites       []Site
	path        string            // of the journal
	environment *coll.Environment // of the last job that has one
}

// ProblemState is the state of one tuning problem. Its methods accept nil, which stands for a
// problem without records.
type ProblemState struct {
	Problem
	Rounds []*Round // ascending
	Study  hpo.Study
	Stop   string // why learning ended; empty before

	Confirmation int                     // first round of confirmation; 0 before
	Reopened     bool                    // problems learn again, or have learned again, with the present criteria and budgets
	Files        *activelearn.Evaluation // of the files' selection; nil before confirmation has ended
}

// Round is the state of one round of tuning a problem: its batch, jobs and trials.
type Round struct {
	Problem    Problem
	Number     int
	Candidates int                     // number of candidates in the batch; 0 before it is recorded
	Confirm    bool                    // the batch is of confirmation
	Reasons    *Reasons                // of the batch; nil if it has none
	Done       int                     // successful trials
	Failed     int                     // failed trials
	Seconds    float64                 // machine time of all trials
	Evidence   map[coll.Evidence]int   // number of trials with each kind of evidence
	Evaluation *activelearn.Evaluation // nil before the round is evaluated
	Grow       []coll.Candidate        // candidates whose algorithms and points join the space after the round
	Cut        string                  // what waited when the time limit ended the round; "" for a round that it did not end
	batch      storedRecords
	trials     storedRecords
	jobs       jobList
}

// jobList has the jobs of a round, in the order of their first records and by name.
type jobList struct {
	jobs []*Job
	at   map[string]*Job // by name
}

// Job is a job of the campaign, as the latest of its records describes it.
type Job struct {
	Problem Problem // its collective is empty if the job is of a verification
	Probing bool    // whether the job is of a verification and runs the probe instead of the benchmark
	Taken   bool    // whether a scheduler accepted the job
	coll.Job
}

// Open reports whether the job may still be waiting or running.
func (j *Job) Open() bool { return j.State != coll.JobEnded }

// Verification is the state of the verification of one library: its steps and jobs.
type Verification struct {
	Library string
	Last    time.Time // of its last step
	steps   storedRecords
	jobs    map[int]*jobList // by round; round numbers increase over all sessions of the verification
}

// Add updates the state by the next record. A later record of a job replaces an earlier one.
func (s *State) Add(r Record) { s.add(r, span{}) }

// add updates the state like Add. `at` is the position of the record in the journal's file, or
// zero if the record is not in the file.
func (s *State) add(r Record, at span) {
	if r.Verify != nil {
		s.addVerify(r, at)
		return
	}
	if r.Site != nil {
		s.sites = append(s.sites, *r.Site)
		return
	}
	if r.Problem == (Problem{}) { // a resume changes nothing
		for _, p := range s.Problems {
			if r.Kind == KindReopen || r.Kind == KindSpec {
				p.Reopen(slices.Contains(r.Reopen, p.Problem))
				p.Reopened = r.Kind == KindReopen
			}
			if r.Kind == KindSpec && slices.Contains(r.Reopen, p.Problem) {
				p.dropAudits()
			}
		}
		return
	}
	p := s.problem(r.Problem)
	switch r.Kind {
	case KindBatch:
		round := s.round(p, r.Round)
		round.batch.add(r, s.path, at)
		round.Candidates, round.Reasons, round.Confirm = len(r.Batch), reasonsOf(r.Batch, r.Reasons), p.Confirmation > 0
	case KindJob:
		round := s.round(p, r.Round)
		s.addJob(&round.jobs, r.Problem, *r.Job)
	case KindTrial:
		round := s.round(p, r.Round)
		round.trials.add(r, s.path, at)
		if r.Trial.State == coll.TrialDone {
			round.Done++
		} else {
			round.Failed++
		}
		round.Seconds += r.Trial.CostSeconds
		if e := r.Trial.Evidence; e != "" {
			if round.Evidence == nil {
				round.Evidence = map[coll.Evidence]int{}
			}
			round.Evidence[e]++
		}
	case KindEvaluation:
		s.round(p, r.Round).Evaluation = r.Evaluation
	case KindCut:
		s.round(p, r.Round).Cut = cmp.Or(r.Note, "jobs waited")
	case KindGrow:
		s.round(p, r.Round).Grow = r.Grow
	case KindHPO:
		p.Study.Trials = append(p.Study.Trials, *r.HPO)
	case KindComparison:
		p.Study.Comparison = r.Comparison
	case KindConfirm:
		p.Confirmation = r.Round
	case KindFiles:
		p.Files = r.Files
	case KindStop:
		p.Stop = r.Stop
	case KindReopen: // of one problem, in journals of tutti 0.1.0
		p.Reopen(true)
		p.Reopened = false
	}
}

// Reopen changes the state as a record of kind reopen does: the rounds of confirmation become rounds of learning, and
// confirmation will follow once more. If `learns` is true, the problem has not stopped. A nil state does not change.
func (p *ProblemState) Reopen(learns bool) {
	if p == nil {
		return
	}
	p.Confirmation, p.Files, p.Study, p.Reopened = 0, nil, hpo.Study{}, true
	if learns {
		p.Stop = ""
	}
}

// dropAudits removes the audits of the next round, because they were planned before budgets or criteria changed.
func (p *ProblemState) dropAudits() {
	if len(p.Rounds) == 0 || p.Rounds[len(p.Rounds)-1].Evaluation == nil {
		return
	}
	e := *p.Rounds[len(p.Rounds)-1].Evaluation
	e.Audits = 0
	p.Rounds[len(p.Rounds)-1].Evaluation = &e
}

// GoesOn says why the criteria do not end a problem that has not stopped. It returns "" if the records do not tell.
func (p *ProblemState) GoesOn(c activelearn.Criteria) string {
	if p == nil {
		return ""
	}
	var latest activelearn.Evaluation
	for _, r := range p.Rounds {
		if r.Evaluation != nil {
			latest = *r.Evaluation
		}
	}
	return GoesOn(c, latest, p.Confirmation > 0)
}

// GoesOn says why the criteria do not end a problem that has not stopped, from its latest evaluation. `confirms` says
// whether its confirmation has begun. Criteria are zero if they are unknown.
func GoesOn(c activelearn.Criteria, latest activelearn.Evaluation, confirms bool) string {
	switch {
	case c.Slowdown == 0:
		return ""
	case confirms:
		return "its selections are compared with the library's default"
	}
	return c.Unmet(latest)
}

func (s *State) addVerify(r Record, at span) {
	step := *r.Verify
	v := s.Verification(step.Library)
	if v == nil {
		v = &Verification{Library: step.Library, jobs: map[int]*jobList{}}
		s.Verifications = append(s.Verifications, v)
	}
	v.steps.add(r, s.path, at)
	v.Last = r.Time
	if step.Job == nil {
		return
	}
	if v.jobs[step.Round] == nil {
		v.jobs[step.Round] = &jobList{}
	}
	s.addJob(v.jobs[step.Round], Problem{Library: step.Library}, *step.Job).Probing = step.Stage == stageProbing
}

// addJob adds the state j of a job to the jobs of its round, and returns the job.
func (s *State) addJob(of *jobList, p Problem, j coll.Job) *Job {
	job := of.at[j.Name]
	if job == nil {
		job = &Job{Problem: unique.Make(p).Value()}
		job.Name = j.Name
		if of.at == nil {
			of.at = map[string]*Job{}
		}
		of.at[j.Name] = job
		of.jobs, s.Jobs = append(of.jobs, job), append(s.Jobs, job)
	}
	share(&j, s.environment)
	if j.Environment != nil {
		s.environment = j.Environment
	}
	j.Name = job.Name // one copy
	job.Job = j
	job.Taken = job.Taken || j.State == coll.JobSubmitted
	return job
}

// share replaces the texts of a job by shared copies, to save memory. `last` is the environment
// of the previous job. If the job has an equal environment, both jobs share one copy.
func share(j *coll.Job, last *coll.Environment) {
	j.State, j.Outcome = unique.Make(j.State).Value(), unique.Make(j.Outcome).Value()
	e := j.Environment
	if e == nil {
		return
	}
	for _, text := range []*string{&e.Library, &e.Checksum, &e.Program, &e.Kernel, &e.CPU, &e.Governor} {
		*text = unique.Make(*text).Value()
	}
	if last == nil || !slices.Equal(last.Nodes, e.Nodes) {
		for i, node := range e.Nodes {
			e.Nodes[i] = unique.Make(node).Value()
		}
		return
	}
	e.Nodes = last.Nodes
	if reflect.DeepEqual(e, last) {
		j.Environment = last
	}
}

// problem returns the state of a problem. It adds the problem if it is new.
func (s *State) problem(id Problem) *ProblemState {
	list := &s.Problems
	if id.Collective == Preflight {
		list = &s.preflights
	}
	p := findProblem(*list, id)
	if p == nil {
		p = &ProblemState{Problem: id}
		*list = append(*list, p)
	}
	return p
}

func findProblem(list []*ProblemState, id Problem) *ProblemState {
	if i := slices.IndexFunc(list, func(p *ProblemState) bool { return p.Problem == id }); i >= 0 {
		return list[i]
	}
	return nil
}

// Problem returns the state of a problem, or nil if it has no record.
func (s *State) Problem(id Problem) *ProblemState { return findProblem(s.Problems, id) }

// Preflight returns the state of the launches that read the settings of the machine for a library. It returns nil if
// the library has no record of one.
func (s *State) Preflight(library string) *ProblemState {
	return findProblem(s.preflights, Problem{Library: library, Collective: Preflight})
}

// PreflightSeconds returns the machine time and the node-seconds of all preflight jobs that have ended.
func (s *State) PreflightSeconds() (machine, node float64) {
	for _, j := range s.Jobs {
		if j.Problem.Collective == Preflight {
			machine += j.Spent.Allocated()
			node += j.Spent.Allocated() * float64(j.Nodes)
		}
	}
	return machine, node
}

// Verification returns the state of the verification of a library. It returns nil if the library has no
// record of one.
func (s *State) Verification(library string) *Verification {
	for _, v := range s.Verifications {
		if v.Library == library {
			return v
		}
	}
	return nil
}

// Site returns the settings of the machine that were read last for a library. It returns nil if none were read.
func (s *State) Site(library string) *mpi.Site {
	for _, site := range slices.Backward(s.sites) {
		if site.Library == library {
			return &site.Site
		}
	}
	return nil
}

// OpenJobs returns the jobs without a record of their end, in the order of their first record.
func (s *State) OpenJobs() []coll.Job {
	var out []coll.Job
	for _, j := range s.Jobs {
		if j.Open() {
			out = append(out, j.Job)
		}
	}
	return out
}

// round returns the round with this number. It adds the round if it is new.
func (s *State) round(p *ProblemState, number int) *Round {
	at, known := slices.BinarySearchFunc(p.Rounds, number, compareRound)
	if !known {
		p.Rounds = slices.Insert(p.Rounds, at, &Round{Problem: p.Problem, Number: number})
		if p.Collective != Preflight {
			s.Rounds = append(s.Rounds, p.Rounds[at])
		}
	}
	return p.Rounds[at]
}

func compareRound(r *Round, number int) int { return r.Number - number }

// Round returns the round with the given number. It returns false if the round has no batch yet.
func (p *ProblemState) Round(number int) (*Round, bool) {
	if p == nil {
		return nil, false
	}
	at, known := slices.BinarySearchFunc(p.Rounds, number, compareRound)
	if !known || p.Rounds[at].Candidates == 0 {
		return nil, false
	}
	return p.Rounds[at], true
}

// Learning returns the round with the given number like Round, unless confirmation had begun before it.
func (p *ProblemState) Learning(number int) (*Round, bool) {
	if p != nil && p.Confirmation > 0 && number >= p.Confirmation {
		return nil, false
	}
	return p.Round(number)
}

// Done returns the number of successful trials.
func (p *ProblemState) Done() (n int) {
	if p == nil {
		return 0
	}
	for _, r := range p.Rounds {
		n += r.Done
	}
	return n
}

// Last returns the number of the last round, or 0 if there is none.
func (p *ProblemState) Last() int {
	if p == nil || len(p.Rounds) == 0 {
		return 0
	}
	return p.Rounds[len(p.Rounds)-1].Number
}

// Measurements returns the latest measurement of each candidate at a part of the points, in the order of
// coll.CompareCandidates. `share` is the probability that a point belongs to this part; 1 is all
// points. The same share gives the same points.
func (p *ProblemState) Measurements(share float64) ([]coll.Measurement, error) {
	last := map[coll.Candidate]coll.Measurement{}
	for _, r := range p.Rounds {
		for t, err := range r.Trials() {
			if err != nil {
				return nil, err
			}
			if t.State == coll.TrialDone && isDrawn(t.Point, share) {
				last[t.Candidate] = t.Measurement
			}
		}
	}
	return slices.SortedFunc(maps.Values(last), func(a, b coll.Measurement) int { return coll.CompareCandidates(a.Candidate, b.Candidate) }), nil
}

// FailedTrials yields the trials of a problem that failed, in the order of their records. It ends at an error.
func (p *ProblemState) FailedTrials() iter.Seq2[coll.Trial, error] {
	return func(yield func(coll.Trial, error) bool) {
		for _, r := range p.Rounds {
			if r.Failed == 0 {
				continue
			}
			for t, err := range r.Trials() {
				if err == nil && t.State == coll.TrialDone {
					continue
				}
				if !yield(t, err) || err != nil {
					return
				}
			}
		}
	}
}

// isDrawn reports whether a point is drawn. The probability is `share`, and the same point always gives the
// same result.
func isDrawn(p coll.Point, share float64) bool {
	var seed uint64
	for _, a := range coll.Axes[:len(coll.Axes)-1] {
		seed = bits.RotateLeft64(seed, 32) ^ uint64(a.Of(p))
	}
	return rand.New(rand.NewPCG(seed, uint64(p.MsgBytes))).Float64() < share
}

// Jobs returns the latest state of each job of the round, in the order of their first record.
func (r *Round) Jobs() []coll.Job { return r.jobs.values() }

// Jobs returns the latest state of each job of a verification's round, in the order of their first
// record.
func (v *Verification) Jobs(round int) []coll.Job {
	if v == nil || v.jobs[round] == nil {
		return nil
	}
	return v.jobs[round].values()
}

func (l *jobList) values() []coll.Job {
	var out []coll.Job
	for _, j := range l.jobs {
		out = append(out, j.Job)
	}
	return out
}
