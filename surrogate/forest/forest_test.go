package forest_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
	"tutti/surrogate/forest"
)

var criteria = []forest.Criterion{
	forest.SquaredError, forest.AbsoluteError, forest.FriedmanMSE, forest.Poisson,
}

func TestValidateReportsEveryFault(t *testing.T) {
	bad := forest.Options{Trees: -1, Criterion: 9, MaxDepth: -1, MinSplit: 1, MinLeaf: -2,
		MaxFeatures: -3, Workers: -4}
	err := bad.Validate()
	testutil.GoldenErrors(t)("all options", err, forest.ErrOptions)
	if err := (forest.Options{}).Validate(); err != nil {
		t.Errorf("zero options: %v", err)
	}
}

func TestParseCriterion(t *testing.T) {
	for _, c := range criteria {
		if got, err := forest.ParseCriterion(c.String()); got != c || err != nil {
			t.Errorf("ParseCriterion(%q) = %v, %v", c.String(), got, err)
		}
	}
	if _, err := forest.ParseCriterion("gini"); !errors.Is(err, forest.ErrOptions) {
		t.Errorf(`ParseCriterion("gini") error = %v, want ErrOptions`, err)
	}
}

func TestFitErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	tests := []struct {
		name string
		x    [][]float64
		y    []float64
		opt  forest.Options
		want error
	}{
		{name: "no rows", want: forest.ErrShape},
		{name: "no features", x: [][]float64{{}}, y: []float64{1}, want: forest.ErrShape},
		{name: "ragged", x: [][]float64{{1, 2}, {1}}, y: []float64{1, 2}, want: forest.ErrShape},
		{name: "missing target", x: [][]float64{{1}, {2}}, y: []float64{1}, want: forest.ErrShape},
		{name: "NaN feature", x: [][]float64{{1}, {nan}}, y: []float64{1, 2}, want: forest.ErrValue},
		{name: "infinite feature", x: [][]float64{{1}, {-inf}}, y: []float64{1, 2}, want: forest.ErrValue},
		{name: "NaN target", x: [][]float64{{1}, {2}}, y: []float64{1, nan}, want: forest.ErrValue},
		{name: "infinite target", x: [][]float64{{1}, {2}}, y: []float64{1, inf}, want: forest.ErrValue},
		{name: "target whose square overflows", x: [][]float64{{1}}, y: []float64{1e200}, want: forest.ErrValue},
		{name: "negative target under poisson", x: [][]float64{{1}}, y: []float64{-1},
			opt: forest.Options{Criterion: forest.Poisson}, want: forest.ErrValue},
		{name: "more features tried than there are", x: [][]float64{{1, 2}}, y: []float64{1},
			opt: forest.Options{MaxFeatures: 3}, want: forest.ErrOptions},
		{name: "bad options", x: [][]float64{{1}}, y: []float64{1},
			opt: forest.Options{Trees: -1}, want: forest.ErrOptions},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			f, err := forest.Fit(tc.x, tc.y, tc.opt)
			if !errors.Is(err, tc.want) || f != nil {
				t.Errorf("Fit() = %v, %v, want nil, %v", f, err, tc.want)
			}
		})
	}
	_, err := forest.Fit([][]float64{{nan, 1}, {1}}, []float64{1, 2}, forest.Options{})
	if !errors.Is(err, forest.ErrShape) || !errors.Is(err, forest.ErrValue) {
		t.Errorf("ragged rows with NaN: error = %v, want both faults", err)
	}
}

func TestPredictErrors(t *testing.T) {
	f := fit(t, [][]float64{{1, 2}, {2, 1}}, []float64{1, 2}, forest.Options{Trees: 2})
	tests := []struct {
		name string
		x    [][]float64
		want error
	}{
		{name: "no rows are fine"},
		{name: "wrong length", x: [][]float64{{1}}, want: forest.ErrShape},
		{name: "ragged", x: [][]float64{{1, 2}, {1, 2, 3}}, want: forest.ErrShape},
		{name: "NaN", x: [][]float64{{1, math.NaN()}}, want: forest.ErrValue},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := f.Predict(tc.x)
			_, _, errVariance := f.PredictVariance(tc.x)
			_, errTrees := f.PredictTrees(tc.x)
			for _, err := range []error{err, errVariance, errTrees} {
				if !errors.Is(err, tc.want) {
					t.Errorf("error = %v, want %v", err, tc.want)
				}
			}
		})
	}
}

