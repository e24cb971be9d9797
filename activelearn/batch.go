package activelearn

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// scoredCandidate is a candidate for the batch, with the values from which its score is computed.
type scoredCandidate struct {
	candidate   coll.Candidate
	entry       int
	launch      any
	launched    bool      // the launch is planned
	run         float64   // expected seconds of executions, if errors of predictions are normal
	tailedRun   float64   // expected seconds of executions, if errors of predictions have tails; see withTails
	variance    float64   // of the candidate's log10 time, given the picks that steps has
	covariance  []float64 // between the candidate's time and the difference of each pair, given the picks that steps has
	steps       []float64 // covariance with each of the first picks, divided by the pick's standard deviation
	acquisition float64   // decrease of the losses if the candidate is measured, given the picks that steps has
	picked      bool
}

// openChoice has the algorithm that would be selected at one point now, and its strongest rival.
type openChoice struct {
	best, rival int     // indexes of entries: the one with the lowest mean, and the one to which it is expected to lose most
	slowdown    float64 // expected slowdown of best relative to rival; 0.1 is 10 %
}

// pick is a candidate that was selected for the batch, with the values that it had at its selection.
type pick struct {
	entry    int
	launch   any
	launches bool    // it is the first pick of the batch that needs this launch
	run      float64 // seconds
	gain     float64 // expected decrease of the average slowdown; 0.1 is 10 %

	steps     []float64 // covariance with each earlier pick, divided by the earlier pick's standard deviation
	deviation float64   // of its measured time
	pairs     []float64 // covariance with the difference of each pair, divided by deviation
}

// batchSelector selects a batch greedily: it always takes the candidate with the highest ratio of
// acquisition value to price.
type batchSelector struct {
	posterior   *gp.Posterior
	acquisition acquisition
	entries     []gp.Entry       // by row: algorithms at the points of the sample
	candidates  []coll.Candidate // of the entries
	means       []float64        // of the entries, log10 seconds
	noise       float64
	model       lossModel
	weights     []float64 // of the points of the sample
	totalWeight float64
	pairs       []pair
	choices     []openChoice // of the rows
	scored      []scoredCandidate
	picks       []pick
	prices      prices
	budget      float64 // seconds that further picks may cost
	overBudget  bool    // the best remaining candidate costs more than the budget
	minRate     float64 // lowest ratio of acquisition value to price among the picks
}

// pointSample holds the points for which a batch is selected.
type pointSample struct {
	points   []int     // of the space, in order
	weights  []float64 // of the points
	selected map[coll.Candidate]bool
}

// budgetOf returns the machine time that a batch may cost, in seconds. It is infinite until the first trial
// with a cost above zero.
func budgetOf(l *Ledger) float64 {
	if l.CostSeconds() == 0 {
		return math.Inf(1)
	}
	return batchShare * l.CostSeconds()
}

// newSelector returns the selector of a round's batch, with the pairs of algorithms and the candidates to
// choose from. Pending candidates (their measurement is in progress) count as measured in the posterior.
func (r *regret) newSelector(s State, over pointSample, at prices) (*batchSelector, error) {
	m := r.posterior.GP()
	b := &batchSelector{
		acquisition: r.acquisition,
		budget:      budgetOf(s.Ledger),
		noise:       m.Params().Noise,
		model:       newLossModel(r.opt.Allowed),
		weights:     over.weights,
		minRate:     math.Inf(1),
		prices:      at,
	}
	for _, w := range over.weights {
		b.totalWeight += w
	}
	if err := b.predict(m, s.Ledger.Space(), over.points, r); err != nil {
		return nil, err
	}
	b.addPairs(s.Ledger.Excluded())
	pending := b.addCandidates(s.Ledger, over, r.opt.launch)
	b.reduce(r.opt.rng(s.Round))
	b.score(pending)
	return b, nil
}

// predict computes the posterior means and covariances of all algorithms at the given points of the space.
func (b *batchSelector) predict(m *gp.GP, sp *coll.Space, sample []int, r *regret) error {
	tasks := make([]int, len(sp.Algorithms()))
	for a, alg := range sp.Algorithms() {
		tasks[a] = r.posterior.Task(alg, a)
	}
	points := make([]coll.Point, len(sample))
	for k, i := range sample {
		points[k] = sp.Points()[i]
		for _, a := range sp.Feasible(i) {
			b.entries = append(b.entries, gp.Entry{Row: k, Task: tasks[a]})
			b.candidates = append(b.candidates, coll.Candidate{Point: points[k], Algorithm: sp.Algorithms()[a]})
		}
	}
	var err error
	if b.posterior, err = m.Posterior(preprocess.SurrogateRows(points), b.entries); err != nil {
		return err
	}
	b.means = make([]float64, len(b.entries))
	for e := range b.means {
		b.means[e] = b.posterior.Mean(e)
	}
	return nil
}

