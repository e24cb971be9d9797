package lab

import (
	"context"
	"slices"
	"time"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

type contender struct {
	name      string
	strategy  string
	published bool // as published: with the initial design and the forests of its authors
	ownStop   bool // stopped by its own predictions
	ownModel  bool // the strategy is a chooser and makes the selection
}

// contenders lists strategies with a stopping rule or model of their own; see Contenders. Those after own-stop follow Wilkins
// et al. (FACT, ExaMPI 2021), Wilkins et al. (CLUSTER 2022) and Steiner (TU Wien 2023). The authors of FACT compared it with
// the last one.
var contenders = []contender{
	{name: "own-stop", strategy: "regret", ownStop: true},
	{name: "fact", strategy: "uncertainty", published: true},
	{name: "acclaim", strategy: "trees", published: true, ownModel: true},
	{name: "iota", strategy: "weights", published: true, ownModel: true},
	{name: "random-published", strategy: "random", published: true},
}

// Contenders returns the names that an evaluation accepts in addition to the names of strategies. The contender
// "own-stop" is the strategy "regret", but its own predictions stop it. If the stopping criteria do not hold at this
// stop, it counts as never converged. The others are published methods, each with its own initial design. "acclaim"
// (strategy "trees") and "iota" (strategy "weights") have their own models. "fact" (strategy "uncertainty") and
// "random-published" (strategy "random") train a forest for each algorithm, on times of the scaling algorithm_log10.
func Contenders() (names []string) {
	for _, c := range contenders {
		names = append(names, c.name)
	}
	return names
}

// contenderOf returns the contender with this name. Any other name is that of a strategy, which then uses the
// campaign's stopping rule.
func contenderOf(name string) contender {
	if i := slices.Index(Contenders(), name); i >= 0 {
		return contenders[i]
	}
	return contender{name: name, strategy: name}
}

type chooser interface {
	activelearn.Strategy
	// choose returns the selection of the strategy's model.
	choose() (activelearn.Choice, error)
}

// options returns the options for replays of a contender. A published method replaces the model and the
// scaling.
func (c contender) options(opt Options) Options {
	if c.published {
		opt.Model, opt.Scaling, opt.Selected = learner.Forest, preprocess.AlgorithmLog10, false
	}
	return opt
}

// sameStrategy reports whether two names stand for the same strategy, whatever their stopping rules are.
func sameStrategy(strategy, other string) bool {
	o := contenderOf(other)
	return contenderOf(strategy).strategy == o.strategy && !o.published
}

// runOwnStop replays an entry until it stops by its own predictions, for each cost of launches. If the truth does
// not meet the stopping criteria at this stop, the outcome counts as never converged.
func (e entry) runOwnStop(ctx context.Context, launches []benchrunner.LaunchCost, opt Options) ([]Outcome, error) {
	var out []Outcome
	for _, launch := range launches {
		opt.Launch = launch
		began := time.Now()
		c, err := entry{e.set, contenderOf(e.strategy).strategy, e.seed}.calibrate(ctx, opt, true)
		if err != nil {
			return nil, err
		}
		o := Outcome{
			Replay: e.replay(opt), Real: e.set.Real,
			Converged: c.Stopped && c.Good, MachineSeconds: c.StopSeconds, MachineShare: c.StopShare,
			Slowdown: c.Slowdown, Mistakes: c.Mistakes, Rounds: c.Evaluations,
			Points: len(e.set.Space.Points()), Candidates: e.set.Space.Size(),
			Stop: stopName(c), WallSeconds: time.Since(began).Seconds(),
		}
		out = append(out, o)
	}
	return out, nil
}

// stopName returns a text that says whether a replay stopped by its own predictions, and whether this was
// right.
func stopName(c Calibration) string {
	switch {
	case !c.Stopped:
		return "never"
	case !c.Good:
		return "wrong"
	}
	return "right"
}
