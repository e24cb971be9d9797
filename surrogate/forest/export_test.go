package forest

// Nodes returns the number of nodes of each tree, including leaves.
func (f *Forest) Nodes() []int {
	n := make([]int, len(f.trees))
	for k := range f.trees {
		n[k] = len(f.trees[k].nodes)
	}
	return n
}

// PredictTrees returns the predictions of the single trees. The result has a slice for each row of x, with
// one value for each tree. The errors are those of Predict.
func (f *Forest) PredictTrees(x [][]float64) ([][]float64, error) {
	flat, err := f.checkRows(x)
	if err != nil {
		return nil, err
	}
	trees := len(f.trees)
	all := make([]float64, len(x)*trees)
	out := make([][]float64, len(x))
	for i := range out {
		out[i] = all[i*trees : (i+1)*trees : (i+1)*trees]
	}
	q := f.newQuery(flat, len(x))
	f.blocks(q, func() func(lo, hi int) {
		return func(lo, hi int) { f.perTree(&q, lo, hi, all[lo*trees:hi*trees]) }
	})
	return out, nil
}
