package learner

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

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

// Every row is in every fold with equal probability. Over 3000 seeds a share of 1/3 has a standard
// error of sqrt(2/9/3000) = 0.0086; the test allows five standard errors.
func TestFoldsAreFair(t *testing.T) {
	const seeds, rows, folds = 3000, 7, 3
	var count [rows][folds]int
	for seed := range uint64(seeds) {
		for row, f := range assignFolds(rows, folds, seed) {
			count[row][f]++
		}
	}
	// With seven rows in three folds, fold 0 has three rows and the others two.
	want := [folds]float64{3. / 7, 2. / 7, 2. / 7}
	for row := range rows {
		for f := range folds {
			if got := float64(count[row][f]) / seeds; math.Abs(got-want[f]) > 5*0.009 {
				t.Errorf("row %d is in fold %d for a share of %.3f of the seeds, want %.3f", row, f, got, want[f])
			}
		}
	}
}
