package gp

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
)

// covFactor is the factored covariance matrix K of observations of several tasks:
//
//	K = Z·G·Zᵀ + J·Jᵀ + D,  G = R·Rᵀ,  D = L·Lᵀ
//
// G is the covariance of the common part. It has a row and a column for each group. A group is a row of X
// in one source. Z assigns observations to groups. J has a column for each job, with the standard deviation
// of its shift at the job's observations. D has one block for each task: the covariance of the task's own
// part, and the remaining noise. Given the common part the tasks are independent, so these factors cost
// less than a factor of K. By the matrix inversion lemma (Rasmussen and Williams 2006, appendix A.3)
//
//	K⁻¹ = L⁻ᵀ·(I - Wᵀ·W)·L⁻¹,  W = M⁻¹·T,  T = (L⁻¹·[Z·R J])ᵀ,  M·Mᵀ = B = I + T·Tᵀ
//
// No eigenvalue of B is below 1. The factors cost O(u³ + u²·n + Σn_a³) operations. Here u is the number of
// groups plus the number of jobs, n is the number of observations, and n_a is that of task a.
//
// R is triangular, so an observation has zeros in T for all groups after its own group. The rows of T are
// the groups in reverse order, followed by the jobs. The observations of a task are sorted by group.
// Therefore the zeros come first in each column of T, and first within a task in each row. They remain
// zeros in W, and two thirds of the operations are skipped.
type covFactor struct {
	group   []int              // of each observation
	row     []int              // of each group, in X
	tasks   [][]int            // indexes of the observations of each task, sorted by group
	own     []factor           // L, of each task
	common  factor             // R
	joint   factor             // M
	reduced func() reducedRank // means do not need it
	first   []int              // for each task: column of W that belongs to its first observation
	column  []int              // for each observation: its column of W
	order   []int              // all observations by group
}

// reducedRank holds the matrix W of covFactor twice: as rows and as columns. The observations are sorted by
// task.
type reducedRank struct{ rows, columns [][]float64 }

// newCovFactor returns the factored covariance, and alpha = K⁻¹(y - mean). The result `ok` is false if a
// matrix is not positive definite.
func newCovFactor(p Params, obs Observations) (t *covFactor, alpha []float64, ok bool) {
	k := newCorrMatrix(len(obs.X))
	k.compute(p, obs.X)
	t = &covFactor{}
	source := t.arrangeGroups(obs)
	ok = t.common.build(len(t.row), p.Common+p.Shared, func(i int, row []float64) {
		for j := range row[:i+1] {
			row[j] = k.common[max(t.row[i], t.row[j])][min(t.row[i], t.row[j])]
			row[j] = p.commonCov(row[j], t.row[i] == t.row[j], source[i] != 0 && source[i] == source[j])
		}
	})
	for a, of := range t.tasks {
		if !ok {
			break
		}
		ok = t.own[a].build(len(of), p.Own+p.Level+p.Rough+p.Noise, func(i int, row []float64) {
			u, s := obs.At[of[i]], obs.source(of[i])
			for j := range row[:i+1] {
				v := obs.At[of[j]]
				row[j] = p.ownCov(k.own[max(u, v)][min(u, v)], u == v, s != 0 && s == obs.source(of[j]))
			}
			row[i] += p.noise(obs, of[i])
			if obs.job(of[i]) > 0 {
				row[i] -= p.Job
			}
		})
	}
	if !ok {
		return nil, nil, false
	}
	lowRank := t.lowRank(p, obs)
	if !t.factorJoint(lowRank) {
		return nil, nil, false
	}
	y := make([]float64, len(obs.Y))
	for j, v := range obs.Y {
		y[j] = v - p.Mean
	}
	alpha = t.solve(lowRank, y)
	t.reduced = sync.OnceValue(func() reducedRank { return t.reduce(lowRank) })
	return t, alpha, true
}

// commonCov returns the covariance of two observations that comes from the part that all tasks share. The
// parameter `c` is the correlation of the common function between their rows.
func (p Params) commonCov(c float64, sameRow, sameChange bool) float64 {
	v := p.Common * c
	if sameRow {
		v += p.Shared
	}
	if sameChange {
		v += p.Change*c + p.ChangeLevel
	}
	return v
}

