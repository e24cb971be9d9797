package activelearn

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// State is what a strategy asks by.
type State struct {
	Round  int     // 1 for the first
	Want   int     // candidates wanted; a strategy that measures whole points may return more
	Ledger *Ledger // which candidates are free, pending or done
	// Posterior is that of the ledger's measurements and of Options.Earlier, for strategies that
	// use one; nil: the strategy computes it.
	Posterior *learner.Posterior
	// Confirm says that the criteria hold by prediction: strategies that use the posterior then
	// add a validation sample.
	Confirm bool
}

// posterior returns the posterior of the state. It computes it if the state has none.
func (s State) posterior(earlier [][]coll.Measurement) (*learner.Posterior, error) {
	if s.Posterior != nil {
		return s.Posterior, nil
	}
	return learner.NewPosterior(learner.Data{Measurements: s.Ledger.Measurements(), Replicates: s.Ledger.Replicates(), Earlier: earlier})
}

// Strategy proposes what to measure next.
type Strategy interface {
	// Ask returns free candidates of the ledger, none twice: at least Want unless fewer are left.
	// The strategy regret returns fewer, but one at least, where Want candidates would cost more
	// than half of the machine time so far. The result depends on the strategy's options, the
	// state and the earlier states alone, so a resumed campaign asks for the same.
	Ask(s State) ([]coll.Candidate, error)
}

// Explainer is a strategy that gives reasons.
type Explainer interface {
	// Reason returns why a candidate was asked for last. It is false for candidates without a
	// reason: those of the initial design, and random ones.
	Reason(c coll.Candidate) (Reason, bool)
}

// Options of the strategies.
type Options struct {
	Seed    uint64
	Initial int // points measured first; zero takes 3 for regret, else 5
	// SharedLaunch is equal for candidates that one launch can measure; nil: each candidate needs
	// a launch of its own.
	SharedLaunch func(coll.Candidate) any
	// Allowed is what the selection may lose; regret computes losses in its units.
	Allowed metrics.Allowed
	// Weights are those of the points of the space for regret, 0 or more; nil: all alike. The
	// selection at a point of weight 0 does not matter, but a measurement there may be
	// informative about other points.
	Weights []float64
	// Earlier are measurements of earlier campaigns, a slice of each. The initial design of regret
	// measures a few of them again. Algorithms that the space does not have are ignored.
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

// launch is equal for candidates that one launch can measure.
func (o Options) launch(c coll.Candidate) any {
	if o.SharedLaunch == nil {
		return c
	}
	return o.SharedLaunch(c)
}

// UsesPosterior reports whether a strategy chooses by the posterior over all algorithms.
func UsesPosterior(strategy string) bool { return strategy == "regret" }

// Names returns the strategies that New makes.
func Names() []string { return []string{"regret", "uncertainty"} }

// New returns the strategy called name. The error lists the names.
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

// rng returns the random numbers of a round. They depend on seed and round alone.
func (o Options) rng(round int) *rand.Rand {
	return rand.New(rand.NewPCG(o.Seed, uint64(round)))
}

// DrawPoints returns all free candidates of points drawn at random: of so many points at
// least, and so many that the batch has State.Want candidates.
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
