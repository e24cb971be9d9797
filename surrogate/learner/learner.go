package learner

import (
	"fmt"
	"hash/fnv"
	"slices"

	"tutti/coll"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/forest"
	"tutti/surrogate/gp"
)

// Options say how models are trained. The zero value of Scaling is an
// error; preprocess.AlgorithmLog10 is the usual choice.
type Options struct {
	Scaling preprocess.Scaling
	Forest  forest.Options // Seed is mixed with the algorithm's name
	// Missing returns the algorithms that can run at a point and have not been
	// measured there, so that the fastest time is not known. Nil: none anywhere.
	Missing func(coll.Point) []coll.Algorithm
	Model   Model // empty means Forest
	// Earlier are measurements of earlier campaigns, of algorithms that can still be
	// chosen. A Gaussian process learns what they are worth from the present ones;
	// forests do not look at them.
	Earlier [][]coll.Measurement
	// Repeats are measurements that were made twice: a Gaussian process learns the noise from
	// them, forests do not look at them.
	Repeats []preprocess.Repeat
	// Prior is that of a Gaussian process; nil: DefaultPrior.
	Prior *Prior
	// Belief is that of the measurements, Repeats and Earlier; nil: Fit forms it.
	Belief *Belief
	// Allowed is what the selection may lose: in its units doubts are compared.
	Allowed metrics.Allowed
	// Weight says how much a point matters, 0 or more. Nil: all alike.
	Weight func(coll.Point) float64
}

// Nothing is the belief of no measurements: it knows nothing but Next.
func (o Options) Nothing() *Belief {
	if o.Prior == nil {
		return &Belief{prior: DefaultPrior()}
	}
	return &Belief{prior: *o.Prior}
}

// weight of a point.
func (o Options) weight(p coll.Point) float64 {
	if o.Weight == nil {
		return 1
	}
	return o.Weight(p)
}

// Learner predicts every algorithm it has measurements of. It is safe for
// concurrent use.
type Learner struct {
	scaler     *preprocess.Scaler
	algorithms []coll.Algorithm // as sorted by coll.CompareAlgorithms
	forests    []*forest.Forest
	rows       [][]int // of each forest: indices of its measurements
	gaussian   *gp.GP  // nil for the model Forest
	allowed    metrics.Allowed
	noise      preprocess.Noise // of the measurements
}

// Fit trains the model of the options on measurements of one collective. It returns an
// error for no measurements and for a scaling that the model does not take.
// O(algorithms · trees · n log n) operations for forests, O(n³) for a Gaussian process of
// n ≤ 1500 measurements.
//
// The algorithm scalings divide by the fastest time at the point. Where an algorithm
// is missing, forests need that time estimated, see withFastest.
func Fit(ms []coll.Measurement, opt Options) (*Learner, error) {
	known := ms
	switch opt.Model {
	case "", Forest:
		var err error
		if known, err = withFastest(ms, opt); err != nil {
			return nil, err
		}
	case GaussianProcess: // which predicts the fastest time everywhere
	default:
		_, err := ParseModel(string(opt.Model))
		return nil, err
	}
	scaler, err := preprocess.Fit(known, opt.Scaling)
	if err != nil {
		return nil, err
	}
	if opt.Model == GaussianProcess {
		return fitGaussian(ms, scaler, opt)
	}
	l, err := train(ms, scaler.Apply(ms), opt.Forest)
	if err != nil {
		return nil, err
	}
	l.scaler = scaler
	return l, nil
}

// train grows one forest for each algorithm on targets, one for each measurement.
func train(ms []coll.Measurement, targets []float64, opt forest.Options) (*Learner, error) {
	l := &Learner{}
	rows := map[coll.Algorithm][]int{}
	for i, m := range ms {
		if rows[m.Algorithm] == nil {
			l.algorithms = append(l.algorithms, m.Algorithm)
		}
		rows[m.Algorithm] = append(rows[m.Algorithm], i)
	}
	slices.SortFunc(l.algorithms, coll.CompareAlgorithms)
	for _, alg := range l.algorithms {
		points := make([]coll.Point, len(rows[alg]))
		y := make([]float64, len(rows[alg]))
		for k, i := range rows[alg] {
			points[k], y[k] = ms[i].Point, targets[i]
		}
		o := opt
		o.Seed = mix(opt.Seed, alg)
		f, err := forest.Fit(preprocess.Rows(points), y, o)
		if err != nil {
			return nil, fmt.Errorf("forest of %s: %w", alg, err)
		}
		l.forests = append(l.forests, f)
		l.rows = append(l.rows, rows[alg])
	}
	return l, nil
}

// mix keeps the forest of one algorithm as it is when another one joins.
func mix(seed uint64, alg coll.Algorithm) uint64 {
	h := fnv.New64a()
	h.Write([]byte(alg.String()))
	return seed ^ h.Sum64()
}

// Algorithms returns what the learner can predict, in order; the caller must not
// change it.
func (l *Learner) Algorithms() []coll.Algorithm { return l.algorithms }

// Predict returns the prediction of each algorithm at each point in scaled units,
// one row for each of Algorithms. Lower is faster.
func (l *Learner) Predict(points []coll.Point) ([][]float64, error) {
	if l.gaussian != nil {
		return l.predictGaussian(points), nil
	}
	rows := preprocess.Rows(points)
	out := make([][]float64, len(l.forests))
	for a, f := range l.forests {
		mean, err := f.Predict(rows)
		if err != nil {
			return nil, err
		}
		out[a] = mean
	}
	return out, nil
}

// Relative turns scaled predictions of several algorithms at one point into
// numbers in proportion to their times; see preprocess.Scaler.Relative.
func (l *Learner) Relative(scaled []float64) ([]float64, error) { return l.scaler.Relative(scaled) }
