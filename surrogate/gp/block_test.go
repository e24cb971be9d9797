package gp

import (
	"math"
	"math/rand/v2"
	"testing"
)

func randomRows(rng *rand.Rand, n, width int) [][]float64 {
	rows := newRows(n, width)
	for _, row := range rows {
		for j := range row {
			row[j] = rng.NormFloat64()
		}
	}
	return rows
}

// near fails the test unless got equals want up to tol, relative to the larger of 1 and |want|.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*max(1, math.Abs(want))) {
		t.Errorf("%s = %.15g, want %.15g", what, got, want)
	}
}

func TestBlockMul(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	tests := []struct{ rowsA, rowsB, from, to int }{
		{1, 1, 0, 1}, {4, 3, 0, 4}, {48, 48, 0, 48}, {5, 7, 3, 40}, {48, 1, 0, 1030}, {2, 47, 511, 1025}, {3, 3, 5, 5},
	}
	for _, tc := range tests {
		a, b := randomRows(rng, tc.rowsA, tc.to), randomRows(rng, tc.rowsB, tc.to)
		var c block
		c.mul(a, b, tc.from, tc.to)
		for i := range a {
			for j := range b {
				var want float64
				for k := tc.from; k < tc.to; k++ {
					want += a[i][k] * b[j][k]
				}
				near(t, "product", c[i*blockLen+j], want, 1e-12)
			}
		}
	}
}

func TestTileMatchesGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, k := range []int{0, 4, 48, 512} {
		rows := randomRows(rng, 7, k)
		a, b := [4][]float64(rows[:4]), [3][]float64(rows[4:])
		fast, plain := make([]float64, 4*blockLen), make([]float64, 4*blockLen)
		for i := range fast {
			fast[i] = float64(i)
			plain[i] = float64(i)
		}
		tile(&a, &b, fast, k)
		tileGo(&a, &b, plain, k)
		for i := range fast {
			near(t, "entry", fast[i], plain[i], 1e-13*float64(k+1))
		}
	}
}

// positiveDefinite returns a random symmetric positive definite matrix.
func positiveDefinite(rng *rand.Rand, n int) [][]float64 {
	b, m := randomRows(rng, n, n), newRows(n, n)
	for i := range m {
		for j := range m {
			m[i][j] = dot(b[i], b[j]) / float64(n)
		}
		m[i][i] += 0.1
	}
	return m
}

func TestFactor(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{1, 2, 5, 47, 48, 49, 96, 131} {
		m := positiveDefinite(rng, n)
		fill := func(i int, row []float64) { copy(row, m[i]) }
		var whole, rowwise, mixed factor
		if !whole.extend(n, fill) {
			t.Fatalf("n=%d: not positive definite", n)
		}
		for i := range n {
			rowwise.extend(i+1, fill)
		}
		mixed.extend(n/3, fill)
		mixed.extend(n, fill)
		for i := range n {
			for j := range i + 1 {
				l := whole.rows
				near(t, "L·Lᵀ", dot(l[i][:j+1], l[j][:j+1]), m[i][j], 1e-12)
				near(t, "L by rows", rowwise.rows[i][j], l[i][j], 1e-12)
				near(t, "L in two parts", mixed.rows[i][j], l[i][j], 1e-12)
			}
		}
		root := newRows(n, n)
		mixed.inverseRoot(root)
		for i := range n {
			for j := range n {
				var s float64 // of L·L⁻¹
				for k := j; k <= i; k++ {
					s += whole.rows[i][k] * root[j][k]
				}
				want := 0.0
				if i == j {
					want = 1
				}
				near(t, "L·L⁻¹", s, want, 1e-10)
			}
		}
	}
}

func TestFactorRejectsIndefinite(t *testing.T) {
	for _, bad := range []float64{-1, 0, math.NaN(), math.Inf(1)} {
		for _, n := range []int{1, 3, 60} {
			var f factor
			ok := f.extend(n, func(i int, row []float64) {
				clear(row)
				row[i] = 1
				if i == n-1 {
					row[i] = bad
				}
			})
			if ok || f.n >= n {
				t.Errorf("pivot %g in row %d of %d accepted", bad, n-1, n)
			}
		}
	}
}

func TestBuildJitter(t *testing.T) {
	var f factor
	ones := func(_ int, row []float64) {
		for j := range row {
			row[j] = 2
		}
	}
	ok := f.build(10, 2, ones)
	if jitter := f.rows[0][0]*f.rows[0][0] - 2; !ok || jitter < 1e-10 || jitter > 1e-8 {
		t.Errorf("singular matrix: jitter %g, %v", jitter, ok)
	}
	if ok := f.build(2, 1, func(i int, row []float64) { row[i] = -1 }); ok {
		t.Error("negative definite matrix factored")
	}
}
