package live

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/mpi"
)

// Planned is a job that Run would submit, with its script and its costs.
type Planned struct {
	Job         coll.Job // its state is JobIntended
	Launches    []benchrunner.Launch
	Variables   [][]mpi.Var // that the program asks for, by launch
	Submission  benchrunner.Submission
	Script      string
	Command     string  // shell command that submits the job, for people to read
	NodeSeconds float64 // upper bound of the job's node-seconds
	Expected    float64 // expected node-seconds
}

// Plan returns the jobs that Run would submit first, in the order of submission. It omits jobs that an
// earlier run began. Plan writes nothing.
func (m *Machine) Plan(ctx context.Context, batch benchrunner.Batch) (jobs []Planned, err error) {
	r := m.newRun(batch, nil)
	planJobs, _, err := r.planJobs(ctx, r.openRequests())
	if err == nil && len(planJobs) == 0 {
		err = r.later
	}
	for i, d := range planJobs {
		p, err := m.planned(d, fmt.Sprintf("%s%d", r.prefix, r.number+i+1))
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, p)
	}
	return jobs, err
}

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
		cmd, err := m.opt.Program.Command(s.Launch)
		if err != nil {
			return Planned{}, err
		}
		p.Launches, p.Variables = append(p.Launches, s.Launch), append(p.Variables, cmd.Env)
		p.Expected += m.expected(s.Launch)
	}
	p.Command = m.opt.Scheduler.Show(p.Submission)
	return p, nil
}

// expected returns the expected node-seconds of a launch. It estimates the wall time as the sum of 2 s, 1 ms for each rank,
// and a tenth of the program's time limit.
func (m *Machine) expected(s benchrunner.Launch) float64 {
	return (2 + 0.001*float64(s.Layout.Ranks()) + m.opt.Program.Allowance(s).Seconds()/10) * float64(s.Layout.Nodes)
}

// Cost is the cost of measuring every candidate of a space once.
type Cost struct {
	NodeSeconds float64 // upper bound
	Expected    float64 // expected node-seconds
	Refused     []Refused
}

// Refused is the number of candidates that cannot be measured for one reason.
type Refused struct {
	Reason     string
	Candidates int
}

// Cost returns the cost of measuring every candidate of a space once.
func (m *Machine) Cost(ctx context.Context, space *coll.Space) (cost Cost, err error) {
	widest := 0
	for _, p := range space.Points() {
		widest = max(widest, p.Nodes)
	}
	capacity, err := m.capacityFor(ctx, widest)
	if err != nil {
		return cost, err
	}
	p, err := m.plannerFor(ctx, capacity, widest)
	if err != nil {
		return cost, err
	}
	var all []launch
	var layout []coll.Candidate
	for i, point := range space.Points() {
		layout = append(layout, space.At(i)...)
		if i+1 < len(space.Points()) && space.Points()[i+1].Layout() == point.Layout() {
			continue
		}
		launches, err := m.launches(p, layout, &cost)
		if err != nil {
			return cost, err
		}
		all, layout = append(all, launches...), layout[:0]
	}
	for _, d := range p.pack(all) {
		cost.NodeSeconds += d.limit.Seconds() * float64(d.nodes)
	}
	return cost, nil
}

// launches returns the launches that measure the candidates of one layout. To save memory, it leaves out the cases of the
// launches. It adds to `cost` the expected cost of the launches and the number of candidates that cannot be measured. It
// calls Machine.force once for each algorithm, because the settings are the same for all sizes of a layout.
func (m *Machine) launches(p planner, layout []coll.Candidate, cost *Cost) ([]launch, error) {
	var cases []requestedCase
	var rejected []rejection
	settings := map[coll.Algorithm]mpi.Forcing{}
	for i, c := range layout {
		f, known := settings[c.Algorithm]
		if !known {
			forced, reason := m.force(c)
			if reason != "" {
				rejected = append(rejected, rejection{request: i, reason: reason})
				continue
			}
			f = forced.Forcing
			settings[c.Algorithm] = f
		}
		cases = append(cases, requestedCase{i, benchrunner.Case{Candidate: c, Forcing: f}})
	}
	launches, unfit, err := p.launches(layout[0].Layout(), cases)
	for i, s := range launches {
		cost.Expected += m.expected(s.Launch)
		launches[i].Cases, launches[i].Requests = nil, nil
	}
	rejected = slices.DeleteFunc(append(rejected, unfit...), func(r rejection) bool { return r.later })
	slices.SortFunc(rejected, func(a, b rejection) int { return a.request - b.request })
	for _, r := range rejected {
		cost.refuse(layout[r.request], r.reason)
	}
	return launches, err
}

// refuse counts a candidate that cannot be measured, together with all others that have the same reason. For this it
// removes the candidate's name from the reason.
func (c *Cost) refuse(candidate coll.Candidate, reason string) {
	reason = strings.Replace(reason, candidate.String()+": ", "", 1)
	i := slices.IndexFunc(c.Refused, func(r Refused) bool { return r.Reason == reason })
	if i < 0 {
		i, c.Refused = len(c.Refused), append(c.Refused, Refused{Reason: reason})
	}
	c.Refused[i].Candidates++
}