// addCandidates adds the free candidates to the selector. It returns the pending ones.
func (b *batchSelector) addCandidates(l *Ledger, over pointSample, launch func(coll.Candidate) any) (waiting []scoredCandidate) {
	e := 0
	b.scored = make([]scoredCandidate, 0, len(b.entries))
	for _, i := range over.points {
		for k := range l.Space().Feasible(i) {
			if now := l.status[l.first[i]+k]; now == free || now == pending {
				c := b.candidates[e]
				s := scoredCandidate{candidate: c, entry: e, launch: launch(c), variance: b.posterior.Variance(e)}
				median := math.Pow(10, b.means[e])
				s.run = b.prices.run(c.MsgBytes, median*logNormalMean(s.variance))
				s.tailedRun = b.prices.run(c.MsgBytes, median*logNormalMeanWithTails(s.variance))
				if now == pending || over.selected[c] {
					waiting = append(waiting, s)
				} else {
					b.scored = append(b.scored, s)
				}
			}
			e++
		}
	}
	return waiting
}

// reduce keeps at most maxScored candidates. Half of them are those with the greatest ratio of expected loss to
// price. The other half is drawn at random, weighted by the ratio of variance to price. Cheap candidates are thus
// drawn often. Their measurement can tell as much about the loss at a nearby point as a measurement there.
//
// Source of the weighted sampling: Efraimidis and Spirakis, Information Processing Letters 97 (2006).
func (b *batchSelector) reduce(rng *rand.Rand) {
	if len(b.scored) <= maxScored {
		return
	}
	loss := make([]float64, len(b.entries)) // that an entry is part of
	for _, p := range b.pairs {
		loss[p.best] += p.loss
		loss[p.other] += p.loss
	}
	key := make([]float64, len(b.entries))
	for i := range b.scored {
		s := &b.scored[i]
		key[s.entry] = loss[s.entry] / b.price(s)
	}
	greatest := func(s, t scoredCandidate) int {
		return cmp.Or(cmp.Compare(key[t.entry], key[s.entry]), cmp.Compare(s.entry, t.entry))
	}
	slices.SortFunc(b.scored, greatest)
	others := b.scored[maxScored/2:]
	for i := range others {
		s := &others[i]
		key[s.entry] = math.Log(rng.Float64()) * b.price(s) / max(s.variance, b.noise)
	}
	slices.SortFunc(others, greatest)
	b.scored = b.scored[:maxScored]
	slices.SortFunc(b.scored, func(s, t scoredCandidate) int { return cmp.Compare(s.entry, t.entry) })
}

// score computes the acquisition value of each candidate. Before this it treats the pending candidates as
// measured in the posterior.
func (b *batchSelector) score(waiting []scoredCandidate) {
	for _, s := range waiting {
		b.plan(s.launch)
		step := b.posterior.Condition(s.entry)
		for k := range b.pairs {
			p := &b.pairs[k]
			p.shrink(step[p.best]-step[p.other], b.model)
		}
	}
	between := make([]gp.Pair, len(b.pairs))
	for k, p := range b.pairs {
		between[k] = gp.Pair{One: p.best, Other: p.other}
	}
	covariances := b.posterior.WithDifferences(b.scoredEntries(), between)
	for i := range b.scored {
		s := &b.scored[i]
		s.variance = b.posterior.Variance(s.entry)
		s.covariance = covariances[i]
		s.acquisition = b.acquisition.value(b, s)
	}
}

// scoredEntries returns the indexes of the scored candidates in the posterior.
func (b *batchSelector) scoredEntries() []int {
	out := make([]int, len(b.scored))
	for i := range b.scored {
		out[i] = b.scored[i].entry
	}
	return out
}

// selectBatch selects candidates one by one, each time the one with the highest ratio of acquisition value
// to price. It stops after `want` candidates, or when the budget is used up. It always selects at least one. The budget
// counts errors of predictions with tails, because a batch far from all measurements may cost a thousand times its price.
func (b *batchSelector) selectBatch(want int) []coll.Candidate {
	var batch []coll.Candidate
	for len(batch) < want {
		s, rate := b.best()
		if s == nil {
			break
		}
		cost := b.withLaunch(s, s.tailedRun)
		if len(b.picks) > 0 && cost > b.budget {
			b.overBudget = true
			break
		}
		b.budget -= cost
		b.minRate = min(b.minRate, rate)
		batch = append(batch, s.candidate)
		b.pick(s)
	}
	return batch
}

