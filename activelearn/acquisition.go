package activelearn

// acquisition is an acquisition function: it values what a measurement would tell.
type acquisition interface {
	// value returns the acquisition value of a candidate of the batch, given the picks so far, 0 or more. Candidates are
	// ordered by the ratio of this value to their price.
	value(b *batchSelector, s *scoredCandidate) float64
}

// lossReduction is the acquisition function of the strategy regret: by how much a measurement is expected to lower the
// sum of the losses of all pairs.
type lossReduction struct{}

func (lossReduction) value(b *batchSelector, s *scoredCandidate) float64 {
	sum := 0.0
	for k := range b.pairs {
		p := &b.pairs[k]
		if fall := b.varianceFall(s, k); fall > minVarianceReduction*p.variance && p.loss > 0 {
			sum += p.loss - p.weight*b.model.loss(p.gap, max(0, p.variance-fall))
		}
	}
	return sum
}

// varianceFall returns by how much a measurement of the candidate lowers the variance of the k-th pair. This is the
// variance of the difference between the times of the pair's two algorithms.
func (b *batchSelector) varianceFall(s *scoredCandidate, k int) float64 {
	return s.covariance[k] * s.covariance[k] / (s.variance + b.noise)
}
