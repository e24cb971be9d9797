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
	Outcome       coll.JobOutcome
	Reason        string `json:",omitzero"`
	NoStartReason string `json:",omitzero"` // why no program started, of a machine in doubt; then no request has a trial
	Spent         coll.Spent
	Environment   *coll.Environment
	Trials        map[int]coll.Trial // by request
	Warnings      []string           `json:",omitempty"`
}

// result decides about every case of the job. cut says how many jobs that carried a
// request were cut short before, owed what earlier jobs spent in vain for it.
func (s jobOutput) result(requests []benchrunner.Request, cut func(request int) int, wasted float64) result {
	r := result{Trials: map[int]coll.Trial{}, Environment: s.environment}
	r.Outcome, r.Reason = s.outcome()
	r.Reason = tail([]byte(r.Reason), 3)
	outcomes := s.outcomes(&r)
	if decided(outcomes) == 0 {
		s.failUndecided(outcomes, r, cut)
	}
	r.NoStartReason = s.noStartReason(outcomes, r)
	held := s.held()
	parts := s.parts(outcomes)
	r.Spent = splitTime(parts, held, s.queue())
	paid := r.Spent.Held() + wasted
	if s.concurrent() {
		parts = scaleToJob(parts, paid)
	}
	costs := splitCost(parts, paid)
	for i, st := range s.job.launches {
		for k, o := range outcomes[i] {
			if o.State != benchrunner.OutcomeNotReached {
				request := st.Requests[k]
				t := trialOf(requests[request], o, costs[i][k], s.job.Name)
				t.Placement = s.launches[i].placement
				if s.concurrent() {
					t.HeldNodes = s.job.Nodes
				}
				r.Trials[request] = t
			}
		}
	}
	return r
}

