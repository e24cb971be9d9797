package live

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// restarts is how often a case is started again after jobs that were cut short
// before anything was settled.
const restarts = 2

// result is result.json: what was made of a job.
type result struct {
	Outcome     coll.JobOutcome
	Reason      string `json:",omitzero"`
	Spent       coll.Spent
	Environment *coll.Environment
	Trials      map[int]coll.Trial // by request
	Warnings    []string           `json:",omitempty"`
}

// sight is what can be seen of a job that is over.
type sight struct {
	job     job
	dir     string
	verdict verdict
	over    fields // the end file of the script, nil for none
	starts  []startSight
	log     []byte // what the script said
}

type startSight struct {
	startFiles
	benchrunner.Reading
}

// see reads the folder of a job that is over.
func (m *Machine) see(j job, v verdict) (sight, error) {
	s := sight{job: j, dir: m.jobDir(j.Name), verdict: v}
	s.over, _ = readFields(filepath.Join(s.dir, "end"))
	s.log = readText(filepath.Join(s.dir, "job.log"))
	for i, st := range j.starts {
		s.starts = append(s.starts, startSight{startFiles: readStart(filepath.Join(s.dir, startDir(i)), st.Limit)})
	}
	if s.over == nil {
		s.excuse()
	}
	for i, st := range j.starts {
		one := &s.starts[i]
		if one.begun {
			one.Reading = m.opt.Program.Read(st.Start, one.Output)
		} else {
			one.Outcomes = make([]benchrunner.Outcome, len(st.Cases))
			for k := range one.Outcomes {
				one.Outcomes[k].State = benchrunner.OutcomeNotReached
			}
		}
		if len(one.Outcomes) != len(st.Cases) {
			return s, fmt.Errorf("program %s: Read returned %d outcomes for %d cases", m.opt.Program.Name(), len(one.Outcomes), len(st.Cases))
		}
	}
	return s, nil
}

// moment is how much longer than a program a script may live when a job is ended:
// schedulers end both, in any order, and the next start may have begun.
const moment = 2 * time.Second

// excuse takes the exit codes from the starts that died with the job.
func (s sight) excuse() {
	if s.beside() {
		s.excuseBeside()
		return
	}
	var last time.Time // sign of life
	for i := range slices.Backward(s.starts) {
		one := &s.starts[i]
		if !one.begun {
			continue
		}
		changed := lastChange(filepath.Join(s.dir, startDir(i)), time.Time{})
		if last.IsZero() {
			last = changed
		}
		if one.Ended && (one.Exit == 0 || one.TimedOut || last.Sub(changed) > moment) {
			return
		}
		one.Ended = false
	}
}

// excuseBeside is excuse for starts side by side: each may have died with the job.
func (s sight) excuseBeside() {
	changed := make([]time.Time, len(s.starts))
	for i := range s.starts {
		changed[i] = lastChange(filepath.Join(s.dir, startDir(i)), time.Time{})
	}
	last := slices.MaxFunc(changed, time.Time.Compare)
	for i := range s.starts {
		one := &s.starts[i]
		if one.Ended && one.Exit != 0 && !one.TimedOut && last.Sub(changed[i]) <= moment {
			one.Ended = false
		}
	}
}

// running reports whether a start ran when its job was ended.
func (s sight) running(i int) bool {
	one := &s.starts[i]
	return one.begun && !one.Ended && (s.beside() || one == s.last())
}

// last returns the start that was begun last, nil when none was.
func (s sight) last() *startSight {
	for i := range slices.Backward(s.starts) {
		if s.starts[i].begun {
			return &s.starts[i]
		}
	}
	return nil
}

// outcome is how the job ended. One without its end file did not complete, whatever
// the scheduler says: its disk may have been full.
func (s sight) outcome() (coll.JobOutcome, string) {
	o := s.verdict.status.Outcome
	switch {
	case s.over != nil:
		return coll.JobCompleted, ""
	case s.verdict.status.Hopeless:
		return coll.JobCancelled, "it would wait for ever: " + s.verdict.status.Reason
	case o == coll.JobCompleted || o == "":
		return coll.JobLost, "its script did not come to its end"
	}
	return o, s.verdict.status.Reason
}

