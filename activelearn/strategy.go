package activelearn

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// State is the input of a strategy for one round.
type State struct {
	Round  int     // 1 for the first
	Want   int     // candidates wanted; a strategy that measures whole points may return more
	Ledger *Ledger // the candidates' status and measurements
	// Posterior is the posterior given the ledger's measurements and Options.Earlier. If it is nil,
	// a strategy that needs a posterior computes it.
	Posterior *learner.Posterior
	// Confirm is true if the predictions meet the criteria. A strategy with a posterior then adds a
	// validation sample.
	Confirm bool
}

// posterior returns the state's posterior, which it computes if the state has none.
func (s State) posterior(earlier [][]coll.Measurement) (*learner.Posterior, error) {
	if s.Posterior != nil {
		return s.Posterior, nil
	}
	return learner.NewPosterior(learner.Data{Measurements: s.Ledger.Measurements(), Replicates: s.Ledger.Replicates(), Earlier: earlier})
}

// Strategy selects the candidates to measure next.
type Strategy interface {
	// Ask returns distinct free candidates of the ledger: at least Want unless fewer are free. The
	// strategy regret returns fewer, but at least one, if Want candidates would cost more than half
	// of the machine time so far. The result depends only on the options and the states so far, so
	// a resumed campaign asks for the same candidates.
	Ask(s State) ([]coll.Candidate, error)
}

// Explainer is a strategy that gives reasons for its candidates.
type Explainer interface {
	// Reason returns why a candidate was last asked for. It is false for candidates of the initial
	// design and for random ones.
	Reason(c coll.Candidate) (Reason, bool)
}

// Options configures a strategy.
type Options struct {
	Seed    uint64
	Initial int // points measured first; zero takes 3 for regret, else 5
	// SharedLaunch returns equal values for candidates that one launch can measure. If it is nil,
	// each candidate needs its own launch.
	SharedLaunch func(coll.Candidate) any
	// Allowed holds the allowed slowdown and mistakes; regret computes losses in these units.
	Allowed metrics.Allowed
	// Weights holds a weight, 0 or more, for each point of the space; nil means equal weights. Only
	// regret uses it. The selection at a point of weight 0 does not matter, but a measurement there
	// may be informative about other points.
	Weights []float64
	// Earlier holds the measurements of earlier campaigns, one slice for each campaign. The initial
	// design of regret measures a few of them again. Algorithms outside the space are ignored.
	Earlier [][]coll.Measurement
}

// defaultInitial is the number of hyperparameters that uncertainty learns: three length scales, a
// signal variance and a noise variance.
const defaultInitial = 5

func (o Options) withDefaults(strategy string) Options {
	switch {
	case o.Initial > 0:
	case UsesPosterior(strategy):
		o.Initial = initialPoints
	default:
		o.Initial = defaultInitial
	}
	return o
}

// launch returns the launch key of a candidate; candidates with equal keys can share a launch.
func (o Options) launch(c coll.Candidate) any {
	if o.SharedLaunch == nil {
		return c
	}
	return o.SharedLaunch(c)
}

// UsesPosterior reports whether a strategy needs the posterior over all algorithms.
func UsesPosterior(strategy string) bool { return strategy == "regret" }

// Names returns the names that New accepts.
func Names() []string { return []string{"regret", "uncertainty"} }

// New returns the strategy of the given name. An error for an unknown name lists the valid ones.
func New(name string, opt Options) (Strategy, error) {
	opt = opt.withDefaults(name)
	switch name {
	case "uncertainty":
		return &uncertainty{opt: opt}, nil
	case "regret":
		return &regret{opt: opt}, nil
	}
	return nil, fmt.Errorf("strategy %q: want one of %s", name, strings.Join(Names(), ", "))
}

// rng returns the random number generator of a round. It depends on the seed and the round alone.
func (o Options) rng(round int) *rand.Rand {
	return rand.New(rand.NewPCG(o.Seed, uint64(round)))
}

// DrawPoints returns all free candidates at points drawn at random. It draws at least the given
// number of points and continues until the batch has State.Want candidates.
func DrawPoints(s State, points int, rng *rand.Rand) []coll.Candidate {
	var out []coll.Candidate
	drawn := 0
	for _, i := range rng.Perm(len(s.Ledger.Space().Points())) {
		if drawn >= points && len(out) >= s.Want {
			break
		}
		if here := s.Ledger.Free(i); len(here) > 0 {
			out = append(out, here...)
			drawn++
		}
	}
	return out
}
