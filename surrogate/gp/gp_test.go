package gp

import (
	"math"
	"reflect"
	"slices"
	"sync"
	"testing"
)

// with returns the model with given hyper-parameters, which Fit would learn.
func with(t testing.TB, p params, x [][]float64, y []float64) *GP {
	t.Helper()
	g := &GP{opt: Options{}.withDefaults(), params: p}
	g.keep(x, y)
	if err := g.rebuild(); err != nil {
		t.Fatal(err)
	}
	return g
}

// predict returns the posterior at the rows of xq.
func predict(t *testing.T, g *GP, xq [][]float64) (mean, variance []float64) {
	t.Helper()
	p, err := g.NewPool(xq)
	if err != nil {
		t.Fatal(err)
	}
	return p.Mean(), p.Variance()
}

// likelihoodOf is the log marginal likelihood of the model's own targets, in nats.
func likelihoodOf(g *GP) float64 { return logDensity(&g.f, g.z) }

// testParams are plausible hyper-parameters for the rows of smooth.
func testParams(d int) params {
	p := params{mean: 0.3, signal: 1.5, noise: 0.01}
	for i := range d {
		p.length = append(p.length, 1+0.5*float64(i))
	}
	return p
}

func TestClosedForms(t *testing.T) {
	p := params{mean: 2, length: []float64{2}, signal: 3, noise: 0.5}
	k := func(r float64) float64 {
		s := math.Sqrt(5) * math.Abs(r) / 2
		return 3 * (1 + s + s*s/3) * math.Exp(-s)
	}
	const q, x1, x2, y1, y2 = 0.7, 0, 1.5, 2.5, 1
	a, k1, k2, k12 := 3.5, k(q-x1), k(q-x2), k(x1-x2)

	g := with(t, p, [][]float64{{x1}}, []float64{y1})
	mean, variance := predict(t, g, [][]float64{{q}})
	near(t, "mean, n=1", mean[0], 2+k1/a*(y1-2), 1e-14)
	near(t, "variance, n=1", variance[0], 3-k1*k1/a, 1e-14)
	near(t, "likelihood, n=1", likelihoodOf(g), -0.25/2/a-0.5*math.Log(2*math.Pi*a), 1e-14)

	if err := g.Append([]float64{x2}, y2); err != nil {
		t.Fatal(err)
	}
	det := a*a - k12*k12
	w1, w2 := (a*k1-k12*k2)/det, (a*k2-k12*k1)/det
	mean, variance = predict(t, g, [][]float64{{q}})
	near(t, "mean, n=2", mean[0], 2+w1*(y1-2)+w2*(y2-2), 1e-14)
	near(t, "variance, n=2", variance[0], 3-w1*k1-w2*k2, 1e-14)
	quad := (a*0.25 - 2*k12*0.5*(-1) + a*1) / det
	near(t, "likelihood, n=2", likelihoodOf(g), -quad/2-math.Log(2*math.Pi)-math.Log(det)/2, 1e-14)
}

func TestPredictionAgainstScikitLearn(t *testing.T) {
	for _, r := range readRecorded(t) {
		mean, variance := predict(t, with(t, r.params(), r.X, r.Y), r.Query)
		for i := range mean {
			near(t, "mean", mean[i], r.Mean[i], 1e-9)
			near(t, "variance", variance[i]+r.Noise, r.Variance[i], 1e-9) // scikit-learn's has the noise in it
		}
	}
}

