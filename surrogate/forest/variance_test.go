package forest

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"tutti/internal/testutil"
)

// hills returns n random rows. Their target is a smooth function plus noise.
func hills(n int, seed uint64) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range n {
		row := []float64{4 * rng.Float64(), 4 * rng.Float64()}
		x = append(x, row)
		y = append(y, math.Sin(row[0])+0.3*row[1]+0.1*rng.NormFloat64())
	}
	return x, y
}

// TestVarianceIsTheInfinitesimalJackknife checks that PredictVariance equals the formula of the paper,
// which the test sums directly.
func TestVarianceIsTheInfinitesimalJackknife(t *testing.T) {
	for _, n := range []int{1, 2, 17, 60} {
		x, y := hills(n, 1)
		q, _ := hills(45, 2)
		f := testutil.Must(Fit(x, y, Options{Trees: 41, Seed: 5}))(t)
		_, got, err := f.PredictVariance(q)
		if err != nil {
			t.Fatal(err)
		}
		votes := testutil.Must(f.PredictTrees(q))(t)
		clamped := 0
		for j, v := range got {
			want := bruteForce(f, votes[j])
			if want < 0 {
				clamped++
				want = 0
			}
			if math.Abs(v-want) > 1e-12 {
				t.Errorf("n = %d, row %d: variance %g, want %g", n, j, v, want)
			}
		}
		if n == 60 && (clamped == 0 || clamped == len(q)) {
			t.Errorf("n = %d: %d of %d rows clamped, want some of either kind", n, clamped, len(q))
		}
	}
}

// bruteForce returns the corrected variance for one row by direct summation. The result may be negative.
func bruteForce(f *Forest, votes []float64) float64 {
	n, trees := f.train.rows, float64(len(votes))
	var mean, spread, sum float64
	for _, v := range votes {
		mean += v / trees
	}
	for _, v := range votes {
		spread += (v - mean) * (v - mean)
	}
	counts := make([][]uint32, len(votes))
	for b := range counts {
		counts[b] = make([]uint32, n)
		drawCounts(treeSource(f.opt.Seed, b), counts[b])
	}
	for i := range n {
		var cov float64
		for b, v := range votes {
			cov += (float64(counts[b][i]) - 1) * (v - mean) / trees
		}
		sum += cov * cov
	}
	return sum - float64(n)/(trees*trees)*spread
}

// TestVarianceMatchesNewForests checks that, with many trees, the estimate agrees with the variance of
// forests that are grown on new training sets.
func TestVarianceMatchesNewForests(t *testing.T) {
	if testing.Short() {
		t.Skip("grows hundreds of forests")
	}
	q := [][]float64{{1, 1}, {2, 3}, {3.5, 0.5}}
	const repeats = 60
	var estimate, mean, square float64
	for r := range uint64(repeats) {
		x, y := hills(40, 100+r)
		f := testutil.Must(Fit(x, y, Options{Trees: 400, Seed: r, MinLeaf: 3}))(t)
		m, v, err := f.PredictVariance(q[:1])
		if err != nil {
			t.Fatal(err)
		}
		estimate += v[0] / repeats
		mean += m[0] / repeats
		square += m[0] * m[0] / repeats
	}
	// The variance of 60 forests has a relative standard error of about 18 %, and the jackknife is slightly
	// too high.
	if spread := square - mean*mean; estimate < 0.5*spread || estimate > 2.5*spread {
		t.Errorf("mean variance %g, spread of forests %g", estimate, spread)
	}
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

// TestOutOfBagErrorMatchesNewRows checks that the out-of-bag error agrees with the error on new rows.
func TestOutOfBagErrorMatchesNewRows(t *testing.T) {
	x, y := hills(500, 1)
	q, yq := hills(2000, 2)
	f := testutil.Must(Fit(x, y, Options{}))(t)
	p := testutil.Must(f.Predict(q))(t)
	square := func(got, want []float64) (mse float64) {
		for i := range got {
			mse += (got[i] - want[i]) * (got[i] - want[i]) / float64(len(got))
		}
		return mse
	}
	rows, mean := f.OutOfBag()
	left := make([]float64, len(rows))
	for k, i := range rows {
		left[k] = y[i]
	}
	oob, fresh := square(mean, left), square(p, yq)
	if ratio := oob / fresh; ratio < 0.8 || ratio > 1.25 {
		t.Errorf("out-of-bag error %g, on new rows %g", oob, fresh)
	}
}

func TestNoBootstrapHasNoOutOfBag(t *testing.T) {
	x, y := hills(9, 1)
	f := testutil.Must(Fit(x, y, Options{NoBootstrap: true}))(t)
	if rows, _ := f.OutOfBag(); len(rows) > 0 {
		t.Errorf("OutOfBag predicts rows %v", rows)
	}
	if _, _, err := f.PredictVariance(x); !errors.Is(err, ErrNoBootstrap) {
		t.Errorf("PredictVariance error = %v, want ErrNoBootstrap", err)
	}
	one := testutil.Must(Fit(x[:1], y[:1], Options{}))(t)
	if rows, _ := one.OutOfBag(); len(rows) > 0 {
		t.Errorf("OutOfBag of one row predicts %v", rows)
	}
}
