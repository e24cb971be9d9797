package learner

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/forest"
	"tutti/surrogate/gp"
)

// Model names the kind of model that predicts the times of the algorithms.
type Model string

// The models. GaussianProcess requires the scaling algorithm_log10.
const (
	GaussianProcess Model = "gp"     // one Gaussian process of all algorithms, see gp.GP
	Forest          Model = "forest" // a random forest for each algorithm
)

// Models returns the known models.
func Models() []Model { return []Model{GaussianProcess, Forest} }

// ParseModel returns the model of the given name. An error for an unknown name lists the known
// models.
func ParseModel(s string) (Model, error) {
	var names []string
	for _, m := range Models() {
		if string(m) == s {
			return m, nil
		}
		names = append(names, string(m))
	}
	return "", fmt.Errorf("model %q: want one of %s", s, strings.Join(names, ", "))
}

// Options configures a model. The zero value of Scaling is an error; preprocess.AlgorithmLog10 is
// the usual choice.
type Options struct {
	Model   Model // empty means Forest
	Scaling preprocess.Scaling
	Forest  forest.Options // Seed is combined with the algorithm's name
	Prior   *Prior         // of a Gaussian process; nil means DefaultPrior
	// Allowed holds the criteria of the selection, by which Uncertainties weighs slowdown and
	// mistakes.
	Allowed metrics.Allowed
	// Weight returns the weight of a point, 0 or more. If it is nil, all weights are 1.
	Weight func(coll.Point) float64
}

// prior returns the prior of a Gaussian process.
func (o Options) prior() Prior {
	if o.Prior == nil {
		return DefaultPrior()
	}
	return *o.Prior
}

// weight returns the weight of a point.
func (o Options) weight(p coll.Point) float64 {
	if o.Weight == nil {
		return 1
	}
	return o.Weight(p)
}

// Data is the training data of a model. All measurements are of one collective.
type Data struct {
	Measurements []coll.Measurement
	// Replicates are the candidates that were measured twice. A Gaussian process estimates the
	// noise from them; forests ignore them.
	Replicates []preprocess.Replicate
	// Earlier holds the measurements of earlier campaigns, limited to algorithms that can still be
	// selected. A Gaussian process learns how far times have changed since; forests ignore Earlier.
	Earlier [][]coll.Measurement
	// Missing returns the algorithms that can run at a point and are not measured there. If it is
	// nil, every measured point is complete.
	Missing func(coll.Point) []coll.Algorithm
	// Posterior is the posterior given Measurements, Replicates and Earlier. If it is nil, Fit
	// computes it.
	Posterior *Posterior
}

// Learner predicts the time of every algorithm in its training data. It is safe for concurrent use.
type Learner struct {
	scaler     *preprocess.Scaler
	algorithms []coll.Algorithm // sorted by coll.CompareAlgorithms
	forests    []*forest.Forest // one for each algorithm; nil for a Gaussian process
	rows       [][]int          // of each forest: indices of its measurements
	gaussian   *gp.GP           // nil for forests
	allowed    metrics.Allowed
	noise      preprocess.Noise // of the measurements
}

// Fit trains a model. It returns an error for no measurements and for a scaling that the model does
// not support. For n measurements forests take O(algorithms · trees · n log n) operations, a
// Gaussian process O(n³) for at most 1500 measurements.
//
// The algorithm scalings divide by the fastest time at the point. If an algorithm is missing there,
// forests need an imputed time, see imputeFastest, while a Gaussian process predicts it.
func Fit(d Data, opt Options) (*Learner, error) {
	complete := d.Measurements
	switch opt.Model {
	case "", Forest:
		var err error
		if complete, err = imputeFastest(d, opt); err != nil {
			return nil, err
		}
	case GaussianProcess:
	default:
		_, err := ParseModel(string(opt.Model))
		return nil, err
	}
	scaler, err := preprocess.Fit(complete, opt.Scaling)
	if err != nil {
		return nil, err
	}
	if opt.Model == GaussianProcess {
		return fitGaussian(d, scaler, opt)
	}
	l, err := fitForests(d.Measurements, scaler.Apply(d.Measurements), opt.Forest)
	if err != nil {
		return nil, err
	}
	l.scaler = scaler
	return l, nil
}

// fitForests trains a forest for each algorithm. targets holds the target of each measurement.
func fitForests(ms []coll.Measurement, targets []float64, opt forest.Options) (*Learner, error) {
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
		o.Seed = algorithmSeed(opt.Seed, alg)
		f, err := forest.Fit(preprocess.Rows(points), y, o)
		if err != nil {
			return nil, fmt.Errorf("forest of %s: %w", alg, err)
		}
		l.forests = append(l.forests, f)
		l.rows = append(l.rows, rows[alg])
	}
	return l, nil
}

// algorithmSeed returns the seed of an algorithm's forest, which is independent of the other
// algorithms.
func algorithmSeed(seed uint64, alg coll.Algorithm) uint64 {
	h := fnv.New64a()
	h.Write([]byte(alg.String()))
	return seed ^ h.Sum64()
}

// Algorithms returns the algorithms that the learner predicts, sorted by coll.CompareAlgorithms.
// The caller must not change the slice.
func (l *Learner) Algorithms() []coll.Algorithm { return l.algorithms }

// index returns the index of an algorithm in Algorithms, or false for an unknown algorithm.
func (l *Learner) index(alg coll.Algorithm) (int, bool) {
	return slices.BinarySearchFunc(l.algorithms, alg, coll.CompareAlgorithms)
}

// Predict returns the predictions at points in scaled units, one row for each of Algorithms. Lower
// is faster.
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

// Relative converts scaled predictions of several algorithms at one point into numbers proportional
// to their times; see preprocess.Scaler.Relative.
func (l *Learner) Relative(scaled []float64) ([]float64, error) { return l.scaler.Relative(scaled) }
