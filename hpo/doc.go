// Package hpo tunes the hyperparameters of a random forest. A study runs trials one after
// another. Each trial scores one set of hyperparameters by cross-validation.
//
// The search uses goptuna's Study with the CMA-ES sampler; no other package imports goptuna.
// CMA-ES learns from complete trials only, so trials are not stopped early.
//
// Spec.OnTrial receives the record of each finished trial. A study resumed from these records
// gives the same result as an uninterrupted one.
//
//	study := hpo.ForestStudy{Default: params, Criteria: hpo.Criteria(), Folds: 5, Score: score}
//	trials, err := hpo.Forest(ctx, hpo.Spec{Trials: 100, Seed: 1}, study)
//	if best, ok := hpo.Best(trials); ok {
//		fmt.Println(best.Params.Trees, *best.Value)
//	}
package hpo
