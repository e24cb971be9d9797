// Package forest is random-forest regression: rows of numbers in, a mean and a variance out.
//
// A forest is the mean of many regression trees, each grown on its own bootstrap sample of the
// training rows. The words and the defaults mean what they mean in scikit-learn's
// RandomForestRegressor, so a study made there carries over; the spread between trees is turned
// into a variance of the forest's mean by the infinitesimal jackknife, which makes the forest a
// surrogate to choose the next measurement with.
//
//   - [Fit] grows a [Forest] from rows and targets under [Options].
//   - [Forest.Predict] gives the mean, [Forest.PredictVariance] the mean and its variance.
//   - [Forest.OutOfBag] predicts each training row with the trees that did not see it.
//   - [Criterion] is what a split lowers: [SquaredError], [AbsoluteError], [FriedmanMSE], [Poisson].
//   - [ErrShape], [ErrValue], [ErrOptions] and [ErrNoBootstrap] are what can go wrong.
//
// One forest is a function of rows, targets and options: the same seed gives the same bits
// whatever the number of workers, because tree t draws from its own generator, PCG(seed, t).
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
// Values become dense ranks once, and rows with the same ranks become one cell, so a tree over a
// grid of benchmark points handles each point once however often it was measured. A node adds its
// cells into buckets by rank and reads the buckets in order through a bit mask, which sorts them;
// nothing is allocated for a node. Trees are stored as eight-byte nodes that compare ranks of
// thresholds, and eight rows walk a tree side by side without branches.
//
// Source: Breiman, Random Forests, Machine Learning 45 (2001); the variance: Wager, Hastie and
// Efron, Confidence Intervals for Random Forests, JMLR 15 (2014).
package forest
