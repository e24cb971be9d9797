package learner

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"tutti/coll"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/gp"
)

// Forecast is what a choice is expected to lose over points whose times are mostly
// not known: medians of draws, and of two figures an upper end.
type Forecast struct {
	metrics.Summary
	SlowdownUpper, MistakesUpper float64
}

// ForecastOptions say how a forecast is made.
type ForecastOptions struct {
	Seed    uint64
	Metrics metrics.Options
}

const (
	forecastDraws = 200
	forecastUpper = 0.95 // quantile of the draws that is the upper end
)

// errNoProcess says that a forecast was asked of forests.
var errNoProcess = errors.New("forecast: a forest does not know how sure it is: want model process or stack")

// Forecast draws times of all algorithms at the points from the process of by, as
// they depend on each other, and says what the choices of l lose in them.
func (l *Learner) Forecast(by *Learner, points []coll.Point, can func(coll.Point) []coll.Algorithm, opt ForecastOptions) (Forecast, error) {
	if by.process == nil {
		return Forecast{}, errNoProcess
	}
	chosen, err := l.choices(points, can)
	if err != nil {
		return Forecast{}, err
	}
	rows := preprocess.ProcessRows(points)
	means := by.process.Means(rows, len(by.algorithms))
	var entries []gp.Entry
	var mean []float64
	first := make([]int, 1, len(points)+1)
	choice := make([]int, len(points)) // entries
	for i, p := range points {
		choice[i] = -1
		for a, alg := range by.algorithms {
			if !slices.Contains(can(p), alg) {
				continue
			}
			if alg == chosen[i] {
				choice[i] = len(entries)
			}
			entries = append(entries, gp.Entry{Row: i, Task: a})
			mean = append(mean, means[a][i])
		}
		if choice[i] < 0 {
			return Forecast{}, fmt.Errorf("forecast at %v: the process knows nothing of %v", p, chosen[i])
		}
		first = append(first, len(entries))
	}
	posterior, err := by.process.Posterior(rows, entries)
	if err != nil {
		return Forecast{}, err
	}
	rng := rand.New(rand.NewPCG(opt.Seed, uint64(len(entries))))
	root := rootOf(posterior, len(entries))
	var sums []metrics.Summary
	for range forecastDraws {
		y := draw(rng, mean, root)
		slowdowns := make([]float64, len(points))
		for i := range points {
			slowdowns[i] = math.Pow(10, y[choice[i]]-slices.Min(y[first[i]:first[i+1]]))
		}
		s, err := metrics.Summarize(slowdowns, opt.Metrics)
		if err != nil {
			return Forecast{}, err
		}
		sums = append(sums, s)
	}
	return forecastOf(sums), nil
}

// choices are the algorithms of lowest prediction among those that can run.
func (l *Learner) choices(points []coll.Point, can func(coll.Point) []coll.Algorithm) ([]coll.Algorithm, error) {
	predicted, err := l.Predict(points)
	if err != nil {
		return nil, err
	}
	out := make([]coll.Algorithm, len(points))
	for i, p := range points {
		lowest := math.Inf(1)
		here := can(p)
		for a, alg := range l.algorithms {
			if v := predicted[a][i]; v < lowest && slices.Contains(here, alg) {
				lowest, out[i] = v, alg
			}
		}
	}
	return out, nil
}

// rootOf is the Cholesky factor of the covariances of n entries, by rows.
func rootOf(p *gp.Posterior, n int) [][]float64 {
	root := make([][]float64, n)
	for i := range root {
		root[i] = make([]float64, i+1)
		for j := range root[i] {
			v := p.Covariance(i, j)
			for k := range root[j][:j] {
				v -= root[i][k] * root[j][k]
			}
			switch {
			case j < i && root[j][j] > 0:
				root[i][j] = v / root[j][j]
			case j == i:
				root[i][i] = math.Sqrt(max(0, v))
			}
		}
	}
	return root
}

func draw(rng *rand.Rand, mean []float64, root [][]float64) []float64 {
	z := make([]float64, len(mean))
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	out := slices.Clone(mean)
	for i, row := range root {
		for j, v := range row {
			out[i] += v * z[j]
		}
	}
	return out
}

// forecastOf takes medians and the upper ends.
func forecastOf(sums []metrics.Summary) Forecast {
	at := func(q float64, pick func(metrics.Summary) float64) float64 {
		v := make([]float64, len(sums))
		for i, s := range sums {
			v[i] = pick(s)
		}
		slices.Sort(v)
		return stat.Quantile(q, stat.Empirical, v, nil)
	}
	slowdown := func(s metrics.Summary) float64 { return s.Slowdown }
	mistakes := func(s metrics.Summary) float64 { return s.Mistakes }
	return Forecast{
		Summary: metrics.Summary{
			Points: sums[0].Points, Slowdown: at(0.5, slowdown), Mistakes: at(0.5, mistakes),
			Accuracy: at(0.5, func(s metrics.Summary) float64 { return s.Accuracy }),
			P95:      at(0.5, func(s metrics.Summary) float64 { return s.P95 }),
			Worst:    at(0.5, func(s metrics.Summary) float64 { return s.Worst }),
		},
		SlowdownUpper: at(forecastUpper, slowdown), MistakesUpper: at(forecastUpper, mistakes),
	}
}
