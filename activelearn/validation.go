package activelearn

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tutti/coll"
	"tutti/surrogate/gp"
)

// validationStream makes the random numbers of validation samples independent of all others in the same
// round. Any odd number would do.
const validationStream = 0xd1342543de82ef95

const (
	// validationShare limits the cost of a validation sample. It is a fraction of the batch's budget.
	validationShare = 0.4
	// confirmShare is the fraction of the budget for candidates that are selected in addition to a
	// validation sample. The most uncertain points and random points reveal different kinds of errors.
	confirmShare = 0.1
)

// validationSample draws points in proportion to their weights, regardless of cost. At each point it
// returns the current choice and one rival, drawn in proportion to the expected loss. The acquisition value
// has no influence, so model errors occur in the sample as often as in the space. Points whose choice is
// certain are skipped. The sample ends before the first point that would exceed the budget, but has at
// least one point.
func (r *regret) validationSample(s State, m *gp.GP) ([]coll.Candidate, error) {
	over := r.samplePoints(s)
	b := &batchSelector{model: newLossModel(r.opt.Allowed), weights: over.weights}
	if err := b.predict(m, s.Ledger.Space(), over.points, r); err != nil {
		return nil, fmt.Errorf("validation sample: %w", err)
	}
	prices, budget := r.prices(s.Ledger), validationShare*budgetOf(s.Ledger)
	rng := rand.New(rand.NewPCG(r.opt.Seed^validationStream, uint64(s.Round)))
	excluded := s.Ledger.Excluded()
	priceOf := func(e int) float64 {
		return prices.launch + prices.run(b.candidates[e].MsgBytes, math.Pow(10, b.means[e]))
	}
	var batch []coll.Candidate
	for _, row := range weightedOrder(over.weights, rng) {
		pair := b.drawPair(row, s.Ledger, excluded, rng)
		price := 0.0
		for _, e := range pair {
			price += priceOf(e)
		}
		switch {
		case len(pair) == 0 || len(batch) == 0 && price > budget:
			continue
		case len(batch) >= s.Want || price > budget:
			return batch, nil
		}
		budget -= price
		for _, e := range pair {
			c := b.candidates[e]
			batch = append(batch, c)
			r.reasons[c] = Reason{Seconds: priceOf(e), Validation: true}
		}
	}
	return batch, nil
}

// weightedOrder returns the indices of the positive weights in a random order. They are drawn without
// replacement, with probabilities in proportion to their weights (Efraimidis and Spirakis, Information
// Processing Letters 97, 2006).
func weightedOrder(weights []float64, rng *rand.Rand) []int {
	var out []int
	key := make([]float64, len(weights))
	for i, w := range weights {
		if u := rng.Float64(); w > 0 {
			key[i] = math.Log(u) / w
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(i, j int) int { return cmp.Compare(key[j], key[i]) })
	return out
}

// drawPair draws a rival of the choice at one point of the sample. Of the choice and the rival, it returns
// the entries that are free.
func (b *batchSelector) drawPair(row int, l *Ledger, excluded *Excluded, rng *rand.Rand) (free []int) {
	first, _ := slices.BinarySearchFunc(b.entries, row, func(e gp.Entry, row int) int { return cmp.Compare(e.Row, row) })
	best := -1
	var selectable []int
	for e := first; e < len(b.entries) && b.entries[e].Row == row; e++ {
		if excluded.Has(b.candidates[e]) {
			continue
		}
		selectable = append(selectable, e)
		if best < 0 || b.means[e] < b.means[best] {
			best = e
		}
	}
	rival, total := -1, 0.0
	for _, e := range selectable {
		if e == best || !l.IsFree(b.candidates[e]) && !l.IsFree(b.candidates[best]) {
			continue
		}
		loss := b.model.loss(b.means[e]-b.means[best], b.posterior.Difference(best, e))
		if total += loss; loss > 0 && rng.Float64()*total < loss {
			rival = e
		}
	}
	if rival < 0 {
		return nil
	}
	for _, e := range []int{best, rival} {
		if l.IsFree(b.candidates[e]) {
			free = append(free, e)
		}
	}
	return free
}
