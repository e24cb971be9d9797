package activelearn

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/gp"
	"tutti/surrogate/learner"
)

// regret measures the candidates that are expected to spare the final selection
// most loss for a second of machine time.
//
// A Gaussian process of log10 times of all algorithms (gp.GP) predicts the fastest
// algorithm at each point. For every other algorithm it gives the variance of the
// difference of the two, and from that follows what the choice is expected to lose to it;
// see loss. A candidate's worth is by how much these losses fall, summed over a sample of
// the space, when its measurement shrinks the variances. Its price is the executions at
// the predicted time and, for the first of a batch that needs it, the launch. A batch is
// picked greedily by worth over price; picks and what is pending count as observed.
//
// This is the criterion of knowledge gradients (Frazier, Powell and Dayanik, INFORMS J.
// Computing 21, 2009) with the means kept as they are: their criterion is zero where no
// single measurement can change the choice, this one is not.
//
// Measurements of earlier campaigns are other sources of the Gaussian process. A few of
// them are measured anew first, which teaches it what the others are worth.
type regret struct {
	opt     Options
	rows    [][]float64            // of every point of the space
	index   map[coll.Algorithm]int // in the space
	paid    map[coll.Candidate]bool
	reasons map[coll.Candidate]Reason
	belief  *learner.Posterior // computed last
}

const (
	// Points of which all algorithms are measured first. On machines A, C and D campaigns
	// that begin with 3 took less machine time than those that begin with 5.
	beginPoints = 3
	// They are drawn from the lesser half of the space, which is likely cheap: points
	// whose nodes, ppn and bytes are on average at most so far from least to greatest.
	beginWithin = 0.5
	// Points that losses are summed over, drawn anew in each round.
	regretPoints = 300
	// Where points have weights, so many more are drawn evenly: a measurement there may
	// tell of the points that matter.
	regretAside = 100
)

// Ask returns the candidates worth most for their price.
func (r *regret) Ask(s State) ([]coll.Candidate, error) {
	if err := r.start(s.Ledger); err != nil {
		return nil, fmt.Errorf("regret: %w", err)
	}
	if len(s.Ledger.Measurements()) == 0 {
		return r.pay(r.begin(s)), nil
	}
	m, err := r.model(s)
	if err != nil {
		return nil, fmt.Errorf("regret: %w", err)
	}
	var batch []coll.Candidate
	if s.Confirm {
		if batch, err = r.check(s, m); err != nil {
			return nil, fmt.Errorf("regret: %w", err)
		}
		s.Want += len(batch)
	}
	over := r.sample(s)
	for _, want := range r.portions(s.Want) {
		if len(batch) >= s.Want {
			break
		}
		over.asked = asSet(batch)
		b, err := r.board(s, m, over)
		if err != nil {
			return nil, fmt.Errorf("regret: %w", err)
		}
		picks := b.pick(want - len(batch))
		if len(picks) > 0 && b.launch <= b.picks[0].run { // a launch is no reason to wait
			picks = append(picks, b.pick(s.Want-len(batch)-len(picks))...)
		}
		batch = append(batch, picks...)
		b.explain(r.reasons)
		riders, err := r.riders(s, m, b, batch)
		if err != nil {
			return nil, fmt.Errorf("regret: %w", err)
		}
		batch = append(batch, riders...)
		if b.full {
			return r.pay(batch), nil
		}
	}
	return r.pay(r.fill(s, batch)), nil
}

// portions are the sizes up to which a batch is picked before its launches are filled.
// Where launches are shared the first is a single pick: what rides on its launch may be
// enough.
func (r *regret) portions(want int) []int {
	if !r.sharing() || want < 2 {
		return []int{want}
	}
	return []int{1, want}
}

// sharing reports whether one launch serves several candidates.
func (r *regret) sharing() bool {
	return r.opt.SharedLaunch != nil
}

func asSet(candidates []coll.Candidate) map[coll.Candidate]bool {
	out := make(map[coll.Candidate]bool, len(candidates))
	for _, c := range candidates {
		out[c] = true
	}
	return out
}

