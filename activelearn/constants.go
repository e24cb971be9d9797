package activelearn

// The constants of the acquisition function. Those without a source are our choice. The command `tutti-lab
// constants` measures the effect of halving and doubling them.
const (
	// initialPoints is the number of points at which all algorithms are measured first. With 3, campaigns took less
	// machine time than with 5 on the machines A, C and D of data/simgrid.
	initialPoints = 3
	// defaultInitial is the default number of initial points for the strategy "uncertainty". It equals the
	// number of hyperparameters that this strategy learns: three length scales, a signal variance and a noise
	// variance.
	defaultInitial = 5
	// maxInitialPosition limits the initial points. A point's numbers of nodes, processes per node (ppn) and
	// bytes are ranked from 0 (smallest) to 1 (greatest). The average of the three ranks must be below the
	// limit. Such points are likely to be cheap.
	maxInitialPosition = 0.5

	// A Gaussian process underestimates its error where an algorithm changes its behavior, for example at an
	// eager limit. Errors of five standard deviations are not rare there. Therefore the variance is assumed to
	// be tailFactor times as large with the probability tailWeight. Without this assumption, an algorithm that
	// was slow at its measured points would not be tried elsewhere.
	tailWeight = 0.1
	tailFactor = 16
	// certainGap is a limit, in standard deviations. If the predicted times of two algorithms differ by more,
	// the loss of the faster one counts as zero.
	certainGap = 6
	// maxPairs limits the number of pairs. Those with the greatest losses are kept.
	maxPairs = 500
	// samplePoints is the number of points, drawn in each round, over which losses are summed.
	samplePoints = 300
	// evenPoints is the number of points that are drawn evenly, in addition to samplePoints, if points have
	// weights. A measurement at a point of small weight can be informative about points of large weight.
	evenPoints = 100
	// maxScored is the largest number of candidates that are scored for a batch.
	maxScored = 400
	// maxPriceVariance limits the variance of log10 of a candidate's time when its price is computed. The
	// expected time is the median multiplied by a factor that grows with this variance. The limit keeps the
	// factor at most e^(2.3²·4/2) = 40,000.
	maxPriceVariance = 4
	// minVarianceReduction is the smallest relative decrease of a variance by a measurement. Smaller ones count as zero.
	minVarianceReduction = 1e-3
	// minDeviation, in decades, is the lower limit of standard deviations. It prevents a division by zero.
	minDeviation = 1e-6
	// batchShare limits the machine time of a batch, as a fraction of the machine time that this campaign
	// has used so far. A batch of one candidate is exempt. Without the limit, a last batch of expensive
	// candidates could double the cost of a campaign before the next evaluation.
	batchShare = 0.5
	// maxLaunchPoints limits the points at which a round looks for candidates to add to the launches of its
	// batch. Only points with the layout of such a launch are considered.
	maxLaunchPoints = 600

	// minPrice, in seconds, is the lowest price. It keeps the ratio of acquisition value to price finite for
	// candidates that cost nothing.
	minPrice = 1e-9
	// powerRuns is the number of measurements that are needed to estimate prices.power. With fewer, it is 1.
	powerRuns = 12

	// The strategy "uncertainty" learns its hyperparameters again whenever the number of points has grown by
	// this factor, up to relearnMax points. With more points they hardly change, and evaluating the likelihood
	// costs O(n³).
	relearnGrowth = 1.5
	relearnMax    = 300

	// The guard, see Guard.

	// guardSigmas is the number of standard deviations of the difference of two measured times by which an algorithm
	// must be faster than the library's default. It is the quantile of 95 % of the normal distribution: an algorithm
	// that is as fast as the default passes in 5 % of looks. docs/experiments/2026-11-29-harm.md has harm and gain by
	// its value.
	guardSigmas = 1.645
	// minAdvantage is the smallest speed-up, minus one, with which an algorithm replaces the default.
	minAdvantage = 0.01
	// equalWithin is the largest slowdown, minus one, of an algorithm that counts as equally fast as the default; see
	// ForLayouts. A point counts as slower from the same slowdown on (report.SlowerTolerance).
	equalWithin = 0.02
	// pairBlock is the number of pairs whose posterior is kept in memory at the same time.
	pairBlock = 128

	// The stopping rule, see StopRule.

	// ruleOfThree divided by a share is the number of points that must all be without a mistake to show with 95 %
	// confidence that mistakes have less than this share: 60 points for 5 %. Source: Hanley and Lippman-Hand, If nothing goes wrong,
	// is everything all right? (JAMA 1983).
	ruleOfThree = 3
	// outlierShare is the fraction of the campaign's machine time that measuring outliers again may use.
	outlierShare = 0.1
	// replicateShare is the fraction of the campaign's machine time that replicates may use.
	replicateShare = 0.02
	// predictedPoints is the number of points, drawn in each round, at which its selection is evaluated.
	predictedPoints = 300
	// mergedPoints is the largest number of points for which every round makes the rules that exported files would
	// have. In a larger space this would take too long.
	mergedPoints = 20_000
	// DefaultConfidence is the default of Criteria.Confidence. A higher value costs more than it saves, because the guard
	// bounds what a wrong stop can cost; docs/experiments/2026-11-29-stopping.md has time and excess by its value.
	DefaultConfidence = 0.8
	// auditShare limits what the audits of a round cost together, as a share of the machine time so far. The same
	// experiment has time and excess by its value.
	auditShare = 0.1
	// confidence is the level of upper confidence limits. It is the usual level.
	confidence = 0.95
	// mostDraws is the largest number of draws from the posterior. With 200 of them, the standard error of a
	// proportion of 0.8 is 2.8 %.
	mostDraws = 200
	// fewDraws is the number of draws after which it is checked whether the stopping criteria can still hold.
	// With 40 draws, two are outside a 95 % interval on average.
	fewDraws = 40
	// maxSlowdown limits the slowdown at a point in one draw. Without it, a few extreme draws would
	// determine the mean, because the distribution has heavy tails.
	maxSlowdown = 10
	// minPredictedPoints is the smallest number of points for which predictions can end a campaign. In a smaller
	// space they save little. For example, less than 5 % of 36 points are mistakes, with 95 % confidence, only if 28
	// random ones have none (hypergeometric distribution).
	minPredictedPoints = 40
	// minReplicates is the smallest number of replicates (second measurements) from which noise can end a
	// campaign. Five random values are all above the median of their distribution with a probability of 3 %
	// (sign test).
	minReplicates = 5
)