func TestAppendEqualsWith(t *testing.T) {
	x, y := smooth(120, 3, 2)
	xq, _ := smooth(40, 3, 3)
	for _, first := range []int{1, 47, 48, 100} {
		g := with(t, testParams(3), x[:first], y[:first])
		for i := first; i < len(x); i++ {
			if err := g.Append(x[i], y[i]); err != nil {
				t.Fatal(err)
			}
		}
		want := with(t, testParams(3), x, y)
		mean, variance := predict(t, g, xq)
		wantMean, wantVariance := predict(t, want, xq)
		for i := range mean {
			near(t, "mean", mean[i], wantMean[i], 1e-9)
			near(t, "variance", variance[i], wantVariance[i], 1e-9)
		}
		near(t, "likelihood", likelihoodOf(g), likelihoodOf(want), 1e-9)
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
	meanA, varA := predict(t, a, xq)
	meanB, varB := predict(t, b, xq)
	for i := range meanA {
		near(t, "mean", (meanB[i]-5)*1e6, meanA[i], 1e-3)
		near(t, "variance", varB[i]*1e12/varA[i], 1, 1e-3)
	}
	near(t, "noise", b.params.noise*1e12/a.params.noise, 1, 1e-3)
	near(t, "likelihood", likelihoodOf(b)+40*math.Log(1e-6), likelihoodOf(a), 1e-4)
}

func TestFitRecoversNoise(t *testing.T) {
	x, y := smooth(300, 2, 8) // noise of deviation 0.05
	g, err := Fit(x, y, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if sd := math.Sqrt(g.params.noise); sd < 0.04 || sd > 0.06 {
		t.Errorf("learnt noise deviation %.4f, made with 0.05", sd)
	}
}

func TestFitIsDeterministic(t *testing.T) {
	x, y := smooth(30, 2, 9)
	var last params
	for i := range 3 {
		g, err := Fit(x, y, Options{Seed: 4})
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && !reflect.DeepEqual(g.params, last) {
			t.Errorf("run %d: %+v, before %+v", i, g.params, last)
		}
		last = g.params
	}
}

// counted counts the evaluations of an objective.
type counted struct {
	objective
	evals int
}

func (c *counted) value(theta []float64) float64 {
	c.evals++
	return c.objective.value(theta)
}

func TestSearchKeepsToItsEvaluations(t *testing.T) {
	x, y := smooth(30, 2, 9)
	b := newBelief(x)
	for _, tc := range []struct{ starts, evals int }{{1, 1}, {1, 5}, {3, 7}} {
		var starts [][]float64
		for k := range tc.starts {
			starts = append(starts, b.start(k, 1))
		}
		l := &counted{objective: newLikelihood(x, y)}
		if _, err := learn(l, b, starts, tolerance{evals: tc.evals}); err != nil {
			t.Fatal(err)
		}
		if most := tc.starts * tc.evals; l.evals < tc.starts || l.evals > most {
			t.Errorf("%d starts of %d evaluations spent %d", tc.starts, tc.evals, l.evals)
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
	before := likelihoodOf(g)
	if err := g.Refit(); err != nil {
		t.Fatal(err)
	}
	whole, err := Fit(x, y, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if likelihoodOf(g) < before {
		t.Errorf("likelihood %g after Refit, %g before", likelihoodOf(g), before)
	}
	near(t, "likelihood", likelihoodOf(g), likelihoodOf(whole), 1e-3)
	again := with(t, g.params, x, y)
	near(t, "likelihood of the same hyper-parameters", likelihoodOf(again), likelihoodOf(g), 1e-9)
}

func TestVarianceFallsWithRows(t *testing.T) {
	x, y := smooth(60, 3, 1)
	xq, _ := smooth(50, 3, 2)
	g := with(t, testParams(3), x[:1], y[:1])
	_, last := predict(t, g, xq)
	for i := 1; i < len(x); i++ {
		if err := g.Append(x[i], y[i]); err != nil {
			t.Fatal(err)
		}
		_, variance := predict(t, g, xq)
		for j, v := range variance {
			if v > last[j]+1e-12 {
				t.Fatalf("variance %d rose from %g to %g with row %d", j, last[j], v, i)
			}
		}
		last = variance
	}
}

// TestConcurrentReads has something to find under the race detector only.
func TestConcurrentReads(t *testing.T) {
	x, y := smooth(60, 2, 1)
	g := with(t, testParams(2), x, y)
	want, _ := predict(t, g, x)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			p, err := g.NewPool(x)
			if err != nil || !slices.Equal(p.Mean(), want) {
				t.Errorf("the means differ from those of the lone call (%v)", err)
			}
		})
	}
	wg.Wait()
}
