package forest

import "fmt"

// blockRows is the number of rows that are predicted together, a multiple of lanes. The ranks and sums of
// these rows fit into the first-level cache together with one tree.
const blockRows = 512

// query holds the rows to predict, with each feature replaced by its rank.
type query struct {
	rows  int
	ranks []laneRanks // one laneRanks per feature for each group of eight rows, then padding for walk
}

// newQuery computes the rank of each feature among the forest's thresholds. The rows are in one slice, row
// after row. It takes O(rows·d·log thresholds) time.
func (f *Forest) newQuery(flat []float64, rows int) query {
	d := f.train.dim
	groups := (rows + lanes - 1) / lanes
	q := query{rows: rows, ranks: make([]laneRanks, groups*d+maxFeatures)}
	for j, cuts := range f.cuts {
		var last float64
		var rank uint32
		for i := range rows {
			// Consecutive points of a grid often have the same value. Its rank is computed only once.
			if v := flat[i*d+j]; i == 0 || v != last {
				last, rank = v, lowerBound(cuts, v)
			}
			q.ranks[i/lanes*d+j][i%lanes] = rank
		}
	}
	return q
}

// group returns the ranks of the g-th group of `lanes` rows.
func (q *query) group(g, d int) *[maxFeatures]laneRanks {
	return (*[maxFeatures]laneRanks)(q.ranks[g*d:])
}

// blocks calls work for every block of rows of the query, on at most Workers goroutines. Each goroutine
// first calls start to get its work function.
func (f *Forest) blocks(q query, start func() (work func(lo, hi int))) {
	parallel(f.opt.Workers, (q.rows+blockRows-1)/blockRows, func(int) func(int) {
		work := start()
		return func(b int) { work(b*blockRows, min((b+1)*blockRows, q.rows)) }
	})
}

// checkRows checks the rows to predict and copies them into one slice. An empty x is valid.
func (f *Forest) checkRows(x [][]float64) ([]float64, error) {
	if len(x) == 0 {
		return nil, nil
	}
	if len(x[0]) != f.train.dim {
		return nil, fmt.Errorf("%w: row 0 has %d features, the forest was grown on %d",
			ErrShape, len(x[0]), f.train.dim)
	}
	flat, _, err := flatten(x)
	return flat, err
}

// Predict returns the mean of all trees at each row of x.
//
// x has q rows with the d columns that Fit had; q may be 0. The means are in the units of the targets and
// lie between the smallest and the largest target. It returns errors matching ErrShape and ErrValue. It
// takes O(q·Trees·depth) time.
func (f *Forest) Predict(x [][]float64) ([]float64, error) {
	flat, err := f.checkRows(x)
	if err != nil {
		return nil, err
	}
	mean := make([]float64, len(x))
	q := f.newQuery(flat, len(x))
	f.blocks(q, func() func(lo, hi int) {
		sums := make([]float64, blockRows)
		return func(lo, hi int) {
			clear(sums)
			for k := range f.trees {
				f.addTree(k, &q, lo, hi, sums)
			}
			for i := range mean[lo:hi] {
				mean[lo+i] = f.mean(sums[i])
			}
		}
	})
	return mean, nil
}

// mean returns the mean prediction of all trees, given the sum of their predictions.
func (f *Forest) mean(sum float64) float64 { return f.inRange(sum / float64(len(f.trees))) }

// inRange limits a mean to the range of the targets, because rounding errors can move it outside.
func (f *Forest) inRange(v float64) float64 { return min(max(v, f.train.yMin), f.train.yMax) }

// addTree adds the predictions of tree k for the rows from lo to hi-1 to sums. The length of sums must be a
// multiple of lanes.
func (f *Forest) addTree(k int, q *query, lo, hi int, sums []float64) {
	t := &f.trees[k]
	for i := lo; i < hi; i += lanes {
		leaves := t.walk(q.group(i/lanes, f.train.dim))
		out := (*[lanes]float64)(sums[i-lo:])
		for l, leaf := range leaves {
			out[l] += t.values[leaf]
		}
	}
}

// perTree computes the predictions of all trees for the rows from lo to hi-1. It writes them to out, a
// matrix with one row for each row of the query and one column for each tree.
func (f *Forest) perTree(q *query, lo, hi int, out []float64) {
	trees := len(f.trees)
	for k := range f.trees {
		t := &f.trees[k]
		for i := lo; i < hi; i += lanes {
			leaves := t.walk(q.group(i/lanes, f.train.dim))
			for l := range min(lanes, hi-i) {
				out[(i-lo+l)*trees+k] = t.values[leaves[l]]
			}
		}
	}
}

// OutOfBag predicts each training row by the trees whose bootstrap sample does not contain it. It returns the
// indexes, in ascending order, of the rows for which there is such a tree, and the mean prediction of these
// trees for each of them. A sample lacks a given row with the probability (1-1/n)ⁿ, about 37 %. With 100 trees
// almost every row is therefore predicted. Without bootstrap, or with one row, no row is predicted. It takes
// O(n·Trees·depth) time.
func (f *Forest) OutOfBag() (rows []int, mean []float64) {
	if f.opt.NoBootstrap {
		return nil, nil
	}
	n := f.train.rows
	sums, votes := make([]float64, n), make([]int, n)
	f.sumOutOfBag(sums, votes)
	for i, v := range votes {
		if v > 0 {
			rows = append(rows, i)
			mean = append(mean, f.inRange(sums[i]/float64(v)))
		}
	}
	return rows, mean
}

// sumOutOfBag considers, for each training row, the trees whose sample does not contain the row. It adds their
// predictions to `sums` and their number to `votes`.
func (f *Forest) sumOutOfBag(sums []float64, votes []int) {
	n := f.train.rows
	q := f.newQuery(f.train.x, n)
	counts := make([]uint32, n)
	for k := range f.trees {
		drawCounts(treeSource(f.opt.Seed, k), counts)
		t := &f.trees[k]
		for i := 0; i < n; i += lanes {
			leaves := t.walk(q.group(i/lanes, f.train.dim))
			for l := range min(lanes, n-i) {
				if counts[i+l] == 0 {
					sums[i+l] += t.values[leaves[l]]
					votes[i+l]++
				}
			}
		}
	}
}
