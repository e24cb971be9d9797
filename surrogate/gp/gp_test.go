package gp

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func mustWith(t *testing.T, kernel Kernel, p Params, x [][]float64, y []float64) *GP {
	t.Helper()
	g, err := With(kernel, p, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func mustPredict(t *testing.T, g *GP, xq [][]float64) (mean, variance []float64) {
	t.Helper()
	mean, variance, err := g.Predict(xq)
	if err != nil {
		t.Fatal(err)
	}
	return mean, variance
}

// testParams are plausible hyper-parameters for the rows of smooth.
func testParams(d int) Params {
	p := Params{Mean: 0.3, Signal: 1.5, Noise: 0.01}
	for i := range d {
		p.Length = append(p.Length, 1+0.5*float64(i))
	}
	return p
}

func TestClosedForms(t *testing.T) {
	p := Params{Mean: 2, Length: []float64{2}, Signal: 3, Noise: 0.5}
	matern := func(r float64) float64 {
		s := math.Sqrt(5) * math.Abs(r) / 2
		return 3 * (1 + s + s*s/3) * math.Exp(-s)
	}
	rbf := func(r float64) float64 { return 3 * math.Exp(-r*r/8) }
	tests := []struct {
		name   string
		kernel Kernel
		k      func(r float64) float64
	}{{"Matérn", Matern52, matern}, {"RBF", RBF, rbf}}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			const q, x1, x2, y1, y2 = 0.7, 0, 1.5, 2.5, 1
			a, k1, k2, k12 := 3.5, tc.k(q-x1), tc.k(q-x2), tc.k(x1-x2)

			g := mustWith(t, tc.kernel, p, [][]float64{{x1}}, []float64{y1})
			mean, variance := mustPredict(t, g, [][]float64{{q}})
			near(t, "mean, n=1", mean[0], 2+k1/a*(y1-2), 1e-14)
			near(t, "variance, n=1", variance[0], 3-k1*k1/a, 1e-14)
			near(t, "likelihood, n=1", g.LogLikelihood(), -0.25/2/a-0.5*math.Log(2*math.Pi*a), 1e-14)

			if err := g.Append([]float64{x2}, y2); err != nil {
				t.Fatal(err)
			}
			det := a*a - k12*k12
			w1, w2 := (a*k1-k12*k2)/det, (a*k2-k12*k1)/det
			mean, variance = mustPredict(t, g, [][]float64{{q}})
			near(t, "mean, n=2", mean[0], 2+w1*(y1-2)+w2*(y2-2), 1e-14)
			near(t, "variance, n=2", variance[0], 3-w1*k1-w2*k2, 1e-14)
			quad := (a*0.25 - 2*k12*0.5*(-1) + a*1) / det
			near(t, "likelihood, n=2", g.LogLikelihood(), -quad/2-math.Log(2*math.Pi)-math.Log(det)/2, 1e-14)
		})
	}
}

func TestPredictionAgainstScikitLearn(t *testing.T) {
	for _, r := range readRecorded(t) {
		g := mustWith(t, r.kernel(), Params{Length: r.Length, Signal: r.Signal, Noise: r.Noise}, r.X, r.Y)
		mean, variance := mustPredict(t, g, r.Query)
		_, joint, err := g.Joint(r.Query)
		if err != nil {
			t.Fatal(err)
		}
		for i := range mean {
			near(t, r.Kernel+" mean", mean[i], r.Mean[i], 1e-9)
			near(t, r.Kernel+" variance", variance[i]+r.Noise, r.Variance[i], 1e-9)
			for j := range mean {
				want := r.Covariance[i][j]
				if i == j {
					want -= r.Noise // scikit-learn's white kernel is part of the function
				}
				near(t, r.Kernel+" covariance", joint.At(i, j), want, 1e-9)
			}
		}
	}
}

