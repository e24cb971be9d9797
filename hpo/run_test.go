package hpo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// eventful is an objective in which everything happens: pruned, failed,
// panicking and conditional trials.
func eventful(ctx context.Context, t *Trial) (float64, error) {
	v, err := mixed(ctx, t)
	if err != nil {
		return 0, err
	}
	if v > 0.3 {
		depth, err := t.Int("depth", 1, 4)
		if err != nil {
			return 0, err
		}
		v += float64(depth) / 100
	}
	switch t.number() % 11 {
	case 4:
		return math.NaN(), nil
	case 6:
		panic("six")
	case 8:
		return 0, errors.New("eight")
	}
	for step := 1; step <= 5; step++ {
		if err := t.Report(step, v+1/float64(step)); err != nil {
			return 0, fmt.Errorf("step %d: %w", step, err)
		}
	}
	return v, nil
}

func TestSameSeedSameStudy(t *testing.T) {
	spec := Spec{Trials: 40, Seed: 3, Pruner: Median}
	first, err := Run(t.Context(), spec, eventful)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Run(t.Context(), spec, eventful)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("same seed, other study (-first +second):\n%s", diff)
	}
	spec.Seed = 4
	third, err := Run(t.Context(), spec, eventful)
	if err != nil {
		t.Fatal(err)
	}
	if cmp.Equal(first.Trials[0].Params, third.Trials[0].Params) {
		t.Error("another seed gave the same first trial")
	}
	complete, pruned, failed := ended(first, Complete), ended(first, Pruned), ended(first, Failed)
	if pruned == 0 || failed != 11 || complete+pruned+failed != 40 {
		t.Errorf("%d complete, %d pruned, %d failed of 40", complete, pruned, failed)
	}
}

// TestResume stops a study after k trials, reads the records back from JSON and goes on.
func TestResume(t *testing.T) {
	for _, pruner := range []Pruner{"", Median} {
		spec := Spec{Trials: 40, Seed: 5, Pruner: pruner, Enqueued: [][]Param{{{Name: "nodes", Value: 2}}, {{Name: "kind", Choice: "grey"}}}}
		whole, err := Run(t.Context(), spec, eventful)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{0, 1, 7, 12, 25, 40} {
			t.Run(fmt.Sprintf("%s after %d", pruner, k), func(t *testing.T) {
				text, err := json.Marshal(whole.Trials[:k])
				if err != nil {
					t.Fatal(err)
				}
				rest := spec
				if err := json.Unmarshal(text, &rest.Earlier); err != nil {
					t.Fatal(err)
				}
				var told []int
				rest.OnTrial = func(r TrialRecord) error {
					told = append(told, r.Number)
					return nil
				}
				got, err := Run(t.Context(), rest, eventful)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(whole, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("resumed study differs (-whole +resumed):\n%s", diff)
				}
				if len(told) != spec.Trials-k || k < spec.Trials && told[0] != k {
					t.Errorf("told of trials %v, want %d to %d", told, k, spec.Trials-1)
				}
			})
		}
	}
}

