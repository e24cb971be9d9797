package forest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"tutti/internal/testutil"
)

// TestBestSplitIsTheBestSplit checks that every criterion finds the same split as an exhaustive search.
func TestBestSplitIsTheBestSplit(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for trial := range 300 {
		c := []Criterion{SquaredError, AbsoluteError, FriedmanMSE, Poisson}[trial%4]
		n := 3 + rng.IntN(30)
		x, y := make([][]float64, n), make([]float64, n)
		for i := range x {
			x[i] = []float64{rng.NormFloat64(), float64(rng.IntN(4))}
			y[i] = rng.ExpFloat64() + 0.01
		}
		opt := Options{Criterion: c, MinLeaf: 1 + rng.IntN(2), MaxFeatures: 2, NoBootstrap: trial%8 < 4, Seed: uint64(trial)}
		tab := testutil.Must(newTable(x, y, opt.filled()))(t)
		g := newGrower(tab, opt.filled())
		g.sample(0)
		if len(g.idx) < 2 {
			continue
		}
		s := g.bestSplit(openNode{hi: len(g.idx)})
		best := math.Inf(1)
		for f := range 2 {
			for a := range tab.values[f] {
				best = min(best, plainError(g, f, uint32(a)))
			}
		}
		if s.feature < 0 {
			if !math.IsInf(best, 1) {
				t.Fatalf("%v: no split, want one of error %g", c, best)
			}
			continue
		}
		if got := plainError(g, s.feature, s.a); got > best+1e-9*math.Abs(best) {
			t.Fatalf("%v: split of error %g, the best has %g", c, got, best)
		}
	}
}

// plainError computes the error of a split without any shortcut: the criterion's error, summed over both sides of the
// cut. It returns +Inf if the cut is not allowed.
func plainError(g *grower, f int, a uint32) float64 {
	var side [2][]float64
	var rows [2]int
	for i, c := range g.counts {
		k := 0
		if g.t.cols[f][g.t.groupOf[i]] > a {
			k = 1
		}
		if c > 0 {
			rows[k]++
		}
		for range c {
			side[k] = append(side[k], g.t.unscale(g.t.z[i]))
		}
	}
	if rows[0] < g.opt.MinLeaf || rows[1] < g.opt.MinLeaf {
		return math.Inf(1)
	}
	return sideError(g.opt.Criterion, side[0]) + sideError(g.opt.Criterion, side[1])
}

func sideError(c Criterion, y []float64) float64 {
	slices.Sort(y)
	var center, sum float64
	for _, v := range y {
		center += v / float64(len(y))
	}
	if c == AbsoluteError {
		center = y[len(y)/2]
	}
	for _, v := range y {
		switch c {
		case AbsoluteError:
			sum += math.Abs(v - center)
		case Poisson:
			sum += v*math.Log(v/center) - v + center
		default:
			sum += (v - center) * (v - center)
		}
	}
	return sum
}

// TestDrawCountsAreUniform checks that all rows are drawn with equal probability. It uses a chi-square test of
// 2000 samples of 101 rows.
func TestDrawCountsAreUniform(t *testing.T) {
	const n, samples = 101, 2000 // an odd n leaves one draw of the last 64-bit number unused
	total := make([]float64, n)
	counts := make([]uint32, n)
	for s := range samples {
		drawCounts(treeSource(1, s), counts)
		var sum uint32
		for i, c := range counts {
			total[i] += float64(c)
			sum += c
		}
		if sum != n {
			t.Fatalf("sample %d has %d draws, want %d", s, sum, n)
		}
	}
	var chi float64
	for _, c := range total {
		chi += (c - samples) * (c - samples) / samples
	}
	// With 100 degrees of freedom, chi-square has mean 100 and standard deviation 14. The limits are five
	// standard deviations from the mean.
	if chi < 30 || chi > 170 {
		t.Errorf("chi-square = %.1f over %d rows", chi, n)
	}
}
