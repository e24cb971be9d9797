package hpo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
)

// over returns a search that minimises f. Each argument of f ranges from `low` to `high`.
func over(dimensions int, low, high float64, f func(x []float64) float64) search {
	first := make([]float64, dimensions)
	for i := range first {
		first[i] = 0.5
	}
	return search{first: first, objective: func(_ context.Context, x []float64) (ForestParams, float64, error) {
		scaled := make([]float64, len(x))
		for i := range x {
			scaled[i] = low + x[i]*(high-low)
		}
		return ForestParams{}, f(scaled), nil
	}}
}

func sphere(x []float64) float64 {
	var sum float64
	for i, c := range []float64{1, -2, 0.5, 3} {
		sum += (x[i] - c) * (x[i] - c)
	}
	return sum
}

// branin is the Branin function minus its minimum. Its usual first argument is x[0]-5, so that both
// elements of x range from 0 to 15.
func branin(x []float64) float64 {
	u := x[0] - 5
	b, c, s := 5.1/(4*math.Pi*math.Pi), 5/math.Pi, 1/(8*math.Pi)
	v := x[1] - b*u*u + c*u - 6
	return v*v + 10*(1-s)*math.Cos(u) + 10 - 0.39788735772973816
}

// TestQuality runs 21 studies and checks that the median of their best values is good enough: near the median
// that goptuna's CMA-ES sampler reaches without this package.
func TestQuality(t *testing.T) {
	tests := []struct {
		name   string
		search search
		want   float64
	}{
		{name: "Branin", search: over(2, 0, 15, branin), want: 0.012},
		{name: "sphere", search: over(4, -5, 5, sphere), want: 0.18},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var bests []float64
			for seed := range uint64(21) {
				trials := testutil.Must(tc.search.run(t.Context(), Spec{Trials: 100, Seed: seed}))(t)
				best := math.Inf(1)
				for _, r := range trials {
					best = min(best, *r.Value)
				}
				bests = append(bests, best)
			}
			slices.Sort(bests)
			t.Logf("median best %.4g, reference %.4g", bests[10], tc.want)
			if bests[10] > 1.3*tc.want { // the medians of 21 studies differ by up to this factor
				t.Errorf("median best %g, more than 1.3 times %g", bests[10], tc.want)
			}
		})
	}
}

// TestLongStudy checks that trials do not fail even after CMA-ES has converged.
func TestLongStudy(t *testing.T) {
	tests := []struct {
		name string
		f    func(x []float64) float64
	}{
		{name: "constant", f: func([]float64) float64 { return 1 }},
		{name: "minimum in a corner", f: func(x []float64) float64 { return x[0] + x[1] + x[2] + x[3] }},
		{name: "sphere", f: sphere},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			trials := testutil.Must(over(4, -5, 5, tc.f).run(t.Context(), Spec{Trials: 600, Seed: 1}))(t)
			for _, r := range trials {
				if r.State != Complete {
					t.Fatalf("trial %d: %s", r.Number, r.Error)
				}
			}
		})
	}
}

// sometimesFailing returns a study. In some trials its objective fails, panics or returns NaN.
func sometimesFailing() ForestStudy {
	n := 0
	return study(2, func(ctx context.Context, p ForestParams, fold int) (float64, error) {
		if fold == 0 {
			n++
		}
		switch p.Trees % 11 {
		case 4:
			return math.NaN(), nil
		case 6:
			panic("six")
		case 8:
			return 0, errors.New("eight")
		}
		return slowdown(ctx, p, fold)
	})
}

func TestSeed(t *testing.T) {
	run := func(seed uint64) []TrialRecord {
		return testutil.Must(Forest(t.Context(), Spec{Trials: 40, Seed: seed}, sometimesFailing()))(t)
	}
	first := run(3)
	if diff := cmp.Diff(first, run(3)); diff != "" {
		t.Errorf("two studies with the same seed differ:\n%s", diff)
	}
	if cmp.Equal(first[1].Params, run(4)[1].Params) {
		t.Error("another seed gave the same trial 1")
	}
	if n := failed(first); n < 3 || n > 30 {
		t.Errorf("%d of 40 trials failed", n)
	}
}

func failed(trials []TrialRecord) int {
	n := 0
	for _, t := range trials {
		if t.State == Failed {
			n++
		}
	}
	return n
}

// TestResume resumes a study from the JSON records of its first k trials. It checks that the result equals that
// of an uninterrupted study.
func TestResume(t *testing.T) {
	spec := Spec{Trials: 60, Seed: 5}
	whole := testutil.Must(Forest(t.Context(), spec, sometimesFailing()))(t)
	for _, k := range []int{0, 1, 7, 8, 9, 25, 41, 60} {
		t.Run(fmt.Sprintf("after %d", k), func(t *testing.T) {
			text := testutil.Must(json.Marshal(whole[:k]))(t)
			resumed := spec
			testutil.NoError(t, json.Unmarshal(text, &resumed.Earlier))
			var numbers []int
			resumed.OnTrial = func(r TrialRecord) error {
				numbers = append(numbers, r.Number)
				return nil
			}
			got := testutil.Must(Forest(t.Context(), resumed, sometimesFailing()))(t)
			if diff := cmp.Diff(whole, got); diff != "" {
				t.Errorf("the resumed study differs (-whole +resumed):\n%s", diff)
			}
			if len(numbers) != spec.Trials-k || k < spec.Trials && numbers[0] != k {
				t.Errorf("new trials are %v, want %d to %d", numbers, k, spec.Trials-1)
			}
		})
	}
}

