package activelearn

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/preprocess"
	"tutti/store"
	"tutti/surrogate/gp"
)

// regret measures the candidates that are expected to spare the final selection
// most loss for a second of machine time.
//
// A joint process of log10 times of all algorithms (gp.Multi) says at each point
// which algorithm has the lowest mean, and for each other one, by the variance of
// the difference of the two, what choosing it is expected to lose, with heavier tails
// than the process believes; see loss. A candidate is worth by how much these losses
// fall, over a sample of the space, when variances shrink as its measurement would
// shrink them, the means staying where they are: the criterion of knowledge gradients
// (Frazier, Powell and Dayanik, INFORMS J. Computing 21, 2009) without the luck of the
// draw, so that it goes on where one measurement alone would not change the choice.
// Its price is the executions at the predicted time and, for the first of a batch that
// needs it, the launch. A batch is picked greedily; every pick and what is pending
// count as observed.
//
// Measurements of earlier campaigns are other sources of the process (gp.Multi): a few
// of them are measured anew first, and what these say decides what the others weigh.
type regret struct {
	opt     Options
	rows    [][]float64            // of every point of the space
	index   map[coll.Algorithm]int // in the space
	paid    map[coll.Candidate]bool
	reasons map[coll.Candidate]store.Reason
	params  *gp.MultiParams // learnt last
	learned int             // measurements then
}

const (
	// Points of which all algorithms are measured first. Choosing begins early:
	// 3 beat 5 on machines A, C and D.
	beginPoints = 3
	// They are drawn from those whose position in the space, from 0 to 1 on
	// average over nodes, ppn and bytes, is in the lesser half: likely cheap.
	beginWithin = 0.5
	// Hyper-parameters are learnt again when the measurements have grown so much.
	regretRelearn = 1.2
	// The process is conditioned on at most so many observations: n³.
	regretMost = 1200
	// Points that losses are summed over, drawn anew in each round.
	regretPoints = 300
	// Where points have weights, so many more are drawn as if they had none: what is
	// measured there may tell of those that matter.
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
	m, err := r.model(s.Ledger.Measurements())
	if err != nil {
		return nil, fmt.Errorf("regret: %w", err)
	}
	over := r.sample(s)
	var batch []coll.Candidate
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
	}
	return r.pay(r.fill(s, batch)), nil
}

// portions are the sizes up to which a batch is picked before its launches are filled:
// one launch first where launches are shared, since what fills it may be enough.
func (r *regret) portions(want int) []int {
	if !r.sharing() || want < 2 {
		return []int{want}
	}
	return []int{1, want}
}

// sharing reports whether one launch serves several candidates.
func (r *regret) sharing() bool {
	return r.opt.Launch == benchrunner.LaunchOSU || r.opt.Launch == benchrunner.LaunchNative
}

func asSet(candidates []coll.Candidate) map[coll.Candidate]bool {
	out := make(map[coll.Candidate]bool, len(candidates))
	for _, c := range candidates {
		out[c] = true
	}
	return out
}

// Reason is why a candidate was asked for; see Explainer.
func (r *regret) Reason(c coll.Candidate) (store.Reason, bool) {
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
	r.reasons = map[coll.Candidate]store.Reason{}
	return nil
}

// pay remembers which candidates of a batch pay for a launch: the first of each.
func (r *regret) pay(batch []coll.Candidate) []coll.Candidate {
	seen := map[benchrunner.LaunchKey]bool{}
	for _, c := range batch {
		k := r.opt.Launch.Key(c)
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

// model conditions the process on what is measured. It is without steps: a process that
// expects them anywhere measures every algorithm everywhere. The tails of loss see to
// what is unlike its surroundings.
func (r *regret) model(ms []coll.Measurement) (*gp.Multi, error) {
	obs := preprocess.Observations(ms, r.index, r.opt.Earlier...).Sample(regretMost)
	if n := len(ms); r.params == nil || float64(n) >= regretRelearn*float64(r.learned) {
		m, err := gp.FitMulti(obs, gp.MultiOptions{
			Length: preprocess.LengthScales(), Noise: preprocess.MeasurementNoise, Start: r.params, Smooth: true,
		})
		if err != nil {
			return nil, err
		}
		p := m.Params()
		r.params, r.learned = &p, n
		return m, nil
	}
	return gp.WithMulti(*r.params, obs)
}

// sample draws the points of a round, in order, and what each counts. All points count
// their weights where they are few; of many each is drawn with a probability in
// proportion to its weight and counts how often it was. Those with something pending
// are among them.
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
	for _, c := range s.Ledger.pendingCandidates() {
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

// draw returns one point out of each part of the space, the points in order being
// parted into regretPoints of equal weight. A heavy point can come several times.
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
