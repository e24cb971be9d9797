package gp

import (
	"errors"
	"math"
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
		g, err := Fit(tc.x, tc.y, Options{})
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		mean, variance := predict(t, g, tc.x)
		for i := range mean {
			if !finite(mean[i]) || !finite(variance[i]) || variance[i] < 0 {
				t.Errorf("%s: mean %g, variance %g", tc.name, mean[i], variance[i])
			}
		}
	}
}

func TestEqualRowsWithoutNoise(t *testing.T) {
	p := params{length: []float64{1}, signal: 1}
	g := with(t, p, [][]float64{{0}, {0}, {1}}, []float64{1, 1, 2})
	if g.jitter == 0 {
		t.Error("a singular matrix was factored without jitter")
	}
	g = with(t, p, [][]float64{{0}}, []float64{1})
	pool, err := g.NewPool([][]float64{{0}, {3}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := g.Append([]float64{0}, 1); err != nil {
			t.Fatal(err)
		}
		mean, _ := predict(t, g, [][]float64{{0}})
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
	tests := []struct {
		name string
		x    [][]float64
		y    []float64
		want error
	}{
		{name: "no rows", want: ErrShape},
		{name: "no columns", x: [][]float64{{}}, y: []float64{1}, want: ErrShape},
		{name: "ragged", x: [][]float64{{1, 2}, {3}}, y: oky, want: ErrShape},
		{name: "too few targets", x: ok, y: oky[:1], want: ErrShape},
		{name: "NaN", x: [][]float64{{1, 2}, {3, nan}}, y: oky, want: ErrValue},
		{name: "infinite target", x: ok, y: []float64{1, inf}, want: ErrValue},
	}
	for _, tc := range tests {
		if _, err := Fit(tc.x, tc.y, Options{}); !errors.Is(err, tc.want) {
			t.Errorf("Fit, %s: %v, want %v", tc.name, err, tc.want)
		}
	}
	for _, opt := range []Options{{Starts: -1}, {MaxEvals: -1}} {
		if _, err := Fit(ok, oky, opt); !errors.Is(err, ErrOptions) {
			t.Errorf("Fit with %+v: %v", opt, err)
		}
	}
	if _, err := Fit(ok, []float64{1e308, -1e308}, Options{}); !errors.Is(err, ErrValue) {
		t.Errorf("overflowing targets: %v", err)
	}
	g := with(t, testParams(2), ok, oky)
	for _, row := range [][]float64{nil, {1}, {1, nan}} {
		if err := g.Append(row, 1); err == nil {
			t.Errorf("Append(%v) accepted", row)
		}
		if _, err := g.NewPool([][]float64{row}); err == nil {
			t.Errorf("NewPool(%v) accepted", row)
		}
	}
	if err := g.Append([]float64{1, 2}, inf); !errors.Is(err, ErrValue) || g.Len() != 2 {
		t.Errorf("Append of an infinite target: %v, %d rows", err, g.Len())
	}
}

func TestParamsValidate(t *testing.T) {
	tests := []struct {
		name   string
		change func(p *params)
		want   error
	}{
		{"good", func(*params) {}, nil},
		{"no noise", func(p *params) { p.noise = 0 }, nil},
		{"signal", func(p *params) { p.signal = 0 }, ErrValue},
		{"noise", func(p *params) { p.noise = -1 }, ErrValue},
		{"mean", func(p *params) { p.mean = math.NaN() }, ErrValue},
		{"length", func(p *params) { p.length[1] = math.Inf(1) }, ErrValue},
		{"lengths", func(p *params) { p.length = p.length[:1] }, ErrShape},
	}
	for _, tc := range tests {
		p := testParams(2)
		tc.change(&p)
		if err := p.validate(2); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
}