// Reason is why a candidate was asked for; see Explainer.
func (r *regret) Reason(c coll.Candidate) (Reason, bool) {
	why, known := r.reasons[c]
	return why, known
}

// start looks at the space once.
func (r *regret) start(l *Ledger) error {
	if r.rows != nil {
		return nil
	}
	if w := r.opt.Weights; w != nil && len(w) != len(l.Space().Points()) {
		return fmt.Errorf("%d weights for %d points", len(w), len(l.Space().Points()))
	}
	r.rows = preprocess.SurrogateRows(l.Space().Points())
	r.index = make(map[coll.Algorithm]int, len(l.Space().Algorithms()))
	for a, alg := range l.Space().Algorithms() {
		r.index[alg] = a
	}
	r.paid = map[coll.Candidate]bool{}
	r.reasons = map[coll.Candidate]Reason{}
	return nil
}

// pay remembers which candidates of a batch pay for a launch: the first of each.
func (r *regret) pay(batch []coll.Candidate) []coll.Candidate {
	seen := map[any]bool{}
	for _, c := range batch {
		k := r.opt.launch(c)
		r.paid[c] = !seen[k]
		seen[k] = true
	}
	return batch
}

// fill draws what a batch lacks from all that is free: the board holds a sample.
func (r *regret) fill(s State, batch []coll.Candidate) []coll.Candidate {
	if len(batch) >= s.Want {
		return batch
	}
	taken := asSet(batch)
	for _, i := range r.opt.rng(s.Round).Perm(len(r.rows)) {
		for _, c := range s.Ledger.Free(i) {
			if len(batch) < s.Want && !taken[c] {
				batch = append(batch, c)
			}
		}
	}
	return batch
}

// model is the Gaussian process of what is believed, without steps. The tails of loss allow
// for what is unlike its surroundings.
func (r *regret) model(s State) (m *gp.GP, err error) {
	if r.belief, err = s.believe(r.opt.Earlier); err != nil {
		return nil, err
	}
	return r.belief.Smooth()
}

// sample returns the points of a round, in order, with their weights. Up to regretPoints
// points are all taken with their own weights. Of more, points are drawn in proportion to
// their weights, and one weighs as often as it was drawn. Points with something pending
// are always among them.
func (r *regret) sample(s State) layout {
	rng := r.opt.rng(s.Round)
	counts := map[int]float64{}
	n := len(r.rows)
	switch {
	case n <= regretPoints:
		for i := range n {
			counts[i] = r.opt.weight(i)
		}
	default:
		for _, i := range r.draw(rng) {
			counts[i]++
		}
		for k := 0; r.opt.Weights != nil && k < regretAside; k++ {
			counts[rng.IntN(n)] += 0
		}
	}
	for _, c := range s.Ledger.Pending() {
		i, _ := s.Ledger.Space().Index(c.Point)
		counts[i] += 0
	}
	out := layout{points: slices.Sorted(maps.Keys(counts))}
	for _, i := range out.points {
		out.weights = append(out.weights, counts[i])
	}
	return out
}

// weight of a point.
func (o Options) weight(i int) float64 {
	if o.Weights == nil {
		return 1
	}
	return o.Weights[i]
}

// draw divides the space, in order, into regretPoints parts of equal weight and draws one
// point of each. A heavy point can come several times.
func (r *regret) draw(rng *rand.Rand) []int {
	total := r.total()
	var out []int
	passed, i := r.opt.weight(0), 0
	for k := range regretPoints {
		at := total * (float64(k) + rng.Float64()) / regretPoints
		for ; passed <= at && i < len(r.rows)-1; i++ {
			passed += r.opt.weight(i + 1)
		}
		out = append(out, i)
	}
	return out
}

// total is the weight of all points.
func (r *regret) total() float64 {
	if r.opt.Weights == nil {
		return float64(len(r.rows))
	}
	sum := 0.0
	for _, w := range r.opt.Weights {
		sum += w
	}
	return sum
}
