package gp

import (
	"fmt"
	"math"
	"slices"
)

// Entry identifies one value of the Gaussian process: the value of a task at a row, both given by their indices.
type Entry struct{ Row, Task int }

// Posterior is the joint posterior of the values at some entries, given the observations of a GP. Pending entries
// count as observed; see Condition. It is not safe for concurrent use.
//
// See covFactor for the matrices and groups. A row has the vector α, and an entry at this row has β and γ:
//
//	α = R⁻¹g       g: covariances of the common part between the row and the groups
//	β = L⁻¹o       o: covariances of a task's own part between the row and the task's observations
//	γ = M⁻¹α - W·β
//
// The posterior variance is the prior variance - α·α - β·β + γ·γ. Without the last term, it would be the
// variance if the common part were known at all groups.
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
	steps    [][]float64 // of each entry: covariance with each pending entry, divided by the pending entry's standard deviation
}

// Posterior returns the posterior of some entries. It keeps the slices rows and entries. For invalid rows
// or entries the error matches ErrShape or ErrValue. For observations at u rows, with n_a observations of a
// task, it takes O(len(rows)·u² + len(entries)·u·n_a) operations and memory for O(len(entries)·u) numbers.
func (m *GP) Posterior(rows [][]float64, entries []Entry) (*Posterior, error) {
	if err := checkRows(rows, len(m.obs.X[0])); err != nil {
		return nil, err
	}
	u := len(m.cov.row)
	p := &Posterior{
		m: m, rows: rows, scaled: m.params.scaled(rows), entries: entries,
		alpha: newRows(len(rows), u), beta: make([][]float64, len(entries)), gamma: make([][]float64, len(entries)),
		mean: make([]float64, len(entries)), variance: make([]float64, len(entries)), steps: make([][]float64, len(entries)),
	}
	of := make([][]int, len(m.cov.tasks)) // entries of each task
	for i, e := range entries {
		if e.Row < 0 || e.Row >= len(rows) || e.Task < 0 {
			return nil, fmt.Errorf("%w: task %d at row %d of %d", ErrShape, e.Task, e.Row, len(rows))
		}
		if e.Task < len(of) {
			of[e.Task] = append(of[e.Task], i)
		}
	}
	for a, some := range of {
		for k, row := range newRows(len(some), len(m.cov.tasks[a])) {
			p.beta[some[k]] = row
		}
	}
	p.fillCovariances()
	p.condition(of)
	return p, nil
}

// fillCovariances computes the means, and sets alpha and beta to the prior covariances.
func (p *Posterior) fillCovariances() {
	m, last := p.m, -1
	here, weight := newCorrRow(len(m.obs.X), len(m.obs.X[0])), m.weights()
	means := make([]float64, len(m.cov.tasks)+1) // means of the observed tasks at a row, then of an unobserved task
	for i, e := range p.entries {
		if e.Row != last {
			here.covary(m.params, p.rows[e.Row], m.rows)
			for k, v := range m.cov.row {
				p.alpha[e.Row][k] = here.common[v]
			}
			m.meansAt(means, here, weight)
			last = e.Row
		}
		p.mean[i] = means[min(e.Task, len(means)-1)]
		if e.Task < len(m.cov.tasks) {
			for k, j := range m.cov.tasks[e.Task] {
				p.beta[i][k] = here.own[m.obs.At[j]]
			}
		}
	}
}

// condition computes beta, gamma (see Posterior) and the variances of the entries, given the observations.
// of[a] lists the entries of task a.
func (p *Posterior) condition(of [][]int) {
	t := p.m.cov
	t.common.solve(p.alpha, 0)
	solved := newRows(len(p.rows), t.joint.n) // M⁻¹α
	for u, row := range p.alpha {
		for k, v := range row {
			solved[u][len(row)-1-k] = v
		}
	}
	t.joint.solve(solved, 0)
	for i, e := range p.entries {
		p.gamma[i] = slices.Clone(solved[e.Row])
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
		addProducts(p.gammas(some), beta, t.columns(t.reduced().rows, a), t.leadingZeros(t.tasks[a], t.joint.n), -1)
	}
	for i := range p.entries {
		p.variance[i] = max(0, p.Covariance(i, i))
	}
}

// Mean returns the posterior mean of entry i. Pending entries do not change it.
func (p *Posterior) Mean(i int) float64 { return p.mean[i] }

// Variance returns the posterior variance of entry i, without noise.
func (p *Posterior) Variance(i int) float64 { return p.variance[i] }

// Covariance returns the posterior covariance of entries i and j. It takes O(observed rows) operations.
func (p *Posterior) Covariance(i, j int) float64 {
	a, b := p.entries[i], p.entries[j]
	v := p.prior(i, j) - dot(p.alpha[a.Row], p.alpha[b.Row]) + dot(p.gamma[i], p.gamma[j]) - dot(p.steps[i], p.steps[j])
	if a.Task == b.Task {
		v -= dot(p.beta[i], p.beta[j])
	}
	return v
}