// ownCov returns the covariance of two observations of the same task that comes from the task's own part. `o` is the
// correlation of the task's own function between their rows.
func (p Params) ownCov(o float64, sameRow, sameChange bool) float64 {
	v := p.Own*o + p.Level
	if sameRow {
		v += p.Rough
	}
	if sameChange {
		v += p.ChangeOwn*o + p.ChangeOwnLevel
	}
	return v
}

// arrangeGroups assigns the observations to groups and tasks. It returns the source of each group.
func (t *covFactor) arrangeGroups(obs Observations) (source []int) {
	groupOf := map[[2]int]int{} // by row and source
	t.group = make([]int, len(obs.Y))
	for j, u := range obs.At {
		key := [2]int{u, obs.source(j)}
		g, seen := groupOf[key]
		if !seen {
			g = len(t.row)
			groupOf[key] = g
			t.row, source = append(t.row, u), append(source, key[1])
		}
		t.group[j] = g
		for len(t.tasks) <= obs.Task[j] {
			t.tasks = append(t.tasks, nil)
		}
		t.tasks[obs.Task[j]] = append(t.tasks[obs.Task[j]], j)
	}
	t.own = make([]factor, len(t.tasks))
	t.column = make([]int, len(obs.Y))
	byGroup := func(i, j int) int { return t.group[i] - t.group[j] }
	first := 0
	for _, of := range t.tasks {
		slices.SortStableFunc(of, byGroup)
		t.first = append(t.first, first)
		for _, j := range of {
			t.column[j] = first
			first++
		}
	}
	t.order = slices.Concat(t.tasks...)
	slices.SortStableFunc(t.order, byGroup)
	return source
}

// lowRank returns the matrix T; see covFactor.
func (t *covFactor) lowRank(p Params, obs Observations) [][]float64 {
	jobs, groups := 0, len(t.row)
	if p.Job > 0 {
		jobs = obs.jobs()
	}
	out := newRows(groups+jobs, len(obs.Y))
	for a, of := range t.tasks {
		for _, j := range of {
			for k, r := range t.common.rows[t.group[j]][:t.group[j]+1] {
				out[groups-1-k][t.column[j]] = r
			}
			if job := obs.job(j); job > 0 && p.Job > 0 {
				out[groups+job-1][t.column[j]] = math.Sqrt(p.Job)
			}
		}
		zeros := t.leadingZeros(of, len(out))
		for first, rows := 0, t.columns(out, a); first < len(rows); first += blockLen {
			last := min(first+blockLen, len(rows))
			t.own[a].solve(rows[first:last], zeros[last-1])
		}
	}
	return out
}

// leadingZeros returns the number of zeros at the beginning of each row of T or W (see covFactor). Each column
// belongs to one of the observations `some`, which must be sorted by group.
func (t *covFactor) leadingZeros(some []int, rows int) []int {
	out := make([]int, rows)
	i := len(some)
	for k := range min(rows, len(t.row)) {
		for i > 0 && t.group[some[i-1]] >= len(t.row)-1-k {
			i--
		}
		out[k] = i
	}
	return out
}

// factorJoint computes the factor M from T; see covFactor. It reports whether B can be factored.
func (t *covFactor) factorJoint(lowRank [][]float64) bool {
	square := newRows(len(lowRank), len(lowRank))
	for a, of := range t.tasks {
		rows, zeros := t.columns(lowRank, a), t.leadingZeros(of, len(lowRank))
		for first := 0; first < len(rows); first += blockLen { // the lower triangle, with whole blocks on the diagonal
			last := min(first+blockLen, len(rows))
			addProducts(square[first:last], rows[first:last], rows[:last], zeros, 1)
		}
	}
	return t.joint.build(len(lowRank), 1, func(i int, row []float64) {
		copy(row, square[i][:i+1])
		row[i]++
	})
}

