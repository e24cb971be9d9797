// Package hpo tunes the hyperparameters of a random forest. A study runs trials one after
// another. Each trial scores one set of hyperparameters by cross-validation.
//
// The search uses goptuna's Study with the CMA-ES sampler; no other package imports goptuna.
// CMA-ES learns from complete trials only, so trials are not stopped early.
//
// Spec.OnTrial receives the record of each finished trial. A study resumed from these records
// gives the same result as an uninterrupted one.
//
//	study := hpo.ForestStudy{Default: params, Folds: 5, Score: score}
//	result, err := hpo.Forest(ctx, hpo.Spec{Trials: 100, Seed: 1}, study)
//	fmt.Println(result.Best.Params.Trees, *result.Best.Value)
package hpo