func TestAppendEqualsWith(t *testing.T) {
	for _, kernel := range []Kernel{Matern52, RBF} {
		x, y := smooth(120, 3, 2)
		xq, _ := smooth(40, 3, 3)
		for _, first := range []int{1, 47, 48, 100} {
			g := mustWith(t, kernel, testParams(3), x[:first], y[:first])
			for i := first; i < len(x); i++ {
				if err := g.Append(x[i], y[i]); err != nil {
					t.Fatal(err)
				}
			}
			want := mustWith(t, kernel, testParams(3), x, y)
			mean, variance := mustPredict(t, g, xq)
			wantMean, wantVariance := mustPredict(t, want, xq)
			for i := range mean {
				near(t, "mean", mean[i], wantMean[i], 1e-9)
				near(t, "variance", variance[i], wantVariance[i], 1e-9)
			}
			near(t, "likelihood", g.LogLikelihood(), want.LogLikelihood(), 1e-9)
		}
	}
}

func TestUnitsDoNotMatter(t *testing.T) {
	x, y := smooth(40, 2, 4)
	xq, _ := smooth(10, 2, 5)
	scaled := make([]float64, len(y))
	for i, v := range y {
		scaled[i] = 1e-6*v + 5
	}
	a, err := Fit(x, y, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Fit(x, scaled, Options{})
	if err != nil {
		t.Fatal(err)
	}
	meanA, varA := mustPredict(t, a, xq)
	meanB, varB := mustPredict(t, b, xq)
	for i := range meanA {
		near(t, "mean", (meanB[i]-5)*1e6, meanA[i], 1e-3)
		near(t, "variance", varB[i]*1e12/varA[i], 1, 1e-3)
	}
	near(t, "noise", b.Params().Noise*1e12/a.Params().Noise, 1, 1e-3)
	near(t, "likelihood", b.LogLikelihood()+40*math.Log(1e-6), a.LogLikelihood(), 1e-4)
}

func TestFitRecoversNoise(t *testing.T) {
	x, y := smooth(300, 2, 8) // noise of deviation 0.05
	g, err := Fit(x, y, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if sd := math.Sqrt(g.Params().Noise); sd < 0.04 || sd > 0.06 {
		t.Errorf("learnt noise deviation %.4f, made with 0.05", sd)
	}
}

func TestFitIsDeterministic(t *testing.T) {
	x, y := smooth(30, 2, 9)
	var last Params
	for i := range 3 {
		g, err := Fit(x, y, Options{Seed: 4})
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && !reflect.DeepEqual(g.Params(), last) {
			t.Errorf("run %d: %+v, before %+v", i, g.Params(), last)
		}
		last = g.Params()
	}
}

func TestMaxEvals(t *testing.T) {
	x, y := smooth(30, 2, 9)
	for _, tc := range []struct{ starts, evals int }{{1, 1}, {1, 5}, {3, 7}} {
		g, err := Fit(x, y, Options{Starts: tc.starts, MaxEvals: tc.evals})
		if err != nil {
			t.Fatal(err)
		}
		if got, most := g.Evaluations(), tc.starts*tc.evals; got < tc.starts || got > most {
			t.Errorf("%d starts of %d evaluations spent %d", tc.starts, tc.evals, got)
		}
	}
}

func TestRefit(t *testing.T) {
	x, y := smooth(80, 2, 10)
	g, err := Fit(x[:20], y[:20], Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := 20; i < 80; i++ {
		if err := g.Append(x[i], y[i]); err != nil {
			t.Fatal(err)
		}
	}
	before := g.LogLikelihood()
	if err := g.Refit(); err != nil {
		t.Fatal(err)
	}
	whole, err := Fit(x, y, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if g.LogLikelihood() < before {
		t.Errorf("likelihood %g after Refit, %g before", g.LogLikelihood(), before)
	}
	near(t, "likelihood", g.LogLikelihood(), whole.LogLikelihood(), 1e-3)
	again := mustWith(t, g.Kernel(), g.Params(), x, y)
	near(t, "likelihood of With", again.LogLikelihood(), g.LogLikelihood(), 1e-9)
	if err := again.Refit(); err != nil {
		t.Errorf("Refit after With: %v", err)
	}
}

func TestCovarianceIsPositive(t *testing.T) {
	for _, kernel := range []Kernel{Matern52, RBF} {
		for seed := range uint64(5) {
			x, y := smooth(30, 2, seed)
			xq, _ := smooth(60, 2, seed+100)
			g := mustWith(t, kernel, testParams(2), x, y)
			_, cov, err := g.Joint(xq)
			if err != nil {
				t.Fatal(err)
			}
			var eigen mat.EigenSym
			if !eigen.Factorize(cov, false) {
				t.Fatal("no eigenvalues")
			}
			for _, v := range eigen.Values(nil) {
				if v < -1e-12 {
					t.Errorf("%v seed %d: eigenvalue %g", kernel, seed, v)
				}
			}
			_, variance := mustPredict(t, g, xq)
			for i, v := range variance {
				near(t, "diagonal", cov.At(i, i), v, 1e-12)
			}
		}
	}
}

func TestVarianceFallsWithRows(t *testing.T) {
	x, y := smooth(60, 3, 1)
	xq, _ := smooth(50, 3, 2)
	g := mustWith(t, Matern52, testParams(3), x[:1], y[:1])
	_, last := mustPredict(t, g, xq)
	for i := 1; i < len(x); i++ {
		if err := g.Append(x[i], y[i]); err != nil {
			t.Fatal(err)
		}
		_, variance := mustPredict(t, g, xq)
		for j, v := range variance {
			if v > last[j]+1e-12 {
				t.Fatalf("variance %d rose from %g to %g with row %d", j, last[j], v, i)
			}
		}
		last = variance
	}
}

func TestSampleMoments(t *testing.T) {
	x, y := smooth(10, 1, 3)
	xq := [][]float64{{0.5}, {0.6}, {5}, {9}}
	g := mustWith(t, Matern52, testParams(1), x, y)
	mean, cov, err := g.Joint(xq)
	if err != nil {
		t.Fatal(err)
	}
	const count = 20000
	samples, err := g.Sample(rand.New(rand.NewPCG(1, 2)), xq, count)
	if err != nil {
		t.Fatal(err)
	}
	for i := range xq {
		for j := range i + 1 {
			var first, second float64
			for _, s := range samples {
				first += s[i] / count
				second += (s[i] - mean[i]) * (s[j] - mean[j]) / count
			}
			// Five standard errors of a mean and of a covariance of normal variables.
			sd := math.Sqrt(cov.At(i, i) * cov.At(j, j))
			if math.Abs(first-mean[i]) > 5*math.Sqrt(cov.At(i, i)/count) {
				t.Errorf("sample mean %d %g, want %g", i, first, mean[i])
			}
			if math.Abs(second-cov.At(i, j)) > 5*sd*math.Sqrt(2./count) {
				t.Errorf("sample covariance %d,%d %g, want %g", i, j, second, cov.At(i, j))
			}
		}
	}
	again, err := g.Sample(rand.New(rand.NewPCG(1, 2)), xq, count)
	if err != nil || !reflect.DeepEqual(again, samples) {
		t.Errorf("the same seed gave other samples (%v)", err)
	}
	if _, err := g.Sample(rand.New(rand.NewPCG(1, 2)), xq, -1); !errors.Is(err, ErrValue) {
		t.Errorf("count -1: %v", err)
	}
}

// TestConcurrentReads has something to find under the race detector only.
func TestConcurrentReads(t *testing.T) {
	x, y := smooth(60, 2, 1)
	g := mustWith(t, Matern52, testParams(2), x, y)
	want, _ := mustPredict(t, g, x)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			mean, _, err := g.Joint(x)
			if err != nil || len(mean) != len(want) {
				t.Errorf("Joint: %d means, %v", len(mean), err)
			}
			got, _, err := g.Predict(x)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("Predict differs from the lone call (%v)", err)
			}
		})
	}
	wg.Wait()
}