func TestHowTrialsEnd(t *testing.T) {
	boom := errors.New("boom")
	tests := []struct {
		name      string
		objective Objective
		want      State
		wantError string
	}{
		{name: "value", want: Complete, objective: func(context.Context, *Trial) (float64, error) { return 0, nil }},
		{name: "NaN", want: Failed, wantError: "objective value NaN is not finite", objective: func(context.Context, *Trial) (float64, error) { return math.NaN(), nil }},
		{name: "infinity", want: Failed, wantError: "objective value -Inf is not finite", objective: func(context.Context, *Trial) (float64, error) { return math.Inf(-1), nil }},
		{name: "error", want: Failed, wantError: "boom", objective: func(context.Context, *Trial) (float64, error) { return 1, boom }},
		{name: "panic", want: Failed, wantError: "panic: boom", objective: func(context.Context, *Trial) (float64, error) { panic(boom) }},
		{name: "pruned, wrapped", want: Pruned, objective: func(context.Context, *Trial) (float64, error) { return 0, fmt.Errorf("at last: %w", ErrPruned) }},
		{name: "report NaN", want: Failed, wantError: "trial 1: step 1: value NaN is not finite", objective: func(_ context.Context, t *Trial) (float64, error) {
			return 0, t.Report(1, math.NaN())
		}},
		{name: "report twice", want: Failed, wantError: "trial 1: step 1: step was reported before", objective: func(_ context.Context, t *Trial) (float64, error) {
			return 0, errors.Join(t.Report(1, 1), t.Report(1, 1))
		}},
		{name: "report step 0", want: Failed, wantError: "report of step 0: steps start at 1", objective: func(_ context.Context, t *Trial) (float64, error) {
			return 0, t.Report(0, 1)
		}},
		{name: "two ranges", want: Failed, wantError: "parameter x: asked for twice with different ranges", objective: func(_ context.Context, t *Trial) (float64, error) {
			if _, err := t.Int("x", 0, 1); err != nil {
				return 0, err
			}
			_, err := t.Int("x", 0, 2)
			return 0, err
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r, err := Run(t.Context(), Spec{Trials: 2}, func(ctx context.Context, trial *Trial) (float64, error) {
				if trial.number() == 0 {
					return 7, nil
				}
				return tc.objective(ctx, trial)
			})
			if err != nil {
				t.Fatal(err)
			}
			got := r.Trials[1]
			if got.State != tc.want || got.Error != tc.wantError {
				t.Errorf("trial ended %s with error %q, want %s with %q", got.State, got.Error, tc.want, tc.wantError)
			}
			if got.State != Complete && (got.Value != nil || r.Best.Number != 0) {
				t.Errorf("a %s trial has value %v, best is trial %d", got.State, got.Value, r.Best.Number)
			}
			if err := got.Check(1); err != nil {
				t.Errorf("the record is not fit for resuming: %v", err)
			}
		})
	}
}

func TestNoneComplete(t *testing.T) {
	r, err := Run(t.Context(), Spec{Trials: 3}, func(context.Context, *Trial) (float64, error) { return math.NaN(), nil })
	if !errors.Is(err, ErrNoneComplete) || ended(r, Failed) != 3 || r.Best.Value != nil {
		t.Errorf("error = %v, %d failed, best %v; want ErrNoneComplete, 3, none", err, ended(r, Failed), r.Best.Value)
	}
}

func TestTrialsIsATotal(t *testing.T) {
	spec := Spec{Trials: 5}
	whole, err := Run(t.Context(), spec, sphere)
	if err != nil {
		t.Fatal(err)
	}
	spec.Trials, spec.Earlier = 3, whole.Trials
	r, err := Run(t.Context(), spec, func(context.Context, *Trial) (float64, error) {
		t.Error("a trial beyond the total")
		return 0, nil
	})
	if err != nil || len(r.Trials) != 5 {
		t.Errorf("%d trials, error %v; want the 5 earlier ones", len(r.Trials), err)
	}
}

func TestCancel(t *testing.T) {
	whole, err := Run(t.Context(), Spec{Trials: 20, Seed: 9}, mixed)
	if err != nil {
		t.Fatal(err)
	}
	for _, during := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		spec := Spec{Trials: 20, Seed: 9}
		r, err := Run(ctx, spec, func(ctx context.Context, t *Trial) (float64, error) {
			v, err := mixed(ctx, t)
			if t.number() == 12 {
				cancel()
				if during {
					return 0, errors.New("killed")
				}
			}
			return v, err
		})
		want := 13
		if during {
			want = 12 // the trial cut off never was
		}
		if !errors.Is(err, context.Canceled) || len(r.Trials) != want || ended(r, Failed) != 0 {
			t.Fatalf("error = %v, %d trials, %d failed; want Canceled, %d, 0", err, len(r.Trials), ended(r, Failed), want)
		}
		spec.Earlier = r.Trials
		resumed, err := Run(t.Context(), spec, mixed)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole, resumed); diff != "" {
			t.Errorf("cancelled and resumed (-whole +resumed):\n%s", diff)
		}
	}
}

