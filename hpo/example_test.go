package hpo_test

import (
	"context"
	"fmt"
	"math"

	"tutti/hpo"
)

func ExampleForest() {
	study := hpo.ForestStudy{
		Default:  hpo.ForestParams{Trees: 100, Criterion: "squared_error", MinSplit: 2, MinLeaf: 1},
		Criteria: hpo.Criteria(),
		Folds:    5,
		Score: func(_ context.Context, p hpo.ForestParams, fold int) (float64, error) {
			return 1 + math.Abs(float64(p.MinLeaf-3))/10, nil // stands for training and scoring a forest
		},
	}
	trials, err := hpo.Forest(context.Background(), hpo.Spec{Trials: 30, Seed: 1}, study)
	if err != nil {
		fmt.Println(err)
		return
	}
	best, _ := hpo.Best(trials)
	fmt.Printf("default %.1f, best %.1f with leaves of %d rows\n", *trials[0].Value, *best.Value, best.Params.MinLeaf)
	// Output: default 1.2, best 1.0 with leaves of 3 rows
}
