package learner_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/metrics"
	"tutti/preprocess"
	"tutti/surrogate/forest"
	"tutti/surrogate/learner"
)

// dense returns the points of a grid that has every power of two of nodes, processes per node and message
// size.
func dense(t testing.TB) []coll.Point {
	t.Helper()
	g := coll.Grid{Nodes: []int{1, 2, 4, 8, 16, 32}, PPN: []int{1, 2, 4, 8}}
	for size := int64(1); size <= 1<<20; size *= 2 {
		g.Sizes = append(g.Sizes, size)
	}
	return testutil.Must(g.Points(coll.Bcast))(t)
}

func options(s preprocess.Scaling) learner.Options {
	return learner.Options{Scaling: s, Forest: forest.Options{Trees: 30, Seed: 1}}
}

// fit trains a learner on measurements only, without replicates and without earlier campaigns.
func fit(t *testing.T, ms []coll.Measurement, opt learner.Options) *learner.Learner {
	t.Helper()
	return fitData(t, learner.Data{Measurements: slices.Values(ms)}, opt)
}

func fitData(t *testing.T, d learner.Data, opt learner.Options) *learner.Learner {
	t.Helper()
	return testutil.Must(learner.Fit(d, opt))(t)
}

// line returns the point of a broadcast of 2^i bytes. The layout is always the same.
func line(i int) coll.Point {
	return coll.Point{Collective: coll.Bcast, Nodes: 8, PPN: 2, MsgBytes: 1 << i}
}

func timed(p coll.Point, algorithm string, seconds float64) coll.Measurement {
	return coll.Measurement{Candidate: coll.Candidate{Point: p, Algorithm: coll.Algorithm{Name: algorithm}}, Seconds: seconds}
}

// TestForestsAreIndependent checks that each algorithm has its own forest. If an algorithm that is never
// the fastest is added, no bit of the other forests may change.
func TestForestsAreIndependent(t *testing.T) {
	all := testutil.SyntheticMeasurements(dense(t))
	without := slices.DeleteFunc(slices.Clone(all), func(m coll.Measurement) bool { return m.Algorithm.Name == "linear" })
	points := dense(t)
	for _, s := range []preprocess.Scaling{preprocess.None, preprocess.Algorithm, preprocess.AlgorithmLog10} {
		before, after := fit(t, without, options(s)), fit(t, all, options(s))
		a := testutil.Must(before.Predict(points))(t)
		b := testutil.Must(after.Predict(points))(t)
		for i, alg := range before.Algorithms() {
			j := slices.Index(after.Algorithms(), alg)
			if !slices.Equal(a[i], b[j]) {
				t.Errorf("%s: predictions of %s changed when linear joined", s, alg)
			}
		}
		if len(after.Algorithms()) != len(before.Algorithms())+1 {
			t.Errorf("algorithms %v and %v, want one more", before.Algorithms(), after.Algorithms())
		}
	}
}

// TestSeed checks that forests depend on the seed but not on the number of workers.
func TestSeed(t *testing.T) {
	ms := testutil.SyntheticMeasurements(dense(t))
	opt := options(preprocess.AlgorithmLog10)
	predict := func(o learner.Options) [][]float64 {
		return testutil.Must(fit(t, ms, o).Predict(dense(t)))(t)
	}
	first := predict(opt)
	opt.Forest.Workers = 3
	if !cmp.Equal(first, predict(opt)) {
		t.Error("predictions depend on the number of workers")
	}
	opt.Forest.Seed++
	if cmp.Equal(first, predict(opt)) {
		t.Error("two seeds give the same forests")
	}
}

// TestScalings checks that every scaling gives finite predictions and good choices on a dense grid.
func TestScalings(t *testing.T) {
	testutil.SkipShort(t)
	points := dense(t)
	ms := testutil.SyntheticMeasurements(points)
	const bound = 1.02 // the actual slowdowns are 1.0016 (algorithm_log10, the best) to 1.0050
	for _, scaling := range preprocess.Scalings() {
		t.Run(string(scaling), func(t *testing.T) {
			l := fit(t, ms, options(scaling))
			predicted := testutil.Must(l.Predict(points))(t)
			for i := range points {
				var here []float64
				for a := range predicted {
					here = append(here, predicted[a][i])
				}
				relative := testutil.Must(l.Relative(here))(t)
				for a, r := range relative {
					if !(r > 0) || math.IsInf(r, 0) || math.IsNaN(here[a]) {
						t.Fatalf("%s at %v: prediction %g, relative time %g", l.Algorithms()[a], points[i], here[a], r)
					}
				}
			}
			held := testutil.Must(learner.CrossValidate(learner.Data{Measurements: slices.Values(ms)}, 5, 1, options(scaling)))(t)
			sum := testutil.Must(metrics.Summarize(held.Slowdowns, metrics.Options{}))(t)
			if sum.Points != len(points) || sum.Slowdown < 1 || sum.Slowdown > bound {
				t.Errorf("slowdown %.4f at %d points, want at most %g at %d", sum.Slowdown, sum.Points, bound, len(points))
			}
			t.Logf("slowdown %.4f, mistakes %.3f", sum.Slowdown, sum.Mistakes)
		})
	}
}

func TestFitErrors(t *testing.T) {
	good := timed(line(0), "a", 1e-6)
	reduce := good
	reduce.Collective = coll.Reduce
	tests := []struct {
		name string
		ms   []coll.Measurement
		opt  learner.Options
	}{
		{"no measurements", nil, options(preprocess.AlgorithmLog10)},
		{"no scaling", []coll.Measurement{good}, learner.Options{}},
		{"two collectives", []coll.Measurement{good, reduce}, options(preprocess.AlgorithmLog10)},
		{"no time", []coll.Measurement{timed(line(0), "a", 0)}, options(preprocess.AlgorithmLog10)},
		{"endless", []coll.Measurement{timed(line(0), "a", math.Inf(1))}, options(preprocess.AlgorithmLog10)},
		{"no trees", []coll.Measurement{good}, learner.Options{Scaling: preprocess.None, Forest: forest.Options{Trees: -1}}},
	}
	for _, tc := range tests {
		if l, err := learner.Fit(learner.Data{Measurements: slices.Values(tc.ms)}, tc.opt); err == nil || l != nil {
			t.Errorf("%s: Fit() = %v, %v, want an error", tc.name, l, err)
		}
	}
}

func ExampleFit() {
	points, err := coll.Grid{Nodes: []int{16}, PPN: []int{1}, Sizes: []int64{8, 1 << 12, 1 << 24}}.Points(coll.Bcast)
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := learner.Fit(learner.Data{Measurements: slices.Values(testutil.SyntheticMeasurements(points))}, learner.Options{
		Scaling: preprocess.AlgorithmLog10,
		Forest:  forest.Options{NoBootstrap: true, Trees: 1},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	predicted, err := l.Predict(points)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, p := range points {
		best := 0
		for a := range predicted {
			if predicted[a][i] < predicted[best][i] {
				best = a
			}
		}
		fmt.Println(p, l.Algorithms()[best])
	}
	// Output:
	// bcast 16x1 8B tree
	// bcast 16x1 4KiB tree
	// bcast 16x1 16MiB ring
}
