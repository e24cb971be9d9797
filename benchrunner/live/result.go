package live

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"tutti/benchrunner"
	"tutti/coll"
)

// restarts is how often a case is started again after jobs that were cut short
// before anything was decided.
const restarts = 2

// result is result.json: what was made of a job.
type result struct {
	Outcome     coll.JobOutcome
	Reason      string `json:",omitzero"`
	Stillborn   string `json:",omitzero"` // why no program started, of a machine in doubt; then no request has a trial
	Spent       coll.Spent
	Environment *coll.Environment
	Trials      map[int]coll.Trial // by request
	Warnings    []string           `json:",omitempty"`
}

// result decides about every case of the job. cut says how many jobs that carried a
// request were cut short before, owed what earlier jobs spent in vain for it.
func (s sight) result(requests []benchrunner.Request, cut func(request int) int, owed float64) result {
	r := result{Trials: map[int]coll.Trial{}, Environment: s.environment}
	r.Outcome, r.Reason = s.outcome()
	r.Reason = tail([]byte(r.Reason), 3)
	outcomes := s.outcomes(&r)
	if decided(outcomes) == 0 {
		s.giveUp(outcomes, r, cut)
	}
	r.Stillborn = s.stillborn(outcomes, r)
	held := s.held()
	parts := s.parts(outcomes)
	r.Spent = spent(parts, held, s.queue())
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
				t.Placement = s.starts[i].placement
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

func decided(outcomes [][]benchrunner.Outcome) int {
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

// giveUp decides about the cases of a job of which none is decided: they fail, unless
// the job was cut short and they may be started again. When it was ended for what
// it did, out of memory or time, the cases that were running are at fault alone.
func (s sight) giveUp(outcomes [][]benchrunner.Outcome, r result, cut func(int) int) {
	short := !s.ending.status.NeverStarts &&
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
			p.decided = append(p.decided, o.State != benchrunner.OutcomeNotReached)
		}
		parts = append(parts, p.scaled(s.share(i)))
	}
	return parts
}

func trialOf(req benchrunner.Request, o benchrunner.Outcome, cost float64, jobName string) coll.Trial {
	t := coll.Trial{
		Measurement: coll.Measurement{Candidate: req.Candidate, CostSeconds: cost, Job: jobName},
		Attempt:     req.Attempt, State: coll.TrialFailed, Phase: o.Phase, Error: o.Error,
	}
	if o.State == benchrunner.OutcomeDone {
		t.State, t.Phase, t.Error = coll.TrialDone, "", ""
		t.Seconds, t.Low, t.High, t.Samples = o.Seconds, o.Low, o.High, o.Samples
	}
	return t
}
