package activelearn

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// State is what a strategy may look at.
type State struct {
	Round  int     // 1 for the first
	Want   int     // candidates wanted; a strategy that measures whole points may give more
	Ledger *Ledger // who is free, pending, done
	// Posterior is that of the ledger's measurements and of Options.Earlier, for strategies
	// that Believe; nil: they form it themselves.
	Posterior *learner.Posterior
	// Confirm says that the criteria are believed to hold: strategies that Believe then
	// check it.
	Confirm bool
}

// believe returns the belief of the state, formed now where nobody gave it.
func (s State) believe(earlier [][]coll.Measurement) (*learner.Posterior, error) {
	if s.Posterior != nil {
		return s.Posterior, nil
	}
	return learner.NewPosterior(learner.Data{Measurements: s.Ledger.Measurements(), Replicates: s.Ledger.Repeats(), Earlier: earlier})
}

// Strategy proposes what to measure next.
type Strategy interface {
	// Ask returns free candidates of the ledger, at least Want unless fewer are
	// left, none twice; fewer, but one at least, where regret finds that so many would cost
	// more than half of what was spent so far, or checks. It depends on the strategy's options, the state and the
	// states it was asked in before, so a campaign told again asks the same.
	Ask(s State) ([]coll.Candidate, error)
}

// Explainer is a strategy that says why it asks.
type Explainer interface {
	// Reason is why a candidate was asked for when it last was, as known then.
	// False when nothing was known: the first candidates, and random ones.
	Reason(c coll.Candidate) (Reason, bool)
}

// Options of the strategies.
type Options struct {
	Seed    uint64
	Initial int // points measured first; zero takes 3 for regret, else 5
	// SharedLaunch is equal for candidates that one launch can measure; nil: each candidate needs
	// a launch of its own.
	SharedLaunch func(coll.Candidate) any
	// Allowed is what the selection may lose, in whose units regret counts.
	Allowed metrics.Allowed
	// Weights say how much each point of the space matters to regret, 0 or more; nil:
	// all alike. What is chosen at a point of weight 0 is worth nothing, though a
	// measurement there may tell of others.
	Weights []float64
	// Earlier are measurements of earlier campaigns, a slice of each. regret begins by
	// measuring a few of them anew; algorithms that the space does not have are left out.
	Earlier [][]coll.Measurement
}

// defaultInitial is the number of hyper-parameters that uncertainty learns: three length
// scales, a signal and a noise variance.
const defaultInitial = 5

func (o Options) withDefaults(strategy string) Options {
	switch {
	case o.Initial > 0:
	case UsesPosterior(strategy):
		o.Initial = beginPoints
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

// New returns the strategy called name. The error names what is allowed.
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

// rng of one round: nothing to save between rounds.
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
