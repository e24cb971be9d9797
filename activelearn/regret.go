package activelearn

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"tutti/coll"
	"tutti/surrogate/learner"
)

// regret is a strategy. It selects the candidates that are expected to lower the loss of the final
// selection most, per second of machine time.
//
// The posterior (a Gaussian process of log10 times of all algorithms, gp.GP) predicts the fastest algorithm
// at each point. It also gives the variance of the time difference between this algorithm and each other
// one. The expected loss of the choice follows from this variance; see lossModel. A measurement of a
// candidate shrinks the variances and therefore the losses. The acquisition value of the candidate is the
// fall of the losses, summed over a sample of the space. The price is the predicted machine time of the
// candidate's executions. For the first candidate of a launch it includes the launch. Batches are selected
// greedily by the ratio of acquisition value to price. Selected and pending candidates count as observed.
//
// This is the knowledge gradient (Frazier, Powell and Dayanik, INFORMS J. Computing 21, 2009), simplified: a
// measurement lowers variances, but changes no mean. The original acquisition value is zero if no single
// measurement can change the choice; this one is positive even then.
//
// Measurements of earlier campaigns are further sources of the Gaussian process. A few of these
// measurements are repeated first. This shows whether the others are still valid.
type regret struct {
	opt         Options
	acquisition acquisition
	points      []coll.Point              // of the space
	index       map[coll.Algorithm]int    // in the space
	launching   map[coll.Candidate]bool   // candidates whose machine time includes a launch
	reasons     map[coll.Candidate]Reason // of the last Ask
	posterior   *learner.Posterior        // of the last Ask
}

func newRegret(opt Options, a acquisition) *regret {
	return &regret{opt: opt, acquisition: a, launching: map[coll.Candidate]bool{}}
}

// Ask returns the candidates with the highest ratio of acquisition value to price.
func (r *regret) Ask(s State) ([]coll.Candidate, error) {
	r.start(s.Ledger)
	if s.Ledger.CandidatesMeasured() == 0 {
		batch := r.initialDesign(s)
		r.recordLaunches(batch)
		return batch, nil
	}
	batch, err := r.ask(s)
	if err != nil {
		return nil, fmt.Errorf("regret: %w", err)
	}
	r.recordLaunches(batch)
	return batch, nil
}

// Restore implements Restorer. It brings the strategy into the state that Ask left when it returned the batch.
func (r *regret) Restore(_ State, batch []coll.Candidate) { r.recordLaunches(batch) }

// ask selects the batch of a round after the initial design.
func (r *regret) ask(s State) (batch []coll.Candidate, err error) {
	if r.posterior, err = s.posterior(r.opt.Earlier); err != nil {
		return nil, err
	}
	over, at := r.samplePoints(s), s.Ledger.prices(r.opt.Earlier, r.launching)
	for _, want := range r.stages(s.Want) {
		if len(batch) >= s.Want {
			break
		}
		over.selected = asSet(batch)
		b, err := r.newSelector(s, over, at)
		if err != nil {
			return nil, err
		}
		picks := b.selectBatch(want - len(batch))
		if len(picks) > 0 && b.prices.launch <= b.picks[0].run { // with a cheap launch, filling it first has no advantage
			picks = append(picks, b.selectBatch(s.Want-len(batch)-len(picks))...)
		}
		batch = append(batch, picks...)
		b.explain(r.reasons)
		more, err := r.fillLaunches(s, b, batch)
		if err != nil {
			return nil, err
		}
		batch = append(batch, more...)
		if b.overBudget {
			return batch, nil
		}
	}
	return r.complete(s, batch), nil
}

// stages returns the batch sizes at which `ask` stops selecting and adds further candidates to the launches of
// the batch. If candidates can share launches, the first size is 1, because the first launch alone may complete
// the batch.
func (r *regret) stages(want int) []int {
	if !r.sharesLaunches() || want < 2 {
		return []int{want}
	}
	return []int{1, want}
}

