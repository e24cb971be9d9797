package assembly

import (
	"context"
	"fmt"
	"slices"

	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/campaign"
)

// PlannedJob is one job that would be submitted.
type PlannedJob struct {
	Name       string   `json:"name"`
	Problem    string   `json:"problem"`
	Nodes      int      `json:"nodes"`
	PPN        int      `json:"ppn"`
	Limit      float64  `json:"limit_seconds"`
	Starts     int      `json:"starts"`
	Candidates int      `json:"candidates"`
	NodeHours  float64  `json:"node_hours"`          // at most
	Expected   float64  `json:"expected_node_hours"` // as a rule
	Command    string   `json:"command"`
	Script     string   `json:"script"`
	Carries    []string `json:"carries"`
}

// LeftOut are candidates of a problem that cannot be measured for one reason.
type LeftOut struct {
	Problem    string `json:"problem"`
	Candidates int    `json:"candidates"`
	Of         int    `json:"of"` // the problem has
	Reason     string `json:"reason"`
}

// Whole reports whether nothing of the problem is left.
func (l LeftOut) Whole() bool { return l.Candidates == l.Of }

// String is for example "openmpi scan: 12 of 12 candidates cannot be measured: osu: OSU
// has no program for scan".
func (l LeftOut) String() string {
	return fmt.Sprintf("%s: %d of %d candidates cannot be measured: %s", l.Problem, l.Candidates, l.Of, l.Reason)
}

// Hours are node-hours of a whole campaign.
type Hours struct {
	Most     float64 // its budget, or every candidate measured once with every limit used up
	Expected float64 // as a rule
	LeftOut  []LeftOut
}

// Forecast is what a campaign would do.
type Forecast struct {
	Jobs           []PlannedJob `json:"jobs"`                // of the first round
	RoundNodeHours float64      `json:"round_node_hours"`    // at most
	NodeHours      float64      `json:"node_hours"`          // of the whole campaign, at most
	Expected       float64      `json:"expected_node_hours"` // of the whole campaign, as a rule
	LeftOut        []LeftOut    `json:"left_out"`            // of the whole grid
}

// Forecast asks the machines of a connected campaign what the first round would
// submit.
func (c *Campaign) Forecast(ctx context.Context) (Forecast, error) {
	f := Forecast{Jobs: []PlannedJob{}}
	for i, p := range c.Problems {
		batch, err := campaign.FirstBatch(c.Spec, p)
		if err != nil {
			return f, err
		}
		jobs, err := c.machineOf(i).Plan(ctx, batch)
		if err != nil {
			return f, fmt.Errorf("%s: %w", p.Problem, err)
		}
		for _, j := range jobs {
			job := plannedJob(p, batch, j)
			f.Jobs = append(f.Jobs, job)
			f.RoundNodeHours += job.NodeHours
		}
	}
	hours, err := c.Hours(ctx)
	f.NodeHours, f.Expected = hours.Most, hours.Expected
	f.LeftOut = append([]LeftOut{}, hours.LeftOut...)
	return f, err
}

// plannedJob is a job of a problem's batch for people and scripts.
func plannedJob(p campaign.Problem, batch benchrunner.Batch, j live.Planned) PlannedJob {
	job := PlannedJob{
		Name: j.Job.Name, Problem: p.Problem.String(), Nodes: j.Job.Nodes, PPN: j.Submission.PPN, Limit: j.Job.LimitSeconds,
		Starts: len(j.Launches), Candidates: len(j.Job.Carries), NodeHours: j.NodeSeconds / 3600, Expected: j.Expected / 3600,
		Command: j.Command, Script: j.Script,
	}
	for _, at := range j.Job.Carries {
		job.Carries = append(job.Carries, batch.Requests[at].Candidate.String())
	}
	return job
}

// machineOf returns the machine of a problem of a campaign that measures.
func (c *Campaign) machineOf(problem int) *live.Machine {
	m, ok := c.Problems[problem].Runner.(*live.Machine)
	if !ok {
		panic("a problem that is not measured") // only campaigns that measure come here
	}
	return m
}

// measuredShare is the part of the candidates that campaigns measure as a rule: the
// problems of the demonstration took from 11 to 61 % of them.
const measuredShare = 0.5

// Hours asks the machines of a connected campaign what measuring every candidate once
// would take, and what of the grid cannot be measured.
func (c *Campaign) Hours(ctx context.Context) (Hours, error) {
	h := Hours{LeftOut: slices.Clone(c.unmeasurable)}
	for i, p := range c.Problems {
		var batch benchrunner.Batch
		for _, cand := range p.Space.Candidates() {
			batch.Requests = append(batch.Requests, benchrunner.Request{Candidate: cand, Attempt: 1})
		}
		o, err := c.machineOf(i).Estimate(ctx, batch)
		if err != nil {
			return Hours{}, fmt.Errorf("%s: %w", p.Problem, err)
		}
		for _, j := range o.Jobs {
			h.Most += j.NodeSeconds / 3600
			h.Expected += measuredShare * j.Expected / 3600
		}
		for _, r := range o.Refused {
			h.LeftOut = append(h.LeftOut, LeftOut{p.Problem.String(), len(r.Requests), len(batch.Requests), r.Reason})
		}
	}
	stop := c.Config.Stop
	if stop.NodeHours > 0 {
		h.Most = min(h.Most, stop.NodeHours)
	}
	if stop.MachineTime > 0 {
		h.Most = min(h.Most, stop.MachineTime.Hours()*float64(slices.Max(c.Config.Grid.Nodes)))
	}
	h.Expected = min(h.Expected, h.Most)
	return h, nil
}
