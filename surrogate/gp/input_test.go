package gp

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func TestDegenerateTraining(t *testing.T) {
	tests := []struct {
		name string
		x    [][]float64
		y    []float64
	}{
		{"one row", [][]float64{{1, 2}}, []float64{3}},
		{"constant targets", [][]float64{{0}, {1}, {2}}, []float64{0.1, 0.1, 0.1}},
		{"zero targets", [][]float64{{0}, {1}}, []float64{0, 0}},
		{"one row twice", [][]float64{{1, 1}, {1, 1}}, []float64{2, 2}},
		{"equal rows, different targets", [][]float64{{1}, {1}, {1}, {2}}, []float64{1, 2, 3, 4}},
		{"constant column", [][]float64{{1, 7}, {2, 7}, {3, 7}}, []float64{1, 2, 3}},
		{"huge and tiny", [][]float64{{1e150, 1e-150}, {-1e150, 0}, {0, 2e-150}}, []float64{1e100, -1e100, 3e99}},
	}
	for _, tc := range tests {
		for _, opt := range []Options{{}, {Kernel: RBF}, {NoPriors: true}} {
			g, err := Fit(tc.x, tc.y, opt)
			if err != nil {
				t.Errorf("%s, %+v: %v", tc.name, opt, err)
				continue
			}
			mean, variance := mustPredict(t, g, tc.x)
			for i := range mean {
				if !finite(mean[i]) || !finite(variance[i]) || variance[i] < 0 {
					t.Errorf("%s, %+v: mean %g, variance %g", tc.name, opt, mean[i], variance[i])
				}
			}
		}
	}
}

func TestEqualRowsWithoutNoise(t *testing.T) {
	p := Params{Length: []float64{1}, Signal: 1}
	g := mustWith(t, RBF, p, [][]float64{{0}, {0}, {1}}, []float64{1, 1, 2})
	if g.Jitter() == 0 {
		t.Error("a singular matrix was factored without jitter")
	}
	g = mustWith(t, RBF, p, [][]float64{{0}}, []float64{1})
	pool, err := g.NewPool([][]float64{{0}, {3}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := g.Append([]float64{0}, 1); err != nil {
			t.Fatal(err)
		}
		mean, _ := mustPredict(t, g, [][]float64{{0}})
		near(t, "mean", mean[0], 1, 1e-6)
		near(t, "pool mean", pool.Mean()[0], 1, 1e-6)
		if err := pool.Condition(0); err != nil {
			t.Fatal(err)
		}
		if v := pool.Variance()[1]; !(v > 0.99 && v <= 1) {
			t.Errorf("variance far from the data %g", v)
		}
	}
}

func TestBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ok, oky := [][]float64{{1, 2}, {3, 4}}, []float64{1, 2}
	good := testParams(2)
	change := func(f func(p *Params)) Params {
		p := good.clone()
		f(&p)
		return p
	}
	tests := []struct {
		name string
		x    [][]float64
		y    []float64
		p    Params
		opt  Options
		want error
	}{
		{name: "no rows", want: ErrShape},
		{name: "no columns", x: [][]float64{{}}, y: []float64{1}, want: ErrShape},
		{name: "ragged", x: [][]float64{{1, 2}, {3}}, y: oky, want: ErrShape},
		{name: "too few targets", x: ok, y: oky[:1], want: ErrShape},
		{name: "NaN", x: [][]float64{{1, 2}, {3, nan}}, y: oky, want: ErrValue},
		{name: "infinite target", x: ok, y: []float64{1, inf}, want: ErrValue},
		{name: "kernel", x: ok, y: oky, opt: Options{Kernel: 7}, p: good, want: ErrOptions},
		{name: "signal", x: ok, y: oky, p: change(func(p *Params) { p.Signal = 0 }), want: ErrValue},
		{name: "noise", x: ok, y: oky, p: change(func(p *Params) { p.Noise = -1 }), want: ErrValue},
		{name: "mean", x: ok, y: oky, p: change(func(p *Params) { p.Mean = nan }), want: ErrValue},
		{name: "length", x: ok, y: oky, p: change(func(p *Params) { p.Length[1] = inf }), want: ErrValue},
		{name: "lengths", x: ok, y: oky, p: change(func(p *Params) { p.Length = p.Length[:1] }), want: ErrShape},
	}
	for _, tc := range tests {
		if _, err := With(tc.opt.Kernel, tc.p, tc.x, tc.y); !errors.Is(err, tc.want) {
			t.Errorf("With, %s: %v, want %v", tc.name, err, tc.want)
		}
		if tc.p.Length != nil && tc.want != ErrOptions {
			continue // concerns With alone
		}
		if _, err := Fit(tc.x, tc.y, tc.opt); !errors.Is(err, tc.want) {
			t.Errorf("Fit, %s: %v, want %v", tc.name, err, tc.want)
		}
	}
	for _, opt := range []Options{{Starts: -1}, {MaxEvals: -1}, {Kernel: -1}} {
		if _, err := Fit(ok, oky, opt); !errors.Is(err, ErrOptions) {
			t.Errorf("Fit with %+v: %v", opt, err)
		}
	}
	if _, err := Fit(ok, []float64{1e308, -1e308}, Options{}); !errors.Is(err, ErrValue) {
		t.Errorf("overflowing targets: %v", err)
	}
	g := mustWith(t, Matern52, good, ok, oky)
	for _, row := range [][]float64{nil, {1}, {1, nan}} {
		if err := g.Append(row, 1); err == nil {
			t.Errorf("Append(%v) accepted", row)
		}
		if _, _, err := g.Predict([][]float64{row}); err == nil {
			t.Errorf("Predict(%v) accepted", row)
		}
		if _, _, err := g.Joint([][]float64{row}); err == nil {
			t.Errorf("Joint(%v) accepted", row)
		}
		if _, err := g.Sample(rand.New(rand.NewPCG(1, 1)), [][]float64{row}, 1); err == nil {
			t.Errorf("Sample(%v) accepted", row)
		}
		if _, err := g.NewPool([][]float64{row}); err == nil {
			t.Errorf("NewPool(%v) accepted", row)
		}
	}
	if err := g.Append([]float64{1, 2}, inf); !errors.Is(err, ErrValue) || g.Len() != 2 {
		t.Errorf("Append of an infinite target: %v, %d rows", err, g.Len())
	}
}
