package lab

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/preprocess"
	"tutti/surrogate/forest"
)

// Strategies returns the strategies that are compared by default. These are the strategies of campaigns,
// and the rivals random and jackknife.
func Strategies() []string { return []string{"random", "uncertainty", "jackknife", "regret"} }

// strategies creates the strategy of a replay by its name.
type strategies struct {
	name              string
	forest            forest.Options // options of the forests of jackknife
	sameInitialDesign bool           // start with the initial design of regret
}

// new returns the strategy with this name. The error for an unknown name lists the valid names.
func (o strategies) new(opt activelearn.Options) (activelearn.Strategy, error) {
	if o.sameInitialDesign && !activelearn.UsesPosterior(o.name) {
		first, err := activelearn.New("regret", opt)
		if err != nil {
			return nil, err
		}
		o.sameInitialDesign = false
		others, err := o.new(opt)
		return &sameInitialDesign{first, others}, err
	}
	switch o.name {
	case "random":
		return &random{seed: opt.Seed}, nil
	case "jackknife":
		o.forest.Seed = opt.Seed
		if o.forest.Criterion == forest.Poisson {
			o.forest.Criterion = forest.SquaredError // logarithms can be negative
		}
		return &jackknife{opt: opt, forest: o.forest}, nil
	case "regret", "uncertainty":
		return activelearn.New(o.name, opt)
	}
	return nil, fmt.Errorf("strategy %q: want one of %s", o.name, strings.Join(Strategies(), ", "))
}

// sameInitialDesign is a strategy that gets its first batch from one strategy and all other batches from
// another.
type sameInitialDesign struct{ first, others activelearn.Strategy }

// Ask implements activelearn.Strategy.
func (d *sameInitialDesign) Ask(s activelearn.State) ([]coll.Candidate, error) {
	if len(s.Ledger.Measurements()) == 0 {
		return d.first.Ask(s)
	}
	return d.others.Ask(s)
}

// random is a strategy that draws points at random and measures all their algorithms. The authors of FACT
// compared FACT with such training sets.
type random struct{ seed uint64 }

// Ask draws points with equal probabilities from those that have free candidates.
func (r *random) Ask(s activelearn.State) ([]coll.Candidate, error) {
	return activelearn.DrawPoints(s, 0, roundRand(r.seed, s.Round)), nil
}

// roundRand returns the random number generator of a round. It depends only on the seed and the round.
func roundRand(seed uint64, round int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(round)))
}

// jackknife is the strategy of ACCLAiM (Wilkins et al., CLUSTER 2022). It measures single candidates by the
// jackknife variance of their algorithm's forest. The forests predict standardised log10 seconds. Times
// relative to the fastest algorithm would be constant for an algorithm that is the fastest at every
// measured point. Without standardisation, the algorithm with the widest range of times would always be
// chosen.
//
// Batches are selected greedily. Each choice lowers the scores of neighbours with the same algorithm, since
// the measurement will lower their variance (local penalisation, González et al., AISTATS 2016).
type jackknife struct {
	opt    activelearn.Options
	forest forest.Options
}

// jackknifePoints is the number of points in the initial design.
const jackknifePoints = 5

// penaltyRange is a distance in the space of features. A pending neighbour at this distance multiplies a
// score by 1 - 1/e. A feature grows by 1 when nodes, processes or bytes double.
const penaltyRange = 1.0

// Ask returns the candidates with the highest variances.
func (j *jackknife) Ask(s activelearn.State) ([]coll.Candidate, error) {
	if len(s.Ledger.Measurements()) == 0 {
		return activelearn.DrawPoints(s, cmp.Or(j.opt.Initial, jackknifePoints), roundRand(j.opt.Seed, s.Round)), nil
	}
	scored, err := j.score(s)
	if err != nil {
		return nil, err
	}
	for _, p := range s.Ledger.Pending() {
		penalise(scored, p)
	}
	var batch []coll.Candidate
	for len(batch) < s.Want && len(scored) > 0 {
		best := 0
		for i := range scored {
			if scored[i].score > scored[best].score {
				best = i
			}
		}
		pick := scored[best].candidate
		batch = append(batch, pick)
		scored[best] = scored[len(scored)-1]
		scored = scored[:len(scored)-1]
		penalise(scored, pick)
	}
	return batch, nil
}

// scoredCandidate is a free candidate with the variance of its time.
type scoredCandidate struct {
	candidate coll.Candidate
	features  [3]float64
	score     float64
}

// score returns the free candidates with the variances of their times. An algorithm without measurements
// has the greatest possible variance.
func (j *jackknife) score(s activelearn.State) ([]scoredCandidate, error) {
	sp := s.Ledger.Space()
	rng := roundRand(j.opt.Seed, s.Round)
	var out []scoredCandidate
	for _, alg := range sp.Algorithms() {
		var points []coll.Point
		for _, p := range sp.Points() {
			if s.Ledger.IsFree(coll.Candidate{Point: p, Algorithm: alg}) {
				points = append(points, p)
			}
		}
		variance, err := j.variance(s.Ledger.Measurements(), alg, points)
		if err != nil {
			return nil, err
		}
		for i, p := range points {
			// Forests are step functions, so ties are common. Random numbers break them.
			score := variance[i] * (1 - 1e-9*rng.Float64())
			out = append(out, scoredCandidate{coll.Candidate{Point: p, Algorithm: alg}, preprocess.Features(p), score})
		}
	}
	return out, nil
}

// variance returns the variance of one algorithm's standardised log10 seconds at each of the points.
func (j *jackknife) variance(ms []coll.Measurement, alg coll.Algorithm, points []coll.Point) ([]float64, error) {
	if len(points) == 0 {
		return nil, nil
	}
	var x [][]float64
	var y []float64
	for _, m := range ms {
		if m.Algorithm == alg {
			f := preprocess.Features(m.Point)
			x = append(x, f[:])
			y = append(y, math.Log10(m.Seconds))
		}
	}
	if len(x) == 0 {
		return slices.Repeat([]float64{math.MaxFloat64}, len(points)), nil
	}
	standardise(y)
	f, err := forest.Fit(x, y, j.forest)
	if err != nil {
		return nil, err
	}
	_, variance, err := f.PredictVariance(preprocess.Rows(points))
	return variance, err
}

// standardise scales values to mean 0 and standard deviation 1. It does so only if the values differ.
func standardise(y []float64) {
	mean, deviation := stat.PopMeanStdDev(y, nil)
	if deviation == 0 {
		return
	}
	for i := range y {
		y[i] = (y[i] - mean) / deviation
	}
}

// penalise lowers the scores of the neighbours of a candidate.
func penalise(scored []scoredCandidate, pick coll.Candidate) {
	at := preprocess.Features(pick.Point)
	for i := range scored {
		if scored[i].candidate.Algorithm != pick.Algorithm {
			continue
		}
		d2 := 0.0
		for k, v := range scored[i].features {
			d2 += (v - at[k]) * (v - at[k])
		}
		scored[i].score *= 1 - math.Exp(-d2/(penaltyRange*penaltyRange))
	}
}
