package hpo

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// TestPruners gives trial i the curve curves[i], reported step by step, and
// wants to know after how many steps it was cut; 0: never.
func TestPruners(t *testing.T) {
	flat := func(v float64) []float64 { return []float64{v, v, v, v} }
	tests := []struct {
		name   string
		pruner Pruner
		curves [][]float64
		want   []int
	}{
		{
			name: "none", curves: [][]float64{flat(1), flat(9)}, want: []int{0, 0},
		},
		{
			name: "median: five complete trials first", pruner: Median,
			curves: [][]float64{flat(1), flat(2), flat(3), flat(4), flat(5), flat(3.1), flat(3), flat(9)},
			want:   []int{0, 0, 0, 0, 0, 1, 0, 1},
		},
		{
			name: "median: the best so far counts", pruner: Median,
			curves: [][]float64{flat(1), flat(2), flat(3), flat(4), flat(5), {2, 9, 9, 9}},
			want:   []int{0, 0, 0, 0, 0, 0},
		},
		{
			name: "median: trials cut do not shift it", pruner: Median,
			curves: [][]float64{flat(1), flat(2), flat(3), flat(4), flat(5), flat(9), flat(9), flat(9), flat(3.1)},
			want:   []int{0, 0, 0, 0, 0, 1, 1, 1, 1},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := make([]int, len(tc.curves))
			r, err := Run(t.Context(), Spec{Trials: len(tc.curves), Pruner: tc.pruner},
				func(_ context.Context, trial *Trial) (float64, error) {
					curve := tc.curves[trial.number()]
					for i, v := range curve {
						if err := trial.Report(i+1, v); err != nil {
							if errors.Is(err, ErrPruned) {
								got[trial.number()] = i + 1
							}
							return 0, err
						}
					}
					return curve[len(curve)-1], nil
				})
			if err != nil {
				t.Fatal(err)
			}
			cut := 0
			for i, steps := range tc.want {
				if steps == 0 {
					continue
				}
				cut++
				if v := r.Trials[i].Value; v == nil || *v != tc.curves[i][steps-1] || len(r.Trials[i].Reports) != steps {
					t.Errorf("trial %d: value %v with %d reports", i, v, len(r.Trials[i].Reports))
				}
			}
			if !slices.Equal(got, tc.want) || ended(r, Pruned) != cut || ended(r, Failed) != 0 {
				t.Errorf("cut after %v, %d counted, %d failed; want %v", got, ended(r, Pruned), ended(r, Failed), tc.want)
			}
		})
	}
}
