package forest

// OutOfBag predicts the training rows by the trees whose bootstrap sample left them out: the
// forest's own hold-out test. rows are those that at least one tree left out, ascending, and
// mean is, for each of them, the mean of these trees. About (1-1/n)ⁿ, or 37 %, of the trees leave
// a row out, so with 100 trees hardly a row is missing; without bootstrap, or with one row, all
// are. O(n·Trees·depth) time.
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

// sumOutOfBag adds up, for each training row, what the trees that left it out predict, and counts
// these trees.
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
