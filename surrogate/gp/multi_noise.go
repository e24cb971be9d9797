package gp

// noise is the variance of that of observation j. What its job does is part of the extra noise.
func (p MultiParams) noise(obs Observations, j int) float64 {
	if obs.job(j) > 0 {
		return p.Noise + max(obs.extra(j), p.Job)
	}
	return p.Noise + obs.extra(j)
}

// together is the covariance of the noise of two observations.
func (p MultiParams) together(obs Observations, i, j int) float64 {
	if obs.job(i) == 0 || obs.job(i) != obs.job(j) {
		return 0
	}
	return p.Job
}

// disturb adds noise to the first i+1 covariances of observation i.
func (p MultiParams) disturb(obs Observations, i int, row []float64) {
	row[i] += p.noise(obs, i)
	if obs.job(i) == 0 {
		return
	}
	for j := range row[:i] {
		row[j] += p.together(obs, i, j)
	}
}
