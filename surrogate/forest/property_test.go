package forest_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat"

	"tutti/internal/testutil"
	"tutti/surrogate/forest"
)

// TestWorkersDoNotChangeAForest checks that a seed gives the same forest, bit for bit, in every run and
// with any number of workers.
func TestWorkersDoNotChangeAForest(t *testing.T) {
	rows, workers := 1300, []int{1, 2, 16, 50}
	if testing.Short() { // the race detector needs few cases
		rows, workers = 300, []int{16}
	}
	q, _ := costRows(rows, 9)
	for _, shape := range shapes {
		for i, c := range criteria {
			for _, features := range []int{2, 0} {
				if testing.Short() && (features == 0 || shape.name != "grid" || i > 1) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v/%d", shape.name, c, features), func(t *testing.T) {
					x, y := shape.rows(150, 8)
					for i := range y {
						y[i] += 2 // above 0 for poisson
					}
					opt := forest.Options{Trees: 30, Criterion: c, MaxFeatures: features, Seed: 11, Workers: 1}
					want := everything(t, fit(t, x, y, opt), q)
					for _, opt.Workers = range workers {
						if !slices.Equal(want, everything(t, fit(t, x, y, opt), q)) {
							t.Fatalf("%d workers give another forest than one", opt.Workers)
						}
					}
					opt.Seed = 12
					if slices.Equal(want, everything(t, fit(t, x, y, opt), q)) {
						t.Error("another seed gives the same forest")
					}
				})
			}
		}
	}
}

// everything returns the bits of every number that a forest can compute for the rows `q`.
func everything(t *testing.T, f *forest.Forest, q [][]float64) []uint64 {
	t.Helper()
	mean, variance, err := f.PredictVariance(q)
	votes, errTrees := f.PredictTrees(q)
	testutil.NoError(t, errors.Join(err, errTrees))
	left, oob := f.OutOfBag()
	values := slices.Concat(predict(t, f, q), mean, variance, slices.Concat(votes...), oob)
	out := make([]uint64, 0, len(values))
	for _, v := range values {
		out = append(out, math.Float64bits(v))
	}
	for _, k := range slices.Concat(f.Nodes(), left) {
		out = append(out, uint64(k))
	}
	return out
}

// TestMeansAgree checks that Predict returns the mean of PredictTrees, and that PredictVariance returns the
// same mean and the variance of the trees.
func TestMeansAgree(t *testing.T) {
	x, y := denseRows(80, 1)
	q, _ := denseRows(37, 2) // 37 is not a multiple of the number of rows that are predicted together
	f := fit(t, x, y, forest.Options{Trees: 23})
	mean := predict(t, f, q)
	same, variance, err := f.PredictVariance(q)
	testutil.NoError(t, err)
	votes := testutil.Must(f.PredictTrees(q))(t)
	for i, row := range votes {
		want, spread := stat.PopMeanVariance(row, nil)
		if math.Abs(mean[i]-want) > 1e-12 || math.Abs(same[i]-want) > 1e-12 || variance[i] != spread {
			t.Errorf("row %d: Predict %g, PredictVariance %g and %g, the trees %g and %g", i, mean[i], same[i], variance[i], want, spread)
		}
	}
	for i := range q { // a row that is predicted alone has the same prediction
		if got := predict(t, f, q[i:i+1])[0]; got != mean[i] {
			t.Errorf("row %d alone: %g, among others %g", i, got, mean[i])
		}
	}
}

// TestFullTreeReproducesTargets checks that a single full tree, trained on all rows, predicts the targets
// of distinct rows exactly.
func TestFullTreeReproducesTargets(t *testing.T) {
	for _, shape := range shapes {
		for _, c := range criteria {
			x, y := distinct(shape.rows(300, 6))
			for i := range y {
				y[i] += 2
			}
			f := fit(t, x, y, forest.Options{Trees: 2, NoBootstrap: true, Criterion: c})
			if diff := cmp.Diff(y, predict(t, f, x)); diff != "" {
				t.Errorf("%s, %v (-targets +predicted):\n%s", shape.name, c, diff)
			}
		}
	}
}

func distinct(x [][]float64, y []float64) (ux [][]float64, uy []float64) {
	seen := map[string]bool{}
	for i, row := range x {
		if key := fmt.Sprint(row); !seen[key] {
			seen[key] = true
			ux, uy = append(ux, row), append(uy, y[i])
		}
	}
	return ux, uy
}

// TestRepeatedRows checks that, without bootstrap, another copy of every row changes no prediction. A full
// tree predicts the mean target of equal rows.
func TestRepeatedRows(t *testing.T) {
	x, y := distinct(costRows(120, 7))
	noisy := slices.Clone(y)
	for i := range noisy {
		y[i] -= 0.25
		noisy[i] += 0.25
	}
	f := fit(t, slices.Concat(x, x), slices.Concat(y, noisy), forest.Options{Trees: 1, NoBootstrap: true})
	for i, got := range predict(t, f, x) {
		if want := y[i] + 0.25; math.Abs(got-want) > 1e-12 {
			t.Fatalf("row %d: %g, want the mean %g of its targets", i, got, want)
		}
	}
	opt := forest.Options{Trees: 1, NoBootstrap: true, MaxDepth: 5}
	once := predict(t, fit(t, x, y, opt), x)
	twice := predict(t, fit(t, slices.Concat(x, x), slices.Concat(y, y), opt), x)
	for i := range once {
		if math.Abs(once[i]-twice[i]) > 1e-12 {
			t.Fatalf("row %d: %g from rows given once, %g given twice", i, once[i], twice[i])
		}
	}
}

