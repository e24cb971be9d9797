package preprocess_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/preprocess"
)

func point(nodes, ppn int, size int64) coll.Point {
	return coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: ppn, MsgBytes: size}
}

func measured(p coll.Point, algorithm string, seconds float64) coll.Measurement {
	return coll.Measurement{
		Candidate: coll.Candidate{Point: p, Algorithm: coll.Algorithm{Name: algorithm}},
		Seconds:   seconds, CostSeconds: 1,
	}
}

// someMeasurements returns random measurements of three algorithms at n points. The times range over six
// decades.
func someMeasurements(n int, rng *rand.Rand) []coll.Measurement {
	var ms []coll.Measurement
	for i := range n {
		p := point(1+i, 4, int64(1)<<(i%20))
		for _, a := range []string{"binomial", "chain", "linear"} {
			ms = append(ms, measured(p, a, math.Pow(10, -6*rng.Float64())))
		}
	}
	return ms
}

func TestFeatures(t *testing.T) {
	tests := []struct {
		name  string
		point coll.Point
		want  [3]float64
	}{
		{"ranges of the paper, low end", point(1, 1, 1), [3]float64{1, 1, 1}},
		{"ranges of the paper, high end", point(512, 32, 1<<20), [3]float64{10, 6, 21}},
		{"no message is one step below a byte", point(2, 1, 0), [3]float64{2, 1, 0}},
		{"not a power of two", point(3, 1, 1), [3]float64{math.Log2(3) + 1, 1, 1}},
		{"not a point is still finite", point(0, -1, -5), [3]float64{0, 0, 0}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := preprocess.Features(tc.point); got != tc.want {
				t.Errorf("Features(%v) = %v, want %v", tc.point, got, tc.want)
			}
		})
	}
}

func TestRowsDoNotOverlap(t *testing.T) {
	rows := preprocess.Rows([]coll.Point{point(1, 2, 4), point(8, 1, 0)})
	_ = append(rows[0], 99)
	if rows[1][0] == 99 {
		t.Error("appending to a row changed the next one")
	}
}

func TestScalingValidate(t *testing.T) {
	for _, s := range preprocess.Scalings() {
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
	}
	testutil.GoldenErrors(t)("log", preprocess.Scaling("log").Validate())
}

func TestApply(t *testing.T) {
	ms := []coll.Measurement{
		measured(point(2, 1, 8), "binomial", 1e-6),
		measured(point(2, 1, 8), "chain", 10e-6),
		measured(point(4, 1, 8), "binomial", 4e-6),
		measured(point(4, 1, 8), "chain", 1e-6),
	}
	// The mean is 4 microseconds, and the standard deviation of the population is sqrt((9+36+0+9)/4)
	// microseconds.
	deviation := math.Sqrt(54.0 / 4)
	tests := []struct {
		scaling preprocess.Scaling
		want    []float64
	}{
		{preprocess.None, []float64{1e-6, 10e-6, 4e-6, 1e-6}},
		{preprocess.Standard, []float64{-3 / deviation, 6 / deviation, 0, -3 / deviation}},
		{preprocess.Normal, []float64{0, 1, 3.0 / 9, 0}},
		{preprocess.Algorithm, []float64{1, 10, 4, 1}},
		{preprocess.AlgorithmLog10, []float64{0, 1, math.Log10(4), 0}},
	}
	for _, tc := range tests {
		t.Run(string(tc.scaling), func(t *testing.T) {
			scaler := testutil.Must(preprocess.Fit(slices.Values(ms), tc.scaling))(t)
			got := scaler.Apply(ms)
			for i := range got {
				if math.Abs(got[i]-tc.want[i]) > 1e-9 {
					t.Fatalf("Apply = %v, want %v", got, tc.want)
				}
			}
		})
	}
}

func TestScalingProperties(t *testing.T) {
	ms := someMeasurements(40, rand.New(rand.NewPCG(7, 7)))
	constant := []coll.Measurement{measured(point(2, 1, 8), "binomial", 3e-6), measured(point(2, 1, 8), "chain", 3e-6)}
	for _, scaling := range preprocess.Scalings() {
		t.Run(string(scaling), func(t *testing.T) {
			scaler := testutil.Must(preprocess.Fit(slices.Values(ms), scaling))(t)
			values := scaler.Apply(ms)
			for at := 0; at < len(ms); at += 3 {
				checkOnePoint(t, scaler, ms[at:at+3], values[at:at+3])
			}
			scaler = testutil.Must(preprocess.Fit(slices.Values(constant), scaling))(t)
			checkOnePoint(t, scaler, constant, scaler.Apply(constant))
		})
	}
}

