package verification

import (
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/verify"
)

// minBudget is what a verification may take after a short campaign: the number of blocks that
// small differences need does not depend on the length of the campaign.
const minBudget = 10 * time.Minute

// Estimate is the expected cost of verifying one library. Everything is zero if the verification
// has ended.
type Estimate struct {
	Library     string  `json:"library"`
	Points      int     `json:"points"` // of the pass that is next
	Blocks      float64 `json:"blocks"` // that measure a point, on average
	Seconds     float64 `json:"machine_seconds"`
	NodeSeconds float64 `json:"node_seconds"`
	Budget      float64 `json:"budget_seconds"` // of machine time that is left; nothing goes on beyond it
}

// Estimate estimates the cost of verifying a library from the times of the campaign's launches and
// measurements in the journal. It runs and writes nothing. Errors match ErrRecordedOnly, ErrNoDefault or verify.ErrNothing.
func (v *Verifier) Estimate(lib config.Library) (Estimate, error) {
	s, session, err := v.open(lib)
	if err != nil {
		return Estimate{}, err
	}
	done, err := v.models.Conclude(v.log.state, lib.Name)
	if err != nil {
		return Estimate{}, err
	}
	problems, err := s.problems(done.Choices())
	if err != nil {
		return Estimate{}, err
	}
	spots, err := session.NextPoints(problems)
	if err != nil || len(spots) == 0 {
		return Estimate{Library: lib.Name}, err
	}
	e := Estimate{
		Library: lib.Name, Points: len(spots), Blocks: blocksOf(v.opt.Rules),
		Budget: max(0, v.Budget(lib).Seconds()-session.MachineSeconds()),
	}
	price := pricesOf(v.log.state, lib.Name, v.campaign.Spec.Launch)
	for nodes, n := range startsOf(spots, v.campaign.Spec.Launch) {
		seconds := e.Blocks * price.of(nodes).seconds(n)
		e.Seconds += seconds
		e.NodeSeconds += seconds * float64(nodes)
	}
	if share := e.Budget / e.Seconds; share < 1 {
		e.Seconds, e.NodeSeconds = e.Budget, e.NodeSeconds*share
	}
	return e, nil
}

// blocksOf returns the expected number of blocks at a test point. A first look ends half way
// between its bounds. The share of the points that looks slower by chance gets a second look.
func blocksOf(r verify.Rules) float64 {
	return float64(r.MinBlocks+r.MaxBlocks)/2 + r.Suspicion*float64(2*r.MaxBlocks)
}

// Budget returns the machine time that the verification of a library may take, 0 for no limit:
// recorded data cost nothing.
func (v *Verifier) Budget(lib config.Library) time.Duration {
	if v.opt.MachineTime > 0 || !v.campaign.Config.Runner.Live() {
		return v.opt.MachineTime
	}
	took := 0.0
	for _, r := range v.log.state.Rounds {
		for _, t := range r.Trials {
			if r.Problem.Library == lib.Name {
				took += t.CostSeconds
			}
		}
	}
	return max(minBudget, time.Duration(took*float64(time.Second)))
}

// usage counts launches of the benchmark program and the candidates measured in them, and the
// machine time of both.
type usage struct {
	starts, cases float64
	launch, run   float64 // seconds
}

// seconds returns the machine time of the launches and candidates of another usage at the average
// times of this one.
func (u usage) seconds(of usage) float64 {
	if u.starts == 0 || u.cases == 0 {
		return 0
	}
	return of.starts*u.launch/u.starts + of.cases*u.run/u.cases
}

func (u *usage) add(o usage) {
	u.starts += o.starts
	u.cases += o.cases
	u.launch += o.launch
	u.run += o.run
}

// prices are the usages of the jobs of a campaign.
type prices struct {
	byNodes map[int]usage
	all     usage
}

// pricesOf adds up the jobs of one library that have ended.
func pricesOf(state *journal.State, library string, model benchrunner.LaunchModel) prices {
	p := prices{byNodes: map[int]usage{}}
	for _, r := range state.Rounds {
		if r.Problem.Library != library {
			continue
		}
		for _, j := range r.Jobs() {
			if j.State != coll.JobEnded || j.NoStartReason != "" {
				continue
			}
			keys := map[benchrunner.LaunchKey]bool{}
			for _, at := range j.Carries {
				keys[model.Key(r.Batch[at])] = true
			}
			used := usage{
				starts: float64(len(keys)), cases: float64(len(j.Carries)),
				launch: j.Spent.Launch + j.Spent.Idle, run: j.Spent.Warmup + j.Spent.Measure,
			}
			sum := p.byNodes[j.Nodes]
			sum.add(used)
			p.byNodes[j.Nodes] = sum
			p.all.add(used)
		}
	}
	return p
}

// of returns the usage of jobs of so many nodes, of all jobs if there were none.
func (p prices) of(nodes int) usage {
	if u, known := p.byNodes[nodes]; known {
		return u
	}
	return p.all
}

// startsOf counts the launches and candidates of one block of all test points, by number of nodes.
// The tuned files and the default never share a launch: their settings differ.
func startsOf(spots []verify.TestPoint, model benchrunner.LaunchModel) map[int]usage {
	out := map[int]usage{}
	type start struct {
		benchrunner.LaunchKey
		way coll.Algorithm
	}
	seen := map[start]bool{}
	for _, s := range spots {
		u := out[s.Nodes]
		for _, way := range []coll.Algorithm{verify.Tuned, coll.Default} {
			key := start{model.Key(coll.Candidate{Point: s.Point, Algorithm: way}), way}
			if !seen[key] {
				seen[key] = true
				u.starts++
			}
			u.cases++
		}
		out[s.Nodes] = u
	}
	return out
}