// TestFeatureOrderDoesNotMatter checks that a table with permuted columns gives an equally good forest and,
// if no two features tie, the same tree.
func TestFeatureOrderDoesNotMatter(t *testing.T) {
	x, y := denseRows(400, 1)
	q, yq := denseRows(400, 2)
	swap := func(rows [][]float64) [][]float64 {
		out := make([][]float64, len(rows))
		for i, r := range rows {
			out[i] = []float64{r[2], r[0], r[1]}
		}
		return out
	}
	tree := forest.Options{Trees: 1, NoBootstrap: true, MinLeaf: 5}
	a, b := predict(t, fit(t, x, y, tree), q), predict(t, fit(t, swap(x), y, tree), swap(q))
	for i := range a { // another order of summation rounds differently
		if math.Abs(a[i]-b[i]) > 1e-12 {
			t.Fatalf("one tree, row %d: %g as given, %g permuted", i, a[i], b[i])
		}
	}
	fa, fb := fit(t, x, y, forest.Options{}), fit(t, swap(x), y, forest.Options{Seed: 1})
	ra, rb := r2(yq, predict(t, fa, q)), r2(yq, predict(t, fb, swap(q)))
	if math.Abs(ra-rb) > 0.005 {
		t.Errorf("R2 = %.4f as given, %.4f permuted", ra, rb)
	}
}

// TestMonotoneFeaturesAreEquivalent checks that trees use only the order of a feature's values. A monotone
// transformation of a feature must not change the predictions at the training rows.
func TestMonotoneFeaturesAreEquivalent(t *testing.T) {
	x, y := denseRows(200, 3)
	warped := make([][]float64, len(x))
	for i, r := range x {
		warped[i] = []float64{math.Exp(r[0]), -1 / (r[1] + 10), r[2]}
	}
	opt := forest.Options{NoBootstrap: true, Trees: 3, MinLeaf: 2}
	a, b := predict(t, fit(t, x, y, opt), x), predict(t, fit(t, warped, y, opt), warped)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("(-plain +warped):\n%s", diff)
	}
}

// FuzzForest checks that every prediction lies between the smallest and the largest target, also far from the
// rows. It grows forests of any shape on random rows with few distinct values.
func FuzzForest(f *testing.F) {
	f.Add(uint64(1), uint8(30), uint8(3), uint8(0), uint8(1), uint8(0), false, 1.0, 0.0)
	f.Add(uint64(2), uint8(1), uint8(1), uint8(3), uint8(2), uint8(1), true, 1e-300, 1e9)
	f.Add(uint64(3), uint8(200), uint8(5), uint8(1), uint8(4), uint8(3), false, 1e140, -3.0)
	f.Add(uint64(4), uint8(90), uint8(2), uint8(2), uint8(1), uint8(9), true, 0.0, 5.0)
	f.Fuzz(func(t *testing.T, seed uint64, rows, dim, criterion, leaf, depth uint8, all bool, scale, offset float64) {
		n, d := max(int(rows), 1), int(dim%8)+1
		if math.IsNaN(scale) || math.IsNaN(offset) || math.Abs(scale) > 1e145 || math.Abs(offset) > 1e145 {
			t.Skip("targets beyond what a forest takes")
		}
		c := criteria[criterion%4]
		rng := rand.New(rand.NewPCG(seed, 0))
		levels := 1 + rng.IntN(200)
		x, y := make([][]float64, n), make([]float64, n)
		for i := range x {
			for range d {
				x[i] = append(x[i], float64(rng.IntN(levels)-levels/2)*scale)
			}
			y[i] = rng.NormFloat64()*scale + offset
			if c == forest.Poisson {
				y[i] = math.Abs(y[i])
			}
		}
		m := fit(t, x, y, forest.Options{Trees: 5, Criterion: c, MinLeaf: int(leaf), MaxDepth: int(depth),
			MaxFeatures: 1 + rng.IntN(d), NoBootstrap: all, Seed: seed, Workers: 1 + rng.IntN(3)})
		far := slices.Repeat([]float64{1e300}, d)
		near := slices.Repeat([]float64{-1e300}, d)
		lo, hi := slices.Min(y), slices.Max(y)
		for i, p := range predict(t, m, append(slices.Clone(x), far, near)) {
			if !(lo <= p && p <= hi) {
				t.Errorf("row %d: predicted %g outside the targets' [%g, %g]", i, p, lo, hi)
			}
		}
		_, variance, err := m.PredictVariance(x)
		testutil.NoError(t, err)
		for i, v := range variance {
			if !(v >= 0) || math.IsInf(v, 1) {
				t.Errorf("row %d: variance %g", i, v)
			}
		}
	})
}
