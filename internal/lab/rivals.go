package lab

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/surrogate/forest"
)

// Strategies returns the strategies that are compared by default. These are the strategies of campaigns,
// and the rivals random, trees and weights.
func Strategies() []string { return []string{"random", "uncertainty", "trees", "weights", "regret"} }

// strategies holds the name and the options from which the strategy of a replay is created.
type strategies struct {
	name              string
	trees             int  // of the forests of the strategy trees
	sameInitialDesign bool // start with the initial design of regret
}

func (o strategies) new(opt activelearn.Options) (activelearn.Strategy, error) {
	if o.sameInitialDesign && !activelearn.UsesPosterior(o.name) {
		first, err := activelearn.New("regret", opt)
		if err != nil {
			return nil, err
		}
		o.sameInitialDesign = false
		others, err := o.new(opt)
		return &sameInitialDesign{first, others}, err
	}
	switch o.name {
	case "random":
		return &random{seed: opt.Seed}, nil
	case "trees":
		return &treeVariance{forest: forest.Options{Trees: o.trees, Seed: opt.Seed, Workers: 1}}, nil
	case "weights":
		return &weightedDraws{seed: opt.Seed}, nil
	}
	if slices.Contains(activelearn.Names(), o.name) {
		return activelearn.New(o.name, opt)
	}
	return nil, fmt.Errorf("strategy %q: want one of %s", o.name, strings.Join(Strategies(), ", "))
}

// sameInitialDesign is a strategy that gets its first batch from one strategy and all other batches from
// another.
type sameInitialDesign struct{ first, others activelearn.Strategy }

// Ask implements activelearn.Strategy.
func (d *sameInitialDesign) Ask(s activelearn.State) ([]coll.Candidate, error) {
	if s.Ledger.CandidatesMeasured() == 0 {
		return d.first.Ask(s)
	}
	return d.others.Ask(s)
}

// random is a strategy that draws points at random and measures all their algorithms. The authors of the
// method FACT compared it with such training sets.
type random struct{ seed uint64 }

// Ask draws points at random, all with the same probability. It returns the candidates at these points that are still
// to be measured.
func (r *random) Ask(s activelearn.State) ([]coll.Candidate, error) {
	return activelearn.DrawPoints(s, 0, roundRand(r.seed, s.Round)), nil
}

// roundRand returns the random number generator of a round. It depends only on the seed and the round.
func roundRand(seed uint64, round int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(round)))
}
