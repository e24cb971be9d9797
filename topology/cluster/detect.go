package cluster

import (
	"math"
	"slices"

	"tutti/metrics"
)

// detector looks for levels in the logarithms of distances.
type detector struct {
	mean   table
	halves []table // two, or none
}

func newDetector(a, b table) *detector {
	d := &detector{halves: []table{a, b}}
	d.trim()
	d.mean = table{n: a.n, x: make([]float64, len(a.x))}
	for i := range d.mean.x {
		d.mean.x[i] = (a.x[i] + b.x[i]) / 2
	}
	return d
}

// trim puts the lower of two distances in the place of both where the halves differ by
// more than four standard deviations: one of them is of a message that was late.
func (d *detector) trim() {
	a, b := d.halves[0].x, d.halves[1].x
	most := 4 * d.spread()
	for i := range a {
		if math.Abs(a[i]-b[i]) > most {
			a[i] = min(a[i], b[i])
			b[i] = a[i]
		}
	}
}

// spread is the standard deviation of the difference of the halves, from its median.
func (d *detector) spread() float64 {
	a, b := d.halves[0], d.halves[1]
	differences := upper(a.n, a.x)
	for i, x := range upper(b.n, b.x) {
		differences[i] -= x
	}
	return metrics.RobustDeviation(differences)
}

// result looks for levels, takes members for slow that are far from all others, and
// looks again until there are none.
func (d *detector) result(unit float64) Result {
	const mostLooks = 4
	r := Result{Noise: math.NaN()}
	if d.halves != nil {
		r.Noise = d.spread() / 2
	}
	var found []Labels
	for range mostLooks {
		found, r.Unclear = d.look()
		far := d.far(found)
		if len(far) == 0 || len(far) > d.mean.n/2 {
			break
		}
		for _, f := range far {
			d.pull(f)
			r.Far = append(r.Far, Far{Member: f.member, Times: math.Exp(f.excess)})
		}
	}
	samples := byLevel(d.mean, found)
	r.Seconds = unit * math.Exp(samples[len(found)].mean())
	for i, labels := range slices.Backward(found) {
		near, far := samples[i].mean(), samples[i+1].mean()
		r.Levels = append(r.Levels, Level{Labels: labels, Seconds: unit * math.Exp(near), Confidence: d.confidence(labels, near, far)})
	}
	return r
}

// look returns the clear divisions, finest first, and the others.
func (d *detector) look() (clear []Labels, unclear []Unclear) {
	if d.halves == nil {
		h := byProfile(d.mean)
		return h.unheld(d.mean), nil
	}
	h := byDistance(d.mean)
	return d.fitting(accept(d.mean, nil, d.held(&h)))
}

// unheld returns the clear divisions, finest first, where no repetitions confirm them. In
// a machine of equal parts what is equal comes first.
func (h *hierarchy) unheld(t table) []Labels {
	equal, stepped := accept(t, nil, h.regular()), h.single(t)
	if len(equal) > 1 {
		return accept(t, equal, stepped)
	}
	return accept(t, accept(t, nil, stepped), equal)
}
