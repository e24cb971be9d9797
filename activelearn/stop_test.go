package activelearn_test

import (
	"math"
	"testing"
	"time"

	"tutti/activelearn"
	"tutti/metrics"
)

// evaluation returns a summary that has only these three values.
func evaluation(points int, slowdown, mistakes float64) metrics.Summary {
	return metrics.Summary{Points: points, Slowdown: slowdown, Mistakes: mistakes}
}

func TestWatchObserve(t *testing.T) {
	type round struct {
		points             int
		slowdown, mistakes float64
		want               bool
	}
	usual := activelearn.Criteria{Slowdown: 1.03, Mistakes: 0.05, Patience: 2}
	tests := []struct {
		name     string
		criteria activelearn.Criteria
		rounds   []round
	}{
		{
			name: "in a row", criteria: usual,
			rounds: []round{{60, 1.01, 0, false}, {60, 1.01, 0, true}, {60, 1.01, 0, true}},
		},
		{
			name: "a bad one starts again", criteria: usual,
			rounds: []round{
				{60, 1.01, 0, false}, {60, 1.04, 0, false},
				{60, 1.01, 0, false}, {60, 1.01, 0.06, false},
				{60, 1.01, 0, false}, {60, 1.01, 0, true},
			},
		},
		{
			name: "below, not at", criteria: activelearn.Criteria{Slowdown: 1.03, Mistakes: 0.05},
			rounds: []round{{60, 1.03, 0, false}, {60, 1.01, 0.05, false}, {60, 1.029, 0.049, true}},
		},
		{
			// 59 points without a mistake leave 5 % of mistakes possible.
			name: "too few points", criteria: activelearn.Criteria{Slowdown: 1.03, Mistakes: 0.05},
			rounds: []round{{0, 0, 0, false}, {1, 1, 0, false}, {59, 1, 0, false}, {60, 1, 0, true}, {61, 1, 0, true}},
		},
		{
			name: "no patience means one", criteria: activelearn.Criteria{Slowdown: 1.03, Mistakes: 0.1},
			rounds: []round{{30, 1.02, 0, true}},
		},
		{
			name: "no number is not good", criteria: activelearn.Criteria{Slowdown: 1.03, Mistakes: 0.05},
			rounds: []round{{60, math.NaN(), 0, false}, {60, 1, math.NaN(), false}},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			w := activelearn.NewWatch(tc.criteria)
			for i, r := range tc.rounds {
				if got := w.Observe(evaluation(r.points, r.slowdown, r.mistakes)); got != r.want {
					t.Errorf("round %d: Observe(%+v) = %t, want %t", i+1, r, got, r.want)
				}
			}
		})
	}
}

