package live

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"tutti/benchrunner"
	"tutti/coll"
)

type result struct {
	Outcome       coll.JobOutcome
	Reason        string   `json:",omitzero"`
	NoStartReason string   `json:",omitzero"` // why no program started, if RequireFirstStart was called; then no request has a trial
	NotReached    string   `json:",omitzero"` // why a request has no trial, for a cause outside of its candidate
	Left          []string `json:",omitzero"` // processes that do not end, as "PID NAME on HOST"
	Spent         coll.Spent
	Environment   *coll.Environment
	Trials        map[int]coll.Trial // by request
}

// result returns the trials of a job. `wasted` is the time, in seconds, of earlier jobs that had no result for these
// requests. The costs of the trials include this time.
func (s jobOutput) result(requests []benchrunner.Request, wasted float64) result {
	r := result{Trials: map[int]coll.Trial{}, Environment: s.environment, Left: s.left()}
	r.Outcome, r.Reason = s.outcome()
	r.Reason = tail([]byte(r.Reason), 3)
	outcomes := s.outcomes(&r)
	if !slices.ContainsFunc(slices.Concat(outcomes...), isDecided) {
		s.blameLaunches(outcomes, r)
	}
	r.NotReached = s.notReached(outcomes, r)
	r.NoStartReason = s.noStartReason(outcomes, r)
	allocated := s.allocated()
	parts := s.parts(outcomes)
	r.Spent = splitTime(parts, allocated, s.queue())
	paid := r.Spent.Allocated() + wasted
	costs := splitCost(parts, paid)
	for i, st := range s.job.launches {
		for k, o := range outcomes[i] {
			if isDecided(o) {
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

// outcomes returns, for each launch, the outcomes that the program read from its output. It shortens their
// error texts.
func (s jobOutput) outcomes(r *result) [][]benchrunner.Outcome {
	var out [][]benchrunner.Outcome
	for _, st := range s.launches {
		var cases []benchrunner.Outcome
		for _, o := range st.Outcomes {
			o.Error = tail([]byte(o.Error), 5)
			cases = append(cases, o)
		}
		out = append(out, cases)
		if r.Environment != nil && r.Environment.Library == "" {
			library, _, _ := strings.Cut(strings.TrimSpace(st.Library), "\n")
			r.Environment.Library = oneLine(strings.ToValidUTF8(library, "?"))
		}
	}
	return out
}

func isDecided(o benchrunner.Outcome) bool { return o.State != benchrunner.OutcomeNotReached }

// blameLaunches handles a job that ended without a result for any case. If it used too much memory or time, the first
// case of each running launch fails. All cases of a launch fail that ended by itself in a completed job, if the program
// knows no cause.
func (s jobOutput) blameLaunches(outcomes [][]benchrunner.Outcome, r result) {
	for i, st := range s.launches {
		switch {
		case s.running(i) && benchrunner.JobCause(r.Outcome, true).Fault() == benchrunner.FaultCandidate:
			outcomes[i][0] = benchrunner.Failed(benchrunner.PhaseRun, s.failure(i, r))
		case st.Ended && r.Outcome == coll.JobCompleted && outcomes[i][0].Cause == "":
			for k := range outcomes[i] {
				outcomes[i][k] = benchrunner.Failed(benchrunner.PhaseLaunch, s.failure(i, r))
			}
		}
	}
}

// notReached returns why the first case without a trial has none, "" if only cases before it failed.
func (s jobOutput) notReached(outcomes [][]benchrunner.Outcome, r result) string {
	for i, cases := range outcomes {
		for _, o := range cases {
			switch {
			case isDecided(o):
			case o.Cause != "" && o.Cause != benchrunner.JobBroken:
				return fmt.Sprintf("job %s: %s: %s", s.job.Name, o.Cause, o.Error)
			case r.Outcome != coll.JobCompleted || !s.launches[i].begun:
				return s.failure(i, r)
			}
		}
	}
	return ""
}

func (s jobOutput) failure(i int, r result) string {
	parts := []string{fmt.Sprintf("job %s: %s", s.job.Name, r.Outcome)}
	if r.Reason != "" {
		parts[0] += ", " + r.Reason
	}
	st := s.launches[i]
	said := st.last
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
			p.decided = append(p.decided, isDecided(o))
		}
		parts = append(parts, p.scaled(s.share(i)))
	}
	return parts
}

func trialOf(req benchrunner.Request, o benchrunner.Outcome, cost float64, jobName string) coll.Trial {
	t := coll.Trial{
		Measurement: coll.Measurement{Candidate: req.Candidate, CostSeconds: cost, Job: jobName},
		Attempt:     req.Attempt, State: coll.TrialFailed, Phase: o.Phase, Error: o.Error, Answer: o.Answer,
	}
	if o.State == benchrunner.OutcomeDone {
		t.State, t.Phase, t.Error = coll.TrialDone, "", ""
		t.Seconds, t.Low, t.High, t.Samples, t.Overall, t.Evidence = o.Seconds, o.Low, o.High, o.Samples, o.Overall, o.Evidence
	}
	return t
}

// launchTimes contains the wall times of one launch in seconds. If the launch used only some nodes of its
// job, the times are multiplied by the fraction of the nodes that it used.
type launchTimes struct {
	wall, warmup, measure float64
	cases                 []float64 // wall time of each case, as the program reports it
	decided               []bool    // which cases have a trial
}

func (p launchTimes) scaled(share float64) launchTimes {
	cases := floats.ScaleTo(make([]float64, len(p.cases)), share, p.cases)
	return launchTimes{wall: p.wall * share, warmup: p.warmup * share, measure: p.measure * share, decided: p.decided, cases: cases}
}

// splitTime splits the job's time `allocated`, for which it had its nodes, into warm-up, measurement, launching
// and idle time. `allocated` must be at least the sum of the launches' wall times.
func splitTime(parts []launchTimes, allocated, queue float64) coll.Spent {
	s := coll.Spent{Queue: validSeconds(queue)}
	walls := 0.0
	for _, p := range parts {
		wall := validSeconds(p.wall)
		warmup, measure := validSeconds(p.warmup), validSeconds(p.measure)
		if sum := warmup + measure; sum > wall { // the program reports more than the wall time
			warmup, measure = warmup*wall/sum, measure*wall/sum
		}
		s.Warmup += warmup
		s.Measure += measure
		s.Launch += max(0, wall-warmup-measure)
		walls += wall
	}
	s.Idle = max(0, validSeconds(allocated)-walls)
	return s
}

// splitCost distributes the job's time `allocated` among the cases that have a result, in proportion to their
// weights. If any case has a result, the costs add up to `allocated`.
func splitCost(parts []launchTimes, allocated float64) [][]float64 {
	out := make([][]float64, len(parts))
	total := 0.0
	for i, p := range parts {
		out[i] = p.weights()
		total += floats.Sum(out[i])
	}
	for _, costs := range out {
		floats.Scale(allocated/max(total, shortest), costs)
	}
	return out
}

const shortest = 1e-9

// weights returns how the wall time of the launch is divided among its cases that have a result. Each of them gets
// its own time and an equal share of the remaining time.
func (p launchTimes) weights() []float64 {
	out := make([]float64, len(p.decided))
	count := 0.0
	for k, decided := range p.decided {
		if decided {
			out[k] = max(validSeconds(p.cases[k]), shortest)
			count++
		}
	}
	wall, sum := validSeconds(p.wall), floats.Sum(out)
	for k, decided := range p.decided {
		if decided {
			out[k] = out[k]*min(1, max(wall, shortest)/sum) + max(0, wall-sum)/count
		}
	}
	return out
}

func validSeconds(seconds float64) float64 {
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		return 0
	}
	return seconds
}
