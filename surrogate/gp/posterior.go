package gp

import (
	"fmt"
	"math"
	"slices"
)

// Entry is a task at a row.
type Entry struct{ Row, Task int }

// Posterior holds what the covariances between entries follow from, given the
// observations of a GP and entries that are asked for and not yet observed. It
// is not safe for concurrent use.
//
// With the symbols of parts, let a row have the covariances g with the groups and a task at
// it the own covariances o with the observations of the task. What is common there is known
// but for its own covariance less α·α, α = R⁻¹g, if all that is common at the groups were
// known; what the task has of its own but for its own covariance less β·β, β = L⁻¹o, if
// that were; and that it is not adds γ·γ, γ = M⁻¹α - W·β.
type Posterior struct {
	m        *GP
	rows     [][]float64
	scaled   scaledRows // rows
	entries  []Entry
	alpha    [][]float64 // of each row
	beta     [][]float64 // of each entry
	gamma    [][]float64
	mean     []float64   // of each entry
	variance []float64   // of each entry
	steps    [][]float64 // of each entry: covariances with the pending over their deviations
}

// Posterior prepares entries, tasks at rows. It keeps rows and entries.
// O(len(rows)·u² + len(entries)·u·n_a) operations and O(len(entries)·u) numbers for
// observations at u rows, n_a of them of a task.
func (m *GP) Posterior(rows [][]float64, entries []Entry) (*Posterior, error) {
	if err := checkRows(rows, len(m.obs.X[0])); err != nil {
		return nil, err
	}
	u := len(m.parts.row)
	p := &Posterior{
		m: m, rows: rows, scaled: m.params.scaled(rows), entries: entries,
		alpha: newRows(len(rows), u), beta: make([][]float64, len(entries)), gamma: make([][]float64, len(entries)),
		mean: make([]float64, len(entries)), variance: make([]float64, len(entries)), steps: make([][]float64, len(entries)),
	}
	of := make([][]int, len(m.parts.tasks)) // entries of each task
	for i, e := range entries {
		if e.Row < 0 || e.Row >= len(rows) || e.Task < 0 {
			return nil, fmt.Errorf("%w: task %d at row %d of %d", ErrShape, e.Task, e.Row, len(rows))
		}
		if e.Task < len(of) {
			of[e.Task] = append(of[e.Task], i)
		}
	}
	for a, some := range of {
		for k, row := range newRows(len(some), len(m.parts.tasks[a])) {
			p.beta[some[k]] = row
		}
	}
	p.relate()
	p.condition(of)
	return p, nil
}

// relate fills alpha and beta with covariances and works out the means.
func (p *Posterior) relate() {
	m, last := p.m, -1
	here, weight := newKin(len(m.obs.X), len(m.obs.X[0])), m.weights()
	means := make([]float64, len(m.parts.tasks)+1) // of the tasks at a row, and of one never observed
	for i, e := range p.entries {
		if e.Row != last {
			here.covary(m.params, p.rows[e.Row], m.rows)
			for k, v := range m.parts.row {
				p.alpha[e.Row][k] = here.common[v]
			}
			m.meansAt(means, here, weight)
			last = e.Row
		}
		p.mean[i] = means[min(e.Task, len(means)-1)]
		if e.Task < len(m.parts.tasks) {
			for k, j := range m.parts.tasks[e.Task] {
				p.beta[i][k] = here.own[m.obs.At[j]]
			}
		}
	}
}

// condition works out beta, gamma and the variances; of are the entries of each task.
func (p *Posterior) condition(of [][]int) {
	t := p.m.parts
	t.common.solve(p.alpha, 0)
	spread := newRows(len(p.rows), t.joint.n) // M⁻¹α
	for u, row := range p.alpha {
		for k, v := range row {
			spread[u][len(row)-1-k] = v
		}
	}
	t.joint.solve(spread, 0)
	for i, e := range p.entries {
		p.gamma[i] = slices.Clone(spread[e.Row])
	}
	for a, some := range of {
		if len(t.tasks[a]) == 0 || len(some) == 0 {
			continue
		}
		beta := make([][]float64, len(some))
		for k, i := range some {
			beta[k] = p.beta[i]
		}
		t.own[a].solve(beta, 0)
		addProducts(p.gammas(some), beta, t.columns(t.mixed(), a), t.zeros(t.tasks[a], t.joint.n), -1)
	}
	for i := range p.entries {
		p.variance[i] = max(0, p.Covariance(i, i))
	}
}

// Mean of the function at entry i. What is asked for and not yet observed leaves it alone.
func (p *Posterior) Mean(i int) float64 { return p.mean[i] }

// Variance of the function at entry i.
func (p *Posterior) Variance(i int) float64 { return p.variance[i] }

// Covariance of the function at entries i and j. O(u) operations.
func (p *Posterior) Covariance(i, j int) float64 {
	a, b := p.entries[i], p.entries[j]
	v := p.prior(i, j) - dot(p.alpha[a.Row], p.alpha[b.Row]) + dot(p.gamma[i], p.gamma[j]) - dot(p.steps[i], p.steps[j])
	if a.Task == b.Task {
		v -= dot(p.beta[i], p.beta[j])
	}
	return v
}

