package forest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"tutti/metrics"
)

const (
	maxRows   = 1 << 22 // the draws of a bootstrap sample are uniform up to 0.1 %; see drawCounts
	maxTarget = 1e150   // keeps variances finite
)

// table holds the training set, with features replaced by their ranks. All workers share it, because it is
// constant after newTable.
type table struct {
	rows, dim int
	x         []float64 // rows×dim, row-major: a copy of the rows

	values  [][]float64 // per feature: its distinct values, ascending
	cols    [][]uint32  // per feature: each group's rank in values
	groupOf []uint32    // each row's group; rows of a group have equal features
	groups  int

	z            []float64 // scaled targets (y-shift)/scale, exact, within ±2
	targets      []uint32  // rank of each row in z; only for AbsoluteError
	shift, scale float64
	yMin, yMax   float64
}

// newTable checks a training set and computes its ranks.
//
// Rows with equal features form a group. With AbsoluteError every row is a group of its own, since a median
// needs all rows. For n rows of d features newTable takes O(d·n·log n) time.
func newTable(x [][]float64, y []float64, opt Options) (*table, error) {
	flat, d, err := flatten(x)
	if err != nil {
		return nil, err
	}
	if err := checkTargets(y, len(x), opt.Criterion); err != nil {
		return nil, err
	}
	t := &table{rows: len(x), dim: d, x: flat}
	t.scaleTargets(y, opt.Criterion)
	ranks := t.rank()
	if opt.Criterion == AbsoluteError {
		t.groupPerRow(ranks)
		_, t.targets = ranked(t.z)
	} else {
		t.groupRows(ranks)
	}
	return t, nil
}

// flatten copies rows into one slice, row after row, and returns the length of a row. Of each kind of error
// it reports only the first one.
func flatten(x [][]float64) (flat []float64, d int, err error) {
	if len(x) == 0 {
		return nil, 0, fmt.Errorf("%w: no rows", ErrShape)
	}
	if len(x) > maxRows {
		return nil, 0, fmt.Errorf("%w: %d rows, at most %d", ErrShape, len(x), maxRows)
	}
	d = len(x[0])
	if d == 0 {
		return nil, 0, fmt.Errorf("%w: no features", ErrShape)
	}
	flat = make([]float64, 0, len(x)*d)
	var ragged, bad error
	for i, row := range x {
		if len(row) != d && ragged == nil {
			ragged = fmt.Errorf("%w: row %d has %d features, row 0 has %d", ErrShape, i, len(row), d)
		}
		for j, v := range row {
			if bad == nil && !metrics.Finite(v) {
				bad = fmt.Errorf("%w: row %d feature %d is %g", ErrValue, i, j, v)
			}
		}
		flat = append(flat, row...)
	}
	return flat, d, errors.Join(ragged, bad)
}

func checkTargets(y []float64, n int, c Criterion) error {
	if len(y) != n {
		return fmt.Errorf("%w: %d targets for %d rows", ErrShape, len(y), n)
	}
	for i, v := range y {
		if !metrics.Finite(v) || math.Abs(v) > maxTarget {
			return fmt.Errorf("%w: target %d is %g, want at most %g in size", ErrValue, i, v, maxTarget)
		}
		if c == Poisson && v < 0 {
			return fmt.Errorf("%w: target %d is %g, the poisson criterion needs none below 0", ErrValue, i, v)
		}
	}
	return nil
}

// scaleTargets sets t.z to the targets y, shifted and scaled. Sums of their squares then cannot overflow and lose
// few digits. The scale is a power of two, so scaling causes no rounding errors. A shift is subtracted only if
// no target is more than twice another one, since differences are then exact (Sterbenz' lemma).
func (t *table) scaleTargets(y []float64, c Criterion) {
	t.yMin, t.yMax = slices.Min(y), slices.Max(y)
	sameSign := t.yMin > 0 || t.yMax < 0
	small, large := math.Abs(t.yMin), math.Abs(t.yMax)
	if small > large {
		small, large = large, small
	}
	if c != Poisson && sameSign && large/2 <= small {
		t.shift = t.yMin
		large = t.yMax - t.yMin
	}
	_, exp := math.Frexp(large)
	t.scale = math.Ldexp(1, exp)
	t.z = make([]float64, t.rows)
	for i, v := range y {
		t.z[i] = (v - t.shift) / t.scale
	}
}

// unscale converts a scaled value z to the unit of the targets, limited to their range.
func (t *table) unscale(z float64) float64 {
	return min(max(t.shift+z*t.scale, t.yMin), t.yMax)
}

// rank returns, for each feature, the rank of that feature's value in each row. It also sets t.values to the
// distinct values of each feature.
func (t *table) rank() [][]uint32 {
	t.values = make([][]float64, t.dim)
	ranks := make([][]uint32, t.dim)
	column := make([]float64, t.rows)
	for f := range ranks {
		for i := range column {
			column[i] = t.x[i*t.dim+f]
		}
		t.values[f], ranks[f] = ranked(column)
	}
	return ranks
}

// ranked returns the distinct values in ascending order, and the rank of each value among them.
func ranked(all []float64) (distinct []float64, ranks []uint32) {
	distinct = slices.Compact(slices.Sorted(slices.Values(all)))
	ranks = make([]uint32, len(all))
	for i, v := range all {
		k, _ := slices.BinarySearch(distinct, v)
		ranks[i] = uint32(k)
	}
	return distinct, ranks
}

func (t *table) groupPerRow(ranks [][]uint32) {
	t.groups, t.cols = t.rows, ranks
	t.groupOf = make([]uint32, t.rows)
	for i := range t.groupOf {
		t.groupOf[i] = uint32(i)
	}
}

// groupRows puts rows with the same ranks in all features into one group, in the lexicographic order of the ranks.
func (t *table) groupRows(ranks [][]uint32) {
	order := make([]uint32, t.rows)
	for i := range order {
		order[i] = uint32(i)
	}
	byRanks := func(i, j uint32) int {
		for _, r := range ranks {
			if r[i] != r[j] {
				return cmp.Compare(r[i], r[j])
			}
		}
		return 0
	}
	slices.SortFunc(order, byRanks)
	t.cols = make([][]uint32, t.dim)
	t.groupOf = make([]uint32, t.rows)
	for k, i := range order {
		if k == 0 || byRanks(i, order[k-1]) != 0 {
			for f := range t.cols {
				t.cols[f] = append(t.cols[f], ranks[f][i])
			}
			t.groups++
		}
		t.groupOf[i] = uint32(t.groups - 1)
	}
}
