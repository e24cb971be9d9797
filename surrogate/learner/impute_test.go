package learner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/preprocess"
	"tutti/surrogate/forest"
)

// partial returns measurements of the synthetic machine in which the fastest algorithm is missing at a
// random quarter of the points. It also returns the missing algorithms, and the fastest time at each point.
func partial(t *testing.T) (ms []coll.Measurement, missing map[coll.Point][]coll.Algorithm, fastest map[coll.Point]float64) {
	t.Helper()
	g := coll.Grid{Nodes: []int{1, 2, 4, 8, 16, 32}, PPN: []int{1, 2, 4, 8}}
	for size := int64(1); size <= 1<<20; size *= 2 {
		g.Sizes = append(g.Sizes, size)
	}
	points := testutil.Must(g.Points(coll.Bcast))(t)
	rng := rand.New(rand.NewPCG(1, 1))
	missing, fastest = map[coll.Point][]coll.Algorithm{}, map[coll.Point]float64{}
	for _, p := range points {
		best := testutil.SyntheticBest(p)
		if rng.IntN(4) == 0 {
			missing[p] = []coll.Algorithm{best}
		}
		for _, m := range testutil.SyntheticMeasurements([]coll.Point{p}) {
			if m.Algorithm == best {
				fastest[p] = m.Seconds
			}
			if !slices.Contains(missing[p], m.Algorithm) {
				ms = append(ms, m)
			}
		}
	}
	return ms, missing, fastest
}

func TestImputeFastest(t *testing.T) {
	ms, missing, fastest := partial(t)
	d := Data{Measurements: slices.Values(ms), Missing: func(p coll.Point) []coll.Algorithm { return missing[p] }}
	known := testutil.Must(imputeFastest(slices.Collect(d.Measurements), d.Missing, Options{Scaling: preprocess.AlgorithmLog10, Forest: forest.Options{Trees: 50, Seed: 1}}))(t)
	if !slices.Equal(known[:len(ms)], ms) {
		t.Error("imputeFastest changed the measurements")
	}
	best := fastestOf(known)
	for p, want := range fastest {
		if len(missing[p]) == 0 && best[p] != want {
			t.Errorf("%v: fastest time %g s, want the measured %g s", p, best[p], want)
		}
	}
	estimated, taken := relativeErrors(best, fastest, missing), relativeErrors(fastestOf(ms), fastest, missing)
	t.Logf("%d points: mean error %.3f, median %.3f; without an estimate %.3f, %.3f",
		len(estimated), stat.Mean(estimated, nil), estimated[len(estimated)/2], stat.Mean(taken, nil), taken[len(taken)/2])
	// The mean error is 0.052 and the median error 0.014. If the fastest measured time is used instead of
	// an imputed time, the errors are 0.554 and 0.659.
	if mean, median := stat.Mean(estimated, nil), estimated[len(estimated)/2]; mean > 0.08 || median > 0.03 {
		t.Errorf("estimated fastest times are off by %.3f on average and %.3f in the median, want at most 0.08 and 0.03", mean, median)
	}
	if mean := stat.Mean(estimated, nil); mean > stat.Mean(taken, nil)/3 {
		t.Errorf("estimates are off by %.3f on average, the fastest times left by %.3f: want a third of that or less", mean, stat.Mean(taken, nil))
	}
}