// checkOnePoint checks that a faster algorithm has a smaller value at the point, and that Relative
// preserves the ratios of the times.
func checkOnePoint(t *testing.T, scaler *preprocess.Scaler, ms []coll.Measurement, values []float64) {
	t.Helper()
	relative := testutil.Must(scaler.Relative(values))(t)
	for i := range ms {
		for k := range ms {
			if (ms[i].Seconds < ms[k].Seconds) != (values[i] < values[k]) {
				t.Errorf("%v and %v: times %g and %g, scaled %g and %g", ms[i].Candidate, ms[k].Candidate, ms[i].Seconds, ms[k].Seconds, values[i], values[k])
			}
			want := ms[i].Seconds / ms[k].Seconds
			if got := relative[i] / relative[k]; math.Abs(got/want-1) > 1e-9 {
				t.Errorf("%v: Relative ratio %g, want %g", ms[i].Candidate, got, want)
			}
		}
	}
}

func TestFitErrors(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	good := measured(point(2, 1, 8), "binomial", 1e-6)
	other := good
	other.Collective = coll.Reduce
	tests := []struct {
		name    string
		ms      []coll.Measurement
		scaling preprocess.Scaling
	}{
		{"nothing", nil, preprocess.None},
		{"no scaling", []coll.Measurement{good}, ""},
		{"two collectives", []coll.Measurement{good, other}, preprocess.None},
		{"time of zero", []coll.Measurement{measured(good.Point, "chain", 0)}, preprocess.AlgorithmLog10},
		{"time NaN", []coll.Measurement{measured(good.Point, "chain", math.NaN())}, preprocess.Standard},
		{"spread too large", []coll.Measurement{good, measured(good.Point, "chain", math.MaxFloat64)}, preprocess.Standard},
	}
	for _, tc := range tests {
		_, err := preprocess.Fit(slices.Values(tc.ms), tc.scaling)
		golden(tc.name, err)
	}
}

func TestRelativeIsPositive(t *testing.T) {
	ms := someMeasurements(5, rand.New(rand.NewPCG(3, 3)))
	for _, scaling := range preprocess.Scalings() {
		scaler := testutil.Must(preprocess.Fit(slices.Values(ms), scaling))(t)
		values := []float64{-math.MaxFloat64, -1e6, -1, 0, 1, 1e6, math.MaxFloat64}
		got := testutil.Must(scaler.Relative(values))(t)
		for i, v := range got {
			if !(v > 0) || math.IsInf(v, 0) {
				t.Errorf("%s: Relative(%g) = %g, want a positive finite value", scaling, values[i], v)
			}
		}
		if !slices.IsSorted(got) {
			t.Errorf("%s: Relative(%v) = %v, want the same order", scaling, values, got)
		}
		if _, err := scaler.Relative([]float64{1, math.NaN()}); err == nil {
			t.Errorf("%s: Relative(NaN) = nil, want an error", scaling)
		}
	}
}

func TestApplyBeyondTraining(t *testing.T) {
	ms := []coll.Measurement{measured(point(2, 1, 8), "binomial", 4e-6)}
	scaler := testutil.Must(preprocess.Fit(slices.Values(ms), preprocess.Algorithm))(t)
	fresh := []coll.Measurement{
		measured(point(2, 1, 8), "chain", 2e-6), // faster than anything in training
		measured(point(4, 1, 8), "binomial", 3e-6),
		measured(point(4, 1, 8), "chain", 6e-6),
	}
	if got, want := scaler.Apply(fresh), []float64{1, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("Apply = %v, want %v", got, want)
	}
	if got, want := scaler.Apply(fresh[2:]), []float64{1}; !slices.Equal(got, want) {
		t.Errorf("Apply = %v, want %v: Apply changed the scaler", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("Apply of a time of zero: no panic")
		}
	}()
	scaler.Apply([]coll.Measurement{measured(point(2, 1, 8), "chain", 0)})
}

func ExampleFit() {
	p := coll.Point{Collective: coll.Bcast, Nodes: 16, PPN: 4, MsgBytes: 1024}
	ms := []coll.Measurement{
		{Candidate: coll.Candidate{Point: p, Algorithm: coll.Algorithm{Name: "binomial"}}, Seconds: 10e-6},
		{Candidate: coll.Candidate{Point: p, Algorithm: coll.Algorithm{Name: "linear"}}, Seconds: 1000e-6},
	}
	scaler, err := preprocess.Fit(slices.Values(ms), preprocess.DefaultScaling)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(preprocess.Rows([]coll.Point{p}))
	fmt.Printf("%.3f\n", scaler.Apply(ms))
	// Output:
	// [[5 3 11]]
	// [0.000 2.000]
}

func TestSurrogateRows(t *testing.T) {
	rows := preprocess.SurrogateRows([]coll.Point{
		{Collective: coll.Bcast, Nodes: 4, PPN: 8, MsgBytes: 1024},
		{Collective: coll.Bcast, Nodes: 3, PPN: 4, MsgBytes: 0},
	})
	if want := []float64{3, 4, 11, 0}; !slices.Equal(rows[0], want) {
		t.Errorf("row of 4x8 1 KiB = %v, want %v", rows[0], want)
	}
	if want := []float64{math.Log2(3) + 1, 3, 0, 1}; !slices.Equal(rows[1], want) {
		t.Errorf("row of 3x4 0 B = %v, want %v", rows[1], want)
	}
}
