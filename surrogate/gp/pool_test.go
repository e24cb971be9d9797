package gp

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

func mustPool(t *testing.T, g *GP, rows [][]float64) *Pool {
	t.Helper()
	p, err := g.NewPool(rows)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// samePosterior compares a pool with a new one of the model.
func samePosterior(t *testing.T, what string, p *Pool, g *GP, rows [][]float64) {
	t.Helper()
	mean, variance := predict(t, g, rows)
	for i := range rows {
		near(t, what+": mean", p.Mean()[i], mean[i], 1e-9)
		near(t, what+": variance", p.Variance()[i], variance[i], 1e-9)
	}
}

func TestPoolFollowsModel(t *testing.T) {
	x, y := smooth(300, 3, 20)
	rows, _ := smooth(250, 3, 21)
	for _, step := range []int{1, 3, 70} {
		g := with(t, testParams(3), x[:5], y[:5])
		p := mustPool(t, g, rows)
		for i := 5; i < len(x); {
			for last := min(i+step, len(x)); i < last; i++ {
				if err := g.Append(x[i], y[i]); err != nil {
					t.Fatal(err)
				}
			}
			if i%10 == 0 {
				p.Mean()
			}
		}
		samePosterior(t, "appended", p, g, rows)
	}
}

func TestPoolFollowsRefit(t *testing.T) {
	x, y := smooth(40, 2, 22)
	rows, _ := smooth(30, 2, 23)
	g := with(t, testParams(2), x, y)
	p := mustPool(t, g, rows)
	if err := p.Condition(3); err != nil {
		t.Fatal(err)
	}
	if err := g.Refit(); err != nil {
		t.Fatal(err)
	}
	samePosterior(t, "after Refit", p, g, rows)
}

func TestConditionEqualsAppendedRow(t *testing.T) {
	x, y := smooth(60, 2, 24)
	rows, _ := smooth(120, 2, 25)
	g := with(t, testParams(2), x, y)
	p := mustPool(t, g, rows)
	mean, before := slices.Clone(p.Mean()), slices.Clone(p.Variance())
	appended := with(t, testParams(2), x, y)
	rng := rand.New(rand.NewPCG(1, 1))
	picks := []int{7, 7, 119, 0} // the same candidate may be pending twice
	for _, i := range picks {
		if err := p.Condition(i); err != nil {
			t.Fatal(err)
		}
		if err := appended.Append(rows[i], rng.NormFloat64()); err != nil {
			t.Fatal(err)
		}
		_, want := predict(t, appended, rows)
		for j, v := range p.Variance() {
			near(t, "variance", v, want[j], 1e-9)
		}
	}
	if !slices.Equal(p.Mean(), mean) {
		t.Error("pending candidates moved the mean")
	}
	p.Reset()
	if !slices.Equal(p.Variance(), before) {
		t.Error("Reset did not restore the variance")
	}
	if err := p.Condition(1); err != nil {
		t.Fatal(err)
	}
	if err := g.Append(rows[5], 1); err != nil {
		t.Fatal(err)
	}
	samePosterior(t, "appended while one was pending", p, g, rows)
	for _, i := range []int{-1, len(rows)} {
		if err := p.Condition(i); !errors.Is(err, ErrShape) {
			t.Errorf("Condition(%d) = %v", i, err)
		}
	}
}
