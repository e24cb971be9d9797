package gp

import "math"

// scaledRows holds rows divided by length scales, three times: for the common function c, for the functions
// g of the tasks, and for the step functions in g (see GP). The field `steps` is nil if g has no step
// function.
type scaledRows struct{ common, own, steps columns }

func (p Params) scaled(rows [][]float64) scaledRows {
	s := scaledRows{common: newColumns(rows, p.CommonLength), own: newColumns(rows, p.OwnLength)}
	if p.Steps > 0 {
		s.steps = newColumns(rows, p.StepLength)
	}
	return s
}

// corrRow holds the correlations or covariances between one row and some other rows. The field `common` is for the
// function c, which all tasks share. The field `own` is for the function g of each single task (see GP).
type corrRow struct {
	common, own []float64
	x, steps    []float64 // scratch
}

func newCorrRow(n, columns int) corrRow {
	return corrRow{make([]float64, n), make([]float64, n), make([]float64, columns), make([]float64, n)}
}

// correlate sets r to the correlations between the row x and the first len(r.common) of the rows. It fills
// commonSlope and ownSlope, unless they are nil, with the factors of the derivatives that matern computes.
// They are valid only if p.Steps and p.Split are zero.
func (r corrRow) correlate(p Params, x []float64, rows scaledRows, commonSlope, ownSlope []float64) {
	rows.common.distances(r.common, scaledRow(r.x, x, p.CommonLength))
	matern(r.common, commonSlope)
	rows.own.distances(r.own, scaledRow(r.x, x, p.OwnLength))
	matern(r.own, ownSlope)
	if rows.steps != nil {
		rows.steps.manhattan(r.steps, scaledRow(r.x, x, p.StepLength))
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

// covary sets r to the prior covariances between x and each row, for observations of source 0 (this campaign).
// r.common is the covariance between two different tasks. The covariance of a task with itself is r.common + r.own.
func (r corrRow) covary(p Params, x []float64, rows scaledRows) {
	r.correlate(p, x, rows, nil, nil)
	for j := range r.common {
		// The correlation is 1 only for equal rows, except for rounding errors.
		if r.common[j] == 1 && r.own[j] == 1 {
			r.common[j], r.own[j] = p.Common+p.Shared, p.Own+p.Level+p.Rough
			continue
		}
		r.common[j] *= p.Common
		r.own[j] = p.Own*r.own[j] + p.Level
	}
}

// scaledRow sets dst to x divided by the length scales, and returns dst.
func scaledRow(dst, x, length []float64) []float64 {
	for d, v := range x {
		dst[d] = v / length[d]
	}
	return dst
}

// manhattan sets dst to the Manhattan distances between the scaled row x and the first len(dst) rows.
func (c columns) manhattan(dst, x []float64) {
	clear(dst)
	for d, col := range c {
		xd := x[d]
		for j, v := range col[:len(dst)] {
			dst[j] += math.Abs(xd - v)
		}
	}
}

// corrMatrix holds the correlations between all pairs of rows, and the factors of their derivatives (see
// matern). Each field is a lower triangle.
type corrMatrix struct {
	common, own           [][]float64 // of c, of g
	commonSlope, ownSlope [][]float64 // nil unless requested; valid only without steps and split
}

// newCorrMatrix allocates the correlations of n rows. They are 0 until the method `compute` sets them. There
// is no memory for slopes.
func newCorrMatrix(n int) *corrMatrix {
	return &corrMatrix{common: trapezoid(0, n), own: trapezoid(0, n)}
}

// compute sets k to the correlations between all pairs of rows. It takes O(len(rows)²) exponentials.
func (k *corrMatrix) compute(p Params, rows [][]float64) {
	scaled, r := p.scaled(rows), newCorrRow(len(rows), len(rows[0]))
	for i, x := range rows {
		here := corrRow{k.common[i][:i], k.own[i][:i], r.x, r.steps[:i]}
		if k.commonSlope == nil {
			here.correlate(p, x, scaled, nil, nil)
		} else {
			here.correlate(p, x, scaled, k.commonSlope[i], k.ownSlope[i])
		}
		k.common[i][i], k.own[i][i] = 1, 1
	}
}

// fill sets row to the prior covariances between observation i and the observations 0 to i, without noise.
func (k *corrMatrix) fill(p Params, obs Observations, i int, row []float64) {
	ui, ai, si := obs.At[i], obs.Task[i], obs.source(i)
	for j := range row[:i+1] {
		uj := obs.At[j]
		changed := si != 0 && obs.Source[j] == si
		v := p.commonCov(k.common[max(ui, uj)][min(ui, uj)], ui == uj, changed)
		if obs.Task[j] == ai {
			v += p.ownCov(k.own[max(ui, uj)][min(ui, uj)], ui == uj, changed)
		}
		row[j] = v
	}
}
