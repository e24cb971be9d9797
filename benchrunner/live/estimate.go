package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// Planned is a job as it would be submitted.
type Planned struct {
	Job         coll.Job // prepared
	Launches    []benchrunner.Launch
	Submission  benchrunner.Submission
	Script      string
	Command     string  // of the scheduler, for people
	NodeSeconds float64 // at most
	Expected    float64 // node-seconds, as a rule
}

// Refused are requests that cannot be measured for one reason.
type Refused struct {
	Requests []int // of the batch
	Reason   string
}

// Estimate is what would become of a batch.
type Estimate struct {
	Jobs    []Planned // in order
	Refused []Refused // by their first request
}

// Plan returns the jobs that Run would submit first, in order; it writes nothing.
// Requests that cannot be measured are in none of them: Run would log failed
// trials. Jobs that an earlier run began are left out.
func (m *Machine) Plan(ctx context.Context, batch benchrunner.Batch) ([]Planned, error) {
	o, err := m.Estimate(ctx, batch)
	return o.Jobs, err
}

// Estimate is Plan with the requests that cannot be measured.
func (m *Machine) Estimate(ctx context.Context, batch benchrunner.Batch) (Estimate, error) {
	r := m.newRun(batch, nil)
	planJobs, rejected, err := r.planJobs(ctx, r.openRequests())
	if err == nil && len(planJobs) == 0 {
		err = r.later
	}
	if err != nil {
		return Estimate{}, err
	}
	o := Estimate{Refused: r.grouped(rejected)}
	for i, d := range planJobs {
		p, err := m.planned(d, fmt.Sprintf("%s%d", r.prefix, r.number+i+1))
		if err != nil {
			return Estimate{}, err
		}
		o.Jobs = append(o.Jobs, p)
	}
	return o, nil
}

// planned is a draft under a name as it would be submitted.
func (m *Machine) planned(d plannedJob, name string) (Planned, error) {
	j, err := m.render(d, name)
	if err != nil {
		return Planned{}, err
	}
	p := Planned{
		Job: j.Job, Submission: m.submission(j), Script: j.script,
		NodeSeconds: j.LimitSeconds * float64(j.Nodes),
	}
	for _, s := range j.launches {
		p.Launches = append(p.Launches, s.Launch)
		p.Expected += expected(s.Layout, m.opt.Program.Allowance(s.Launch)) * float64(s.Layout.Nodes)
	}
	p.Command = m.opt.Scheduler.Show(p.Submission)
	return p, nil
}

// expected is the wall time that a start takes as a rule, in seconds: two and a
// millisecond for each rank to come up and to end, and a tenth of the time that it is
// allowed to measure.
func expected(l coll.Layout, allowance time.Duration) float64 {
	return 2 + 0.001*float64(l.Ranks()) + allowance.Seconds()/10
}

// grouped puts refusals of the same reason together. What a program says of one
// candidate is the reason without the candidate.
func (r *run) grouped(rejected []rejection) []Refused {
	slices.SortFunc(rejected, func(a, b rejection) int { return a.request - b.request })
	var out []Refused
	for _, f := range rejected {
		candidate := r.batch.Requests[f.request].Candidate.String()
		reason := strings.Replace(f.reason, candidate+": ", "", 1)
		i := slices.IndexFunc(out, func(o Refused) bool { return o.Reason == reason })
		if i < 0 {
			i = len(out)
			out = append(out, Refused{Reason: reason})
		}
		out[i].Requests = append(out[i].Requests, f.request)
	}
	return out
}
