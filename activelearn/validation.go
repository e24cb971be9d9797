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

// checkStream keeps what checks draw apart from what else is drawn in a round. Any odd
// number would do.
const checkStream = 0xd1342543de82ef95

const (
	// checkShare is the part of what a batch may cost that the checks in it cost at most.
	checkShare = 0.4
	// besideShare is the part of it that what the strategy picks beside them costs at most: what is
	// most doubted and what was drawn see different faults.
	besideShare = 0.1
)

// check asks, when the criteria are believed to hold, whether they do: at points drawn by
// their weights, whatever they cost, for what is chosen there and for a rival drawn in
// proportion to what is expected to be lost to it. Nothing here is picked by what it is worth, so
// that what the belief does not know of is seen as often as it is there. Points at which
// nothing is left to doubt are passed over. What is dear is not: after the first draw that
// the budget allows, one that it does not ends the batch.
func (r *regret) check(s State, m *gp.GP) ([]coll.Candidate, error) {
	over := r.sample(s)
	b := &board{stakes: stakesOf(r.opt.Allowed), weights: over.weights}
	if err := b.predict(m, s.Ledger.Space(), over.points, r); err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	at, budget := r.prices(s.Ledger), checkShare*budgetOf(s.Ledger)
	rng := rand.New(rand.NewPCG(r.opt.Seed^checkStream, uint64(s.Round)))
	barred := s.Ledger.Excluded()
	priceOf := func(e int) float64 {
		return at.launch + at.run(b.candidates[e].MsgBytes, math.Pow(10, b.means[e]))
	}
	var batch []coll.Candidate
	for _, row := range drawn(over.weights, rng) {
		pair := b.drawPair(row, s.Ledger, barred, rng)
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

// drawn are the indices of weights above zero in an order drawn without replacement in
// proportion to them (Efraimidis and Spirakis, Information Processing Letters 97, 2006).
func drawn(weights []float64, rng *rand.Rand) []int {
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

// drawPair draws a rival of what is chosen at a point of the sample and returns the entries
// of the two that are free.
func (b *board) drawPair(row int, l *Ledger, barred *Excluded, rng *rand.Rand) (free []int) {
	first, _ := slices.BinarySearchFunc(b.entries, row, func(e gp.Entry, row int) int { return cmp.Compare(e.Row, row) })
	best := -1
	var open []int
	for e := first; e < len(b.entries) && b.entries[e].Row == row; e++ {
		if barred.Has(b.candidates[e]) {
			continue
		}
		open = append(open, e)
		if best < 0 || b.means[e] < b.means[best] {
			best = e
		}
	}
	rival, total := -1, 0.0
	for _, e := range open {
		if e == best || !l.IsFree(b.candidates[e]) && !l.IsFree(b.candidates[best]) {
			continue
		}
		loss := b.stakes.loss(b.means[e]-b.means[best], b.posterior.Difference(best, e))
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
