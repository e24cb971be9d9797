package gp

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"tutti/internal/testutil"
	"tutti/metrics"
)

// oneTask returns observations of a single task, with one observation for each row.
func oneTask(x [][]float64, y []float64) Observations {
	o := Observations{X: x, At: make([]int, len(y)), Task: make([]int, len(y)), Y: y}
	for j := range o.At {
		o.At[j] = j
	}
	return o
}

// smooth returns observations at n random rows. The observed function of d columns is smooth, and the
// observations have noise.
func smooth(n, d int, seed uint64) Observations {
	rng := rand.New(rand.NewPCG(seed, 11))
	x, y := newRows(n, d), make([]float64, n)
	for i, row := range x {
		y[i] = 0.05 * rng.NormFloat64()
		for j := range row {
			row[j] = 4 * rng.Float64()
			y[i] += math.Sin(row[j]) / float64(j+1)
		}
	}
	return oneTask(x, y)
}

// matern52 returns the hyperparameters of a GP with one Matérn-5/2 covariance function, plus noise.
func matern52(signal, noise float64, length ...float64) Params {
	return Params{Common: signal, Noise: noise, CommonLength: length, OwnLength: length}
}

func mustNew(t testing.TB, p Params, o Observations) *GP {
	t.Helper()
	return testutil.Must(New(p, o))(t)
}

// predict returns the mean and the variance of the prediction for task 0 at each row.
func predict(t *testing.T, g *GP, rows [][]float64) (mean, variance []float64) {
	t.Helper()
	entries := make([]Entry, len(rows))
	for i := range rows {
		entries[i].Row = i
	}
	p := testutil.Must(g.Posterior(rows, entries))(t)
	for i := range rows {
		mean, variance = append(mean, p.Mean(i)), append(variance, p.Variance(i))
	}
	return mean, variance
}

func TestClosedForms(t *testing.T) {
	p := matern52(3, 0.5, 2)
	p.Mean = 2
	k := func(r float64) float64 {
		s := math.Sqrt(5) * math.Abs(r) / 2
		return 3 * (1 + s + s*s/3) * math.Exp(-s)
	}
	const q, x1, x2, y1, y2 = 0.7, 0, 1.5, 2.5, 1
	a, k1, k2, k12 := 3.5, k(q-x1), k(q-x2), k(x1-x2)

	mean, variance := predict(t, mustNew(t, p, oneTask([][]float64{{x1}}, []float64{y1})), [][]float64{{q}})
	near(t, "mean, n=1", mean[0], 2+k1/a*(y1-2), 1e-14)
	near(t, "variance, n=1", variance[0], 3-k1*k1/a, 1e-14)

	det := a*a - k12*k12
	w1, w2 := (a*k1-k12*k2)/det, (a*k2-k12*k1)/det
	mean, variance = predict(t, mustNew(t, p, oneTask([][]float64{{x1}, {x2}}, []float64{y1, y2})), [][]float64{{q}})
	near(t, "mean, n=2", mean[0], 2+w1*(y1-2)+w2*(y2-2), 1e-14)
	near(t, "variance, n=2", variance[0], 3-w1*k1-w2*k2, 1e-14)
}

// recorded is a case of testdata/sklearn.json: a prediction of scikit-learn, written by
// testdata/record_sklearn.py.
type recorded struct {
	X              [][]float64
	Y              []float64
	Signal, Noise  float64
	Length         []float64
	LogLikelihood  float64 `json:"log_likelihood"`
	Gradient       []float64
	Query          [][]float64
	Mean, Variance []float64
}

func readRecorded(t *testing.T) []recorded {
	t.Helper()
	raw := testutil.Must(os.ReadFile("testdata/sklearn.json"))(t)
	var file struct{ Cases []recorded }
	testutil.NoError(t, json.Unmarshal(raw, &file))
	return file.Cases
}

func TestPredictionAgainstScikitLearn(t *testing.T) {
	for _, r := range readRecorded(t) {
		mean, variance := predict(t, mustNew(t, matern52(r.Signal, r.Noise, r.Length...), oneTask(r.X, r.Y)), r.Query)
		for i := range mean {
			near(t, "mean", mean[i], r.Mean[i], 1e-9)
			near(t, "variance", variance[i]+r.Noise, r.Variance[i], 1e-9) // scikit-learn's variance includes the noise
		}
	}
}

