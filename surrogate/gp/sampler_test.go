package gp

import (
	"math"
	"math/rand/v2"
	"testing"

	"tutti/internal/testutil"
)

func TestDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var obs Observations
	for i := range 12 {
		obs.X = append(obs.X, []float64{float64(i % 4), float64(i / 4)})
	}
	for j := range 40 {
		obs.At = append(obs.At, rng.IntN(12))
		obs.Task = append(obs.Task, rng.IntN(3))
		obs.Y = append(obs.Y, rng.NormFloat64())
		obs.Extra = append(obs.Extra, 0.01)
		obs.Source = append(obs.Source, j%2*(1+j%3%2))
		obs.Job = append(obs.Job, rng.IntN(4))
	}
	p := Params{CommonLength: []float64{3, 3}, OwnLength: []float64{2, 4}, StepLength: []float64{2, 2}, Steps: 0.5, Split: 0.1, SplitColumn: 1,
		Common: 1, Own: 0.5, Level: 0.3, Shared: 0.1, Rough: 0.05, Noise: 0.02, Job: 0.005, ChangeLevel: 0.1, Change: 0.2, ChangeOwnLevel: 0.05, ChangeOwn: 0.1}
	m := testutil.Must(New(p, obs))(t)
	rows := [][]float64{{0, 0}, {1.5, 1}, {5, 2}, {3, 1}}
	var entries []Entry
	for r := range rows {
		for a := range 3 {
			entries = append(entries, Entry{r, a})
		}
	}
	post := testutil.Must(m.Posterior(rows, entries))(t)
	s := testutil.Must(m.Sampler(rows, 3, rng))(t)
	n := len(entries)
	cov := newRows(n, n)
	const N = 40000
	for _, d := range s.Draw(N) {
		for i, e := range entries {
			for j, f := range entries {
				cov[i][j] += d[e.Task][e.Row] * d[f.Task][f.Row] / N
			}
		}
	}
	for i := range n {
		for j := range n {
			want := post.Covariance(i, j)
			tol := 5 * math.Sqrt((want*want+post.Variance(i)*post.Variance(j))/N)
			if math.Abs(cov[i][j]-want) > tol {
				t.Errorf("%d %d: %g want %g", i, j, cov[i][j], want)
			}
		}
	}
}