func TestTrialsIncludeEarlier(t *testing.T) {
	whole := testutil.Must(Forest(t.Context(), Spec{Trials: 5}, study(1, slowdown)))(t)
	trials, err := Forest(t.Context(), Spec{Trials: 3, Earlier: whole}, study(1, func(context.Context, ForestParams, int) (float64, error) {
		t.Error("a trial beyond the total")
		return 0, nil
	}))
	if err != nil || len(trials) != 5 {
		t.Errorf("%d trials, error %v; want the 5 earlier ones", len(trials), err)
	}
}

func TestCancel(t *testing.T) {
	whole := testutil.Must(Forest(t.Context(), Spec{Trials: 20, Seed: 9}, study(1, slowdown)))(t)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	trials, err := Forest(ctx, Spec{Trials: 20, Seed: 9}, study(1, func(ctx context.Context, p ForestParams, fold int) (float64, error) {
		if n++; n == 13 {
			cancel()
			return 0, errors.New("killed")
		}
		return slowdown(ctx, p, fold)
	}))
	if !errors.Is(err, context.Canceled) || len(trials) != 12 || failed(trials) != 0 {
		t.Fatalf("error = %v, %d trials, %d failed; want Canceled, 12, 0", err, len(trials), failed(trials))
	}
	resumed := testutil.Must(Forest(t.Context(), Spec{Trials: 20, Seed: 9, Earlier: trials}, study(1, slowdown)))(t)
	if diff := cmp.Diff(whole, resumed); diff != "" {
		t.Errorf("the resumed study differs (-whole +resumed):\n%s", diff)
	}
}

func TestErrorOfOnTrialEndsTheStudy(t *testing.T) {
	full := errors.New("disk full")
	n := 0
	_, err := Forest(t.Context(), Spec{Trials: 5, OnTrial: func(TrialRecord) error {
		if n++; n == 2 {
			return full
		}
		return nil
	}}, study(1, slowdown))
	if !errors.Is(err, full) || n != 2 {
		t.Errorf("error = %v after %d trials, want %v after 2", err, n, full)
	}
}

func TestCheck(t *testing.T) {
	value, nan := 1.0, math.NaN()
	tests := []struct {
		name   string
		record TrialRecord
		want   error
	}{
		{name: "complete", record: TrialRecord{State: Complete, Value: &value, Params: usual}},
		{name: "failed", record: TrialRecord{State: Failed, Error: "no rows"}},
		{name: "gap", record: TrialRecord{Number: 1, State: Complete, Value: &value, Params: usual}, want: ErrRecord},
		{name: "no state", record: TrialRecord{Value: &value, Params: usual}, want: ErrRecord},
		{name: "no value", record: TrialRecord{State: Complete, Params: usual}, want: ErrRecord},
		{name: "failed with value", record: TrialRecord{State: Failed, Value: &value}, want: ErrRecord},
		{name: "NaN", record: TrialRecord{State: Complete, Value: &nan, Params: usual}, want: ErrRecord},
		{name: "outside the ranges", record: TrialRecord{State: Complete, Value: &value}, want: ErrRecord},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if err := tc.record.Check(0); !errors.Is(err, tc.want) {
				t.Errorf("error = %v, want %v", err, tc.want)
			}
		})
	}
}

func TestScale(t *testing.T) {
	for _, s := range []scale{{1, 3, false}, {-2, 0, false}, {7, 7, false}, {0, 0, false}, {1, 4, true}, {9, 9, true}, {20, 300, true}} {
		counts := map[int]int{}
		const points = 10000
		for i := range points + 1 {
			counts[s.value(float64(i)/points)]++
		}
		for v := s.low; v <= s.high; v++ {
			if counts[v] == 0 {
				t.Errorf("%+v never gives %d", s, v)
			}
			if x := s.coordinate(v); x < 0 || x > 1 || s.value(x) != v {
				t.Errorf("%+v: %d has coordinate %g, which gives %d", s, v, x, s.value(x))
			}
			if width := float64(counts[v]) / points * float64(s.high-s.low+1); !s.log && math.Abs(width-1) > 0.01 {
				t.Errorf("%+v: the cell of %d is %g times as wide as the mean", s, v, width)
			}
		}
		if len(counts) != s.high-s.low+1 {
			t.Errorf("%+v gives %d values", s, len(counts))
		}
	}
}

// TestSignificant checks that a forest wins only if its loss is lower than that of the Gaussian process by
// 1.645 standard errors.
func TestSignificant(t *testing.T) {
	for standardError, want := range map[float64]bool{0.0062: false, 0.006: true} {
		if got := (Comparison{GP: 0.02, Forest: 0.01, Error: standardError}).Significant(); got != want {
			t.Errorf("standard error %g: significant %t", standardError, got)
		}
	}
}