func TestUnmet(t *testing.T) {
	criteria := activelearn.Criteria{Slowdown: 1.05, Mistakes: 0.1, Patience: 2}
	good := activelearn.Evaluation{Source: activelearn.Predicted, Slowdown: 1.02, Mistakes: 0.04, PConverged: 0.99}
	tests := []struct {
		name   string
		change func(*activelearn.Evaluation)
		want   string
	}{
		{"means above", func(e *activelearn.Evaluation) { e.Slowdown, e.Mistakes = 1.08, 0.123 }, "the slowdown is 1.080, want below 1.050, and mistakes are 12 %, want below 10 %"},
		{"uncertain", func(e *activelearn.Evaluation) { e.PConverged = 0.7123 },
			"the averages meet the criteria, but they hold with a probability of 71.2 % only, want 80 % (stop.confidence)"},
		{"audit", func(e *activelearn.Evaluation) { e.Audits = 3 }, "the averages meet the criteria, but choices at 3 message sizes are compared with their rivals first"},
		{"outliers", func(e *activelearn.Evaluation) { e.Outliers = 2 }, "the averages meet the criteria, but 2 outliers are measured again first"},
		{"patience", func(e *activelearn.Evaluation) { e.Source = activelearn.CrossValidated },
			"the averages meet the criteria, but they must hold in 2 evaluations in a row (stop.patience)"},
		{"nothing", func(*activelearn.Evaluation) {}, ""},
		{"not evaluated", func(e *activelearn.Evaluation) { *e = activelearn.Evaluation{Source: activelearn.Predicted} }, ""},
	}
	for _, tc := range tests {
		e := good
		tc.change(&e)
		if got := criteria.Unmet(e); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestLimitReached(t *testing.T) {
	s := sweep(2)
	half := activelearn.NewLedger(s) // four of the eight candidates are measured
	measure(t, half, s.At(0)...)
	used, nodeSeconds := half.CostSeconds(), half.NodeSeconds()
	full := activelearn.NewLedger(s)
	measure(t, full, s.Candidates()...)
	tests := []struct {
		name    string
		ledger  *activelearn.Ledger
		limits  activelearn.Limits
		elapsed time.Duration
		want    activelearn.StopReason
	}{
		{name: "no limits", ledger: half, elapsed: 1000 * time.Hour, want: ""},
		{name: "machine time left", ledger: half, limits: activelearn.Limits{MachineSeconds: 1.01 * used}, want: ""},
		{name: "machine time used up", ledger: half, limits: activelearn.Limits{MachineSeconds: used}, want: activelearn.Budget},
		{name: "node-hours left", ledger: half, limits: activelearn.Limits{NodeSeconds: 1.01 * nodeSeconds}, want: ""},
		{name: "node-hours used up", ledger: half, limits: activelearn.Limits{NodeSeconds: nodeSeconds}, want: activelearn.Budget},
		{name: "time left", ledger: half, limits: activelearn.Limits{Wall: time.Hour}, elapsed: time.Hour - 1, want: ""},
		{name: "time up", ledger: half, limits: activelearn.Limits{Wall: time.Hour}, elapsed: time.Hour, want: activelearn.TimeUp},
		{
			name: "machine time before wall time", ledger: full,
			limits: activelearn.Limits{MachineSeconds: used, Wall: 1}, elapsed: 2, want: activelearn.Budget,
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.limits.Reached(tc.ledger, tc.elapsed); got != tc.want {
				t.Errorf("Reached() = %q, want %q", got, tc.want)
			}
		})
	}
}

// TestAfford checks how many of 100 candidates a batch may have after four trials.
func TestAfford(t *testing.T) {
	s := sweep(2)
	half, none := activelearn.NewLedger(s), activelearn.NewLedger(s)
	measure(t, half, s.At(0)...)
	used, nodeSeconds := half.CostSeconds(), half.NodeSeconds()
	tests := []struct {
		name    string
		ledger  *activelearn.Ledger
		limits  activelearn.Limits
		elapsed time.Duration
		recent  int
		want    int
	}{
		{"no limits", half, activelearn.Limits{}, time.Hour, 4, 100},
		{"machine time", half, activelearn.Limits{MachineSeconds: 3.01 * used}, 0, 4, 8},
		{"node-hours", half, activelearn.Limits{NodeSeconds: 2.01 * nodeSeconds}, 0, 4, 4},
		{"wall time", half, activelearn.Limits{Wall: 40 * time.Second}, 20 * time.Second, 4, 4},
		{"wall time nearly up", half, activelearn.Limits{Wall: 40 * time.Second}, 39 * time.Second, 4, 1},
		{"wall time after a resume", half, activelearn.Limits{Wall: 60 * time.Second}, 20 * time.Second, 1, 2},
		{"wall time just after a resume", half, activelearn.Limits{Wall: 40 * time.Second}, time.Second, 0, 100},
		{"the least of several", half, activelearn.Limits{MachineSeconds: 3.01 * used, Wall: 40 * time.Second}, 20 * time.Second, 4, 4},
		{"no trial", none, activelearn.Limits{Wall: 40 * time.Second}, 20 * time.Second, 0, 100},
	}
	for _, tc := range tests {
		if got := tc.limits.Afford(tc.ledger, tc.elapsed, tc.recent, 100); got != tc.want {
			t.Errorf("%s: %d candidates, want %d", tc.name, got, tc.want)
		}
	}
}

// TestWatchObserveAll checks that ObserveAll accepts an evaluation of few points, but requires the same
// patience as Observe.
func TestWatchObserveAll(t *testing.T) {
	w := activelearn.NewWatch(activelearn.Criteria{Slowdown: 1.03, Mistakes: 0.05, Patience: 2})
	for i, r := range []struct {
		slowdown float64
		want     bool
	}{{1.01, false}, {1.04, false}, {1.01, false}, {1.01, true}} {
		if got := w.ObserveAll(evaluation(4, r.slowdown, 0)); got != r.want {
			t.Errorf("round %d: %v, want %v", i+1, got, r.want)
		}
	}
}
