package gp

// noise is the variance of that of observation j. Its extra noise holds what its job does and so
// is that much at least.
func (p Params) noise(obs Observations, j int) float64 {
	if obs.job(j) > 0 {
		return p.Noise + max(obs.extra(j), p.Job)
	}
	return p.Noise + obs.extra(j)
}

// disturb adds noise to the first i+1 covariances of observation i.
func (p Params) disturb(obs Observations, i int, row []float64) {
	row[i] += p.noise(obs, i)
	if !obs.together(i, i) {
		return
	}
	for j, job := range obs.Job[:i] {
		if job == obs.Job[i] {
			row[j] += p.Job
		}
	}
}

// together reports whether one job made both observations.
func (o Observations) together(i, j int) bool { return o.job(i) > 0 && o.job(i) == o.job(j) }

// job of observation j.
func (o Observations) job(j int) int {
	if o.Job == nil {
		return 0
	}
	return o.Job[j]
}

// jobs is the number of the last one.
func (o Observations) jobs() int {
	last := 0
	for _, job := range o.Job {
		last = max(last, job)
	}
	return last
}
