package lab

import (
	"context"
	"time"

	"tutti/benchrunner"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

// The contenders that are no strategies of their own.
const (
	ownStop          = "own-stop"         // regret until it stops by its own predictions
	publishedFACT    = "fact"             // as published (Wilkins et al., ExaMPI 2021)
	publishedACCLAiM = "acclaim"          // as published (Wilkins et al., CLUSTER 2022)
	publishedRandom  = "random-published" // random points for forests, what FACT was compared with
)

// Contenders returns the names beside those of the strategies that an evaluation takes.
// own-stop is regret with no truth in hand: it ends where its own predictions say so, and
// one that stops wrongly counts as never converged. fact, acclaim and random-published are
// uncertainty, jackknife and random with forests of the scaling algorithm_log10 and their
// own beginning, whatever model the others have.
func Contenders() []string {
	return []string{ownStop, publishedFACT, publishedACCLAiM, publishedRandom}
}

// contender is what a name stands for.
type contender struct {
	strategy  string
	published bool
	ownStop   bool
}

func contenderOf(name string) contender {
	switch name {
	case ownStop:
		return contender{strategy: "regret", ownStop: true}
	case publishedFACT:
		return contender{strategy: "uncertainty", published: true}
	case publishedACCLAiM:
		return contender{strategy: "jackknife", published: true}
	case publishedRandom:
		return contender{strategy: "random", published: true}
	}
	return contender{strategy: name}
}

// options are those under which a contender is replayed.
func (c contender) options(opt Options) Options {
	if c.published {
		opt.Model, opt.Scaling, opt.Selected = learner.Forest, preprocess.AlgorithmLog10, false
	}
	return opt
}

// standIn reports whether a name stands for the strategy itself.
func standIn(strategy, name string) bool {
	mine := contenderOf(strategy)
	return mine.strategy == contenderOf(name).strategy && !contenderOf(name).published
}

// stopped replays an entry that ends by its own predictions, under each price of launches.
// What stops while the truth does not meet the criteria never converged.
func (e entry) stopped(ctx context.Context, launches []benchrunner.LaunchCost, opt Options) ([]Outcome, error) {
	var out []Outcome
	for _, launch := range launches {
		opt.Launch = launch
		began := time.Now()
		c, err := calibrate(ctx, entry{e.set, contenderOf(e.strategy).strategy, e.seed}, opt, true)
		if err != nil {
			return nil, err
		}
		o := Outcome{
			Data: c.Data, Real: e.set.Real, Collective: c.Collective, Strategy: e.strategy, Launch: c.Launch, Seed: c.Seed,
			Converged: c.Stopped && c.Good, MachineSeconds: c.StopSeconds, MachineShare: c.StopShare,
			Slowdown: c.Slowdown, Mistakes: c.Mistakes, Rounds: c.Evaluations, Noise: opt.Noise,
			Points: len(e.set.Space.Points()), Candidates: e.set.Space.Size(),
			Stop: stopName(c), WallSeconds: time.Since(began).Seconds(),
		}
		out = append(out, o)
	}
	return out, nil
}

// stopName says how a replay that judges itself ended.
func stopName(c Calibration) string {
	switch {
	case !c.Stopped:
		return "never"
	case !c.Good:
		return "wrong"
	}
	return "right"
}
