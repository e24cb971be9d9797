package forest

import gonumstat "gonum.org/v1/gonum/stat"

// PredictVariance returns the mean of all trees at each row of x and the variance of the trees' predictions,
// in squared units of the targets. It returns the errors of Predict.
//
// Source: ACCLAiM (Wilkins et al., CLUSTER 2022), which measures next where this variance is largest.
func (f *Forest) PredictVariance(x [][]float64) (mean, variance []float64, err error) {
	flat, err := f.checkRows(x)
	if err != nil {
		return nil, nil, err
	}
	trees := len(f.trees)
	mean, variance = make([]float64, len(x)), make([]float64, len(x))
	q := f.newQuery(flat, len(x))
	f.blocks(q, func() func(lo, hi int) {
		votes := make([]float64, blockRows*trees)
		return func(lo, hi int) {
			f.perTree(&q, lo, hi, votes)
			for i := lo; i < hi; i++ {
				row := votes[(i-lo)*trees : (i-lo+1)*trees]
				m, v := gonumstat.PopMeanVariance(row, nil)
				mean[i], variance[i] = f.inRange(m), v
			}
		}
	})
	return mean, variance, nil
}
