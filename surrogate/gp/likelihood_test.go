package gp

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// smooth returns n random rows of d columns and a smooth noisy target.
func smooth(n, d int, seed uint64) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 11))
	x = newRows(n, d)
	for _, row := range x {
		s := 0.05 * rng.NormFloat64()
		for j := range row {
			row[j] = 4 * rng.Float64()
			s += math.Sin(row[j]) / float64(j+1)
		}
		y = append(y, s)
	}
	return x, y
}

func TestGradientAgainstDifferences(t *testing.T) {
	for _, size := range []struct{ n, d int }{{1, 1}, {2, 1}, {7, 2}, {30, 1}, {50, 3}, {101, 6}} {
		x, y := smooth(size.n, size.d, 5)
		l := newLikelihood(x, y)
		rng := rand.New(rand.NewPCG(6, uint64(size.n)))
		theta := make([]float64, size.d+2)
		for i := range theta {
			theta[i] = 0.5 * rng.NormFloat64()
		}
		theta[size.d+1] -= 4
		grad := make([]float64, len(theta))
		l.gradient(theta, grad)
		largest := 0.0
		for _, g := range grad {
			largest = max(largest, math.Abs(g))
		}
		for i := range theta {
			// Five points: the error is of order h⁴, rounding about 1e-15/h.
			const h = 1e-3
			at := func(step float64) float64 {
				moved := append([]float64(nil), theta...)
				moved[i] += step * h
				return l.value(moved)
			}
			want := (8*(at(1)-at(-1)) - (at(2) - at(-2))) / (12 * h)
			if math.Abs(grad[i]-want) > 1e-5*max(math.Abs(want), 1e-3*largest) {
				t.Errorf("n=%d d=%d: derivative %d = %.10g, differences say %.10g", size.n, size.d, i, grad[i], want)
			}
		}
	}
}

func TestPenaltyGradient(t *testing.T) {
	x, _ := smooth(10, 2, 1)
	b := newBelief(x)
	for _, theta := range [][]float64{{0, 1, 0, -3}, {30, -30, 14, -20}} {
		grad := make([]float64, len(theta))
		b.penalty(theta, grad)
		for i := range theta {
			const h = 1e-5
			up, down := append([]float64(nil), theta...), append([]float64(nil), theta...)
			up[i] += h
			down[i] -= h
			near(t, "derivative", grad[i], (b.penalty(up, nil)-b.penalty(down, nil))/(2*h), 1e-5)
		}
	}
}

func TestValueOfAbsurdTheta(t *testing.T) {
	x, y := smooth(10, 2, 1)
	l := newLikelihood(x, y)
	for _, theta := range [][]float64{
		{math.NaN(), 0, 0, 0}, {1e6, 0, 0, 0}, {-1e6, 0, 0, 0}, {0, 0, 800, 0}, {0, 0, -800, -800}, {0, 0, 0, math.Inf(1)},
	} {
		if v := l.value(theta); !math.IsInf(v, -1) {
			t.Errorf("value(%v) = %g, want -Inf", theta, v)
		}
		grad := []float64{1, 1, 1, 1}
		l.gradient(theta, grad)
		for _, g := range grad {
			if g != 0 {
				t.Errorf("gradient(%v) = %v, want zeros", theta, grad)
			}
		}
	}
}

// recorded is a case of testdata/sklearn.json; see testdata/record_sklearn.py, which writes it.
type recorded struct {
	X                 [][]float64
	Y                 []float64
	Signal, Noise     float64
	Length            []float64
	LogLikelihood     float64 `json:"log_likelihood"`
	Gradient          []float64
	Query             [][]float64
	Mean, Variance    []float64
	BestLogLikelihood float64 `json:"best_log_likelihood"`
}

func (r recorded) params() params {
	return params{length: r.Length, signal: r.Signal, noise: r.Noise}
}

func readRecorded(t *testing.T) []recorded {
	t.Helper()
	raw, err := os.ReadFile("testdata/sklearn.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []recorded }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

func TestLikelihoodAgainstScikitLearn(t *testing.T) {
	for _, r := range readRecorded(t) {
		d := len(r.Length)
		p := r.params()
		l := newLikelihood(r.X, r.Y)
		theta := p.theta(1)
		near(t, "likelihood", l.value(theta), r.LogLikelihood, 1e-9)
		grad := make([]float64, d+2)
		l.gradient(theta, grad)
		near(t, "signal derivative", grad[d], r.Gradient[0], 1e-8)
		for i := range d {
			near(t, "length derivative", grad[i], r.Gradient[1+i], 1e-8)
		}
		near(t, "noise derivative", grad[d+1], r.Gradient[d+1], 1e-8)
	}
}

// Without priors, in the same bounds, the search reaches what scikit-learn's does.
func TestOptimumAgainstScikitLearn(t *testing.T) {
	for _, r := range readRecorded(t) {
		y, _, _, err := standardise(r.Y)
		if err != nil {
			t.Fatal(err)
		}
		b := newBelief(r.X)
		var starts [][]float64
		for k := range defaultStarts {
			starts = append(starts, b.start(k, 0))
		}
		for i := range b.sd {
			b.sd[i] = math.Inf(1)
		}
		l := &counted{objective: newLikelihood(r.X, y)}
		theta, err := learn(l, b, starts, Options{}.withDefaults().tolerance())
		if err != nil {
			t.Fatal(err)
		}
		got := l.objective.value(theta)
		t.Logf("d=%d: %.6f in %d evaluations, scikit-learn %.6f", len(r.Length), got, l.evals, r.BestLogLikelihood)
		if got < r.BestLogLikelihood-1e-3 {
			t.Errorf("d=%d: likelihood %.6f, scikit-learn reaches %.6f", len(r.Length), got, r.BestLogLikelihood)
		}
	}
}
