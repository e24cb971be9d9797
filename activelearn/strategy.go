package activelearn

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// State is the input of a strategy for one round.
type State struct {
	Round  int     // 1 for the first
	Want   int     // number of candidates wanted; a strategy that measures all algorithms of a point may return more
	Ledger *Ledger // the candidates' status and measurements
	// Posterior predicts times from the ledger's measurements and those of Options.Earlier. If it is nil, a
	// strategy that needs a posterior computes it.
	Posterior *learner.Posterior
}

// posterior returns the posterior of the state. If the state has none, it computes the posterior.
func (s State) posterior(earlier [][]coll.Measurement) (*learner.Posterior, error) {
	if s.Posterior != nil {
		return s.Posterior, nil
	}
	return learner.NewPosterior(learner.Data{Measurements: s.Ledger.All(), Replicates: s.Ledger.Replicates(), Earlier: earlier})
}

// Strategy selects the candidates to measure next.
type Strategy interface {
	// Ask returns distinct candidates of the ledger that are free (neither measured nor pending). It returns at
	// least Want candidates, unless fewer are free. The strategy "regret" returns fewer, but at least one, if
	// Want candidates would cost more than half of the machine time used so far. The result depends only on the
	// options, the state and the batches so far, so a resumed campaign asks for the same candidates.
	Ask(s State) ([]coll.Candidate, error)
}

// Restorer is a strategy whose result also depends on earlier calls of Ask.
type Restorer interface {
	// Restore has the same effect on later calls as a call of Ask that returned the given batch. It fits no
	// model.
	Restore(s State, batch []coll.Candidate)
}

// Explainer is a strategy that gives reasons for its candidates.
type Explainer interface {
	// Reason returns why the last call of Ask returned a candidate. It returns false for candidates of the
	// initial design and for randomly drawn ones.
	Reason(c coll.Candidate) (Reason, bool)
}

// Options configures a strategy, which selects the candidates to measure.
type Options struct {
	Seed    uint64
	Initial int // number of points measured first; zero means 3 for regret, 5 otherwise
	// SharedLaunch returns equal values for candidates that one launch can measure. If it is nil,
	// each candidate needs its own launch.
	SharedLaunch func(coll.Candidate) any
	// Allowed holds the slowdown and the proportion of mistakes that the stopping criteria allow. The strategy
	// "regret" computes losses in these units.
	Allowed metrics.Allowed
	// Weight is used by the strategy "regret" alone. The selection at a point of weight 0 does not matter. A
	// measurement at such a point can still be informative about other points.
	Weight coll.Weight
	// Earlier holds the measurements of earlier campaigns, one slice for each campaign. At first the
	// strategy "regret" measures a few of these candidates again. It ignores algorithms that are not in the
	// space.
	Earlier [][]coll.Measurement
}

// launch returns a key for the launch of a candidate. Candidates with equal keys can share a launch.
func (o Options) launch(c coll.Candidate) any {
	if o.SharedLaunch == nil {
		return c
	}
	return o.SharedLaunch(c)
}

// Method is a value of the key method in campaign files. It sets the strategy, and by it the model, the criteria and the
// hyperparameter study.
type Method struct {
	Name          string
	Doc           string // one line, for the description of the key
	Strategy      string // its name
	UsesPosterior bool   // the strategy needs the posterior over all algorithms

	initial int // default of Options.Initial
	new     func(Options) Strategy
}

// Methods returns all methods. The first one is the default. FACT is the pipeline of Wilkins et al., ExaMPI 2021.
func Methods() []Method {
	return []Method{
		{
			Name: "regret", Strategy: "regret", UsesPosterior: true, initial: initialPoints,
			Doc: "the loss of the selection per second of machine time chooses what to measure",
			new: func(o Options) Strategy { return newRegret(o, lossReduction{}) },
		},
		{
			Name: "fact", Strategy: "uncertainty", initial: defaultInitial,
			Doc: "the pipeline of the FACT paper",
			new: func(o Options) Strategy { return &uncertainty{opt: o} },
		},
	}
}

// StrategyOf returns the name of the strategy of a method, "" for an unknown method.
func StrategyOf(method string) string {
	for _, m := range Methods() {
		if m.Name == method {
			return m.Strategy
		}
	}
	return ""
}

// UsesPosterior reports whether a strategy needs the posterior over all algorithms.
func UsesPosterior(strategy string) bool {
	return slices.ContainsFunc(Methods(), func(m Method) bool { return m.Strategy == strategy && m.UsesPosterior })
}

// Names returns the names of strategies that New accepts.
func Names() []string {
	var out []string
	for _, m := range Methods() {
		out = append(out, m.Strategy)
	}
	return out
}

// New returns the strategy with the given name. If the name is unknown, the error lists the valid names.
func New(name string, opt Options) (Strategy, error) {
	for _, m := range Methods() {
		if m.Strategy == name {
			opt.Initial = cmp.Or(max(0, opt.Initial), m.initial)
			return m.new(opt), nil
		}
	}
	return nil, fmt.Errorf("strategy %q: want one of %s", name, strings.Join(Names(), ", "))
}

// rng returns the random number generator of a round. It depends only on the seed and the round.
func (o Options) rng(round int) *rand.Rand {
	return rand.New(rand.NewPCG(o.Seed, uint64(round)))
}

// DrawPoints draws points at random and returns all free candidates there. It draws at least the given number of points,
// and more until it has State.Want candidates.
func DrawPoints(s State, points int, rng *rand.Rand) []coll.Candidate {
	return freeCandidates(s, points, rng.Perm(len(s.Ledger.Space().Points())))
}

// freeCandidates returns the free candidates at the first points of `order` that have any: at `points` points or more, until
// there are State.Want candidates.
func freeCandidates(s State, points int, order []int) []coll.Candidate {
	var out []coll.Candidate
	for _, i := range order {
		if points <= 0 && len(out) >= s.Want {
			break
		}
		if here := s.Ledger.Free(i); len(here) > 0 {
			out = append(out, here...)
			points--
		}
	}
	return out
}