// prior returns the prior covariance of two entries.
func (p *Posterior) prior(i, j int) float64 {
	a, b := p.entries[i], p.entries[j]
	common, own := p.m.params.Common+p.m.params.Shared, p.m.params.Own+p.m.params.Level+p.m.params.Rough
	if a.Row != b.Row {
		here := newCorrRow(1, len(p.rows[a.Row]))
		here.covary(p.m.params, p.rows[a.Row], p.m.params.scaled(p.rows[b.Row:b.Row+1]))
		common, own = here.common[0], here.own[0]
	}
	if a.Task == b.Task {
		return common + own
	}
	return common
}

// Covariances returns a len(rows)×len(cols) matrix of posterior covariances. Element (k, l) is the covariance
// between the entries rows[k] and cols[l]. Covariances takes O(len(rows)·len(cols)·u) operations in block
// products, for observations at u rows.
func (p *Posterior) Covariances(rows, cols []int) [][]float64 {
	out := products(p.gammas(rows), p.gammas(cols))
	from, ofRow := p.alphas(rows)
	to, ofCol := p.alphas(cols)
	explained := products(from, to)
	p.eachCorrRow(rows, func(k, i int, here corrRow) {
		e := p.entries[i]
		for l, j := range cols {
			f := p.entries[j]
			out[k][l] += here.common[f.Row] - explained[ofRow[k]][ofCol[l]]
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

// Pair stands for the difference of two entries at the same row: entry One minus entry Other.
type Pair struct{ One, Other int }

// WithDifferences returns a len(rows)×len(pairs) matrix of posterior covariances. Element (k, l) is the covariance
// between the entry rows[k] and the difference of pairs[l]: its entry One minus its entry Other. The common part of
// a row cancels in the difference. For observations at u rows it takes O(len(rows)·len(pairs)·u) operations.
func (p *Posterior) WithDifferences(rows []int, pairs []Pair) [][]float64 {
	gamma := newRows(len(pairs), p.m.cov.joint.n)
	for k, pair := range pairs {
		for g, v := range p.gamma[pair.One] {
			gamma[k][g] = v - p.gamma[pair.Other][g]
		}
	}
	terms := p.pairTerms(pairs)
	out := products(p.gammas(rows), gamma)
	p.eachCorrRow(rows, func(k, i int, here corrRow) {
		for _, s := range terms[p.entries[i].Task] {
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

// pairTerm is one entry of a pair. Its sign in the pair's difference is 1 for the first entry and -1 for the second.
type pairTerm struct {
	pair, entry int
	sign        float64
}

// pairTerms returns the entries of all pairs, grouped by task.
func (p *Posterior) pairTerms(pairs []Pair) map[int][]pairTerm {
	out := map[int][]pairTerm{}
	for k, pair := range pairs {
		one, other := p.entries[pair.One].Task, p.entries[pair.Other].Task
		out[one] = append(out[one], pairTerm{k, pair.One, 1})
		out[other] = append(out[other], pairTerm{k, pair.Other, -1})
	}
	return out
}

// eachCorrRow calls `visit` for each index k of `some`, with the entry i = some[k]. The argument `here` of
// visit holds the prior covariances between the row of entry i and all rows.
func (p *Posterior) eachCorrRow(some []int, visit func(k, i int, here corrRow)) {
	here := newCorrRow(len(p.rows), len(p.rows[0]))
	last := -1
	for k, i := range some {
		if row := p.entries[i].Row; row != last {
			here.covary(p.m.params, p.rows[row], p.scaled)
			last = row
		}
		visit(k, i, here)
	}
}

// gammas returns the vector γ (see Posterior) of each of the given entries.
func (p *Posterior) gammas(some []int) [][]float64 {
	out := make([][]float64, len(some))
	for k, i := range some {
		out[k] = p.gamma[i]
	}
	return out
}

// alphas returns the vectors α (see Posterior) that the entries in `some` need. Entries at the same row share
// one vector. The vector of the entry some[k] is alpha[of[k]].
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

// Difference returns the posterior variance of the difference between the values at entries i and j.
func (p *Posterior) Difference(i, j int) float64 {
	return max(0, p.Variance(i)+p.Variance(j)-2*p.Covariance(i, j))
}

// Condition updates the covariances of all entries as if entry i were observed once more. Covariances do not
// depend on the observed value. For each entry, the result is the covariance with this observation, divided
// by the observation's standard deviation. The variance of the entry falls by the square of this number.
// Condition takes O(len(entries)·u) operations for observations at u rows.
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