// TestLikelihoodAgainstScikitLearn checks that the likelihood and its derivatives equal those of
// scikit-learn. The vector theta has no element for the noise. Instead, the variance of an effect that is
// common to all tasks at a row acts as the noise.
func TestLikelihoodAgainstScikitLearn(t *testing.T) {
	const none = -45 // logarithm of a negligible variance
	for _, r := range readRecorded(t) {
		d := len(r.Length)
		var theta []float64
		for range 2 {
			for _, l := range r.Length {
				theta = append(theta, math.Log(l))
			}
		}
		theta = append(theta, none, math.Log(r.Signal), none, none, math.Log(r.Noise), none)
		l := &likelihood{obs: oneTask(r.X, r.Y), y: r.Y}
		near(t, "likelihood", l.value(theta), r.LogLikelihood, 1e-9)
		grad := make([]float64, len(theta))
		l.gradient(theta, grad)
		near(t, "signal derivative", grad[2*d+1], r.Gradient[0], 1e-8)
		for i := range d {
			near(t, "length derivative", grad[i], r.Gradient[1+i], 1e-8)
		}
		near(t, "noise derivative", grad[2*d+4], r.Gradient[d+1], 1e-8)
	}
}

func TestVarianceFallsWithRows(t *testing.T) {
	o, query := smooth(60, 3, 1), smooth(50, 3, 2).X
	var last []float64
	for n := 1; n <= len(o.Y); n++ {
		_, variance := predict(t, mustNew(t, matern52(1.5, 0.01, 1, 1.5, 2), oneTask(o.X[:n], o.Y[:n])), query)
		for j := range last {
			if variance[j] > last[j]+1e-12 {
				t.Fatalf("variance %d rose from %g to %g with row %d", j, last[j], variance[j], n)
			}
		}
		last = variance
	}
}

func TestUnitsOfTargets(t *testing.T) {
	o, query := smooth(40, 2, 4), smooth(10, 2, 5).X
	scaled := o
	scaled.Y = slices.Clone(o.Y)
	for i := range scaled.Y {
		scaled.Y[i] = 1e-6*scaled.Y[i] + 5
	}
	fit := func(o Observations, noise float64) *GP {
		return testutil.Must(fit(o, Options{Length: []float64{2, 2}, Noise: noise}))(t)
	}
	a, b := fit(o, 2.5e-3), fit(scaled, 2.5e-15)
	meanA, varA := predict(t, a, query)
	meanB, varB := predict(t, b, query)
	for i := range meanA {
		near(t, "mean", (meanB[i]-5)*1e6, meanA[i], 1e-3)
		near(t, "variance", varB[i]*1e12/varA[i], 1, 1e-3)
	}
}

// TestDegenerateTraining checks that a GP accepts several targets at the same row. Equal rows share one index.
func TestDegenerateTraining(t *testing.T) {
	sameRow := oneTask([][]float64{{1}, {2}}, []float64{1, 4})
	sameRow.At, sameRow.Task, sameRow.Y = []int{0, 0, 0, 1}, []int{0, 0, 0, 0}, []float64{1, 2, 3, 4}
	tests := []struct {
		name string
		obs  Observations
	}{
		{"one row", oneTask([][]float64{{1, 2}}, []float64{3})},
		{"constant targets", oneTask([][]float64{{0}, {1}, {2}}, []float64{0.1, 0.1, 0.1})},
		{"zero targets", oneTask([][]float64{{0}, {1}}, []float64{0, 0})},
		{"one row, different targets", sameRow},
		{"constant column", oneTask([][]float64{{1, 7}, {2, 7}, {3, 7}}, []float64{1, 2, 3})},
		{"huge and tiny", oneTask([][]float64{{1e150, 1e-150}, {-1e150, 0}, {0, 2e-150}}, []float64{1e100, -1e100, 3e99})},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			opt := Options{Length: slices.Repeat([]float64{1}, len(tc.obs.X[0])), Noise: 1e-4}
			g := testutil.Must(fit(tc.obs, opt))(t)
			mean, variance := predict(t, g, tc.obs.X)
			for i := range mean {
				if !metrics.Finite(mean[i]) || !metrics.Finite(variance[i]) || variance[i] < 0 {
					t.Errorf("mean %g, variance %g", mean[i], variance[i])
				}
			}
		})
	}
}

