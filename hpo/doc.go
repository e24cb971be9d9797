// Package hpo tunes hyper-parameters: it runs a study, trial after trial, in
// which an objective asks for parameters and returns how well they did.
//
// Run is the study over any objective; Forest the one over a random forest's
// hyper-parameters, scored fold by fold. Every finished trial is a TrialRecord,
// given to Spec.OnTrial; a study continued from its records is the same as one
// that was never stopped. A Pruner cuts trials that are not worth finishing.
//
// The study, the pruners and the interfaces are goptuna's; the sampler, a
// tree-structured Parzen estimator that is reproducible from its seed, and the
// storage are the package's own. No other package imports goptuna.
//
//	spec := hpo.Spec{Trials: 50, Seed: 1}
//	result, err := hpo.Run(ctx, spec, func(_ context.Context, t *hpo.Trial) (float64, error) {
//		n, err := t.Int("n", -10, 10)
//		if err != nil {
//			return 0, err
//		}
//		return float64((n - 2) * (n - 2)), nil
//	})
//	fmt.Println(*result.Best.Value)
package hpo
