package activelearn

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/surrogate/gp"
)

const (
	boardPairs      = 500 // of greatest loss
	boardCandidates = 400
	// Variance in squared decades beyond which a price is not raised: e^(2.3²/2) = 14.
	priceVariance = 1
	// Part of a variance below which a fall of it is not worth the arithmetic.
	leastFall = 1e-3
)

// pair is the algorithm of lowest mean at a point and another one.
type pair struct {
	best, other int     // entries of the posterior
	gap         float64 // difference of the means, 0 or more, decades
	variance    float64 // of the difference
	loss        float64
}

// option is a candidate that may be picked.
type option struct {
	candidate  coll.Candidate
	entry      int
	launch     launchKey
	run        float64   // seconds of executions
	variance   float64   // of its time, given all picks
	covariance []float64 // of its time with the difference of each pair
	worth      float64   // by how much the losses fall
	stale      bool      // worth was more before the last picks, or as much
	taken      bool
}

// board is what a batch is picked from.
type board struct {
	posterior  *gp.Posterior
	entries    []gp.Entry       // by row: algorithms at the points of the sample
	candidates []coll.Candidate // of the entries
	means      []float64        // of the entries, log10 seconds
	noise      float64
	pairs      []pair
	doubts     []doubt // of the rows
	options    []option
	picks      []pick
	launch     float64 // seconds
	started    map[launchKey]bool
	shared     bool // launches serve several candidates
}

// board lays out the pairs and options of a round.
func (r *regret) board(s State) (*board, error) {
	l := s.Ledger
	sp := l.Space()
	m, err := r.model(l.Measurements())
	if err != nil {
		return nil, err
	}
	rng := r.opt.rng(s.Round)
	sample := r.sample(l, rng)
	rows := make([][]float64, len(sample))
	var entries []gp.Entry
	for k, i := range sample {
		rows[k] = r.rows[i]
		for _, a := range sp.Feasible(i) {
			entries = append(entries, gp.Entry{Row: k, Task: a})
		}
	}
	b := &board{
		entries: entries,
		noise:   m.Params().Noise,
		started: map[launchKey]bool{},
		shared:  r.opt.Launch == benchrunner.LaunchOSU || r.opt.Launch == benchrunner.LaunchNative,
	}
	if b.posterior, err = m.Posterior(rows, entries); err != nil {
		return nil, err
	}
	means := m.Means(rows, len(sp.Algorithms()))
	for _, e := range entries {
		b.candidates = append(b.candidates, coll.Candidate{Point: sp.Points()[sample[e.Row]], Algorithm: sp.Algorithms()[e.Task]})
		b.means = append(b.means, means[e.Task][e.Row])
	}
	b.addPairs()
	at := pricesOf(l.Measurements(), r.paid)
	b.launch = at.launch
	var waiting []option
	for e, c := range b.candidates {
		now := l.status[c]
		if now != free && now != pending {
			continue
		}
		o := option{candidate: c, entry: e, launch: launchOf(r.opt.Launch, c), variance: b.posterior.Variance(e)}
		// The mean of a log-normal variable.
		t := math.Pow(10, b.means[e]+math.Ln10/2*min(o.variance, priceVariance))
		o.run = at.run(c.MsgBytes, t)
		if now == pending {
			waiting = append(waiting, o)
		} else {
			b.options = append(b.options, o)
		}
	}
	b.reduce(rng)
	b.value(waiting)
	return b, nil
}

// addPairs keeps the pairs of greatest loss.
func (b *board) addPairs() {
	for first := 0; first < len(b.entries); {
		best, end := first, first
		for ; end < len(b.entries) && b.entries[end].Row == b.entries[first].Row; end++ {
			if b.means[end] < b.means[best] {
				best = end
			}
		}
		d := doubt{best: best, rival: best}
		for e := first; e < end; e++ {
			if e == best {
				continue
			}
			p := pair{best: best, other: e, gap: b.means[e] - b.means[best], variance: b.posterior.Difference(best, e)}
			p.loss = loss(p.gap, p.variance)
			b.pairs = append(b.pairs, p)
			if v := lost(p.gap, p.variance); v > d.lost || d.rival == best {
				d.lost, d.rival = v, e
			}
		}
		b.doubts = append(b.doubts, d)
		first = end
	}
	slices.SortStableFunc(b.pairs, func(p, q pair) int { return cmp.Compare(q.loss, p.loss) })
	b.pairs = b.pairs[:min(len(b.pairs), boardPairs)]
}

// The criteria's usual limits and what counts as a mistake; see loss.
const (
	lossSlowdown = 0.03
	lossMistakes = 0.05
	lossMistake  = 0.0413927 // log10 1.1
)

// loss is what choosing the first of two algorithms is expected to lose where the
// second may be faster: the time of the first over that of the second, in decades,
// is normal with mean -gap and the given variance. The mean of what is lost and the
// probability of a mistake, more than 10 %, count in units of what the criteria
// allow: losses below 10 %, ties among them, are worth little.
func loss(gap, variance float64) float64 {
	s := math.Sqrt(variance)
	if gap >= surely*s {
		return 0
	}
	mistake := math.Erfc((gap+lossMistake)/s/math.Sqrt2) / 2
	return lost(gap, variance)/lossSlowdown + mistake/lossMistakes
}

// surely is how many deviations a gap has beyond which nothing is lost.
const surely = 6