func TestBadRowsAndTargets(t *testing.T) {
	rows, targets := [][]float64{{1, 2}, {3, 4}}, []float64{1, 2}
	tests := []struct {
		name string
		obs  Observations
		want error
	}{
		{"no columns", oneTask([][]float64{{}}, []float64{1}), ErrShape},
		{"ragged", oneTask([][]float64{{1, 2}, {3}}, targets), ErrShape},
		{"NaN", oneTask([][]float64{{1, 2}, {3, math.NaN()}}, targets), ErrValue},
		{"infinite target", oneTask(rows, []float64{1, math.Inf(1)}), ErrValue},
		{"overflowing targets", oneTask(rows, []float64{1e308, -1e308}), ErrValue},
	}
	for _, tc := range tests {
		if _, err := fit(tc.obs, Options{Length: []float64{1, 1}, Noise: 1e-4}); !errors.Is(err, tc.want) {
			t.Errorf("Fit, %s: %v, want %v", tc.name, err, tc.want)
		}
	}
	g := mustNew(t, matern52(1, 0.1, 1, 1), oneTask(rows, targets))
	for _, row := range [][]float64{nil, {1}, {1, math.NaN()}} {
		if _, err := g.Posterior([][]float64{row}, []Entry{{}}); err == nil {
			t.Errorf("Posterior accepts the row %v", row)
		}
	}
}

func TestParamsValidate(t *testing.T) {
	tests := []struct {
		name   string
		change func(p *Params)
		want   error
	}{
		{"good", func(*Params) {}, nil},
		{"no noise", func(p *Params) { p.Noise = 0 }, nil},
		{"signal", func(p *Params) { p.Common = 0 }, ErrValue},
		{"noise", func(p *Params) { p.Noise = -1 }, ErrValue},
		{"mean", func(p *Params) { p.Mean = math.NaN() }, ErrValue},
		{"length", func(p *Params) { p.CommonLength = []float64{1, math.Inf(1)} }, ErrValue},
		{"lengths", func(p *Params) { p.OwnLength = p.OwnLength[:1] }, ErrShape},
	}
	for _, tc := range tests {
		p := matern52(1.5, 0.01, 1, 1.5)
		tc.change(&p)
		if err := p.validate(2); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
}

func TestPenaltyGradient(t *testing.T) {
	h := Options{Length: []float64{2, 3}, Noise: 1e-4}.hyperprior(1, false)
	for _, shift := range []float64{0.5, 30, -30} {
		theta := slices.Clone(h.median)
		for i := range theta {
			theta[i] += shift
		}
		grad := make([]float64, len(theta))
		h.penalty(theta, grad)
		for i := range theta {
			const step = 1e-5
			up, down := slices.Clone(theta), slices.Clone(theta)
			up[i] += step
			down[i] -= step
			near(t, "derivative", grad[i], (h.penalty(up, nil)-h.penalty(down, nil))/(2*step), 1e-5)
		}
	}
}

func TestLikelihoodOfImpossibleTheta(t *testing.T) {
	o := smooth(10, 1, 1)
	l := &likelihood{obs: o, y: o.Y, noise: 1e-3}
	for _, v := range []float64{math.NaN(), 1e6, -1e6, math.Inf(1)} {
		theta := []float64{v, 0, -5, 0, -2, -3, -5, -4}
		if got := l.value(theta); !math.IsInf(got, -1) {
			t.Errorf("value(%v) = %g, want -Inf", theta, got)
		}
		grad := slices.Repeat([]float64{1}, len(theta))
		l.gradient(theta, grad)
		if slices.ContainsFunc(grad, func(g float64) bool { return g != 0 }) {
			t.Errorf("gradient(%v) = %v, want zeros", theta, grad)
		}
	}
}

func TestSearchEndsAfterItsEvaluations(t *testing.T) {
	o := smooth(30, 2, 9)
	h := Options{Length: []float64{2, 2}, Noise: 1e-4}.hyperprior(1, false)
	for _, tc := range []struct {
		evals int
		moves bool
	}{{1, false}, {40, true}} {
		best := testutil.Must(maximise(&likelihood{obs: o, y: o.Y, noise: 2.5e-3}, h, h.median, tc.evals))(t)
		if moved := !slices.Equal(best, h.median); moved != tc.moves {
			t.Errorf("after %d evaluations the search has left its start: %v", tc.evals, moved)
		}
	}
}
