package proof

import (
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/verify"
)

// leastBudget is what a verification may take however short its campaign was: small
// differences want as many blocks after a campaign of a minute.
const leastBudget = 10 * time.Minute

// Estimate is what it takes to verify one library, as a rule. All is zero where the
// verification has ended.
type Estimate struct {
	Library     string  `json:"library"`
	Points      int     `json:"points"` // of the pass that is next
	Blocks      float64 `json:"blocks"` // that measure a point, on average
	Seconds     float64 `json:"machine_seconds"`
	NodeSeconds float64 `json:"node_seconds"`
	Budget      float64 `json:"budget_seconds"` // of machine time that is left; nothing goes on beyond it
}

// Estimate prices the verification of a library of a campaign that measures by what its
// launches and measurements took, as the journal has them. It starts nothing and writes
// nothing. Errors match ErrRecordedOnly, ErrNoDefault or verify.ErrNothing.
func (p *Proof) Estimate(lib config.Library) (Estimate, error) {
	s, session, err := p.open(lib)
	if err != nil {
		return Estimate{}, err
	}
	done, err := p.models.Conclude(p.log.state, lib.Name)
	if err != nil {
		return Estimate{}, err
	}
	problems, err := s.problems(done.Choices())
	if err != nil {
		return Estimate{}, err
	}
	spots, err := session.Ahead(problems)
	if err != nil || len(spots) == 0 {
		return Estimate{Library: lib.Name}, err
	}
	e := Estimate{
		Library: lib.Name, Points: len(spots), Blocks: blocksOf(p.opt.Rules),
		Budget: max(0, p.Budget(lib).Seconds()-session.Spent()),
	}
	price := pricesOf(p.log.state, lib.Name, p.campaign.Spec.Launch)
	for nodes, n := range startsOf(spots, p.campaign.Spec.Launch) {
		seconds := e.Blocks * price.of(nodes).seconds(n)
		e.Seconds += seconds
		e.NodeSeconds += seconds * float64(nodes)
	}
	if share := e.Budget / e.Seconds; share < 1 {
		e.Seconds, e.NodeSeconds = e.Budget, e.NodeSeconds*share
	}
	return e, nil
}

// blocksOf is how often a spot is measured as a rule: first looks end half way between
// their bounds, and the share of the spots that looks slower by chance is looked at
// again.
func blocksOf(r verify.Rules) float64 {
	return float64(r.MinBlocks+r.MaxBlocks)/2 + r.Suspicion*float64(2*r.MaxBlocks)
}

// Budget is the machine time that the verification of a library may take, 0 for any:
// recorded data cost none.
func (p *Proof) Budget(lib config.Library) time.Duration {
	if p.opt.MachineTime > 0 || !p.campaign.Config.Runner.Live() {
		return p.opt.MachineTime
	}
	took := 0.0
	for _, r := range p.log.state.Rounds {
		for _, t := range r.Trials {
			if r.Problem.Library == lib.Name {
				took += t.CostSeconds
			}
		}
	}
	return max(leastBudget, time.Duration(took*float64(time.Second)))
}

// usage counts starts of the benchmark program and what is measured in them, and the
// machine time that both took.
type usage struct {
	starts, cases float64
	launch, run   float64 // seconds
}

// seconds is what the starts and cases of another usage take at the price of this one.
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

// prices are what was used by the jobs of a campaign.
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

// of is the usage of jobs of so many nodes, of all where there were none.
func (p prices) of(nodes int) usage {
	if u, known := p.byNodes[nodes]; known {
		return u
	}
	return p.all
}

// startsOf counts what one block of all spots starts and measures, by number of nodes.
// What is tuned and the default never share a start: their settings differ.
func startsOf(spots []verify.Spot, model benchrunner.LaunchModel) map[int]usage {
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
