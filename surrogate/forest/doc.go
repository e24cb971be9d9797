// Package forest is random-forest regression: it turns rows of numbers into a mean and a variance.
//
// A forest is the mean of many regression trees, each grown on its own bootstrap sample of the
// training rows. Options and defaults have the same meaning as in scikit-learn's
// RandomForestRegressor. The variance of the trees' predictions shows where a forest is uncertain, so that
// it can select the next measurement.
//
//   - [Fit] grows a [Forest] from rows and targets under [Options].
//   - [Forest.Predict] gives the mean, [Forest.PredictVariance] the mean and the variance over the trees.
//   - [Forest.OutOfBag] predicts each training row with the trees that did not see it.
//   - [Criterion] is the error that a split reduces: [SquaredError], [AbsoluteError], [FriedmanMSE], [Poisson].
//   - [ErrShape], [ErrValue] and [ErrOptions] are the errors.
//
// A forest is a function of rows, targets and options. The same seed gives the same bits for any
// number of workers, because tree t has its own generator, PCG(seed, t).
//
//	rows := [][]float64{{1, 4}, {2, 4}, {3, 4}, {1, 8}, {2, 8}, {3, 8}}
//	times := []float64{0.1, 0.2, 0.4, 0.3, 0.5, 0.9}
//	f, err := forest.Fit(rows, times, forest.Options{Seed: 1})
//	if err != nil {
//		return err
//	}
//	mean, variance, err := f.PredictVariance([][]float64{{2.5, 4}, {2.5, 8}})
//
// # How it works
//
// Values are replaced by dense ranks, and rows with the same ranks form one group. A tree over a
// grid of benchmark points thus handles each point once, however often it was measured. A node adds
// its groups to buckets by rank and reads the buckets in order with a bit mask, which sorts them.
// Nothing is allocated for a node.
//
// Source: Breiman, Random Forests, Machine Learning 45 (2001).
package forest
