package verification

import (
	"cmp"
	"slices"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/selection"
	"tutti/verify"
)

// MinBudget is the smallest default limit of machine time, for all libraries of a campaign together. Even after a
// short campaign, a verification needs some blocks.
const MinBudget = 10 * time.Minute

// Default limits of machine time for verifying a file from elsewhere. There is no campaign whose machine time could be the
// limit. On a machine, it is short enough for a first look; recorded data cost nothing.
const (
	externalBudget = 2 * time.Hour
	recordedBudget = 1000 * time.Hour
)

// Estimate says what verifying one library costs and can show. All its numbers are zero if the verification has ended.
type Estimate struct {
	Library     string  `json:"library"`
	Points      int     `json:"points"`          // number of points that the next comparison tests
	Shows       string  `json:"shows,omitzero"`  // what the comparison can show
	Seconds     float64 `json:"machine_seconds"` // 0: unknown, of recorded data
	NodeSeconds float64 `json:"node_seconds"`
	Budget      float64 `json:"budget_seconds"` // remaining machine time, after which the verification ends
	Least       float64 `json:"least_seconds"`  // machine time of the fewest blocks at the cheapest point, without which nothing is shown: at least two benchmarks of benchmark.slice for each block; 0 after the first block
}

// Estimate returns what verifying a library costs and can show. It uses the times of launches and measurements
// in the journal, and runs nothing. Errors match ErrRecordedOnly, ErrNoDefault or verify.ErrNothing.
func (v *Verifier) Estimate(lib config.Library) (Estimate, error) {
	s, err := v.subject(lib)
	if err != nil {
		return Estimate{}, err
	}
	from, err := v.source(lib)
	if err != nil {
		return Estimate{}, err
	}
	problems, err := s.problems(from)
	if err != nil {
		return Estimate{}, err
	}
	session, err := v.open(s, problems)
	if err != nil {
		return Estimate{}, err
	}
	next, err := session.Preview(problems)
	if err != nil || len(next.Points) == 0 {
		return Estimate{Library: lib.Name}, err
	}
	e := Estimate{
		Library: lib.Name, Points: len(next.Points), Shows: next.Text(), Seconds: next.Seconds,
		Budget: max(0, v.Budget(lib).Seconds()-session.MachineSeconds()),
	}
	prices, err := v.prices(lib)
	if err != nil {
		return Estimate{}, err
	}
	if !prices.known() {
		if v.campaign.Config.Runner.Live() {
			e.Seconds, e.NodeSeconds = e.Budget, e.Budget*float64(slices.MaxFunc(next.Points, byNodes).Nodes)
			if session.MachineSeconds() == 0 {
				e.Least = float64(2*v.opt.Rules.MinBlocks) * v.campaign.Config.Benchmark.Slice.Seconds()
			}
		}
		return e, nil
	}
	all, nodes := 0.0, 0.0
	for i, p := range next.Points {
		seconds := prices.block([]verify.TestPoint{p})
		if least := seconds * float64(v.opt.Rules.MinBlocks); i == 0 || least < e.Least {
			e.Least = least
		}
		all += seconds
		nodes += seconds * float64(p.Nodes)
	}
	if session.MachineSeconds() > 0 {
		e.Least = 0 // some blocks were measured
	}
	if e.Seconds = min(e.Seconds, e.Budget); all > 0 {
		e.NodeSeconds = e.Seconds * nodes / all
	}
	return e, nil
}

func byNodes(a, b verify.TestPoint) int { return a.Nodes - b.Nodes }

// Budget returns the largest machine time for verifying a library. Libraries share the limit of all in proportion to
// the machine time that the campaign used for each.
func (v *Verifier) Budget(lib config.Library) time.Duration {
	own, all := 0.0, 0.0
	for _, r := range v.state.Rounds {
		all += r.Seconds
		if r.Problem.Library == lib.Name {
			own += r.Seconds
		}
	}
	limit := v.opt.MachineTime
	switch {
	case limit > 0:
	case v.external != nil && !v.campaign.Config.Runner.Live():
		limit = recordedBudget
	case v.external != nil:
		limit = cmp.Or(v.campaign.Config.Stop.MachineTime, externalBudget)
	default:
		limit = max(MinBudget, time.Duration(all*float64(time.Second)))
	}
	if !(all > 0) {
		return limit
	}
	return max(1, time.Duration(float64(limit)*own/all))
}

// prices returns the expected machine time of measurements of a library.
type prices struct {
	model  benchrunner.LaunchModel
	usages usages // of jobs; empty for recorded data

	// Of recorded data: the mean cost of a measurement in seconds, by point of the grid. Points at which nothing was
	// measured have that of the nearest measured point.
	points map[coll.Point]float64
}