func TestOnTrialEndsTheStudy(t *testing.T) {
	full := errors.New("disk full")
	n := 0
	_, err := Run(t.Context(), Spec{Trials: 5, OnTrial: func(TrialRecord) error {
		if n++; n == 2 {
			return full
		}
		return nil
	}}, sphere)
	if !errors.Is(err, full) || n != 2 {
		t.Errorf("error = %v after %d trials, want %v after 2", err, n, full)
	}
}

func TestEnqueued(t *testing.T) {
	tests := []struct {
		name      string
		fixed     []Param
		wantError error
	}{
		{name: "some", fixed: []Param{{Name: "nodes", Value: 64}, {Name: "kind", Choice: "blue"}}},
		{name: "log int", fixed: []Param{{Name: "trees", Value: 300}}},
		{name: "off the grid", fixed: []Param{{Name: "nodes", Value: 1.5}}, wantError: ErrRange},
		{name: "outside", fixed: []Param{{Name: "nodes", Value: 65}}, wantError: ErrRange},
		{name: "no such choice", fixed: []Param{{Name: "kind", Choice: "pink"}}, wantError: ErrRange},
		{name: "choice for a number", fixed: []Param{{Name: "nodes", Value: 2, Choice: "two"}}, wantError: ErrRange},
		{name: "misspelt", fixed: []Param{{Name: "node", Value: 2}}, wantError: ErrParam},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var trial *Trial
			r, err := Run(t.Context(), Spec{Trials: 2, Enqueued: [][]Param{tc.fixed}}, func(ctx context.Context, at *Trial) (float64, error) {
				v, err := mixed(ctx, at)
				if at.number() == 0 {
					trial = at
					if err == nil {
						err = at.unasked()
					}
					if !errors.Is(err, tc.wantError) {
						t.Errorf("error = %v, want %v", err, tc.wantError)
					}
				}
				return v, err
			})
			if err != nil || trial == nil {
				t.Fatal(err)
			}
			if tc.wantError != nil {
				if r.Trials[0].State != Failed {
					t.Errorf("the trial is %s", r.Trials[0].State)
				}
				return
			}
			for _, p := range tc.fixed {
				if got, _ := r.Trials[0].Param(p.Name); got.Choice != p.Choice || p.Choice == "" && got.Value != p.Value {
					t.Errorf("parameter %v, want %v", got, p)
				}
			}
		})
	}
}

func TestSpec(t *testing.T) {
	value := 1.0
	nan := math.NaN()
	tests := []struct {
		name string
		spec Spec
		want error
	}{
		{name: "no trials", spec: Spec{}, want: ErrSpec},
		{name: "unknown pruner", spec: Spec{Trials: 1, Pruner: "axe"}, want: ErrSpec},
		{name: "gap", spec: Spec{Trials: 1, Earlier: []TrialRecord{{Number: 1, State: Complete, Value: &value}}}, want: ErrRecord},
		{name: "no state", spec: Spec{Trials: 1, Earlier: []TrialRecord{{Value: &value}}}, want: ErrRecord},
		{name: "no value", spec: Spec{Trials: 1, Earlier: []TrialRecord{{State: Complete}}}, want: ErrRecord},
		{name: "failed with value", spec: Spec{Trials: 1, Earlier: []TrialRecord{{State: Failed, Value: &value}}}, want: ErrRecord},
		{name: "NaN", spec: Spec{Trials: 1, Earlier: []TrialRecord{{State: Complete, Value: &nan}}}, want: ErrRecord},
		{name: "parameter twice", spec: Spec{Trials: 1, Earlier: []TrialRecord{{State: Failed, Params: []Param{{Name: "a"}, {Name: "a"}}}}}, want: ErrRecord},
		{name: "steps out of order", spec: Spec{Trials: 1, Earlier: []TrialRecord{{State: Failed, Reports: []Report{{Step: 2}, {Step: 1}}}}}, want: ErrRecord},
		{name: "fine", spec: Spec{Trials: 1, Earlier: []TrialRecord{{State: Complete, Value: &value}}}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := Run(t.Context(), tc.spec, sphere); !errors.Is(err, tc.want) {
				t.Errorf("error = %v, want %v", err, tc.want)
			}
		})
	}
}
