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