// outcomes returns what the program read, with what cannot be made a failure.
func (s jobOutput) outcomes(r *result) [][]benchrunner.Outcome {
	var out [][]benchrunner.Outcome
	for i, st := range s.launches {
		var cases []benchrunner.Outcome
		for _, o := range st.Outcomes {
			cases = append(cases, validOutcome(o))
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

// validOutcome makes a failure of an outcome that no journal takes.
func validOutcome(o benchrunner.Outcome) benchrunner.Outcome {
	switch o.State {
	case benchrunner.OutcomeDone:
		if !(o.Seconds > 0) || math.IsInf(o.Seconds, 0) {
			return benchrunner.Outcome{
				State: benchrunner.OutcomeFailed, CostSeconds: o.CostSeconds, Phase: "parse",
				Error: fmt.Sprintf("time %g s: want a positive finite number", o.Seconds),
			}
		}
		o.Low, o.High = validSeconds(o.Low), validSeconds(o.High)
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

// failUndecided decides about the cases of a job of which none is decided: they fail, unless
// the job was cut short and they may be started again. When it was ended for what
// it did, out of memory or time, the cases that were running are at fault alone.
func (s jobOutput) failUndecided(outcomes [][]benchrunner.Outcome, r result, cut func(int) int) {
	short := !s.ending.status.NeverStarts &&
		(r.Outcome == coll.JobCancelled || r.Outcome == coll.JobNodeFail || r.Outcome == coll.JobLost)
	blamed := false
	for i := range s.launches {
		if !short && s.running(i) {
			outcomes[i][0] = benchrunner.Failed(benchrunner.PhaseRun, s.failure(i, r))
			blamed = true
		}
	}
	if blamed {
		return
	}
	for i, st := range s.job.launches {
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
func (s jobOutput) failure(i int, r result) string {
	parts := []string{fmt.Sprintf("job %s: %s", s.job.Name, r.Outcome)}
	if r.Reason != "" {
		parts[0] += ", " + r.Reason
	}
	st := s.launches[i]
	said := tail(st.Stderr, 5)
	switch {
	case !st.begun:
		parts = append(parts, "the program was not started")
		said = tail(s.log, 5)
	case st.TimedOut:
		parts = append(parts, fmt.Sprintf("the program was ended at its limit of %v", round(s.job.launches[i].Limit)))
	case st.Ended:
		parts = append(parts, fmt.Sprintf("the program ended with exit code %d before it measured anything", st.Exit))
	}
	if said != "" {
		parts = append(parts, said)
	}
	return strings.Join(parts, "; ")
}

func (s jobOutput) parts(outcomes [][]benchrunner.Outcome) []launchTimes {
	var parts []launchTimes
	for i, st := range s.launches {
		p := launchTimes{wall: st.Wall.Seconds(), warmup: st.WarmupSeconds, measure: st.MeasureSeconds}
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

// part is what is known of the wall time of one start, in seconds; of one that ran on
// some of the nodes, that share of it.
type launchTimes struct {
	wall, warmup, measure float64
	cases                 []float64 // wall time of each case, the program's figures
	decided               []bool    // which cases have a trial
}

// scaled is the part of the same start on some of the nodes of its job.
func (p launchTimes) scaled(share float64) launchTimes {
	q := launchTimes{wall: p.wall * share, warmup: p.warmup * share, measure: p.measure * share, decided: p.decided}
	for _, c := range p.cases {
		q.cases = append(q.cases, c*share)
	}
	return q
}

// scaleToJob returns the parts of starts that ran side by side as long together as the
// job was held: nodes that nobody used are paid in proportion.
func scaleToJob(parts []launchTimes, held float64) []launchTimes {
	walls := 0.0
	for _, p := range parts {
		walls += validSeconds(p.wall)
	}
	if walls == 0 || held <= walls {
		return parts
	}
	var out []launchTimes
	for _, p := range parts {
		out = append(out, p.scaled(held/walls))
	}
	return out
}

// splitTime splits the time a job was held. held is at least the sum of the starts.
func splitTime(parts []launchTimes, held, queue float64) coll.Spent {
	s := coll.Spent{Queue: validSeconds(queue)}
	walls := 0.0
	for _, p := range parts {
		wall := validSeconds(p.wall)
		warmup, measure := validSeconds(p.warmup), validSeconds(p.measure)
		if sum := warmup + measure; sum > wall { // more than there was
			warmup, measure = warmup*wall/sum, measure*wall/sum
		}
		s.Warmup += warmup
		s.Measure += measure
		s.Launch += max(0, wall-warmup-measure)
		walls += wall
	}
	s.Idle = max(0, validSeconds(held)-walls)
	return s
}

// splitCost deals held to the decided cases: to each its own time, the rest of a start
// equally to its cases, all else equally to all. The sum is held when any case is
// decided.
func splitCost(parts []launchTimes, held float64) [][]float64 {
	out := make([][]float64, len(parts))
	count, left := 0, held
	for i, p := range parts {
		out[i] = p.splitCost(&left)
		for _, s := range p.decided {
			if s {
				count++
			}
		}
	}
	for i, p := range parts {
		for k, s := range p.decided {
			if s {
				out[i][k] += max(0, left) / float64(count)
			}
		}
	}
	return out
}

// splitCost deals the wall time of one start and takes it from left.
func (p launchTimes) splitCost(left *float64) []float64 {
	out := make([]float64, len(p.decided))
	count, sum := 0, 0.0
	for k, s := range p.decided {
		if s {
			count++
			out[k] = validSeconds(p.cases[k])
			sum += out[k]
		}
	}
	if count == 0 {
		return out
	}
	wall := validSeconds(p.wall)
	for k, s := range p.decided {
		switch {
		case !s:
		case sum > wall:
			out[k] *= wall / sum
		default:
			out[k] += (wall - sum) / float64(count)
		}
	}
	*left -= wall
	return out
}

// validSeconds makes nothing of what is no time.
func validSeconds(seconds float64) float64 {
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		return 0
	}
	return seconds
}