// held is how long the nodes were held, in seconds: by the script's own clock when
// it came to its end, else by the scheduler's, else by the last sign of life.
func (s sight) held() float64 {
	held, walls := 0.0, 0.0
	for i, st := range s.starts {
		walls += st.Wall.Seconds() * s.share(i)
	}
	switch st := s.verdict.status; {
	case s.over != nil:
		held = s.over.since()
		for i, one := range s.starts {
			if one.Ended && one.run != s.over.first("run") { // before a requeue
				held += one.Wall.Seconds() * s.share(i)
			}
		}
	case !st.Started.IsZero() && st.Ended.After(st.Started):
		held = st.Ended.Sub(st.Started).Seconds()
	default:
		held = s.signs()
	}
	return max(clean(held), walls)
}

// signs is the time from the begin of the script to the last file it wrote.
func (s sight) signs() float64 {
	begin, err := os.Stat(filepath.Join(s.dir, "begin"))
	if err != nil {
		return 0
	}
	last := begin.ModTime()
	for i := range s.starts {
		last = lastChange(filepath.Join(s.dir, startDir(i)), last)
	}
	return last.Sub(begin.ModTime()).Seconds()
}

// queue is how long the job waited for nodes, in seconds.
func (s sight) queue(env *coll.Environment) float64 {
	submitted, started := s.verdict.status.Submitted, s.verdict.status.Started
	if submitted.IsZero() {
		if stat, err := os.Stat(filepath.Join(s.dir, "plan.json")); err == nil {
			submitted = stat.ModTime()
		}
	}
	if stat, err := os.Stat(filepath.Join(s.dir, "begin")); started.IsZero() && err == nil {
		started = stat.ModTime()
	}
	if submitted.IsZero() || started.IsZero() {
		return 0
	}
	return started.Sub(submitted).Seconds()
}

// result decides about every case of the job. cut says how many jobs that carried a
// request were cut short before, owed what earlier jobs spent in vain for it.
func (s sight) result(requests []benchrunner.Request, cut func(request int) int, owed float64) result {
	r := result{Trials: map[int]coll.Trial{}, Environment: readEnvironment(s.dir)}
	r.Outcome, r.Reason = s.outcome()
	r.Reason = tail([]byte(r.Reason), 3)
	outcomes := s.outcomes(&r)
	if settled(outcomes) == 0 {
		s.giveUp(outcomes, r, cut)
	}
	held := s.held()
	parts := s.parts(outcomes)
	r.Spent = spent(parts, held, s.queue(r.Environment))
	paid := r.Spent.Held() + owed
	if s.beside() {
		parts = stretched(parts, paid)
	}
	costs := shares(parts, paid)
	for i, st := range s.job.starts {
		for k, o := range outcomes[i] {
			if o.State != benchrunner.OutcomeNotReached {
				request := st.Requests[k]
				t := trialOf(requests[request], o, costs[i][k], s.job.Name)
				if s.beside() {
					t.HeldNodes = s.job.Nodes
				}
				r.Trials[request] = t
			}
		}
	}
	return r
}

// outcomes returns what the program read, with what cannot be made a failure.
func (s sight) outcomes(r *result) [][]benchrunner.Outcome {
	var out [][]benchrunner.Outcome
	for i, st := range s.starts {
		var cases []benchrunner.Outcome
		for _, o := range st.Outcomes {
			cases = append(cases, sound(o))
		}
		out = append(out, cases)
		for _, w := range st.Warnings {
			r.Warnings = append(r.Warnings, fmt.Sprintf("start %d: %s", i+1, tail([]byte(w), 1)))
		}
		if r.Environment != nil && r.Environment.Library == "" {
			library, _, _ := strings.Cut(strings.TrimSpace(st.Library), "\n")
			r.Environment.Library = oneLine(strings.ToValidUTF8(library, "?"))
		}
	}
	return out
}

// sound makes a failure of an outcome that no journal takes.
func sound(o benchrunner.Outcome) benchrunner.Outcome {
	switch o.State {
	case benchrunner.OutcomeDone:
		if !(o.Seconds > 0) || math.IsInf(o.Seconds, 0) {
			return benchrunner.Outcome{
				State: benchrunner.OutcomeFailed, CostSeconds: o.CostSeconds, Phase: "parse",
				Error: fmt.Sprintf("time %g s: want a positive finite number", o.Seconds),
			}
		}
		o.Low, o.High = clean(o.Low), clean(o.High)
	case benchrunner.OutcomeFailed:
		o.Phase = cmp.Or(o.Phase, "run")
		o.Error = cmp.Or(tail([]byte(o.Error), 5), "no reason is known")
	default:
		o.State = benchrunner.OutcomeNotReached
	}
	return o
}