func (v *Verifier) prices(lib config.Library) (prices, error) {
	out := prices{model: v.campaign.Spec.Launch, points: map[coll.Point]float64{}}
	var err error
	if out.usages, err = usagesOf(v.state, lib.Name, out.model, v.start); err != nil || len(out.usages) > 0 {
		return out, err
	}
	for i, p := range v.campaign.Problems {
		if p.Library != lib.Name {
			continue
		}
		count := map[coll.Point]float64{}
		var measured []coll.Point
		for _, m := range v.results[i].Ledger.Measurements() {
			if count[m.Point] == 0 {
				measured = append(measured, m.Point)
			}
			out.points[m.Point] += m.CostSeconds
			count[m.Point]++
		}
		for _, at := range measured {
			out.points[at] /= count[at]
		}
		for _, at := range p.Space.Points() {
			if count[at] == 0 && len(measured) > 0 {
				nearest := slices.MinFunc(measured, func(a, b coll.Point) int { return selection.CompareNearness(at, a, b) })
				out.points[at] = out.points[nearest]
			}
		}
	}
	return out, nil
}

// known reports whether anything was measured that tells what a measurement costs.
func (x prices) known() bool { return len(x.usages)+len(x.points) > 0 }

// block returns the expected machine time of a block: a measurement of the files and one of the default at each point.
func (x prices) block(points []verify.TestPoint) float64 {
	sum := 0.0
	if len(x.usages) == 0 {
		for _, p := range points {
			sum += 2 * x.points[p.Point]
		}
		return sum
	}
	for nodes, n := range launchesOf(points, x.model) {
		sum += x.usages.of(nodes).seconds(n)
	}
	return sum
}

// usage contains how many programs were launched and candidates were measured, and the machine time of both.
type usage struct {
	launches, cases float64
	launch, run     float64 // seconds
}

// seconds returns the expected machine time of the launches and candidates in `planned`, from the average times in u.
func (u usage) seconds(planned usage) float64 {
	if u.launches == 0 || u.cases == 0 {
		return 0
	}
	return planned.launches*u.launch/u.launches + planned.cases*u.run/u.cases
}

// usages contains the usage of jobs by number of nodes. The key anyNodes has the usage of all jobs.
type usages map[int]usage

const anyNodes = 0

// of returns the usage of the jobs with the given number of nodes. Without such jobs it returns that of all jobs.
func (u usages) of(nodes int) usage {
	if own, ok := u[nodes]; ok {
		return own
	}
	return u[anyNodes]
}

// start identifies the settings with which programs started that measured a problem's candidates.
func (v *Verifier) start(of journal.Problem) benchrunner.Start {
	for _, p := range v.campaign.Problems {
		if p.Problem == of {
			return p.Start
		}
	}
	return nil
}

func usagesOf(state *journal.State, library string, model benchrunner.LaunchModel, start func(journal.Problem) benchrunner.Start) (usages, error) {
	out := usages{}
	for _, r := range state.Rounds {
		if r.Problem.Library != library {
			continue
		}
		batch, err := r.Batch()
		if err != nil {
			return nil, err
		}
		for _, j := range r.Jobs() {
			if j.State != coll.JobEnded || j.NoStartReason != "" {
				continue
			}
			keys := map[benchrunner.LaunchKey]bool{}
			for _, at := range j.Requests {
				keys[model.Key(batch[at], start(r.Problem))] = true
			}
			for _, nodes := range []int{j.Nodes, anyNodes} {
				sum := out[nodes]
				sum.launches += float64(len(keys))
				sum.cases += float64(len(j.Requests))
				sum.launch += j.Spent.Launch + j.Spent.Idle
				sum.run += j.Spent.Warmup + j.Spent.Measure
				out[nodes] = sum
			}
		}
	}
	return out, nil
}

// launchesOf returns the numbers of launches and candidates that one block (one repetition at all test
// points) needs, by number of nodes. Tuned files and default never share a launch, because their settings
// differ.
func launchesOf(points []verify.TestPoint, model benchrunner.LaunchModel) map[int]usage {
	out := map[int]usage{}
	counted := map[benchrunner.LaunchKey]bool{}
	for _, s := range points {
		u := out[s.Nodes]
		for _, settings := range []coll.Algorithm{verify.Tuned, coll.Default} {
			key := model.Key(coll.Candidate{Point: s.Point, Algorithm: settings}, func(c coll.Candidate) string { return c.Algorithm.String() })
			if !counted[key] {
				counted[key] = true
				u.launches++
			}
			u.cases++
		}
		out[s.Nodes] = u
	}
	return out
}
