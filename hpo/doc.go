// Package hpo tunes the hyperparameters of a random forest: a study runs one
// trial after another, and each trial scores one set of hyperparameters by
// cross-validation.
//
// The search is goptuna's: its Study with the CMA-ES sampler. No other package
// imports goptuna. CMA-ES learns from complete trials alone, eight a
// generation, so no trial is cut short.
//
// Each trial is given to Spec.OnTrial as it ends. A study that continues from
// these records is identical to one that was never interrupted.
//
//	study := hpo.ForestStudy{Default: params, Folds: 5, Score: score}
//	result, err := hpo.Forest(ctx, hpo.Spec{Trials: 100, Seed: 1}, study)
//	fmt.Println(result.Best.Params.Trees, *result.Best.Value)
package hpo