func settled(outcomes [][]benchrunner.Outcome) int {
	n := 0
	for _, cases := range outcomes {
		for _, o := range cases {
			if o.State != benchrunner.OutcomeNotReached {
				n++
			}
		}
	}
	return n
}

// giveUp decides about the cases of a job that settled nothing: they fail, unless
// the job was cut short and they may be started again. When it was ended for what
// it did, out of memory or time, the cases that were running are at fault alone.
func (s sight) giveUp(outcomes [][]benchrunner.Outcome, r result, cut func(int) int) {
	short := !s.verdict.status.Hopeless &&
		(r.Outcome == coll.JobCancelled || r.Outcome == coll.JobNodeFail || r.Outcome == coll.JobLost)
	blamed := false
	for i := range s.starts {
		if !short && s.running(i) {
			outcomes[i][0] = benchrunner.Failed(benchrunner.PhaseRun, s.failure(i, r))
			blamed = true
		}
	}
	if blamed {
		return
	}
	for i, st := range s.job.starts {
		for k := range outcomes[i] {
			before := cut(st.Requests[k])
			if short && before < restarts {
				continue
			}
			o := &outcomes[i][k]
			o.State, o.Phase = benchrunner.OutcomeFailed, "launch"
			o.Error = s.failure(i, r)
			if short {
				o.Error = fmt.Sprintf("%s; %d jobs before it were cut short, too", o.Error, before)
			}
		}
	}
}

// failure says why nothing came of a start.
func (s sight) failure(i int, r result) string {
	parts := []string{fmt.Sprintf("job %s: %s", s.job.Name, r.Outcome)}
	if r.Reason != "" {
		parts[0] += ", " + r.Reason
	}
	st := s.starts[i]
	said := tail(st.Stderr, 5)
	switch {
	case !st.begun:
		parts = append(parts, "the program was not started")
		said = tail(s.log, 5)
	case st.TimedOut:
		parts = append(parts, fmt.Sprintf("the program was ended at its limit of %v", round(s.job.starts[i].Limit)))
	case st.Ended:
		parts = append(parts, fmt.Sprintf("the program ended with exit code %d before it measured anything", st.Exit))
	}
	if said != "" {
		parts = append(parts, said)
	}
	return strings.Join(parts, "; ")
}

func (s sight) parts(outcomes [][]benchrunner.Outcome) []part {
	var parts []part
	for i, st := range s.starts {
		p := part{wall: st.Wall.Seconds(), warmup: st.WarmupSeconds, measure: st.MeasureSeconds}
		for _, o := range outcomes[i] {
			p.cases = append(p.cases, o.CostSeconds)
			p.settled = append(p.settled, o.State != benchrunner.OutcomeNotReached)
		}
		parts = append(parts, p.scaled(s.share(i)))
	}
	return parts
}

// beside reports whether starts of the job ran side by side.
func (s sight) beside() bool { return sideBySide(s.job.starts, s.job.Nodes) }

// share is the part of the nodes of the job that a start had.
func (s sight) share(i int) float64 {
	if s.job.Nodes < 1 {
		return 1
	}
	return float64(s.job.starts[i].Layout.Nodes) / float64(s.job.Nodes)
}

func trialOf(req benchrunner.Request, o benchrunner.Outcome, cost float64, jobName string) coll.Trial {
	t := coll.Trial{
		Measurement: coll.Measurement{Candidate: req.Candidate, CostSeconds: cost},
		Attempt:     req.Attempt, State: coll.TrialFailed, Phase: o.Phase, Error: o.Error, Job: jobName,
	}
	if o.State == benchrunner.OutcomeDone {
		t.State, t.Phase, t.Error = coll.TrialDone, "", ""
		t.Seconds, t.Low, t.High, t.Samples = o.Seconds, o.Low, o.High, o.Samples
	}
	return t
}

// await waits until all that a job wrote can be seen, at most as long as files are
// waited for.
func (m *Machine) await(j job, done func(time.Duration) bool) {
	dir := m.jobDir(j.Name)
	began := time.Now()
	for pause := 5 * time.Millisecond; !whole(dir, j.starts); pause = min(2*pause, time.Second) {
		left := m.opt.Settle - time.Since(began)
		if left <= 0 || !done(min(pause, left)) {
			return
		}
	}
}
