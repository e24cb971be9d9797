// Package learner joins preprocessing and models into what selects: the times of all
// algorithms of one collective predicted at each point, and the algorithm with the lowest
// prediction chosen. Its two models are
//
//   - [Forest]: one random forest for each algorithm, trained on the measurements of that
//     algorithm (Hunold et al., CLUSTER 2020; Wilkins et al., "FACT", ExaMPI 2021);
//   - [GaussianProcess]: one Gaussian process of all algorithms together, so that one
//     algorithm measured at a point tells of the others there, see [tutti/surrogate/gp.GP]
//     and [Belief].
//
// A learner that has a Gaussian process says how uncertain it is: [Learner.Doubts] beside
// each choice, [Learner.Risks] of any choices. [CrossValidate] and [Learner.Compare] say
// how good its choices are.
//
//	l, err := learner.Fit(measurements, learner.Options{
//		Scaling: preprocess.AlgorithmLog10, Model: learner.GaussianProcess,
//	})
//	if err != nil {
//		return err
//	}
//	predicted, err := l.Predict(points) // a row for each of l.Algorithms(); lower is faster
//	doubts, err := l.Doubts(points, canRun)
//	for _, d := range doubts {
//		fmt.Println(d.Point, d.Choice, "beside", d.Rival, d.PMistake)
//	}
package learner