// sharesLaunches reports whether a single launch can measure several candidates.
func (r *regret) sharesLaunches() bool { return r.opt.SharedLaunch != nil }

func asSet(candidates []coll.Candidate) map[coll.Candidate]bool {
	out := make(map[coll.Candidate]bool, len(candidates))
	for _, c := range candidates {
		out[c] = true
	}
	return out
}

// Reason implements Explainer: it returns why a candidate was selected.
func (r *regret) Reason(c coll.Candidate) (Reason, bool) {
	why, known := r.reasons[c]
	return why, known
}

// start prepares a call of Ask: it discards the reasons of the previous call. At the first call it also
// computes the indexes of the algorithms.
func (r *regret) start(l *Ledger) {
	r.reasons = map[coll.Candidate]Reason{}
	r.points = l.Space().Points()
	if r.index != nil {
		return
	}
	r.index = make(map[coll.Algorithm]int, len(l.Space().Algorithms()))
	for a, alg := range l.Space().Algorithms() {
		r.index[alg] = a
	}
}

// recordLaunches records in r.launching which candidate of a batch each launch measures first.
func (r *regret) recordLaunches(batch []coll.Candidate) {
	seen := map[any]bool{}
	for _, c := range batch {
		k := r.opt.launch(c)
		if !seen[k] {
			r.launching[c], seen[k] = true, true
		}
	}
}

// complete adds random free candidates to a batch that has too few, because the selector saw only a sample of the points.
func (r *regret) complete(s State, batch []coll.Candidate) []coll.Candidate {
	if len(batch) >= s.Want {
		return batch
	}
	selected := asSet(batch)
	for _, i := range r.opt.rng(s.Round).Perm(len(r.points)) {
		for _, c := range s.Ledger.Free(i) {
			if len(batch) < s.Want && !selected[c] {
				batch = append(batch, c)
			}
		}
	}
	return batch
}

// samplePoints returns the points that a round considers, with their weights, in the order of the space. If
// the space has at most samplePoints points, it returns all of them. From a larger space, points are drawn in
// proportion to their weights. The weight of a point in the result is then how often it was drawn. Points
// with pending candidates are always included.
func (r *regret) samplePoints(s State) pointSample {
	rng := r.opt.rng(s.Round)
	counts := map[int]float64{}
	n := len(r.points)
	switch {
	case n <= samplePoints:
		for i := range n {
			counts[i] = r.opt.Weight.Of(r.points[i])
		}
	default:
		for _, i := range r.draw(rng) {
			counts[i]++
		}
		for k := 0; r.opt.Weight != nil && k < evenPoints; k++ {
			counts[rng.IntN(n)] += 0
		}
	}
	for _, c := range s.Ledger.Pending() {
		i, _ := s.Ledger.Space().Index(c.Point)
		counts[i] += 0
	}
	out := pointSample{points: slices.Sorted(maps.Keys(counts))}
	for _, i := range out.points {
		out.weights = append(out.weights, counts[i])
	}
	return out
}

// draw divides the points of the space, in order, into samplePoints parts of equal weight. It draws one
// point from each part. A point of large weight can be drawn several times.
func (r *regret) draw(rng *rand.Rand) []int {
	total := r.totalWeight()
	var out []int
	passed, i := r.opt.Weight.Of(r.points[0]), 0
	for k := range samplePoints {
		at := total * (float64(k) + rng.Float64()) / samplePoints
		for ; passed <= at && i < len(r.points)-1; i++ {
			passed += r.opt.Weight.Of(r.points[i+1])
		}
		out = append(out, i)
	}
	return out
}

// totalWeight returns the sum of the weights of all points of the space.
func (r *regret) totalWeight() float64 {
	sum := 0.0
	for _, p := range r.points {
		sum += r.opt.Weight.Of(p)
	}
	return sum
}
