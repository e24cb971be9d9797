package gp

import "math"

// scaledRows are rows in the length scales of c, of g and of g's steps, the last nil where
// there are none.
type scaledRows struct{ common, own, steps columns }

func (p Params) scaled(rows [][]float64) scaledRows {
	s := scaledRows{common: newColumns(rows, p.CommonLength), own: newColumns(rows, p.OwnLength)}
	if p.Steps > 0 {
		s.steps = newColumns(rows, p.StepLength)
	}
	return s
}

// kin is how one row is related to others: correlations of c and of g, or covariances.
type kin struct {
	common, own []float64
	x, steps    []float64 // scratch
}

func newKin(n, columns int) kin {
	all := make([]float64, 3*n+columns)
	return kin{all[:n:n], all[n : 2*n : 2*n], all[3*n:], all[2*n : 3*n : 3*n]}
}

// first returns r for the first n rows.
func (r kin) first(n int) kin {
	return kin{r.common[:n], r.own[:n], r.x, r.steps[:n]}
}

// correlate sets r to the correlations of x with the first len(r.common) of rows; slopes,
// where they are not nil, to those of matern: without steps and split alone.
func (r kin) correlate(p Params, x []float64, rows scaledRows, commonSlope, ownSlope []float64) {
	rows.common.distances(r.common, scaledRow(r.x, x, p.CommonLength))
	matern(r.common, commonSlope, 1)
	rows.own.distances(r.own, scaledRow(r.x, x, p.OwnLength))
	matern(r.own, ownSlope, 1)
	if rows.steps != nil {
		rows.steps.paths(r.steps, scaledRow(r.x, x, p.StepLength))
		for j, path := range r.steps {
			r.own[j] = (1-p.Steps)*r.own[j] + p.Steps*decay(path)
		}
	}
	if p.Split > 0 {
		here := x[p.SplitColumn] / p.OwnLength[p.SplitColumn]
		for j, there := range rows.own[p.SplitColumn][:len(r.own)] {
			if there != here {
				r.own[j] *= 1 - p.Split
			}
		}
	}
}

// covary sets r to the covariances of any two tasks at x and at each of rows, and what
// comes on top when the tasks are the same, of source 0.
func (r kin) covary(p Params, x []float64, rows scaledRows) {
	r.correlate(p, x, rows, nil, nil)
	for j := range r.common {
		// Only rows that are equal, or as good as, have the correlation 1.
		if r.common[j] == 1 && r.own[j] == 1 {
			r.common[j], r.own[j] = p.Common+p.Shared, p.Own+p.Level+p.Rough
			continue
		}
		r.common[j] *= p.Common
		r.own[j] = p.Own*r.own[j] + p.Level
	}
}

// scaledRow writes x over the length scales to dst, which it returns.
func scaledRow(dst, x, length []float64) []float64 {
	for d, v := range x {
		dst[d] = v / length[d]
	}
	return dst
}

// paths writes to dst the sums of the absolute differences of the scaled row x from the
// first len(dst) rows.
func (c columns) paths(dst, x []float64) {
	clear(dst)
	for d, col := range c {
		xd := x[d]
		for j, v := range col[:len(dst)] {
			dst[j] += math.Abs(xd - v)
		}
	}
}

// kinship holds the correlations of every two rows, in the lower triangle with the
// diagonal, and their slopes by the logarithms of length scales, see matern.
type kinship struct {
	common, own           [][]float64 // of c, of g
	commonSlope, ownSlope [][]float64 // nil unless asked for, without steps and split alone
}

// newKinship makes room for n rows.
func newKinship(n int) *kinship {
	return &kinship{common: triangle(n), own: triangle(n)}
}

// withSlopes makes room for slopes, too.
func (k *kinship) withSlopes() *kinship {
	k.commonSlope, k.ownSlope = triangle(len(k.common)), triangle(len(k.common))
	return k
}

// triangle is a lower one of n rows with the diagonal.
func triangle(n int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, i+1)
	}
	return out
}

// relate works out the correlations of rows. O(len(rows)²) exponentials.
func (k *kinship) relate(p Params, rows [][]float64) {
	scaled, r := p.scaled(rows), newKin(len(rows), len(rows[0]))
	for i, x := range rows {
		here := r.first(i)
		here.common, here.own = k.common[i][:i], k.own[i][:i]
		if k.commonSlope == nil {
			here.correlate(p, x, scaled, nil, nil)
		} else {
			here.correlate(p, x, scaled, k.commonSlope[i], k.ownSlope[i])
		}
		k.common[i][i], k.own[i][i] = 1, 1
	}
}

// fill writes the first i+1 covariances of observation i, without noise.
func (k *kinship) fill(p Params, obs Observations, i int, row []float64) {
	ui, ai, si := obs.At[i], obs.Task[i], obs.source(i)
	for j := range row[:i+1] {
		uj := obs.At[j]
		changed := si != 0 && obs.Source[j] == si
		v := p.shared(k.common[max(ui, uj)][min(ui, uj)], ui == uj, changed)
		if obs.Task[j] == ai {
			v += p.apart(k.own[max(ui, uj)][min(ui, uj)], ui == uj, changed)
		}
		row[j] = v
	}
}
