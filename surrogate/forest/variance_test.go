package forest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tutti/internal/testutil"
)

// hills returns n random rows x and their targets y: a smooth function of x plus noise.
func hills(n int, seed uint64) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range n {
		row := []float64{4 * rng.Float64(), 4 * rng.Float64()}
		x = append(x, row)
		y = append(y, math.Sin(row[0])+0.3*row[1]+0.1*rng.NormFloat64())
	}
	return x, y
}

func TestOutOfBagIsTheMeanOfOtherTrees(t *testing.T) {
	x, y := hills(30, 3)
	f := testutil.Must(Fit(x, y, Options{Trees: 4, Seed: 2}))(t)
	votes := testutil.Must(f.PredictTrees(x))(t)
	rows, mean := f.OutOfBag()
	seen := 0
	for i := range x {
		var sum float64
		left := 0
		for b := range f.trees {
			counts := make([]uint32, len(x))
			drawCounts(treeSource(2, b), counts)
			if counts[i] == 0 {
				sum += votes[i][b]
				left++
			}
		}
		if left == 0 {
			if slices.Contains(rows, i) {
				t.Errorf("row %d was in every tree's sample and has a prediction", i)
			}
			continue
		}
		if rows[seen] != i || math.Abs(mean[seen]-sum/float64(left)) > 1e-12 {
			t.Errorf("row %d: got row %d, mean %g, want %g of %d trees", i, rows[seen], mean[seen], sum/float64(left), left)
		}
		seen++
	}
	if seen != len(rows) || seen != len(mean) || seen == len(x) {
		t.Errorf("%d rows, %d means, want %d, and fewer than all %d", len(rows), len(mean), seen, len(x))
	}
}

func TestNoBootstrapHasNoOutOfBag(t *testing.T) {
	x, y := hills(9, 1)
	f := testutil.Must(Fit(x, y, Options{NoBootstrap: true}))(t)
	if rows, _ := f.OutOfBag(); len(rows) > 0 {
		t.Errorf("OutOfBag predicts rows %v", rows)
	}
	one := testutil.Must(Fit(x[:1], y[:1], Options{}))(t)
	if rows, _ := one.OutOfBag(); len(rows) > 0 {
		t.Errorf("OutOfBag of one row predicts %v", rows)
	}
}
