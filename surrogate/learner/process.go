package learner

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// Model is what predicts the times of the algorithms.
type Model string

// The models. Process and Stack want the scaling algorithm_log10, and know the
// fastest time at a point where not all algorithms were measured.
const (
	Forest  Model = "forest"  // a random forest for each algorithm
	Process Model = "process" // one Gaussian process of all algorithms, see gp.Multi
	Stack   Model = "stack"   // the process and forests, weighted by what selects best on held-out points
)

// Models returns the known models.
func Models() []Model { return []Model{Forest, Process, Stack} }

// ParseModel returns the model called s. The error names what is allowed.
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

const (
	// A process is conditioned on so many measurements at most, an even sample of the
	// points beyond: its cost grows with the cube.
	processMost = 1500
	stackFolds  = 10
)

// stackWeights are tried for the forests; the process has the rest.
var stackWeights = []float64{0, 0.25, 0.5, 0.75, 1}

func fitProcess(ms []coll.Measurement, scaler *preprocess.Scaler, opt Options) (*Learner, error) {
	if opt.Scaling != preprocess.AlgorithmLog10 {
		return nil, fmt.Errorf("model %s with scaling %s: want %s", opt.Model, opt.Scaling, preprocess.AlgorithmLog10)
	}
	l := &Learner{scaler: scaler}
	for _, known := range append([][]coll.Measurement{ms}, opt.Earlier...) {
		for _, m := range known {
			l.algorithms = append(l.algorithms, m.Algorithm)
		}
	}
	slices.SortFunc(l.algorithms, coll.CompareAlgorithms)
	l.algorithms = slices.Compact(l.algorithms)
	index := make(map[coll.Algorithm]int, len(l.algorithms))
	for a, alg := range l.algorithms {
		index[alg] = a
	}
	obs := preprocess.Observations(ms, index, opt.Earlier...)
	var err error
	l.process, err = gp.FitMulti(obs.Sample(processMost), gp.MultiOptions{
		Length: preprocess.LengthScales(), Noise: preprocess.MeasurementNoise,
	})
	if err != nil {
		return nil, fmt.Errorf("process of %d measurements: %w", len(ms), err)
	}
	if opt.Model == Stack {
		err = l.stack(ms, obs, opt)
	}
	return l, err
}

// predictProcess returns predictions relative to the fastest one at each point.
func (l *Learner) predictProcess(points []coll.Point) ([][]float64, error) {
	out := l.process.Means(preprocess.SurrogateRows(points), len(l.algorithms))
	for i := range points {
		least := fastest(out, i)
		for a := range out {
			out[a][i] -= least
		}
	}
	if l.weight == 0 {
		return out, nil
	}
	rows := preprocess.Rows(points)
	for a, f := range l.forests {
		mean, err := f.Predict(rows)
		if err != nil {
			return nil, err
		}
		for i, v := range mean {
			out[a][i] = (1-l.weight)*out[a][i] + l.weight*v
		}
	}
	return out, nil
}

// fastest is the least of column i.
func fastest(table [][]float64, i int) float64 {
	least := math.Inf(1)
	for _, row := range table {
		least = min(least, row[i])
	}
	return least
}

// stack adds forests of times relative to the fastest that the process sees at the
// point. Their weight is the one whose choice among what was measured at a point
// loses least, where the process predicts the point from other folds and each
// forest out of bag (Wolpert, Stacked Generalization, Neural Networks 5, 1992). Of
// equal ones it is the least.
func (l *Learner) stack(ms []coll.Measurement, obs gp.Observations, opt Options) error {
	here := l.process.Means(obs.X, len(l.algorithms))
	targets := make([]float64, len(ms))
	for j := range targets {
		targets[j] = obs.Y[j] - fastest(here, obs.At[j])
	}
	forests, err := train(ms, targets, opt.Forest)
	if err != nil {
		return err
	}
	if len(forests.algorithms) < len(l.algorithms) {
		return nil // the others are known from earlier alone
	}
	sets, err := l.heldOut(obs, forests.outOfBag(len(ms)), opt.Forest.Seed)
	if err != nil {
		return err
	}
	l.weight = weightOf(sets)
	l.forests, l.rows = forests.forests, forests.rows
	return nil
}

// outOfBag returns the out-of-bag prediction of each measurement, NaN where there is
// none.
func (l *Learner) outOfBag(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	for a, f := range l.forests {
		left, mean := f.OutOfBag()
		for k, row := range left {
			out[l.rows[a][row]] = mean[k]
		}
	}
	return out
}

// held is a measurement with what was predicted for it without it, all in decades.
type held struct{ measured, process, forest float64 }

// heldOut gathers the measurements of each point that both kinds of models predict.
func (l *Learner) heldOut(obs gp.Observations, forest []float64, seed uint64) ([][]held, error) {
	seen := obs.Sample(processMost)
	folds := make([]int, len(seen.Y))
	of := deal(len(seen.X), stackFolds, seed)
	for j, u := range seen.At {
		folds[j] = of[u]
		if seen.Source != nil && seen.Source[j] != 0 {
			folds[j] = -1
		}
	}
	process, err := l.process.HeldOut(folds)
	if err != nil {
		return nil, err
	}
	sets := make([][]held, len(seen.X))
	for j, k := range obs.Sampled(processMost) {
		if k < len(forest) && !math.IsNaN(forest[k]) {
			sets[seen.At[j]] = append(sets[seen.At[j]], held{seen.Y[j], process[j], forest[k]})
		}
	}
	return sets, nil
}

// The criteria's usual limits, by which losses and mistakes are weighed.
const (
	stackSlowdown = 0.03
	stackMistakes = 0.05
	// Standard errors by which forests must be better to have a weight.
	stackErrors = 2.0
)

// weightOf is the weight of the forests that loses least on held-out points. What it
// spares beside the process alone must exceed its own standard error.
func weightOf(sets [][]held) float64 {
	alone := lossesOf(sets, 0)
	weight, most := 0.0, 0.0
	for _, w := range stackWeights[1:] {
		sum, squares := 0.0, 0.0
		for i, lost := range lossesOf(sets, w) {
			d := alone[i] - lost
			sum += d
			squares += d * d
		}
		if sum > most && sum > stackErrors*math.Sqrt(squares) {
			weight, most = w, sum
		}
	}
	return weight
}

// lossesOf is what the choice loses at each point, slowdown and mistakes in units of
// what the criteria allow, when the forests have weight w.
func lossesOf(sets [][]held, w float64) []float64 {
	out := make([]float64, len(sets))
	for i, here := range sets {
		if len(here) < 2 {
			continue
		}
		base, best := math.Inf(1), math.Inf(1)
		for _, h := range here {
			base, best = min(base, h.process), min(best, h.measured)
		}
		chosen, lowest := 0.0, math.Inf(1)
		for _, h := range here {
			if v := (1-w)*(h.process-base) + w*h.forest; v < lowest {
				lowest, chosen = v, h.measured
			}
		}
		lost := math.Pow(10, chosen-best) - 1
		out[i] = lost / stackSlowdown
		if lost > metrics.DefaultMistakeThreshold {
			out[i] += 1 / stackMistakes
		}
	}
	return out
}
