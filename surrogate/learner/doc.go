// Package learner predicts the times of all algorithms of one collective at each point. The
// algorithm with the lowest prediction is the choice. There are two models:
//
//   - [GaussianProcess]: one multi-task Gaussian process of all algorithms, so that a measurement
//     of one algorithm at a point improves the predictions for the others at this point; see
//     [tutti/surrogate/gp.GP] and [Posterior]. It is the default of campaigns;
//   - [Forest]: one random forest for each algorithm, trained on the measurements of that
//     algorithm (Hunold et al., CLUSTER 2020; Wilkins et al., "FACT", ExaMPI 2021).
//
// A Gaussian process also reports the uncertainty of its choices by [Learner.Uncertainties].
// [CrossValidate] and [Learner.Compare] compare choices with measurements.
//
//	l, err := learner.Fit(learner.Data{Measurements: measurements}, learner.Options{
//		Scaling: preprocess.AlgorithmLog10, Model: learner.GaussianProcess,
//	})
//	if err != nil {
//		return err
//	}
//	predicted, err := l.Predict(points) // a row for each of l.Algorithms(); lower is faster
//	uncertainties, err := l.Uncertainties(points, canRun)
//	for _, u := range uncertainties {
//		fmt.Println(u.Point, u.Choice, "or", u.Rival, u.PMistake)
//	}
package learner