// TestFitsDegenerateRows checks that forests accept degenerate input, for example a single row, constant
// features or repeated rows. In each case only one prediction at the training rows is right.
func TestFitsDegenerateRows(t *testing.T) {
	const (
		zeros  = "poisson refuses a child whose targets are all 0"
		ratios = "poisson sees ratios of targets, and these are equal except for rounding"
	)
	negativeZero := math.Copysign(0, -1)
	tests := []struct {
		name       string
		x          [][]float64
		y, want    []float64
		notPoisson string
	}{
		{name: "one row", x: [][]float64{{3, 4}}, y: []float64{7}, want: []float64{7}},
		{name: "constant target", x: [][]float64{{1}, {2}, {3}},
			y: []float64{0.1, 0.1, 0.1}, want: []float64{0.1, 0.1, 0.1}},
		{name: "all targets 0", x: [][]float64{{1}, {2}}, y: []float64{0, 0}, want: []float64{0, 0}},
		{name: "constant features", x: [][]float64{{1, 1}, {1, 1}, {1, 1}}, y: []float64{3, 3, 9}},
		{name: "zero of either sign", x: [][]float64{{0}, {negativeZero}, {1}},
			y: []float64{2, 2, 8}, want: []float64{2, 2, 8}},
		{name: "neighbouring doubles", x: [][]float64{{1}, {math.Nextafter(1, 2)}},
			y: []float64{1, 2}, want: []float64{1, 2}},
		{name: "huge features", x: [][]float64{{-math.MaxFloat64}, {math.MaxFloat64}},
			y: []float64{1, 2}, want: []float64{1, 2}},
		{name: "huge targets", x: [][]float64{{1}, {2}},
			y: []float64{0, 1e150}, want: []float64{0, 1e150}, notPoisson: zeros},
		{name: "tiny targets", x: [][]float64{{1}, {2}},
			y: []float64{5e-324, 3e-320}, want: []float64{5e-324, 3e-320}},
		{name: "small differences on a large offset", x: [][]float64{{1}, {2}, {3}},
			y: []float64{1e9, 1e9 + 1e-6, 1e9 + 2e-6}, want: []float64{1e9, 1e9 + 1e-6, 1e9 + 2e-6}, notPoisson: ratios},
		{name: "exclusive or: the first split gains nothing", x: [][]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}},
			y: []float64{0, 1, 1, 0}, want: []float64{0, 1, 1, 0}, notPoisson: zeros},
	}
	for _, tc := range tests {
		for _, c := range criteria {
			if c == forest.Poisson && tc.notPoisson != "" {
				continue
			}
			t.Run(tc.name+"/"+c.String(), func(t *testing.T) {
				want := tc.want
				if want == nil { // rows with equal features share their mean or median
					want = []float64{5, 5, 5}
					if c == forest.AbsoluteError {
						want = []float64{3, 3, 3}
					}
				}
				f := fit(t, tc.x, tc.y, forest.Options{Trees: 1, NoBootstrap: true, Criterion: c})
				if diff := cmp.Diff(want, predict(t, f, tc.x)); diff != "" {
					t.Errorf("at the training rows (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestLimitsHold(t *testing.T) {
	x, y := costRows(400, 3)
	deep := fit(t, x, y, forest.Options{Trees: 3, NoBootstrap: true})
	for _, depth := range []int{1, 2, 5} {
		f := fit(t, x, y, forest.Options{Trees: 3, NoBootstrap: true, MaxDepth: depth})
		for k, n := range f.Nodes() {
			if n > 1<<(depth+1)-1 || n >= deep.Nodes()[k] {
				t.Errorf("MaxDepth %d: %d nodes", depth, n)
			}
		}
	}
	// In a tree without bootstrap, training rows with equal predictions are in the same leaf.
	for _, c := range criteria {
		f := fit(t, x, y, forest.Options{Trees: 1, NoBootstrap: true, MinLeaf: 7, Criterion: c})
		size := map[float64]int{}
		for _, p := range predict(t, f, x) {
			size[p]++
		}
		for p, n := range size {
			if n < 7 {
				t.Errorf("%v: leaf %g holds %d rows, want at least 7", c, p, n)
			}
		}
	}
	f := fit(t, x, y, forest.Options{Trees: 1, NoBootstrap: true, MinSplit: len(x) + 1})
	if n := f.Nodes()[0]; n != 1 {
		t.Errorf("MinSplit above the number of rows: %d nodes, want 1", n)
	}
}

// TestMaxFeatures checks that forests can learn with one random feature for each split. These forests must
// differ from forests that try all features.
func TestMaxFeatures(t *testing.T) {
	x, y := costRows(1000, 4)
	q, yq := costRows(500, 5)
	all := predict(t, fit(t, x, y, forest.Options{}), q)
	one := predict(t, fit(t, x, y, forest.Options{MaxFeatures: 1}), q)
	if cmp.Equal(all, one) {
		t.Error("MaxFeatures 1 changes nothing")
	}
	if a, b := r2(yq, all), r2(yq, one); a < 0.99 || b < 0.8 || b > a {
		t.Errorf("R2 = %.4f with all features, %.4f with one", a, b)
	}
}

// TestManyDistinctValues checks that a feature may have more distinct values than a 16-bit number can count.
func TestManyDistinctValues(t *testing.T) {
	testutil.SkipShort(t)
	rng := rand.New(rand.NewPCG(1, 2))
	n := 70000
	x, y := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i] = []float64{rng.Float64(), rng.Float64()}
		y[i] = math.Sin(7*x[i][0]) + x[i][1]
	}
	f := fit(t, x, y, forest.Options{Trees: 1, NoBootstrap: true})
	if diff := cmp.Diff(y, predict(t, f, x)); diff != "" {
		t.Error("a full tree does not reproduce 70000 distinct rows")
	}
	if got, want := f.Nodes()[0], 2*n-1; got != want {
		t.Errorf("nodes = %d, want %d", got, want)
	}
}