// lost is the mean slowdown that loss speaks of, as a part: 0.1 is 10 %.
func lost(gap, variance float64) float64 {
	s := math.Sqrt(variance)
	if gap >= surely*s {
		return 0
	}
	z := gap / s
	return math.Ln10 * max(0, s*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)-gap*math.Erfc(z/math.Sqrt2)/2)
}

// reduce keeps so many options as can be valued: half of them those at the
// points of greatest loss for the price, the others drawn with probabilities in
// proportion to variance over price, since cheap neighbours may tell as much
// (weights as in Efraimidis and Spirakis, Information Processing Letters 97, 2006).
func (b *board) reduce(rng *rand.Rand) {
	if len(b.options) <= boardCandidates {
		return
	}
	here := map[int]float64{} // loss that an entry is part of
	for _, p := range b.pairs {
		here[p.best] += p.loss
		here[p.other] += p.loss
	}
	price := func(o option) float64 { return max(leastPrice, o.run+b.launch) }
	slices.SortStableFunc(b.options, func(o, q option) int {
		return cmp.Compare(here[q.entry]/price(q), here[o.entry]/price(o))
	})
	rest := b.options[boardCandidates/2:]
	lot := make(map[int]float64, len(rest))
	for _, o := range rest {
		lot[o.entry] = math.Log(rng.Float64()) * price(o) / max(o.variance, b.noise)
	}
	slices.SortStableFunc(rest, func(o, q option) int { return cmp.Compare(lot[q.entry], lot[o.entry]) })
	b.options = b.options[:boardCandidates]
	slices.SortFunc(b.options, func(o, q option) int { return cmp.Compare(o.entry, q.entry) })
}

// value counts what is pending as observed and works out what each option is worth.
func (b *board) value(waiting []option) {
	for _, o := range waiting {
		b.started[o.launch] = true
		step := b.posterior.Condition(o.entry)
		for k := range b.pairs {
			b.pairs[k].shrink(step)
		}
	}
	for i := range b.options {
		o := &b.options[i]
		o.variance = b.posterior.Variance(o.entry)
		o.covariance = make([]float64, len(b.pairs))
		for k, p := range b.pairs {
			o.covariance[k] = b.posterior.Covariance(o.entry, p.best) - b.posterior.Covariance(o.entry, p.other)
		}
		o.worth = b.worth(o)
	}
}

// shrink takes from a pair's variance what an observation explains of it.
func (p *pair) shrink(step []float64) {
	d := step[p.best] - step[p.other]
	p.variance = max(0, p.variance-d*d)
	p.loss = loss(p.gap, p.variance)
}

// worth is by how much the losses fall when the option is measured.
func (b *board) worth(o *option) float64 { return b.spared(o, loss) }

// spared is by how much a measure of what is lost falls when the option is measured.
func (b *board) spared(o *option, loss func(gap, variance float64) float64) float64 {
	sum := 0.0
	for k := range b.pairs {
		p := &b.pairs[k]
		fall := o.covariance[k] * o.covariance[k] / (o.variance + b.noise)
		if fall > leastFall*p.variance {
			sum += loss(p.gap, p.variance) - loss(p.gap, max(0, p.variance-fall))
		}
	}
	return sum
}

// pick takes the options worth most for their price, want of them if there are as
// many. Where launches are shared it goes on while the best option needs no launch
// and is worth as much as any before.
func (b *board) pick(want int) []coll.Candidate {
	var batch []coll.Candidate
	least := math.Inf(1)
	for {
		o, rate := b.best()
		if o == nil {
			return batch
		}
		if len(batch) >= want {
			if !b.shared || len(batch) >= batchGrowth*want || !b.started[o.launch] || rate < least {
				return batch
			}
		}
		least = min(least, rate)
		batch = append(batch, o.candidate)
		b.take(o)
	}
}

// best is the option worth most a second, nil when none is left. What an option is
// worth hardly ever rises by other picks, so only those at the top are valued anew.
func (b *board) best() (*option, float64) {
	for {
		var top *option
		most := math.Inf(-1)
		for i := range b.options {
			o := &b.options[i]
			if o.taken {
				continue
			}
			if rate := o.worth / b.price(o); rate > most {
				top, most = o, rate
			}
		}
		if top == nil || !top.stale {
			return top, most
		}
		top.worth, top.stale = b.worth(top), false
	}
}

// price is what an option costs in this batch, in seconds.
func (b *board) price(o *option) float64 {
	if b.started[o.launch] {
		return max(leastPrice, o.run)
	}
	return max(leastPrice, o.run+b.launch)
}

// take counts an option as observed.
func (b *board) take(o *option) {
	o.taken = true
	b.picks = append(b.picks, pick{
		entry: o.entry, launch: o.launch, starts: !b.started[o.launch], run: o.run,
		spares: b.spared(o, lost) / float64(len(b.doubts)),
	})
	b.started[o.launch] = true
	step := b.posterior.Condition(o.entry)
	for k := range b.pairs {
		b.pairs[k].shrink(step)
	}
	for i := range b.options {
		q := &b.options[i]
		v := step[q.entry]
		q.variance = max(0, q.variance-v*v)
		for k, p := range b.pairs {
			q.covariance[k] -= v * (step[p.best] - step[p.other])
		}
		q.stale = true
	}
}
