package learner_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/learner"
)

func TestFoldsOf(t *testing.T) {
	points := dense(t)[:23]
	ms := testutil.SyntheticMeasurements(points)
	folds := learner.FoldsOf(slices.Values(ms), 5, 1)
	ofPoint := map[coll.Point]int{}
	size := make([]int, 5)
	for i, m := range ms {
		f, seen := ofPoint[m.Point]
		if seen && f != folds[i] {
			t.Errorf("%v is in folds %d and %d", m.Point, f, folds[i])
		}
		if !seen {
			size[folds[i]]++
		}
		ofPoint[m.Point] = folds[i]
	}
	slices.Sort(size)
	if !slices.Equal(size, []int{4, 4, 5, 5, 5}) {
		t.Errorf("points in the folds: %v, want 4 4 5 5 5", size)
	}

	// The order of the measurements must not matter.
	reversed := slices.Clone(ms)
	slices.Reverse(reversed)
	for i, f := range learner.FoldsOf(slices.Values(reversed), 5, 1) {
		if f != ofPoint[reversed[i].Point] {
			t.Fatalf("%v moved from fold %d to %d", reversed[i].Point, ofPoint[reversed[i].Point], f)
		}
	}
	if slices.Equal(learner.FoldsOf(slices.Values(ms), 5, 2), folds) {
		t.Error("seeds 1 and 2 give the same folds")
	}
}

func TestCrossValidate(t *testing.T) {
	ms := testutil.SyntheticMeasurements(dense(t))
	opt := options(preprocess.AlgorithmLog10)
	held := testutil.Must(learner.CrossValidate(learner.Data{Measurements: slices.Values(ms)}, 5, 1, opt))(t)
	if len(held.Pairs) != len(ms) {
		t.Errorf("%d pairs of %d measurements", len(held.Pairs), len(ms))
	}
	sum := testutil.Must(metrics.Summarize(held.Slowdowns, metrics.Options{}))(t)
	if sum.Slowdown > 1.01 || sum.Mistakes > 0.02 {
		t.Errorf("slowdown %.4f, mistakes %.4f, want at most 1.01, 0.02 with neighbours on all sides", sum.Slowdown, sum.Mistakes)
	}
	for _, alg := range append(testutil.SyntheticAlgorithms(), coll.Algorithm{}) {
		if alg.Name == "linear" || alg.Name == "tree" {
			continue // R² says little about an almost constant function
		}
		if r2, err := held.R2(alg); err != nil || r2 < 0.9 || r2 > 1 {
			t.Errorf("R²(%v) = %g, %v, want 0.9 to 1", alg, r2, err)
		}
	}

	again, err := learner.CrossValidate(learner.Data{Measurements: slices.Values(ms)}, 5, 1, opt)
	if err != nil || !slices.Equal(again.Slowdowns, held.Slowdowns) || !slices.Equal(again.Pairs, held.Pairs) {
		t.Errorf("same seed: another result, %v", err)
	}
	few := testutil.Must(learner.CrossValidate(learner.Data{Measurements: slices.Values(ms[:40])}, 5, 1, opt))(t) // ten points
	if len(few.Slowdowns) != 10 {
		t.Errorf("%d slowdowns of ten points", len(few.Slowdowns))
	}
}

func TestCrossValidateNeedsTwoPoints(t *testing.T) {
	opt := options(preprocess.AlgorithmLog10)
	for _, points := range [][]coll.Point{nil, {line(0)}} {
		if _, err := learner.CrossValidate(learner.Data{Measurements: slices.Values(testutil.SyntheticMeasurements(points))}, 5, 1, opt); !errors.Is(err, metrics.ErrEmpty) {
			t.Errorf("%d points: error = %v, want one matching ErrEmpty", len(points), err)
		}
	}
	// If there are more folds than points, each of the two points is predicted from the other one.
	held, err := learner.CrossValidate(learner.Data{Measurements: slices.Values(testutil.SyntheticMeasurements([]coll.Point{line(0), line(1)}))}, 5, 1, opt)
	if err != nil || len(held.Slowdowns) != 2 {
		t.Errorf("two points: slowdowns %v, %v, want two", held.Slowdowns, err)
	}
}

