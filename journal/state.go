package journal

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"time"
	"unique"

	"tutti/activelearn"
	"tutti/coll"
)

// State is the state of a campaign, computed from the records of its journal. The zero value is the state
// before the first record. A State is not safe for concurrent use.
type State struct {
	// Lean makes the state store only the numbers of trials, without batches and the steps of verifications.
	// It then takes little memory. Set Lean before adding the first record.
	Lean bool

	Problems      []*ProblemState // in the order of their first record
	Verifications []*Verification // in the order of their first record
	Rounds        []*Round        // of all problems, in the order of their first record
	Jobs          []*Job          // of problems and of verifications, in the order of their first record

	environment *coll.Environment // of the last job that has one
}

// ProblemState is the state of one tuning problem. Its methods accept nil, which stands for a
// problem without records.
type ProblemState struct {
	Problem
	Rounds []*Round          // ascending
	Study  []json.RawMessage // the trials of the hyperparameter study, in order
	Stop   string            // why measuring ended; empty before
}

// Round is the state of one round of a problem.
type Round struct {
	Problem    Problem
	Number     int
	Reasons    *Reasons                // of the batch; nil if it has none
	Done       int                     // successful trials
	Failed     int                     // failed trials
	Seconds    float64                 // machine time of all trials
	Evaluation *activelearn.Evaluation // nil before the round is evaluated
	Grow       []coll.Candidate        // candidates whose algorithms and points join the space after the round
	batch      []storedCandidate       // empty before it is recorded
	trials     trialList
	next       int // index in batch at which the search for the candidate of the next trial begins
	jobs       jobList
}

// jobList has the jobs of a round.
type jobList struct {
	jobs []*Job
	at   map[string]*Job // by name
}

// Job is the latest state of a job.
type Job struct {
	Problem Problem // its collective is empty if the job is of a verification
	Round   int
	Begun   time.Time // time of its first record, before it was submitted
	Changed time.Time // time of its last record
	Taken   bool      // whether a scheduler accepted the job
	coll.Job
}

// Open reports whether the job may still be waiting or running.
func (j *Job) Open() bool { return j.State != coll.JobEnded }

// Verification is the state of the verification of one library.
type Verification struct {
	Library    string
	session    int            // latest
	steps      [][]storedStep // of each session
	rounds     []*verifyRound
	candidates map[coll.Candidate]*storedCandidate // of the trials
}

// verifyRound is one round of a verification. Round numbers increase over all sessions of the verification.
type verifyRound struct {
	number int
	jobs   jobList
}

// Add updates the state by the next record. A later record of a job replaces an earlier one.
func (s *State) Add(r Record) {
	if r.Verify != nil {
		s.addVerify(r)
		return
	}
	if r.Problem == (Problem{}) {
		return // a resume changes nothing
	}
	p := s.problem(r.Problem)
	switch r.Kind {
	case KindBatch:
		round := s.round(p, r.Round)
		if s.Lean {
			return
		}
		round.batch, round.trials = make([]storedCandidate, len(r.Batch)), slices.Grow(round.trials, len(r.Batch))
		for i, c := range r.Batch {
			round.batch[i] = storeCandidate(c)
		}
		round.Reasons = reasonsOf(r.Batch, r.Reasons)
	case KindJob:
		round := s.round(p, r.Round)
		s.addJob(&round.jobs, r, *r.Job)
	case KindTrial:
		s.addTrial(s.round(p, r.Round), *r.Trial)
	case KindEvaluation:
		s.round(p, r.Round).Evaluation = r.Evaluation
	case KindGrow:
		s.round(p, r.Round).Grow = r.Grow
	case KindHPO:
		p.Study = append(p.Study, r.HPO)
	case KindStop:
		p.Stop = r.Stop
	}
}

func (s *State) addTrial(round *Round, t coll.Trial) {
	if t.State == coll.TrialDone {
		round.Done++
	} else {
		round.Failed++
	}
	round.Seconds += t.CostSeconds
	if !s.Lean {
		round.trials = append(round.trials, store(t, round.candidate(storeCandidate(t.Candidate))))
	}
}

