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

// Planned is a job that Run would submit.
type Planned struct {
	Job         coll.Job // its state is JobIntended
	Launches    []benchrunner.Launch
	Submission  benchrunner.Submission
	Script      string
	Command     string  // shell command that submits the job, for people to read
	NodeSeconds float64 // upper bound of the job's node-seconds
	Expected    float64 // expected node-seconds
}

// Refused contains requests that cannot be measured for one common reason.
type Refused struct {
	Requests []int // indices into the batch
	Reason   string
}

// Plan returns the jobs that Run would submit first, in the order of submission, and the requests that cannot be
// measured. Run would log failed trials for those. Plan writes nothing, and leaves out jobs that an earlier run
// began.
func (m *Machine) Plan(ctx context.Context, batch benchrunner.Batch) (jobs []Planned, refused []Refused, err error) {
	r := m.newRun(batch, nil)
	planJobs, rejected, err := r.planJobs(ctx, r.openRequests())
	if err == nil && len(planJobs) == 0 {
		err = r.later
	}
	if err != nil {
		return nil, nil, err
	}
	for i, d := range planJobs {
		p, err := m.planned(d, fmt.Sprintf("%s%d", r.prefix, r.number+i+1))
		if err != nil {
			return nil, nil, err
		}
		jobs = append(jobs, p)
	}
	return jobs, r.grouped(rejected), nil
}

// planned returns a planned job under the given name, with its script and its costs.
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

// expected returns the expected wall time of a launch in seconds. It is the sum of 2 s, 1 ms for each rank
// to start and to end, and a tenth of the allowance for measuring.
func expected(l coll.Layout, allowance time.Duration) float64 {
	return 2 + 0.001*float64(l.Ranks()) + allowance.Seconds()/10
}

// grouped groups rejections by reason, sorted by their first request. If the reason contains the name of the rejected candidate, grouped
// removes this name.
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
