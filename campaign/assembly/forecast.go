package assembly

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/campaign"
	"tutti/journal"
)

// PlannedJob is a job that a campaign, or the measurement of its topology, would submit.
type PlannedJob struct {
	Name       string   `json:"name"`
	Problem    string   `json:"problem"`
	Nodes      int      `json:"nodes"`
	PPN        int      `json:"ppn"`
	Limit      float64  `json:"limit_seconds"`
	Launches   int      `json:"starts"` // number of launches
	Candidates int      `json:"candidates"`
	NodeHours  float64  `json:"node_hours"`          // maximum, computed from the time limit of the job
	Expected   float64  `json:"expected_node_hours"` // estimate
	Command    string   `json:"command"`
	Script     string   `json:"script"`
	Carries    []string `json:"carries"`
	Settings   []string `json:"settings,omitempty"` // that force algorithms: a text for each launch, and one for each case that a program switches
}

// LeftOut counts the candidates of one problem that cannot be measured for the same reason.
type LeftOut struct {
	Problem    string `json:"problem"`
	Candidates int    `json:"candidates"`
	Of         int    `json:"of"` // number of all candidates of the problem
	Reason     string `json:"reason"`
}

// Whole reports whether none of the problem's candidates can be measured.
func (l LeftOut) Whole() bool { return l.Candidates == l.Of }

// String returns a text such as "openmpi scan: 12 of 12 candidates cannot be measured: osu: OSU has no
// program for scan".
func (l LeftOut) String() string {
	return fmt.Sprintf("%s: %d of %d candidates cannot be measured: %s", l.Problem, l.Candidates, l.Of, l.Reason)
}

// Forecast describes what a campaign would do: the jobs of its first round and its cost.
type Forecast struct {
	Jobs           []PlannedJob `json:"jobs"`             // jobs of the first round
	RoundNodeHours float64      `json:"round_node_hours"` // maximum for the first round
	// NodeHours is an upper limit of the cost: the sum of the time limits of all jobs if every candidate is
	// measured once, or the budget if that is lower. The first round is always included, because budgets are
	// checked between rounds.
	NodeHours float64   `json:"node_hours"`
	Expected  float64   `json:"expected_node_hours"` // estimate for the campaign
	LeftOut   []LeftOut `json:"left_out"`            // candidates that cannot be measured
}

// measuredShare is the typical fraction of candidates that a campaign measures. In the campaigns of the demo
// it is 15 to 67 %.
const measuredShare = 0.5

// Forecast returns the jobs of the first round of a connected campaign, the cost of the campaign, and the
// candidates that cannot be measured.
func (c *Campaign) Forecast(ctx context.Context) (Forecast, error) {
	f := Forecast{Jobs: []PlannedJob{}, LeftOut: append([]LeftOut{}, c.unmeasurable...)}
	for _, p := range c.Problems {
		batch, err := campaign.FirstBatch(c.Spec, p)
		if err != nil {
			return f, err
		}
		planned, err := machineOf(p).Plan(ctx, batch)
		if err != nil {
			return f, fmt.Errorf("%s: %w", p.Problem, err)
		}
		for _, job := range PlannedJobs(p.Problem, batch, planned) {
			f.Jobs = append(f.Jobs, job)
			f.RoundNodeHours += job.NodeHours
		}
		cost, err := machineOf(p).Cost(ctx, p.Space)
		if err != nil {
			return f, fmt.Errorf("%s: %w", p.Problem, err)
		}
		f.NodeHours += cost.NodeSeconds / 3600
		f.Expected += measuredShare * cost.Expected / 3600
		for _, r := range cost.Refused {
			f.LeftOut = append(f.LeftOut, LeftOut{p.Problem.String(), r.Candidates, p.Space.Size(), r.Reason})
		}
	}
	stop := c.Config.Stop
	if stop.NodeHours > 0 {
		f.NodeHours = min(f.NodeHours, stop.NodeHours)
	}
	if stop.MachineTime > 0 {
		f.NodeHours = min(f.NodeHours, stop.MachineTime.Hours()*float64(slices.Max(c.Config.Grid.Nodes)))
	}
	f.NodeHours = max(f.NodeHours, f.RoundNodeHours)
	f.Expected = min(f.Expected, f.NodeHours)
	return f, nil
}

// PlannedJobs describes the jobs that a runner has planned for a batch of candidates of one problem.
func PlannedJobs(p journal.Problem, batch benchrunner.Batch, planned []live.Planned) (jobs []PlannedJob) {
	for _, j := range planned {
		job := PlannedJob{
			Name: j.Job.Name, Problem: p.String(), Nodes: j.Job.Nodes, PPN: j.Submission.PPN, Limit: j.Job.LimitSeconds,
			Launches: len(j.Launches), Candidates: len(j.Job.Requests), NodeHours: j.NodeSeconds / 3600, Expected: j.Expected / 3600,
			Command: j.Command, Script: j.Script,
		}
		job.Settings = settingsOf(j)
		for _, at := range j.Job.Requests {
			job.Carries = append(job.Carries, batch.Requests[at].Candidate.String())
		}
		jobs = append(jobs, job)
	}
	return jobs
}

// machineOf returns the machine that measures the candidates of a problem.
func machineOf(p campaign.Problem) *live.Machine {
	m, ok := p.Runner.(*live.Machine)
	if !ok {
		panic("a problem without machine") // impossible: only campaigns on a real machine call it
	}
	return m
}

// settingsOf describes the settings with which the launches of a job force algorithms.
func settingsOf(j live.Planned) []string {
	var out []string
	for i, l := range j.Launches {
		text := fmt.Sprintf("launch %d:", i+1)
		for _, v := range j.Variables[i] {
			text += " " + v.Name + "=" + cmp.Or(v.Value, map[bool]string{true: "FILE"}[v.File != nil])
		}
		if len(j.Variables[i]) == 0 {
			text += " no variables"
		}
		if out = append(out, text); len(l.Cases) < 2 && len(j.Variables[i]) > 0 {
			continue
		}
		for _, c := range l.Cases {
			text := "  " + c.Candidate.String() + ":"
			for _, s := range c.Switches {
				text += fmt.Sprintf(" %s=%d", s.Name, s.Value)
			}
			if len(c.Switches) > 0 {
				out = append(out, text)
			}
		}
	}
	return out
}
