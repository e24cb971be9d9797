package assembly

import (
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
	Starts     int      `json:"starts"` // number of launches
	Candidates int      `json:"candidates"`
	NodeHours  float64  `json:"node_hours"`          // maximum, computed from the time limit of the job
	Expected   float64  `json:"expected_node_hours"` // estimate
	Command    string   `json:"command"`
	Script     string   `json:"script"`
	Carries    []string `json:"carries"`
}

// LeftOut counts the candidates of one problem that cannot be measured, for one reason.
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

// Hours is the cost of a campaign in node-hours.
type Hours struct {
	// Most is the sum of the time limits of all jobs if every candidate is measured once. A budget lowers
	// it. The first round is always included, because budgets are checked between rounds.
	Most     float64
	Expected float64 // estimate
	LeftOut  []LeftOut
}

// Forecast contains the first jobs of a campaign and the cost of the campaign.
type Forecast struct {
	Jobs           []PlannedJob `json:"jobs"`                // jobs of the first round
	RoundNodeHours float64      `json:"round_node_hours"`    // maximum for the first round
	NodeHours      float64      `json:"node_hours"`          // maximum for the campaign
	Expected       float64      `json:"expected_node_hours"` // estimate for the campaign
	LeftOut        []LeftOut    `json:"left_out"`            // candidates that cannot be measured
}

// Forecast returns the jobs of the first round of a connected campaign, and the cost of the campaign.
func (c *Campaign) Forecast(ctx context.Context) (Forecast, error) {
	f := Forecast{}
	var err error
	if f.Jobs, f.RoundNodeHours, err = c.firstRound(ctx); err != nil {
		return f, err
	}
	hours, err := c.hours(ctx, f.RoundNodeHours)
	f.NodeHours, f.Expected = hours.Most, hours.Expected
	f.LeftOut = append([]LeftOut{}, hours.LeftOut...)
	return f, err
}

// firstRound returns the jobs of the first round and their maximum cost in node-hours.
func (c *Campaign) firstRound(ctx context.Context) (jobs []PlannedJob, nodeHours float64, err error) {
	jobs = []PlannedJob{}
	for i, p := range c.Problems {
		batch, err := campaign.FirstBatch(c.Spec, p)
		if err != nil {
			return nil, 0, err
		}
		planned, err := c.machineOf(i).Plan(ctx, batch)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", p.Problem, err)
		}
		for _, job := range PlannedJobs(p.Problem, batch, planned) {
			jobs = append(jobs, job)
			nodeHours += job.NodeHours
		}
	}
	return jobs, nodeHours, nil
}

// PlannedJobs describes the planned jobs of a problem's batch.
func PlannedJobs(p journal.Problem, batch benchrunner.Batch, planned []live.Planned) (jobs []PlannedJob) {
	for _, j := range planned {
		job := PlannedJob{
			Name: j.Job.Name, Problem: p.String(), Nodes: j.Job.Nodes, PPN: j.Submission.PPN, Limit: j.Job.LimitSeconds,
			Starts: len(j.Launches), Candidates: len(j.Job.Carries), NodeHours: j.NodeSeconds / 3600, Expected: j.Expected / 3600,
			Command: j.Command, Script: j.Script,
		}
		for _, at := range j.Job.Carries {
			job.Carries = append(job.Carries, batch.Requests[at].Candidate.String())
		}
		jobs = append(jobs, job)
	}
	return jobs
}

// machineOf returns the live.Machine of a problem.
func (c *Campaign) machineOf(problem int) *live.Machine {
	m, ok := c.Problems[problem].Runner.(*live.Machine)
	if !ok {
		panic("a problem without machine") // impossible: only campaigns on a real machine call it
	}
	return m
}

// measuredShare is the typical fraction of candidates that a campaign measures. In the campaigns of the demo
// it is 22 to 61 %.
const measuredShare = 0.5

// Hours returns the cost of a connected campaign in node-hours, and the candidates that cannot be measured.
func (c *Campaign) Hours(ctx context.Context) (Hours, error) {
	_, first, err := c.firstRound(ctx)
	if err != nil {
		return Hours{}, err
	}
	return c.hours(ctx, first)
}

// hours returns the result of Hours. The parameter `first` is the maximum cost of the first round in
// node-hours.
func (c *Campaign) hours(ctx context.Context, first float64) (Hours, error) {
	h := Hours{LeftOut: slices.Clone(c.unmeasurable)}
	for i, p := range c.Problems {
		cost, err := c.machineOf(i).Cost(ctx, p.Space)
		if err != nil {
			return Hours{}, fmt.Errorf("%s: %w", p.Problem, err)
		}
		h.Most += cost.NodeSeconds / 3600
		h.Expected += measuredShare * cost.Expected / 3600
		for _, r := range cost.Refused {
			h.LeftOut = append(h.LeftOut, LeftOut{p.Problem.String(), r.Candidates, p.Space.Size(), r.Reason})
		}
	}
	stop := c.Config.Stop
	if stop.NodeHours > 0 {
		h.Most = min(h.Most, stop.NodeHours)
	}
	if stop.MachineTime > 0 {
		h.Most = min(h.Most, stop.MachineTime.Hours()*float64(slices.Max(c.Config.Grid.Nodes)))
	}
	h.Most = max(h.Most, first)
	h.Expected = min(h.Expected, h.Most)
	return h, nil
}
