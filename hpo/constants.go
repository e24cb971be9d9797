package hpo

// The ranges in which hyperparameters are searched; both ends are included. They contain the defaults of
// scikit-learn: 100 trees, unlimited depth, splits of 2 rows, and leaves of 1 row.
const (
	minTrees, maxTrees = 20, 300 // trees; searched on a logarithmic scale
	minDepth, maxDepth = 2, 32   // levels
	minSplit, maxSplit = 2, 16   // rows
	minLeaf, maxLeaf   = 1, 8    // rows
)

// significance is the number of standard errors by which the best forest must be better than the Gaussian
// process: the one-sided 95 % quantile of the normal distribution. Without it the best of many forests
// would win by chance.
const significance = 1.645
