package learner

import (
	"fmt"
	"hash/fnv"
	"iter"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/forest"
)

// Model names a kind of model that predicts the times of algorithms.
type Model string

// The models. GaussianProcess requires the scaling algorithm_log10.
const (
	GaussianProcess Model = "gp"     // one Gaussian process of all algorithms, see gp.GP
	Forest          Model = "forest" // a random forest for each algorithm
)

// Models returns all values that Options.Model may have.
func Models() []Model { return []Model{GaussianProcess, Forest} }

// Validate returns an error that lists all models if m is none of them.
func (m Model) Validate() error {
	if slices.Contains(Models(), m) {
		return nil
	}
	return fmt.Errorf("model %q: want one of %s", m, strings.Join(coll.Words(Models()), ", "))
}

// Options configures a model. The zero value of Scaling is an error; preprocess.AlgorithmLog10 is
// the usual choice.
type Options struct {
	Model   Model // empty means Forest
	Scaling preprocess.Scaling
	Forest  forest.Options // its Seed is combined with the algorithm's name
	// Allowed holds the slowdown and the mistakes that the stopping criteria allow. They determine how
	// Uncertainties weights slowdowns and mistakes.
	Allowed metrics.Allowed
	Weight  coll.Weight
}

// Data is the training data of a model. All measurements are of one collective.
type Data struct {
	Measurements iter.Seq[coll.Measurement] // in the same order each time
	// Replicates holds the candidates that were measured twice. A Gaussian process estimates the noise from
	// them. Forests ignore them.
	Replicates []preprocess.Replicate
	// Earlier holds the measurements of earlier campaigns, limited to algorithms that can still be
	// selected. A Gaussian process learns how much times have changed since then. Forests ignore these
	// measurements.
	Earlier [][]coll.Measurement
	// Missing returns the algorithms that can run at a point but were not measured there. If Missing is
	// nil, every measured point is complete.
	Missing func(coll.Point) []coll.Algorithm
	// Posterior is the posterior given the fields Measurements, Replicates and Earlier. If it is nil, Fit
	// computes it.
	Posterior *Posterior
}

// Learner predicts the times of the algorithms in its training data. It is safe for concurrent use.
type Learner struct {
	scaler     *preprocess.Scaler
	algorithms []coll.Algorithm // sorted by coll.CompareAlgorithms
	forests    []*forest.Forest // one for each algorithm; nil for a Gaussian process
	rows       [][]int          // for each forest: the indexes of its measurements
	posterior  *Posterior       // nil for forests
	allowed    metrics.Allowed
}

// Fit trains a model. It returns an error if there are no measurements, or if the model does not support
// the scaling. For n measurements forests take O(algorithms · trees · n log n) operations, a Gaussian
// process O(n³) for at most 1500 measurements.
//
// Some scalings divide by the fastest time at the point. If an algorithm was not measured at the point,
// forests need an imputed time; see imputeFastest. A Gaussian process predicts the missing time.
func Fit(d Data, opt Options) (*Learner, error) {
	switch opt.Model {
	case "", Forest:
	case GaussianProcess:
		return fitGaussian(d, opt)
	default:
		return nil, opt.Model.Validate()
	}
	ms := slices.Collect(d.Measurements)
	complete, err := imputeFastest(ms, d.Missing, opt)
	if err != nil {
		return nil, err
	}
	scaler, err := preprocess.Fit(slices.Values(complete), opt.Scaling)
	if err != nil {
		return nil, err
	}
	l, err := fitForests(ms, scaler.Apply(ms), opt.Forest)
	if err != nil {
		return nil, err
	}
	l.scaler = scaler
	return l, nil
}

// fitForests trains one forest for each algorithm. `targets` holds the target of each measurement.
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

// algorithmSeed returns the seed for an algorithm's forest, which does not depend on the other algorithms.
func algorithmSeed(seed uint64, alg coll.Algorithm) uint64 {
	h := fnv.New64a()
	h.Write([]byte(alg.String()))
	return seed ^ h.Sum64()
}

// Algorithms returns the algorithms that the learner predicts, sorted by coll.CompareAlgorithms.
// The caller must not change the slice.
func (l *Learner) Algorithms() []coll.Algorithm { return l.algorithms }

// index returns the index of an algorithm in Algorithms. It returns false if the algorithm is unknown.
func (l *Learner) index(alg coll.Algorithm) (int, bool) {
	return slices.BinarySearchFunc(l.algorithms, alg, coll.CompareAlgorithms)
}

// Predict returns predictions in scaled units. The result has a row for each algorithm, in the order of
// [Learner.Algorithms], with a prediction for each point. A lower prediction means a faster algorithm.
func (l *Learner) Predict(points []coll.Point) ([][]float64, error) {
	if l.posterior != nil {
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
