package lab

import (
	"context"
	"math/rand/v2"
	"slices"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/coll"
	"tutti/preprocess"
)

// figureShares lists the sizes of training sets in the figures of Wilkins et al. (ExaMPI 2021), as shares of
// the candidates.
var figureShares = []float64{1, 0.50, 0.20, 0.10, 0.05, 0.02, 0.01}

// source is a way to collect a training set, with a scaling of the times.
type source struct {
	name    string
	scaling preprocess.Scaling
	choose  func(seed uint64) (activelearn.Strategy, error) // chooses the points; nil: they are random
}

// sample is the result of training a model on one training set: the quality of the algorithms that it selects.
type sample struct {
	source  int // index
	set     int // index
	seed    int // index
	share   float64
	seconds float64 // machine time to collect the training set
	Quality
}

// samples trains a model on one training set for each source, data set, seed and size (share of the candidates). The
// results are in this order.
func samples(ctx context.Context, sets []Set, seeds []uint64, opt Options, sources []source) ([]sample, error) {
	var cells []sample
	for source := range sources {
		for set := range sets {
			for seed := range seeds {
				cells = append(cells, sample{source: source, set: set, seed: seed})
			}
		}
	}
	parts, err := inOrder(ctx, opt.Workers, cells, func(ctx context.Context, at sample) ([]sample, error) {
		return sources[at.source].samples(ctx, sets[at.set], seeds[at.seed], opt, at)
	})
	return slices.Concat(parts...), err
}

// samples measures the candidates of one data set in the order that the source chooses. For each of figureShares, it
// trains a model on the share of them that was measured first. It returns the results.
func (src source) samples(ctx context.Context, s Set, seed uint64, opt Options, at sample) ([]sample, error) {
	machine, err := s.machine(opt.replay(seed))
	if err != nil {
		return nil, err
	}
	var ms []coll.Measurement
	if src.choose != nil {
		ms, err = activeOrder(ctx, s, machine, src.choose, seed, opt)
	} else {
		ms, err = randomOrder(ctx, s, machine, seed)
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
		at.share, at.seconds = share, totalCost(train)
		if src.choose == nil { // one batch, whose candidates share launches
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

func randomOrder(ctx context.Context, s Set, machine *replay.Machine, seed uint64) ([]coll.Measurement, error) {
	points := s.Space.Points()
	var batch []coll.Candidate
	for _, i := range rand.New(rand.NewPCG(seed, uint64(len(points)))).Perm(len(points)) {
		batch = append(batch, s.Space.At(i)...)
	}
	return measure(ctx, machine, 1, batch)
}

// activeOrder measures all points in the order in which a strategy selects them. It does not evaluate selections as a
// campaign would, because the strategies of sources do not need this.
func activeOrder(ctx context.Context, s Set, machine *replay.Machine, choose func(uint64) (activelearn.Strategy, error), seed uint64, opt Options) ([]coll.Measurement, error) {
	strategy, err := choose(seed)
	if err != nil {
		return nil, err
	}
	ledger := activelearn.NewLedger(s.Space)
	for round := 1; ledger.FreeCount() > 0; round++ {
		want := opt.Batch.Want(ledger.CandidatesMeasured())
		batch, err := strategy.Ask(activelearn.State{Round: round, Want: want, Ledger: ledger})
		if err != nil {
			return nil, err
		}
		ms, err := measure(ctx, machine, round, batch)
		if err != nil {
			return nil, err
		}
		if err := recordAll(ledger, ms); err != nil {
			return nil, err
		}
	}
	return ledger.Measurements(), nil
}

func recordAll(ledger *activelearn.Ledger, ms []coll.Measurement) error {
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

// measure runs one batch on recorded data and returns the measurements. No trial fails on recorded data.
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