// TestCrossValidateSkipsIncompletePoints checks points at which an algorithm is missing. They must have pairs
// of prediction and measurement, but no slowdown, because the missing algorithm may be the fastest.
func TestCrossValidateSkipsIncompletePoints(t *testing.T) {
	var ms []coll.Measurement
	for i := range 10 {
		ms = append(ms, timed(line(i), "a", 1e-6), timed(line(i), "b", 2e-6))
	}
	ms = ms[:len(ms)-1] // the algorithm b is missing at the last point
	opt := options(preprocess.AlgorithmLog10)
	d := learner.Data{Measurements: slices.Values(ms)}
	d.Missing = func(p coll.Point) []coll.Algorithm {
		switch p {
		case line(9):
			return []coll.Algorithm{{Name: "b"}}
		case line(3):
			return []coll.Algorithm{{Name: "c"}}
		}
		return nil
	}
	held := testutil.Must(learner.CrossValidate(d, 3, 1, opt))(t)
	if len(held.Slowdowns) != 8 || len(held.Pairs) != 19 {
		t.Errorf("%d slowdowns and %d pairs, want 8 and 19", len(held.Slowdowns), len(held.Pairs))
	}
}

// TestCompare checks that a slowdown is the time of the choice divided by the shortest time at the point.
// All algorithms are measured at every point.
func TestCompare(t *testing.T) {
	var train []coll.Measurement
	for i := range 4 {
		train = append(train, timed(line(i), "a", 1e-6), timed(line(i), "b", 2e-6))
	}
	l := fit(t, train, options(preprocess.AlgorithmLog10))
	tests := []struct {
		name      string
		test      []coll.Measurement
		want      []float64
		wantPairs int
	}{
		{name: "right", test: []coll.Measurement{timed(line(0), "a", 1e-6), timed(line(0), "b", 3e-6)}, want: []float64{1}, wantPairs: 2},
		{name: "wrong", test: []coll.Measurement{timed(line(0), "a", 3e-6), timed(line(0), "b", 2e-6)}, want: []float64{1.5}, wantPairs: 2},
		{
			name:      "in whatever order",
			test:      []coll.Measurement{timed(line(1), "b", 2e-6), timed(line(0), "b", 2e-6), timed(line(1), "a", 5e-6), timed(line(0), "a", 1e-6)},
			want:      []float64{1, 2.5},
			wantPairs: 4,
		},
		{
			name: "one it does not know wins",
			test: []coll.Measurement{timed(line(0), "a", 2e-6), timed(line(0), "b", 4e-6), timed(line(0), "z", 1e-6)},
			want: []float64{2}, wantPairs: 2,
		},
		{
			name: "none it knows: the slowest",
			test: []coll.Measurement{timed(line(0), "y", 4e-6), timed(line(0), "z", 1e-6)},
			want: []float64{4},
		},
		{name: "its choice cannot run there", test: []coll.Measurement{timed(line(0), "b", 2e-6), timed(line(0), "z", 1e-6)}, want: []float64{2}, wantPairs: 1},
		{name: "a single algorithm leaves no choice", test: []coll.Measurement{timed(line(0), "b", 2e-6)}, wantPairs: 1},
		{name: "nothing"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			before := slices.Clone(tc.test)
			held := testutil.Must(l.Compare(tc.test))(t)
			if len(held.Slowdowns) != len(tc.want) || len(held.Pairs) != tc.wantPairs {
				t.Fatalf("slowdowns %v and %d pairs, want %v and %d", held.Slowdowns, len(held.Pairs), tc.want, tc.wantPairs)
			}
			for i, want := range tc.want {
				if math.Abs(held.Slowdowns[i]-want) > 1e-12 {
					t.Errorf("slowdowns %v, want %v", held.Slowdowns, tc.want)
				}
			}
			if !slices.Equal(before, tc.test) {
				t.Error("Compare reordered its argument")
			}
		})
	}
}

// TestCompareWithTheTrainingSet checks that a forest without bootstrap samples predicts its training set
// exactly.
func TestCompareWithTheTrainingSet(t *testing.T) {
	ms := testutil.SyntheticMeasurements(dense(t))
	opt := options(preprocess.AlgorithmLog10)
	opt.Forest.NoBootstrap, opt.Forest.Trees = true, 1
	held := testutil.Must(fit(t, ms, opt).Compare(ms))(t)
	if worst := slices.Max(held.Slowdowns); worst > 1+1e-9 {
		t.Errorf("worst slowdown %g, want 1", worst)
	}
	if r2, err := held.R2(coll.Algorithm{}); err != nil || r2 < 1-1e-12 {
		t.Errorf("R² = %g, %v, want 1", r2, err)
	}
}