func (s *State) addVerify(r Record) {
	step := *r.Verify
	v := s.Verification(step.Library)
	if v == nil {
		v = &Verification{Library: step.Library, candidates: map[coll.Candidate]*storedCandidate{}}
		s.Verifications = append(s.Verifications, v)
	}
	if !s.Lean {
		v.add(step)
	}
	if step.Job == nil {
		return
	}
	round := v.round(step.Round)
	if round == nil {
		round = &verifyRound{number: step.Round}
		v.rounds = append(v.rounds, round)
	}
	r.Problem, r.Round = Problem{Library: step.Library}, step.Round
	s.addJob(&round.jobs, r, *step.Job)
}

// addJob adds the state j of a job to the jobs of its round.
func (s *State) addJob(of *jobList, r Record, j coll.Job) {
	job := of.at[j.Name]
	if job == nil {
		job = &Job{Problem: unique.Make(r.Problem).Value(), Round: r.Round, Begun: r.Time}
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
	job.Job, job.Changed = j, r.Time
	job.Taken = job.Taken || j.State == coll.JobSubmitted
}

// problem returns the state of a problem. It adds the problem if the state does not have it.
func (s *State) problem(id Problem) *ProblemState {
	if p := s.Problem(id); p != nil {
		return p
	}
	p := &ProblemState{Problem: id}
	s.Problems = append(s.Problems, p)
	return p
}

// Problem returns the state of a problem, or nil if it has no record.
func (s *State) Problem(id Problem) *ProblemState {
	for _, p := range s.Problems {
		if p.Problem == id {
			return p
		}
	}
	return nil
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

// round returns a round of a problem. It adds the round if the problem does not have it.
func (s *State) round(p *ProblemState, number int) *Round {
	at, known := slices.BinarySearchFunc(p.Rounds, number, compareRound)
	if !known {
		p.Rounds = slices.Insert(p.Rounds, at, &Round{Problem: p.Problem, Number: number})
		s.Rounds = append(s.Rounds, p.Rounds[at])
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
	if !known || len(p.Rounds[at].batch) == 0 {
		return nil, false
	}
	return p.Rounds[at], true
}

// Forget frees the memory of a round, except for its counts.
func (p *ProblemState) Forget(number int) {
	if r, known := p.Round(number); known {
		*r = Round{Problem: r.Problem, Number: r.Number, Done: r.Done, Failed: r.Failed, Seconds: r.Seconds}
	}
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

// Measurements returns the latest measurement of each candidate, in the order of
// coll.CompareCandidates.
func (p *ProblemState) Measurements() []coll.Measurement {
	last := map[coll.Candidate]coll.Measurement{}
	for _, r := range p.Rounds {
		for t := range r.Trials() {
			if t.State == coll.TrialDone {
				last[t.Candidate] = t.Measurement
			}
		}
	}
	return slices.SortedFunc(maps.Values(last), func(a, b coll.Measurement) int { return coll.CompareCandidates(a.Candidate, b.Candidate) })
}

// Batch returns the candidates of the round, none before they are recorded and in a lean state.
func (r *Round) Batch() []coll.Candidate {
	out := make([]coll.Candidate, len(r.batch))
	for i, c := range r.batch {
		out[i] = c.candidate()
	}
	return out
}

// Trials returns the trials in the order in which they ended. A lean state has none; see State.Lean.
func (r *Round) Trials() iter.Seq[coll.Trial] { return r.trials.all() }

// Jobs returns the latest state of each job of the round, in the order of their first record.
func (r *Round) Jobs() []coll.Job { return valuesOf(r.jobs.jobs) }

// Jobs returns the latest state of each job of a verification's round, in the order of their first
// record.
func (v *Verification) Jobs(round int) []coll.Job {
	if v == nil || v.round(round) == nil {
		return nil
	}
	return valuesOf(v.round(round).jobs.jobs)
}

// round returns the round with the given number. It returns nil if the round has no job.
func (v *Verification) round(number int) *verifyRound {
	for _, r := range slices.Backward(v.rounds) {
		if r.number == number {
			return r
		}
	}
	return nil
}

func valuesOf(jobs []*Job) []coll.Job {
	var out []coll.Job
	for _, j := range jobs {
		out = append(out, j.Job)
	}
	return out
}
