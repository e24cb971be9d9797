package hpo_test

import (
	"context"
	"fmt"
	"math"

	"tutti/hpo"
)

func ExampleRun() {
	spec := hpo.Spec{Trials: 60, Seed: 1}
	result, err := hpo.Run(context.Background(), spec, func(_ context.Context, t *hpo.Trial) (float64, error) {
		n, err := t.Int("n", -10, 10)
		if err != nil {
			return 0, err
		}
		kind, err := t.Choice("kind", "plain", "costly")
		if err != nil {
			return 0, err
		}
		if kind == "costly" {
			return 10, nil
		}
		return float64((n - 2) * (n - 2)), nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	n, _ := result.Best.Param("n")
	kind, _ := result.Best.Param("kind")
	fmt.Printf("%d trials, best %g and %s\n", len(result.Trials), n.Value, kind.Choice)
	// Output: 60 trials, best 2 and plain
}

func ExampleForest() {
	study := hpo.ForestStudy{
		Default: hpo.ForestParams{Trees: 100, Criterion: "squared_error", MinSplit: 2, MinLeaf: 1},
		Folds:   5,
		Score: func(_ context.Context, p hpo.ForestParams, fold int) (float64, error) {
			return 1 + math.Abs(float64(p.MinLeaf-3))/10, nil // stands for training and scoring a forest
		},
	}
	result, err := hpo.Forest(context.Background(), hpo.Spec{Trials: 30, Seed: 1, Pruner: hpo.Median}, study)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("default %.1f, best %.1f with leaves of %d rows\n",
		*result.Trials[0].Value, *result.Best.Value, hpo.ForestOf(result.Best).MinLeaf)
	// Output: default 1.2, best 1.0 with leaves of 3 rows
}