// TestImputeFastestFollowsThePoint checks that an imputed time is longer at points where all algorithms
// take longer.
func TestImputeFastestFollowsThePoint(t *testing.T) {
	ms, missing, fastest := partial(t)
	rng := rand.New(rand.NewPCG(2, 2))
	slower := map[coll.Point]float64{}
	for i, m := range ms {
		if slower[m.Point] == 0 {
			slower[m.Point] = math.Exp(0.3 * rng.NormFloat64())
		}
		ms[i].Seconds *= slower[m.Point]
	}
	for p, factor := range slower {
		fastest[p] *= factor
	}
	d := Data{Measurements: slices.Values(ms), Missing: func(p coll.Point) []coll.Algorithm { return missing[p] }}
	known := testutil.Must(imputeFastest(slices.Collect(d.Measurements), d.Missing, Options{Scaling: preprocess.AlgorithmLog10, Forest: forest.Options{Trees: 50, Seed: 1}}))(t)
	// At each point the true times are multiplied by a random factor. Its logarithm has the standard deviation 0.3
	// and thus the mean absolute value 0.3·sqrt(2/pi) = 0.24. The imputed times are wrong by only 0.10.
	mean := stat.Mean(relativeErrors(fastestOf(known), fastest, missing), nil)
	t.Logf("mean error %.3f", mean)
	if mean > 0.15 {
		t.Errorf("estimated fastest times are off by %.3f on average, want at most 0.15", mean)
	}
}

func fastestOf(ms []coll.Measurement) map[coll.Point]float64 {
	best := map[coll.Point]float64{}
	for _, m := range ms {
		if b, ok := best[m.Point]; !ok || m.Seconds < b {
			best[m.Point] = m.Seconds
		}
	}
	return best
}

// relativeErrors returns the relative errors of the fastest times at points with missing algorithms, in
// ascending order.
func relativeErrors(got, want map[coll.Point]float64, missing map[coll.Point][]coll.Algorithm) []float64 {
	var out []float64
	for p := range missing {
		out = append(out, math.Abs(math.Log(got[p]/want[p])))
	}
	slices.Sort(out)
	return out
}

// TestImputeFastestOnlyForAlgorithmScalings checks that a time is imputed only for scalings that divide by
// the fastest time.
func TestImputeFastestOnlyForAlgorithmScalings(t *testing.T) {
	ms, missing, _ := partial(t)
	someMissing := func(p coll.Point) []coll.Algorithm { return missing[p] }
	noneMissing := func(coll.Point) []coll.Algorithm { return nil }
	tests := []struct {
		name    string
		scaling preprocess.Scaling
		missing func(coll.Point) []coll.Algorithm
		grows   bool
	}{
		{"log", preprocess.AlgorithmLog10, someMissing, true},
		{"ratio", preprocess.Algorithm, someMissing, true},
		{"seconds", preprocess.None, someMissing, false},
		{"standard", preprocess.Standard, someMissing, false},
		{"nothing missing", preprocess.AlgorithmLog10, noneMissing, false},
		{"nobody knows", preprocess.AlgorithmLog10, nil, false},
	}
	for _, tc := range tests {
		opt := Options{Scaling: tc.scaling, Forest: forest.Options{Trees: 5}}
		known := testutil.Must(imputeFastest(ms, tc.missing, opt))(t)
		want := len(ms)
		if tc.grows {
			want += len(missing)
		}
		if len(known) != want {
			t.Errorf("%s: %d measurements, want %d", tc.name, len(known), want)
		}
	}
}

// TestImputeFastestWithoutMeasurements checks that an algorithm without measurements does not affect the
// imputed times. It checks each criterion of the forests.
func TestImputeFastestWithoutMeasurements(t *testing.T) {
	ms, missing, _ := partial(t)
	opt := Options{Scaling: preprocess.AlgorithmLog10, Forest: forest.Options{Trees: 5, Criterion: forest.Poisson}}
	d := Data{Measurements: slices.Values(ms), Missing: func(p coll.Point) []coll.Algorithm {
		if len(missing[p]) > 0 {
			return []coll.Algorithm{{Name: "unheard-of"}}
		}
		return nil
	}}
	known, err := imputeFastest(slices.Collect(d.Measurements), d.Missing, opt)
	if err != nil || len(known) != len(ms) {
		t.Errorf("unknown algorithm: %d measurements, %v, want the %d given", len(known), err, len(ms))
	}
	d.Missing = func(p coll.Point) []coll.Algorithm { return missing[p] }
	l := testutil.Must(Fit(d, opt))(t)
	if got := len(l.Algorithms()); got != 4 {
		t.Errorf("%d algorithms, want the 4 measured", got)
	}
}

