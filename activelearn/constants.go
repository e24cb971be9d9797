package activelearn

// The constants of the acquisition function. Those without a source are our choice. The command `tutti-lab
// constants` measures the effect of halving and doubling them.
const (
	// initialPoints is the number of points at which all algorithms are measured first. Campaigns that
	// begin with 3 points took less machine time than campaigns that begin with 5, on the machines A, C and
	// D of data/simgrid.
	initialPoints = 3
	// maxInitialPosition limits the average position of an initial point in the ranges of nodes, processes
	// per node (ppn) and bytes. Position 0 is the smallest value and 1 the greatest. Points below this limit
	// are likely to be cheap.
	maxInitialPosition = 0.5

	// A Gaussian process underestimates its error where an algorithm changes its behavior, for example at an
	// eager limit. Errors of five standard deviations are not rare there. Therefore the variance is assumed to
	// be tailFactor times as large with the probability tailWeight. Without this assumption, an algorithm that
	// was slow at its measured points would not be tried elsewhere.
	tailWeight = 0.1
	tailFactor = 16
	// certainGap is a gap between the times of two algorithms, in standard deviations. If the gap is
	// greater, the loss counts as zero.
	certainGap = 6
	// maxPairs limits the number of pairs of algorithms. The pairs with the greatest losses are kept.
	maxPairs = 500
	// maxLaunchPoints limits the number of points at which candidates for filling a launch are scored. Only
	// points whose layout a launch of the batch uses are considered.
	maxLaunchPoints = 600

	// minPrice, in seconds, is the lowest price. It keeps the ratio of acquisition value to price finite for
	// candidates that cost nothing.
	minPrice = 1e-9
	// powerRuns is the number of measurements that are needed to estimate the exponent `power` in type
	// prices. With fewer, the exponent is 1.
	powerRuns = 12

	// The strategy uncertainty learns its hyperparameters again whenever the number of points has grown by
	// this factor, up to relearnMax points. With more points they hardly change, and evaluating the likelihood
	// costs O(n³).
	relearnGrowth = 1.5
	relearnMax    = 300

	// The stopping rule, see StopRule.

	// predictedPoints is the number of points at which a round's selection is evaluated. They are drawn at
	// random in each round.
	predictedPoints = 300
	// mergedPoints limits the size of a space, in points. Up to this size the complete selection is merged
	// in every round, in the same way as for the exported files.
	mergedPoints = 20_000
	// confidence is the proportion of draws in which the criteria must hold. It is the usual level of
	// confidence intervals.
	confidence = 0.95
	// mostDraws is the largest number of draws. With 200 of them, the standard error of a proportion of
	// 0.95 is 1.5 %.
	mostDraws = 200
	// fewDraws is the number of draws that are made at once. On average, two of 40 are outside a 95 %
	// interval.
	fewDraws = 40
	// maxSlowdown limits the slowdown at a point in one draw. Without it, a few extreme draws would
	// determine the mean, because the distribution has heavy tails.
	maxSlowdown = 10
	// minPredictedPoints is the smallest number of points for which predictions can end a campaign. In a space
	// of 36 points, a random sample needs 28 points without a mistake to show with 95 % confidence that less
	// than 5 % are mistakes (hypergeometric distribution).
	minPredictedPoints = 40
	// minReplicates is the smallest number of replicates (second measurements) from which noise can end a
	// campaign. With a probability of 3 %, five values are all above their median (sign test).
	minReplicates = 5
)
