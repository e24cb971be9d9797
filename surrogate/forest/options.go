package forest

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
)

// The errors of this package. Callers compare with errors.Is.
var (
	ErrShape   = errors.New("rows of unequal or wrong length")
	ErrValue   = errors.New("value that a forest cannot learn from")
	ErrOptions = errors.New("unusable forest options")
)

// Criterion is the error that a split reduces.
type Criterion uint8

const (
	// SquaredError reduces the variance within the two children. Leaves predict means.
	SquaredError Criterion = iota
	// AbsoluteError reduces the mean distance to the median. Leaves predict medians. Growing costs O(d·m·log
	// m) for a node of m rows instead of O(d·m). A row drawn twice counts as two rows, as if scikit-learn
	// were given the row twice. scikit-learn's own forests weight rows instead, which in version 1.2.1 grows
	// slightly different trees.
	AbsoluteError
	// FriedmanMSE scores wl·wr·(difference of means)², where wl and wr are the weights of the two sides. Within
	// a node this score is the gain of SquaredError times a constant, so both criteria select the same splits.
	// FriedmanMSE exists because scikit-learn has this criterion as well.
	FriedmanMSE
	// Poisson reduces the half Poisson deviance. Targets must not be negative, and leaves predict
	// means.
	Poisson
)

var criterionNames = [...]string{"squared_error", "absolute_error", "friedman_mse", "poisson"}

// String returns scikit-learn's name of the criterion.
func (c Criterion) String() string {
	if int(c) < len(criterionNames) {
		return criterionNames[c]
	}
	return fmt.Sprintf("Criterion(%d)", uint8(c))
}

// ParseCriterion is the inverse of Criterion.String: it returns the criterion with this name.
func ParseCriterion(name string) (Criterion, error) {
	for i, n := range criterionNames {
		if n == name {
			return Criterion(i), nil
		}
	}
	return 0, fmt.Errorf("%w: criterion %q, want one of %v", ErrOptions, name, criterionNames)
}

// Options configures Fit. The zero value stands for the defaults of scikit-learn 1.2.1: 100
// bootstrapped trees, grown completely on all features.
type Options struct {
	Trees       int       // number of trees; 0 means 100
	Criterion   Criterion // the error that a split reduces
	MaxDepth    int       // maximum number of splits above a leaf; 0 means no limit
	MinSplit    int       // a node with fewer distinct rows is a leaf; 0 means 2
	MinLeaf     int       // minimum number of distinct rows of a child; 0 means 1
	MaxFeatures int       // number of features tried at each node, drawn at random; 0 means all
	NoBootstrap bool      // grow every tree on all rows instead of a bootstrap sample
	Seed        uint64    // seed of all random choices
	Workers     int       // number of goroutines that grow and predict; 0 means GOMAXPROCS; does not affect results
}

// defaultTrees is the default of n_estimators in scikit-learn 1.2.1.
const defaultTrees = 100

// Validate returns all errors of the options, joined. Each matches ErrOptions.
func (o Options) Validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...))
		}
	}
	fault(o.Trees < 0, "Trees = %d, want at least 1 (or 0 for %d)", o.Trees, defaultTrees)
	fault(int(o.Criterion) >= len(criterionNames), "%v, want one of %v", o.Criterion, criterionNames)
	fault(o.MaxDepth < 0, "MaxDepth = %d, want at least 1 (or 0 for no limit)", o.MaxDepth)
	fault(o.MinSplit < 0 || o.MinSplit == 1, "MinSplit = %d, want at least 2 (or 0 for 2)", o.MinSplit)
	fault(o.MinLeaf < 0, "MinLeaf = %d, want at least 1 (or 0 for 1)", o.MinLeaf)
	fault(o.MaxFeatures < 0, "MaxFeatures = %d, want at least 1 (or 0 for all)", o.MaxFeatures)
	fault(o.Workers < 0, "Workers = %d, want at least 1 (or 0 for all processors)", o.Workers)
	return errors.Join(faults...)
}

// filled returns the options with zeros replaced by the defaults. It does not change MaxFeatures.
func (o Options) filled() Options {
	o.Trees, o.MinSplit, o.MinLeaf = cmp.Or(o.Trees, defaultTrees), cmp.Or(o.MinSplit, 2), cmp.Or(o.MinLeaf, 1)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	return o
}