// reduce computes W from T and stores it in the memory of T; see covFactor.
func (t *covFactor) reduce(lowRank [][]float64) reducedRank {
	across := newRows(len(t.group), len(lowRank))
	transpose(across, lowRank)
	lines := make([][]float64, len(across))
	for i, j := range t.order {
		lines[i] = across[t.column[j]]
	}
	for first := 0; first < len(lines); first += blockLen {
		last := min(first+blockLen, len(lines))
		t.joint.solve(lines[first:last], len(t.row)-1-t.group[t.order[last-1]])
	}
	transpose(lowRank, across)
	return reducedRank{lowRank, across}
}

// columns returns the columns of a matrix, such as T and W of covFactor, that belong to the observations of task `a`.
func (t *covFactor) columns(rows [][]float64, a int) [][]float64 {
	out := make([][]float64, len(rows))
	for k, row := range rows {
		out[k] = row[t.first[a] : t.first[a]+len(t.tasks[a])]
	}
	return out
}

// solve returns K⁻¹y. `lowRank` is the matrix T; see covFactor.
func (t *covFactor) solve(lowRank [][]float64, y []float64) []float64 {
	return t.solveAround([][]float64{y}, func(w [][]float64) {
		e := products(w, lowRank)[0]
		t.joint.solveRow(e)
		t.joint.solveBack(e)
		for k, row := range lowRank {
			floats.AddScaled(w[0], -e[k], row)
		}
	})[0]
}

// solveReduced returns K⁻¹y for each row y of ys. It uses the matrix W; see covFactor.
func (t *covFactor) solveReduced(ys [][]float64) [][]float64 {
	reduced := t.reduced()
	return t.solveAround(ys, func(w [][]float64) {
		addProducts(w, products(w, reduced.rows), reduced.columns, nil, -1)
	})
}

// solveAround returns L⁻ᵀ·f(L⁻¹y) for each row y of ys. The function `f` changes its argument in place. In
// this argument the observations are sorted by task.
func (t *covFactor) solveAround(ys [][]float64, f func([][]float64)) [][]float64 {
	w, out := newRows(len(ys), len(t.group)), newRows(len(ys), len(t.group))
	for d, y := range ys {
		for j, v := range y {
			w[d][t.column[j]] = v
		}
	}
	for a := range t.tasks {
		t.own[a].solve(t.columns(w, a), 0)
	}
	f(w)
	for d, row := range w {
		for a, of := range t.tasks {
			t.own[a].solveBack(row[t.first[a]:][:len(of)])
		}
		for j := range out[d] {
			out[d][j] = row[t.column[j]]
		}
	}
	return out
}

// products returns the matrix of dot products between the rows of `a` and the rows of `b`.
func products(a, b [][]float64) [][]float64 {
	out := newRows(len(a), len(b))
	addProducts(out, a, b, nil, 1)
	return out
}

// addProducts adds the product of `a` and the transpose of `b` to `out`: out[i][j] += sign · (a[i] · b[j]). Row
// j of `b` must begin with zeros[j] zeros, which are skipped. The numbers in `zeros` must not increase. If
// `zeros` is nil, nothing is skipped.
func addProducts(out, a, b [][]float64, zeros []int, sign float64) {
	var c block
	for first := 0; first < len(a); first += blockLen {
		some := a[first:min(first+blockLen, len(a))]
		for left := 0; left < len(b); left += blockLen {
			others := b[left:min(left+blockLen, len(b))]
			from := 0
			if zeros != nil {
				from = zeros[left+len(others)-1]
			}
			c.mul(some, others, from, len(some[0]))
			for i := range some {
				to := out[first+i][left:]
				for j, v := range c[i*blockLen : i*blockLen+len(others)] {
					to[j] += sign * v
				}
			}
		}
	}
}

// transpose sets `to` to the transpose of `from`. It works in blocks that fit into the cache.
func transpose(to, from [][]float64) {
	for first := 0; first < len(from); first += blockLen {
		last := min(first+blockLen, len(from))
		for left := 0; left < len(to); left += blockLen {
			for j := left; j < min(left+blockLen, len(to)); j++ {
				row := to[j]
				for i := first; i < last; i++ {
					row[i] = from[i][j]
				}
			}
		}
	}
}
