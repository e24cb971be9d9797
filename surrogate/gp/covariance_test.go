package gp

import (
	"math"
	"math/rand/v2"
	"testing"

	"tutti/internal/testutil"
)

// TestCovFactorEqualsWholeFactor checks that a covFactor gives the same results as a Cholesky factor of the
// whole covariance matrix. The cases include several sources, jobs, extra noise, pending entries and
// unsorted observations.
func TestCovFactorEqualsWholeFactor(t *testing.T) {
	disturbed := related(40, 5)
	disturbed.Job = jobs(len(disturbed.Y))
	several := shuffled(related(130, 5)) // more than one block
	several.Job = jobs(len(several.Y))
	for _, o := range []Observations{related(40, 5), disturbed, several, earlier(30, 6, 3, func(int) float64 { return 0.1 })} {
		o.Extra = make([]float64, len(o.Y))
		for j := range o.Extra {
			o.Extra[j] = 1e-3 * float64(j%3)
		}
		p := testutil.Must(Learn(o, relatedOptions))(t)
		p.ChangeOwn, p.ChangeLevel = p.ChangeOwn*3, p.ChangeLevel*3
		m := testutil.Must(New(p, o))(t)
		inverse := wholeInverse(t, m)
		for i := range inverse {
			alpha := 0.0
			for j, y := range o.Y {
				alpha += inverse[i][j] * (y - p.Mean)
			}
			if math.Abs(alpha-m.alpha[i]) > 1e-6*(1+math.Abs(alpha)) {
				t.Errorf("K⁻¹y of observation %d is %g, want %g", i, m.alpha[i], alpha)
			}
		}
		checkWhole(t, m, inverse)
		some := []int{1, 2, 5, len(o.Y) - 1}
		residuals, deviations := m.LOOResiduals(some)
		for i, got := range residuals {
			want, sd := m.alpha[some[i]]/inverse[some[i]][some[i]], 1/math.Sqrt(inverse[some[i]][some[i]])
			if math.Abs(got-want) > 1e-6*(1+math.Abs(want)) || math.Abs(deviations[i]-sd) > 1e-6*sd {
				t.Errorf("observation %d has the residual %g ± %g, want %g ± %g", some[i], got, deviations[i], want, sd)
			}
		}
	}
}

// shuffled returns the observations in random order.
func shuffled(o Observations) Observations {
	out := Observations{X: o.X}
	for _, j := range rand.New(rand.NewPCG(1, 1)).Perm(len(o.Y)) {
		out.At, out.Task, out.Y = append(out.At, o.At[j]), append(out.Task, o.Task[j]), append(out.Y, o.Y[j])
	}
	return out
}

// wholeInverse returns the inverse of the covariance matrix K, computed from a Cholesky factor of the whole
// matrix.
func wholeInverse(t *testing.T, m *GP) [][]float64 {
	t.Helper()
	n, k := len(m.obs.Y), newCorrMatrix(len(m.obs.X))
	k.compute(m.params, m.obs.X)
	var f factor
	ok := f.build(n, m.params.variance(), func(i int, row []float64) {
		k.fill(m.params, m.obs, i, row)
		m.params.addNoise(m.obs, i, row)
	})
	if !ok {
		t.Fatal("the whole covariance cannot be factored")
	}
	root := newRows(n, n)
	f.inverseRoot(root)
	return products(root, root)
}

// checkWhole compares the posterior covariances of m with covariances computed from the inverse of the whole
// matrix.
func checkWhole(t *testing.T, m *GP, inverse [][]float64) {
	t.Helper()
	rows := [][]float64{m.obs.X[0], m.obs.X[7], {3.3, 2.2, 7.1}, {1, 4, 12}}
	var entries []Entry
	for i := range rows {
		for a := range 6 { // the last task has no observations
			entries = append(entries, Entry{i, a})
		}
	}
	p := testutil.Must(m.Posterior(rows, entries))(t)
	k := make([][]float64, len(entries))
	here := newCorrRow(len(m.obs.X), len(m.obs.X[0]))
	for i, e := range entries {
		here.covary(m.params, rows[e.Row], m.rows)
		k[i] = make([]float64, len(m.obs.Y))
		for j, u := range m.obs.At {
			k[i][j] = here.common[u]
			if m.obs.Task[j] == e.Task {
				k[i][j] += here.own[u]
			}
		}
	}
	left := products(k, inverse) // symmetric
	p.Condition(3)
	whole := p.Covariances([]int{0, 8, 23}, []int{1, 4, 7, 10})
	for i, row := range p.WithDifferences([]int{0, 8, 23}, []Pair{{1, 4}, {7, 10}}) {
		for l, got := range row {
			if want := whole[i][2*l] - whole[i][2*l+1]; math.Abs(got-want) > 1e-9 {
				t.Errorf("covariance %d with difference %d is %g, want %g", i, l, got, want)
			}
		}
	}
	p = testutil.Must(m.Posterior(rows, entries))(t) // without pending entries
	means := m.Means(rows, 6)
	for i, e := range entries {
		if got, want := p.Mean(i), means[e.Task][e.Row]; got != want {
			t.Errorf("mean of entry %d is %g, want %g", i, got, want)
		}
		for j := range entries {
			want := p.prior(i, j) - dot(left[i], k[j])
			if got := p.Covariance(i, j); math.Abs(got-want) > 1e-7 {
				t.Fatalf("covariance of entries %d and %d is %g, want %g", i, j, got, want)
			}
		}
	}
}

func TestDecay(t *testing.T) {
	worst := 0.0
	for x := 0.0; x < decayMax; x += 0.00137 * (1 + x/7) {
		want := math.Exp(-x)
		worst = max(worst, math.Abs(decay(x)-want)/want)
	}
	if worst > 5e-16 {
		t.Errorf("decay is off by %g, want 5e-16 at most", worst)
	}
	if got := decay(0); got != 1 {
		t.Errorf("decay(0) = %g, want exactly 1", got)
	}
	for _, x := range []float64{800, math.Inf(1)} {
		if got := decay(x); got != 0 {
			t.Errorf("decay(%g) = %g, want 0", x, got)
		}
	}
	if got := decay(math.NaN()); !math.IsNaN(got) {
		t.Errorf("decay(NaN) = %g, want NaN", got)
	}
}

func BenchmarkDecay(b *testing.B) {
	sum := 0.0
	for i := 0; b.Loop(); i++ {
		sum += decay(float64(i&1023) * 0.01)
	}
	if !(sum > 0) {
		b.Fatal("nothing summed")
	}
}
