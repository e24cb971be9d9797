package activelearn

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"tutti/coll"
	"tutti/surrogate/gp"
)

const (
	boardOptions = 400
	// Variance in squared decades beyond which a price is not raised: e^(2.3²/2) = 14.
	priceVariance = 1
)

// option is a candidate that may be picked.
type option struct {
	candidate  coll.Candidate
	entry      int
	launch     any
	run        float64   // seconds of executions
	variance   float64   // of its time, given all picks
	covariance []float64 // of its time with the difference of each pair, given all picks
	steps      []float64 // covariance with each pick over the pick's deviation
	worth      float64   // by how much the losses fall
	stale      bool      // picks were made since worth was worked out
	taken      bool
}

// board is what a batch is picked from.
type board struct {
	posterior  *gp.Posterior
	entries    []gp.Entry       // by row: algorithms at the points of the sample
	candidates []coll.Candidate // of the entries
	means      []float64        // of the entries, log10 seconds
	noise      float64
	stakes     stakes
	weights    []float64 // of the points of the sample
	weight     float64   // of all of them
	pairs      []pair
	doubts     []doubt // of the rows
	options    []option
	picks      []pick
	launch     float64 // seconds
	budget     float64 // seconds that picks may cost yet
	full       bool    // what is worth most costs more
	started    map[any]bool
	least      float64 // what any pick was worth a second
}

// batchShare is the part of what was spent so far that a batch costs at most, unless it is
// of one candidate: where the last candidates take most of the machine time, a batch of as
// many as ever would spend as much again before anybody looks whether it was enough. What
// earlier campaigns spent does not count: what they know is asked for in small steps.
const batchShare = 0.5

// budgetOf is what a batch may cost, in seconds; without end where nothing has a price.
func budgetOf(l *Ledger) float64 {
	if l.CostSeconds() == 0 {
		return math.Inf(1)
	}
	return batchShare * l.CostSeconds()
}

// layout is what a board is laid out over.
type layout struct {
	points  []int     // of the space, in order
	weights []float64 // of the points
	asked   map[coll.Candidate]bool
}

// board lays out the pairs and options of a round. What is asked for already counts as
// pending.
func (r *regret) board(s State, m *gp.GP, over layout) (*board, error) {
	b := &board{
		budget:  budgetOf(s.Ledger),
		noise:   m.Params().Noise,
		stakes:  stakesOf(r.opt.Allowed),
		weights: over.weights,
		started: map[any]bool{},
		least:   math.Inf(1),
	}
	if s.Confirm {
		b.budget *= besideShare
	}
	for _, w := range over.weights {
		b.weight += w
	}
	if err := b.predict(m, s.Ledger.Space(), over.points, r); err != nil {
		return nil, err
	}
	b.addPairs(s.Ledger.Excluded())
	at := r.prices(s.Ledger)
	b.launch = at.launch
	waiting := b.addOptions(s.Ledger, over, at, r.opt.launch)
	b.reduce(r.opt.rng(s.Round))
	b.value(waiting)
	return b, nil
}

// predict works out the entries at points of the space.
func (b *board) predict(m *gp.GP, sp *coll.Space, sample []int, r *regret) error {
	tasks := make([]int, len(sp.Algorithms()))
	for a, alg := range sp.Algorithms() {
		tasks[a] = r.belief.Task(alg, a)
	}
	here := make([][]float64, len(sample))
	for k, i := range sample {
		here[k] = r.rows[i]
		for _, a := range sp.Feasible(i) {
			b.entries = append(b.entries, gp.Entry{Row: k, Task: tasks[a]})
			b.candidates = append(b.candidates, coll.Candidate{Point: sp.Points()[i], Algorithm: sp.Algorithms()[a]})
		}
	}
	var err error
	if b.posterior, err = m.Posterior(here, b.entries); err != nil {
		return err
	}
	b.means = make([]float64, len(b.entries))
	for e := range b.means {
		b.means[e] = b.posterior.Mean(e)
	}
	return nil
}

// addOptions makes options of what is free and returns those that are pending.
func (b *board) addOptions(l *Ledger, over layout, at prices, launch func(coll.Candidate) any) (waiting []option) {
	e := 0
	b.options = make([]option, 0, len(b.entries))
	for _, i := range over.points {
		for k := range l.Space().Feasible(i) {
			if now := l.status[l.first[i]+k]; now == free || now == pending {
				c := b.candidates[e]
				o := option{candidate: c, entry: e, launch: launch(c), variance: b.posterior.Variance(e)}
				// The mean of a log-normal variable.
				o.run = at.run(c.MsgBytes, math.Pow(10, b.means[e]+math.Ln10/2*min(o.variance, priceVariance)))
				if now == pending || over.asked[c] {
					waiting = append(waiting, o)
				} else {
					b.options = append(b.options, o)
				}
			}
			e++
		}
	}
	return waiting
}

// reduce keeps so many options as can be valued: half of them those at the
// points of greatest loss for the price, the others drawn with probabilities in
// proportion to variance over price, since cheap neighbours may tell as much
// (weights as in Efraimidis and Spirakis, Information Processing Letters 97, 2006).
func (b *board) reduce(rng *rand.Rand) {
	if len(b.options) <= boardOptions {
		return
	}
	here := make([]float64, len(b.entries)) // loss that an entry is part of
	for _, p := range b.pairs {
		here[p.best] += p.loss
		here[p.other] += p.loss
	}
	price := func(o *option) float64 { return max(leastPrice, o.run+b.launch) }
	key := make([]float64, len(b.entries))
	for i := range b.options {
		o := &b.options[i]
		key[o.entry] = here[o.entry] / price(o)
	}
	greatest := func(o, q option) int {
		return cmp.Or(cmp.Compare(key[q.entry], key[o.entry]), cmp.Compare(o.entry, q.entry))
	}
	slices.SortFunc(b.options, greatest)
	rest := b.options[boardOptions/2:]
	for i := range rest {
		o := &rest[i]
		key[o.entry] = math.Log(rng.Float64()) * price(o) / max(o.variance, b.noise)
	}
	slices.SortFunc(rest, greatest)
	b.options = b.options[:boardOptions]
	slices.SortFunc(b.options, func(o, q option) int { return cmp.Compare(o.entry, q.entry) })
}