// TestFitOneMeasurementEach checks that one measurement of each algorithm is enough for a learner, although
// no row is out of bag.
func TestFitOneMeasurementEach(t *testing.T) {
	p := coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 1, MsgBytes: 8}
	ms := testutil.SyntheticMeasurements([]coll.Point{p})
	for n := 1; n <= len(ms); n++ {
		d := Data{Measurements: slices.Values(ms[:n]), Missing: func(coll.Point) []coll.Algorithm {
			var out []coll.Algorithm
			for _, m := range ms[n:] {
				out = append(out, m.Algorithm)
			}
			return out
		}}
		l, err := Fit(d, Options{Scaling: preprocess.AlgorithmLog10, Forest: forest.Options{Trees: 5}})
		if err != nil {
			t.Fatalf("%d measurements: %v", n, err)
		}
		predicted, err := l.Predict([]coll.Point{p})
		if err != nil || len(predicted) != n {
			t.Fatalf("%d measurements: %d predictions, %v", n, len(predicted), err)
		}
		for a := range predicted {
			if v := predicted[a][0]; math.IsNaN(v) || v < 0 {
				t.Errorf("%d measurements: log10 of %s over the fastest is %g, want 0 or more", n, l.Algorithms()[a], v)
			}
		}
	}
}

func TestFolds(t *testing.T) {
	tests := []struct{ n, k, folds int }{
		{10, 5, 5}, {11, 5, 5}, {3, 10, 3}, {7, 1, 1}, {7, 0, 1}, {1, 5, 1}, {100, 7, 7},
	}
	for _, tc := range tests {
		t.Run(fmt.Sprintf("%d rows %d folds", tc.n, tc.k), func(t *testing.T) {
			got := assignFolds(tc.n, tc.k, 1)
			if len(got) != tc.n {
				t.Fatalf("%d rows have a fold, want %d", len(got), tc.n)
			}
			sizes := make([]int, tc.folds)
			for _, f := range got {
				if f < 0 || f >= tc.folds {
					t.Fatalf("fold %d, want 0 to %d", f, tc.folds-1)
				}
				sizes[f]++
			}
			if slices.Max(sizes)-slices.Min(sizes) > 1 {
				t.Errorf("fold sizes %v differ by more than one", sizes)
			}
			if again := assignFolds(tc.n, tc.k, 1); !slices.Equal(got, again) {
				t.Errorf("same seed: %v and %v", got, again)
			}
		})
	}
	if got := assignFolds(0, 5, 1); len(got) != 0 {
		t.Errorf("assignFolds(0, 5, 1) = %v, want none", got)
	}
	if slices.Equal(assignFolds(100, 5, 1), assignFolds(100, 5, 2)) {
		t.Error("two seeds give the same folds of 100 rows")
	}
}

// TestFoldsAreFair checks that a row is in each fold with the expected probability. Over 3000 seeds a
// fraction of 1/3 has a standard error of sqrt(2/9/3000) = 0.0086. The test allows five standard errors.
func TestFoldsAreFair(t *testing.T) {
	const seeds, rows, folds = 3000, 7, 3
	var count [rows][folds]int
	for seed := range uint64(seeds) {
		for row, f := range assignFolds(rows, folds, seed) {
			count[row][f]++
		}
	}
	// If seven rows are divided into three folds, fold 0 gets three rows and each other fold gets two.
	want := [folds]float64{3. / 7, 2. / 7, 2. / 7}
	for row := range rows {
		for f := range folds {
			if got := float64(count[row][f]) / seeds; math.Abs(got-want[f]) > 5*0.009 {
				t.Errorf("row %d is in fold %d for a share of %.3f of the seeds, want %.3f", row, f, got, want[f])
			}
		}
	}
}
