package gp

import (
	"fmt"
	"math"
)

// Entry is a task at a row.
type Entry struct{ Row, Task int }

// Posterior holds what the covariances between entries follow from, given the
// observations of a Multi and entries that are asked for and not yet observed. It
// is not safe for concurrent use.
type Posterior struct {
	m       *Multi
	rows    [][]float64
	entries []Entry
	v       [][]float64 // of each entry L⁻¹k, first for the observations, then for the pending
}

// spareEntries is the room for pending entries before rows must move.
const spareEntries = 64

// Posterior prepares entries, tasks at rows. It keeps rows and entries.
// O(len(entries)·n²) operations, O(len(entries)·n) numbers.
func (m *Multi) Posterior(rows [][]float64, entries []Entry) (*Posterior, error) {
	if err := checkRows(rows, len(m.obs.X[0])); err != nil {
		return nil, err
	}
	n, u := len(m.obs.Y), len(m.obs.X)
	p := &Posterior{m: m, rows: rows, entries: entries, v: newRows(len(entries), n+spareEntries)}
	common, own := make([]float64, u), make([]float64, u)
	last := -1
	for i, e := range entries {
		if e.Row < 0 || e.Row >= len(rows) || e.Task < 0 {
			return nil, fmt.Errorf("%w: task %d at row %d of %d", ErrShape, e.Task, e.Row, len(rows))
		}
		p.v[i] = p.v[i][:n]
		if e.Row != last {
			m.params.covariances(rows[e.Row], m.obs.X, common, own)
			last = e.Row
		}
		m.fill(p.v[i], e.Task, common, own)
	}
	m.f.solve(p.v, 0)
	return p, nil
}

// Variance of the function at entry i.
func (p *Posterior) Variance(i int) float64 {
	return max(0, p.m.params.variance()-dot(p.v[i], p.v[i]))
}

// Covariance of the function at entries i and j. O(n) operations.
func (p *Posterior) Covariance(i, j int) float64 {
	a, b := p.entries[i], p.entries[j]
	var common, own [1]float64
	p.m.params.covariances(p.rows[a.Row], p.rows[b.Row:b.Row+1], common[:], own[:])
	prior := common[0]
	if a.Task == b.Task {
		prior += own[0]
	}
	return prior - dot(p.v[i], p.v[j])
}

// Covariances returns those of each of the entries named by rows with each of those
// named by cols, len(rows)×len(cols). O(len(rows)·len(cols)·n) operations at the speed
// of block products.
func (p *Posterior) Covariances(rows, cols []int) [][]float64 {
	out := newRows(len(rows), len(cols))
	a, b := make([][]float64, 0, blockLen), make([][]float64, 0, blockLen)
	var c block
	for first := 0; first < len(rows); first += blockLen {
		a = a[:0]
		for _, i := range rows[first:min(first+blockLen, len(rows))] {
			a = append(a, p.v[i])
		}
		for left := 0; left < len(cols); left += blockLen {
			b = b[:0]
			for _, j := range cols[left:min(left+blockLen, len(cols))] {
				b = append(b, p.v[j])
			}
			c.mul(a, b, 0, len(a[0]))
			for i := range a {
				for j := range b {
					out[first+i][left+j] = -c[i*blockLen+j]
				}
			}
		}
	}
	p.addPrior(out, rows, cols)
	return out
}

// addPrior adds the covariances before any observation.
func (p *Posterior) addPrior(out [][]float64, rows, cols []int) {
	at := make([]int, len(p.rows)) // in near, plus one
	var near [][]float64
	for _, j := range cols {
		if u := p.entries[j].Row; at[u] == 0 {
			near = append(near, p.rows[u])
			at[u] = len(near)
		}
	}
	common, own := make([]float64, len(near)), make([]float64, len(near))
	last := -1
	for k, i := range rows {
		e := p.entries[i]
		if e.Row != last {
			p.m.params.covariances(p.rows[e.Row], near, common, own)
			last = e.Row
		}
		for l, j := range cols {
			f := p.entries[j]
			out[k][l] += common[at[f.Row]-1]
			if e.Task == f.Task {
				out[k][l] += own[at[f.Row]-1]
			}
		}
	}
}

// Difference is the variance of entry i minus entry j.
func (p *Posterior) Difference(i, j int) float64 {
	return max(0, p.Variance(i)+p.Variance(j)-2*p.Covariance(i, j))
}

// Condition counts entry i as one more noisy observation from now on; its value
// changes no covariance. It returns the covariance of each entry with that
// observation over the observation's deviation: variances fall by the square of
// it. O(len(entries)·n) operations.
func (p *Posterior) Condition(i int) []float64 {
	deviation := math.Sqrt(max(p.Variance(i)+p.m.params.Noise, firstJitter*p.m.params.variance()))
	step := make([]float64, len(p.entries))
	for j := range p.entries {
		step[j] = p.Covariance(j, i) / deviation
	}
	for j, s := range step {
		p.v[j] = append(p.v[j], s)
	}
	return step
}
