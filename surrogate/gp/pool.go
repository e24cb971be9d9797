package gp

import (
	"fmt"
	"math"
)

// Pool is a fixed set of candidate rows whose posterior mean and variance follow the model at
// O(n² + n·m) operations per appended observation instead of O(n²·m).
//
// It keeps L⁻¹k for each of its m candidates, n·m numbers of 8 bytes: 160 MB for a thousand
// observations and 20 000 candidates. A pool catches up with its model whenever it is asked
// something; after a Refit that means computing everything anew, O(n²·m).
// It is not safe for concurrent use, nor while its model changes.
type Pool struct {
	g        *GP
	rows     [][]float64
	cols     columns
	version  int         // of the model
	v        [][]float64 // per candidate L⁻¹k, first for the observations, then for the pending
	mean     []float64
	variance []float64
	measured []float64 // variance without the pending candidates, while there are some
	pending  int
}

// NewPool returns a pool of the given candidate rows, which are copied.
//
// rows is m×d, columns as in Fit, m ≥ 1. It returns an error matching ErrShape or ErrValue for
// bad rows. O(m·n²) operations.
//
// Source: Rasmussen and Williams, Gaussian Processes for ML (2006), algorithm 2.1.
func (g *GP) NewPool(rows [][]float64) (*Pool, error) {
	if err := checkRows(rows, len(g.cols)); err != nil {
		return nil, err
	}
	m := len(rows)
	p := &Pool{g: g, mean: make([]float64, m), variance: make([]float64, m)}
	for _, row := range rows {
		p.rows = append(p.rows, append([]float64(nil), row...))
	}
	p.rebuild()
	return p, nil
}

// poolRows is how many rows a pool solves at a time: a few blocks, so that they stay in cache.
const poolRows = 4 * blockLen

// whiten sets the first n numbers of each row of v to L⁻¹k, k being the covariances of that row
// of xq with the observations.
func (g *GP) whiten(v, xq [][]float64) {
	x := make([]float64, len(g.cols))
	for i, row := range xq {
		for d, value := range row {
			x[d] = value / g.params.length[d]
		}
		g.cols.distances(v[i][:g.Len()], x)
		matern(v[i][:g.Len()], nil, g.params.signal)
	}
	g.f.solve(v, 0)
}

// spareColumns is the room a pool leaves for observations to come before its rows must move.
const spareColumns = 64

// rebuild computes everything from the model.
func (p *Pool) rebuild() {
	g, n := p.g, p.g.Len()
	p.version = g.version
	p.pending = 0
	p.cols = newColumns(p.rows, g.params.length)
	if p.v == nil {
		p.v = make([][]float64, len(p.rows))
	}
	for first := 0; first < len(p.rows); first += poolRows {
		last := min(first+poolRows, len(p.rows))
		part := p.v[first:last]
		if cap(part[0]) < n {
			copy(part, newRows(len(part), n+spareColumns))
		}
		for i := range part {
			part[i] = part[i][:n]
		}
		g.whiten(part, p.rows[first:last])
		for i, v := range part {
			p.mean[first+i] = g.params.mean + dot(v, g.z)
			p.variance[first+i] = max(0, g.params.signal-dot(v, v))
		}
	}
}

// sync catches up with the model. Pending candidates are dropped when it has changed.
func (p *Pool) sync() {
	if p.version != p.g.version {
		p.rebuild()
		return
	}
	known := len(p.v[0]) - p.pending
	if known == p.g.Len() {
		return
	}
	p.drop()
	for known < p.g.Len() {
		last := min(known+blockLen, p.g.Len())
		x := newRows(last-known, len(p.g.cols))
		for i := range x {
			p.g.cols.row(known+i, x[i])
		}
		p.condition(x, p.g.f.rows[known:last], p.g.z[known:last])
		known = last
	}
}

// condition appends columns to v, at most blockLen: one for each observation at a scaled row of
// x, with its row of the factor in l and its entry of z. All of v is read once, which is what
// takes the time.
func (p *Pool) condition(x, l [][]float64, z []float64) {
	n := len(p.v[0])
	var c block
	var cov [blockLen]float64
	for first := 0; first < len(p.v); first += blockLen {
		last := min(first+blockLen, len(p.v))
		part, cols := p.v[first:last], p.cols.between(first, last)
		c.mul(part, l, 0, n)
		for i, xi := range x {
			li := l[i][n : n+i+1]
			k := cov[:len(part)]
			cols.distances(k, xi)
			matern(k, nil, p.g.params.signal)
			for j, v := range part {
				t := k[j] - c[j*blockLen+i]
				for s, known := range v[n:] {
					t -= li[s] * known
				}
				t /= li[i]
				part[j] = append(v, t)
				p.mean[first+j] += t * z[i]
				p.variance[first+j] = max(0, p.variance[first+j]-t*t)
			}
		}
	}
}

// Mean returns the posterior mean at each candidate, in the targets' unit; pending candidates
// leave it alone. The slice is the pool's own: read it, and only until the pool's next call.
func (p *Pool) Mean() []float64 {
	p.sync()
	return p.mean
}

// Variance returns the posterior variance of the latent function at each candidate, in the
// targets' unit squared, given the observations and the pending candidates. Measurement noise is
// not in it. The slice is the pool's own, as with Mean.
func (p *Pool) Variance() []float64 {
	p.sync()
	return p.variance
}

// Condition makes candidate i pending: from now on Variance counts it as one more noisy
// observation, whose value nobody needs to know. The same candidate may be pending repeatedly.
// Appending to the model, Refit and Reset end that.
//
// It returns an error matching ErrShape when there is no candidate i. O(n·m) operations.
func (p *Pool) Condition(i int) error {
	if i < 0 || i >= len(p.rows) {
		return fmt.Errorf("%w: candidate %d of %d", ErrShape, i, len(p.rows))
	}
	p.sync()
	if p.pending == 0 {
		p.measured = append(p.measured[:0], p.variance...)
	}
	x := newRows(1, len(p.g.cols))
	p.cols.row(i, x[0])
	// Without noise a second look tells nothing: the floor is build's first jitter.
	square := max(p.variance[i]+p.g.params.noise+p.g.jitter, firstJitter*p.g.params.signal)
	l := append(append([]float64(nil), p.v[i]...), math.Sqrt(square))
	p.condition(x, [][]float64{l}, []float64{0})
	p.pending++
	return nil
}

// Reset ends the pending state of all candidates and restores Variance to the bit. O(m) operations.
func (p *Pool) Reset() {
	p.sync()
	p.drop()
}

// drop forgets the pending candidates.
func (p *Pool) drop() {
	if p.pending == 0 {
		return
	}
	n := len(p.v[0]) - p.pending
	for c, v := range p.v {
		p.v[c] = v[:n]
	}
	copy(p.variance, p.measured)
	p.pending = 0
}