// prior is the covariance of two entries before any observation.
func (p *Posterior) prior(i, j int) float64 {
	a, b := p.entries[i], p.entries[j]
	common, own := p.m.params.Common+p.m.params.Shared, p.m.params.Own+p.m.params.Level+p.m.params.Rough
	if a.Row != b.Row {
		here := newKin(1, len(p.rows[a.Row]))
		here.covary(p.m.params, p.rows[a.Row], p.m.params.scaled(p.rows[b.Row:b.Row+1]))
		common, own = here.common[0], here.own[0]
	}
	if a.Task == b.Task {
		return common + own
	}
	return common
}

// Covariances returns those of each of the entries named by rows with each of those
// named by cols, len(rows)×len(cols). O(len(rows)·len(cols)·u) operations at the speed
// of block products.
func (p *Posterior) Covariances(rows, cols []int) [][]float64 {
	out := products(p.gammas(rows), p.gammas(cols))
	from, ofRow := p.alphas(rows)
	to, ofCol := p.alphas(cols)
	known := products(from, to)
	p.eachKin(rows, func(k, i int, here kin) {
		e := p.entries[i]
		for l, j := range cols {
			f := p.entries[j]
			out[k][l] += here.common[f.Row] - known[ofRow[k]][ofCol[l]]
			if e.Task == f.Task {
				out[k][l] += here.own[f.Row] - dot(p.beta[i], p.beta[j])
			}
			for s, v := range p.steps[i] {
				out[k][l] -= v * p.steps[j][s]
			}
		}
	})
	return out
}

// Pair is two entries at one row.
type Pair struct{ One, Other int }

// WithDifferences returns the covariances of each of the entries named by rows with one
// entry of each pair less the other: what is common to all tasks at a row drops out.
// O(len(rows)·len(pairs)·u) operations at the speed of block products.
func (p *Posterior) WithDifferences(rows []int, pairs []Pair) [][]float64 {
	gamma := newRows(len(pairs), p.m.parts.joint.n)
	for k, pair := range pairs {
		for g, v := range p.gamma[pair.One] {
			gamma[k][g] = v - p.gamma[pair.Other][g]
		}
	}
	sides := p.sides(pairs)
	out := products(p.gammas(rows), gamma)
	p.eachKin(rows, func(k, i int, here kin) {
		for _, s := range sides[p.entries[i].Task] {
			out[k][s.pair] += s.sign * (here.own[p.entries[s.entry].Row] - dot(p.beta[i], p.beta[s.entry]))
		}
		if len(p.steps[i]) == 0 {
			return
		}
		for l, pair := range pairs {
			for s, v := range p.steps[i] {
				out[k][l] -= v * (p.steps[pair.One][s] - p.steps[pair.Other][s])
			}
		}
	})
	return out
}

// side is an entry of a pair, with its sign in the difference.
type side struct {
	pair, entry int
	sign        float64
}

// sides are those of pairs, by task.
func (p *Posterior) sides(pairs []Pair) map[int][]side {
	out := map[int][]side{}
	for k, pair := range pairs {
		one, other := p.entries[pair.One].Task, p.entries[pair.Other].Task
		out[one] = append(out[one], side{k, pair.One, 1})
		out[other] = append(out[other], side{k, pair.Other, -1})
	}
	return out
}

// eachKin visits the entries named by some, each the k-th of them, with what its row has in
// common with all rows.
func (p *Posterior) eachKin(some []int, visit func(k, i int, here kin)) {
	here := newKin(len(p.rows), len(p.rows[0]))
	last := -1
	for k, i := range some {
		if row := p.entries[i].Row; row != last {
			here.covary(p.m.params, p.rows[row], p.scaled)
			last = row
		}
		visit(k, i, here)
	}
}

// gammas are those of some entries.
func (p *Posterior) gammas(some []int) [][]float64 {
	out := make([][]float64, len(some))
	for k, i := range some {
		out[k] = p.gamma[i]
	}
	return out
}

// alphas are those of the rows of some entries, each once, and which is of each entry.
func (p *Posterior) alphas(some []int) (alpha [][]float64, of []int) {
	at := make([]int, len(p.rows)) // in alpha, plus one
	for _, i := range some {
		u := p.entries[i].Row
		if at[u] == 0 {
			alpha = append(alpha, p.alpha[u])
			at[u] = len(alpha)
		}
		of = append(of, at[u]-1)
	}
	return alpha, of
}

// Difference is the variance of entry i minus entry j.
func (p *Posterior) Difference(i, j int) float64 {
	return max(0, p.Variance(i)+p.Variance(j)-2*p.Covariance(i, j))
}

// Condition counts entry i as one more noisy observation from now on; its value
// changes no covariance. It returns the covariance of each entry with that
// observation over the observation's deviation: variances fall by the square of
// it. O(len(entries)·u) operations.
func (p *Posterior) Condition(i int) []float64 {
	deviation := math.Sqrt(max(p.Variance(i)+p.m.params.Noise, firstJitter*p.m.params.variance()))
	all := make([]int, len(p.entries))
	for j := range all {
		all[j] = j
	}
	step := p.Covariances([]int{i}, all)[0]
	for j := range step {
		step[j] /= deviation
		p.steps[j] = append(p.steps[j], step[j])
		p.variance[j] = max(0, p.variance[j]-step[j]*step[j])
	}
	return step
}
