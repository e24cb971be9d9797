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
	trees := len(f.trees)
	all := make([]float64, len(x)*trees) // in one slice as in PredictVariance, since gonum's sums depend on the alignment
	out := make([][]float64, len(x))
	err := f.eachBlock(x, func(lo int, rows []float64) {
		f.eachTree(rows, func(tree, row int, value float64) { all[(lo+row)*trees+tree] = value })
	})
	for i := range out {
		out[i] = all[i*trees : (i+1)*trees]
	}
	return out, err
}
