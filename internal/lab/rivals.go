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

// Strategies returns the names of the strategies that are compared by default: the rivals
// and those of campaigns.
func Strategies() []string { return []string{"random", "uncertainty", "jackknife", "regret"} }

// strategies makes the strategies of replays.
type strategies struct {
	name              string
	forest            forest.Options // of jackknife
	sameInitialDesign bool           // begin as regret does
}

// new makes the strategy. The error lists the names.
func (o strategies) new(opt activelearn.Options) (activelearn.Strategy, error) {
	if o.sameInitialDesign && !activelearn.UsesPosterior(o.name) {
		first, err := activelearn.New("regret", opt)
		if err != nil {
			return nil, err
		}
		o.sameInitialDesign = false
		then, err := o.new(opt)
		return &sameInitialDesign{first, then}, err
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

// sameInitialDesign measures what one strategy measures first, then what another asks for.
type sameInitialDesign struct{ first, then activelearn.Strategy }

// Ask implements activelearn.Strategy.
func (d *sameInitialDesign) Ask(s activelearn.State) ([]coll.Candidate, error) {
	if len(s.Ledger.Measurements()) == 0 {
		return d.first.Ask(s)
	}
	return d.then.Ask(s)
}

// random draws points and measures all their algorithms: the training sets that FACT was
// compared with.
type random struct{ seed uint64 }

// Ask draws points with free candidates, each with the same probability.
func (r *random) Ask(s activelearn.State) ([]coll.Candidate, error) {
	return activelearn.DrawPoints(s, 0, roundRand(r.seed, s.Round)), nil
}

// roundRand returns the random numbers of a round, which depend on seed and round alone.
func roundRand(seed uint64, round int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(round)))
}

// jackknife is the strategy of ACCLAiM: it measures single candidates by the jackknife
// variance of their algorithm's forest (Wilkins et al., CLUSTER 2022). The forests predict
// standardised log10 seconds. With times relative to the fastest algorithm, one that won at
// every point so far would have no variance; without standardisation the algorithm with the
// widest range would win every time.
//
// Batches are selected greedily. Each choice lowers the scores of its neighbours of the same
// algorithm, since its measurement will lower their variance (local penalisation, González
// et al., AISTATS 2016).
type jackknife struct {
	opt    activelearn.Options
	forest forest.Options
}

// jackknifePoints is how many points are measured first.
const jackknifePoints = 5

// penaltyRange is the distance in features (doublings) at which a pending neighbour lowers a
// score by 1 - 1/e.
const penaltyRange = 1.0

// Ask returns the candidates of highest variance.
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

// score returns the free candidates with their variance. An algorithm without measurements
// has the greatest variance possible.
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
			// Forests are step functions, so ties are common; random numbers break them.
			score := variance[i] * (1 - 1e-9*rng.Float64())
			out = append(out, scoredCandidate{coll.Candidate{Point: p, Algorithm: alg}, preprocess.Features(p), score})
		}
	}
	return out, nil
}

// variance of the standardised log10 seconds of one algorithm at the points.
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

// standardise scales values to mean 0 and standard deviation 1, if they vary.
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
