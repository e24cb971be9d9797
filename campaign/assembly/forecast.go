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
	NodeHours  float64  `json:"node_hours"` // at most
	Command    string   `json:"command"`
	Script     string   `json:"script"`
	Carries    []string `json:"carries"`
}

// Forecast is what a campaign would do.
type Forecast struct {
	Jobs           []PlannedJob `json:"jobs"`             // of the first round
	RoundNodeHours float64      `json:"round_node_hours"` // at most
	NodeHours      float64      `json:"node_hours"`       // of the whole campaign, at most
}

// Forecast asks the machines of a connected campaign what the first round would
// submit.
func (c *Campaign) Forecast(ctx context.Context) (Forecast, error) {
	d := Forecast{Jobs: []PlannedJob{}}
	for i, p := range c.Problems {
		batch, err := campaign.FirstBatch(c.Spec, p)
		if err != nil {
			return d, err
		}
		jobs, err := c.machineOf(i).Plan(ctx, batch)
		if err != nil {
			return d, fmt.Errorf("%s: %w", p.Problem, err)
		}
		for _, j := range jobs {
			job := PlannedJob{
				Name: j.Job.Name, Problem: p.Problem.String(), Nodes: j.Job.Nodes, PPN: j.Submission.PPN, Limit: j.Job.LimitSeconds,
				Starts: len(j.Starts), Candidates: len(j.Job.Carries), NodeHours: j.NodeSeconds / 3600,
				Command: j.Command, Script: j.Script,
			}
			for _, at := range j.Job.Carries {
				job.Carries = append(job.Carries, batch.Requests[at].Candidate.String())
			}
			d.Jobs = append(d.Jobs, job)
			d.RoundNodeHours += job.NodeHours
		}
	}
	var err error
	d.NodeHours, err = c.MostNodeHours(ctx)
	return d, err
}

// machineOf returns the machine of a problem of a campaign that measures.
func (c *Campaign) machineOf(problem int) *live.Machine {
	m, ok := c.Problems[problem].Runner.(*live.Machine)
	if !ok {
		panic("a problem that is not measured") // only campaigns that measure come here
	}
	return m
}

// MostNodeHours is what a campaign can take at most: its budget, or every candidate
// measured once with every limit used up.
func (c *Campaign) MostNodeHours(ctx context.Context) (float64, error) {
	sum := 0.0
	for i, p := range c.Problems {
		var batch benchrunner.Batch
		for _, cand := range p.Space.Candidates() {
			batch.Requests = append(batch.Requests, benchrunner.Request{Candidate: cand, Attempt: 1})
		}
		jobs, err := c.machineOf(i).Plan(ctx, batch)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", p.Problem, err)
		}
		for _, j := range jobs {
			sum += j.NodeSeconds / 3600
		}
	}
	stop := c.Config.Stop
	if stop.NodeHours > 0 {
		sum = min(sum, stop.NodeHours)
	}
	if stop.MachineTime > 0 {
		sum = min(sum, stop.MachineTime.Hours()*float64(slices.Max(c.Config.Grid.Nodes)))
	}
	return sum, nil
}