// best returns the candidate with the highest ratio of acquisition value to price, or nil if none remains. A
// further pick rarely raises an acquisition value. Therefore best updates only the values at the top of the
// order (lazy greedy selection: Minoux, Optimization Techniques, 1978).
func (b *batchSelector) best() (*scoredCandidate, float64) {
	for {
		var top *scoredCandidate
		rate := math.Inf(-1)
		for i := range b.scored {
			s := &b.scored[i]
			if s.picked {
				continue
			}
			if v := s.acquisition / b.price(s); v > rate {
				top, rate = s, v
			}
		}
		if top == nil || len(top.steps) == len(b.picks) {
			return top, rate
		}
		b.update(top)
	}
}

// price returns the expected machine time of measuring a candidate in this batch, in seconds.
func (b *batchSelector) price(s *scoredCandidate) float64 { return b.withLaunch(s, s.run) }

// withLaunch returns the machine time of a candidate whose executions take `run` seconds. It includes the launch of the
// program, unless an earlier pick of the batch already uses this launch.
func (b *batchSelector) withLaunch(s *scoredCandidate, run float64) float64 {
	if s.launched {
		return max(minPrice, run)
	}
	return max(minPrice, run+b.prices.launch)
}

// plan marks the candidates that the given launch can measure. Their price no longer includes a launch.
func (b *batchSelector) plan(launch any) {
	for i := range b.scored {
		s := &b.scored[i]
		s.launched = s.launched || s.launch == launch
	}
}

// update recomputes a candidate's variance, covariances and acquisition value. It assumes that every candidate
// picked since the last update has been measured. It takes O(picks · (picks + pairs)) operations.
func (b *batchSelector) update(s *scoredCandidate) {
	for _, p := range b.picks[len(s.steps):] {
		v := b.posterior.Covariance(p.entry, s.entry)
		for k, step := range p.steps {
			v -= step * s.steps[k]
		}
		v /= p.deviation
		s.steps = append(s.steps, v)
		s.variance = max(0, s.variance-v*v)
		floats.AddScaled(s.covariance, -v, p.pairs)
	}
	s.acquisition = b.acquisition.value(b, s)
}

// pick adds a candidate to the batch. Its values must be up to date. The losses of the pairs are then
// updated as if this candidate were measured.
func (b *batchSelector) pick(s *scoredCandidate) {
	b.recordPick(s)
	s.picked = true
	b.plan(s.launch)
	for k, step := range b.picks[len(b.picks)-1].pairs {
		b.pairs[k].shrink(step, b.model)
	}
}

// recordPick records a selected candidate and the expected gain of its measurement. It must run before the
// losses of the pairs are updated.
func (b *batchSelector) recordPick(s *scoredCandidate) {
	p := pick{entry: s.entry, launch: s.launch, launches: !s.launched, run: s.run, steps: s.steps, pairs: slices.Clone(s.covariance)}
	p.deviation = math.Sqrt(max(s.variance+b.noise, minDeviation*minDeviation))
	floats.Scale(1/p.deviation, p.pairs)
	for k := range b.pairs {
		q := &b.pairs[k]
		if fall := b.varianceFall(s, k); fall > minVarianceReduction*q.variance {
			p.gain += q.weight / b.totalWeight * (expectedSlowdown(q.gap, q.variance) - expectedSlowdown(q.gap, max(0, q.variance-fall)))
		}
	}
	b.picks = append(b.picks, p)
}

// explain records the reason for each pick. Candidates that share a launch share its price equally.
func (b *batchSelector) explain(reasons map[coll.Candidate]Reason) {
	sharing := map[any]float64{}
	launches := map[any]bool{}
	for _, p := range b.picks {
		sharing[p.launch]++
		launches[p.launch] = launches[p.launch] || p.launches
	}
	for _, p := range b.picks {
		c := b.choices[b.entries[p.entry].Row]
		why := Reason{Uncertainty: c.slowdown, Gain: p.gain, Seconds: p.run}
		if launches[p.launch] {
			why.Seconds += b.prices.launch / sharing[p.launch]
		}
		switch {
		case c.rival == c.best: // the point has only one algorithm
		case p.entry == c.best:
			why.Rival = b.candidates[c.rival].Algorithm
		default:
			why.Rival = b.candidates[c.best].Algorithm
		}
		reasons[b.candidates[p.entry]] = why
	}
}
