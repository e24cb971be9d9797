// Package learner joins preprocessing and forests into what selects: one random
// forest for each algorithm of one collective, trained on the measurements of
// that algorithm, and the algorithm with the lowest prediction at each point
// (Hunold et al., CLUSTER 2020; Wilkins et al., "FACT", ExaMPI 2021).
//
//	l, err := learner.Fit(measurements, learner.Options{Scaling: preprocess.AlgorithmLog10})
//	if err != nil {
//		return err
//	}
//	predicted, err := l.Predict(points) // a row for each of l.Algorithms(); lower is faster
//	held, err := learner.CrossValidate(measurements, 5, seed, options)
//	sum, err := metrics.Summarize(held.Slowdowns, metrics.Options{})
package learner
