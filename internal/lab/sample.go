package lab

import (
	"context"
	"math/rand/v2"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/coll"
	"tutti/preprocess"
)

// figureShares are the training sets of the paper's figures, largest first.
var figureShares = []float64{1, 0.50, 0.20, 0.10, 0.05, 0.02, 0.01}

// source is a way to get a training set and to learn from it.
type source struct {
	name    string
	scaling preprocess.Scaling
	active  bool // points chosen by FACT's surrogate, at random otherwise
}

// sample is what one training set gives.
type sample struct {
	source  int
	set     int
	seed    int
	share   float64
	seconds float64 // to collect it
	Quality
}

// samples trains on every share from every source, by source, set, seed and share.
func samples(ctx context.Context, sets []Set, seeds []uint64, opt Options, sources []source) ([]sample, error) {
	perSource := len(sets) * len(seeds)
	parts, err := inOrder(ctx, opt.Workers, len(sources)*perSource, func(ctx context.Context, i int) ([]sample, error) {
		at := sample{source: i / perSource, set: i % perSource / len(seeds), seed: i % len(seeds)}
		return sources[at.source].samples(ctx, sets[at.set], seeds[at.seed], opt, at)
	}, nil)
	var all []sample
	for _, p := range parts {
		all = append(all, p...)
	}
	return all, err
}

// samples fills in one sample for each share.
func (src source) samples(ctx context.Context, s Set, seed uint64, opt Options, at sample) ([]sample, error) {
	machine, err := s.machine(opt.replay(seed))
	if err != nil {
		return nil, err
	}
	var ms []coll.Measurement
	if src.active {
		ms, err = chosen(ctx, s, machine, seed, opt)
	} else {
		ms, err = drawn(ctx, s, machine, seed)
	}
	if err != nil {
		return nil, err
	}
	var out []sample
	for _, share := range figureShares {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		train := firstShare(ms, s, share)
		at.share, at.seconds = share, cost(train)
		if !src.active { // collected in one batch, which shares its launches
			at.seconds = machine.ExhaustiveSeconds(candidates(train))
		}
		if at.Quality, err = qualityOf(s, train, opt.learner(src.scaling, seed)); err != nil {
			return nil, err
		}
		out = append(out, at)
	}
	return out, nil
}

func candidates(ms []coll.Measurement) []coll.Candidate {
	out := make([]coll.Candidate, len(ms))
	for i, m := range ms {
		out[i] = m.Candidate
	}
	return out
}

// drawn measures all points in random order.
func drawn(ctx context.Context, s Set, machine *replay.Machine, seed uint64) ([]coll.Measurement, error) {
	points := s.Space.Points()
	var batch []coll.Candidate
	for _, i := range rand.New(rand.NewPCG(seed, uint64(len(points)))).Perm(len(points)) {
		batch = append(batch, s.Space.At(i)...)
	}
	return measure(ctx, machine, 1, batch)
}

// chosen measures all points in the order of FACT's surrogate. Unlike a campaign
// it judges nothing on the way, since the strategy does not ask for it.
func chosen(ctx context.Context, s Set, machine *replay.Machine, seed uint64, opt Options) ([]coll.Measurement, error) {
	strategy, err := activelearn.New("uncertainty", activelearn.Options{Seed: seed})
	if err != nil {
		return nil, err
	}
	ledger := activelearn.NewLedger(s.Space)
	for round := 1; ledger.Left() > 0; round++ {
		want := opt.Batch.Want(len(ledger.Measurements()))
		batch, err := strategy.Ask(activelearn.State{Round: round, Want: want, Ledger: ledger})
		if err != nil {
			return nil, err
		}
		ms, err := measure(ctx, machine, round, batch)
		if err != nil {
			return nil, err
		}
		if err := enter(ledger, ms); err != nil {
			return nil, err
		}
	}
	return ledger.Measurements(), nil
}

// enter records a batch that was measured at the first attempt.
func enter(ledger *activelearn.Ledger, ms []coll.Measurement) error {
	for _, m := range ms {
		if err := ledger.Pend(m.Candidate); err != nil {
			return err
		}
		if err := ledger.Record(coll.Trial{Measurement: m, Attempt: 1, State: coll.TrialDone}); err != nil {
			return err
		}
	}
	return nil
}

// measure runs one batch on recorded data, where nothing fails.
func measure(ctx context.Context, machine *replay.Machine, round int, batch []coll.Candidate) ([]coll.Measurement, error) {
	requests := make([]benchrunner.Request, len(batch))
	for i, c := range batch {
		requests[i] = benchrunner.Request{Candidate: c, Attempt: 1}
	}
	var ms []coll.Measurement
	err := machine.Run(ctx, benchrunner.Batch{Round: round, Requests: requests}, benchrunner.TrialLog(func(t coll.Trial) error {
		ms = append(ms, t.Measurement)
		return nil
	}))
	return ms, err
}
