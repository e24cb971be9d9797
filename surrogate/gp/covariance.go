package gp

import (
	"math"
	"slices"
	"sync"
)

// parts is a factored covariance of observations of several tasks. It costs less than one
// factor of the whole, since given what is common to the tasks each is on its own:
//
//	K = Z·G·Zᵀ + J·Jᵀ + D,  G = R·Rᵀ,  D = L·Lᵀ
//
// G is the covariance of what all tasks have in common at each row of each source, here
// called a group; Z says of which group an observation is; J has a column for each job, with
// the deviation of what it does at the job's observations; D, what tasks have of their own and
// the rest of the noise, is of one block for each task. By the matrix inversion lemma
// (Rasmussen and Williams 2006, appendix A.3)
//
//	K⁻¹ = L⁻ᵀ·(I - Wᵀ·W)·L⁻¹,  W = M⁻¹·T,  T = (L⁻¹·[Z·R J])ᵀ,  M·Mᵀ = B = I + T·Tᵀ
//
// No eigenvalue of B is below 1. O(u³ + u²·n + Σn_a³) operations for u groups and jobs and n
// observations, n_a of them of a task.
//
// R is triangular, so an observation has nothing in T of the groups after its own. The rows of T are
// the groups, last first, then the jobs, and the observations of a task are in the order of their
// groups: zeros lead, of the rows of T by task and of its columns, stay in W, and two thirds of the
// work is left out.
type parts struct {
	group  []int              // of each observation
	row    []int              // of each group, in X
	tasks  [][]int            // observations of each task, by group
	own    []factor           // L, of each task
	common factor             // R
	joint  factor             // M
	mixed  func() [][]float64 // W, observations in the order of tasks; means alone go without
	first  []int              // column of mixed of each task's first observation
	column []int              // of each observation
	order  []int              // all observations by group
}

// newParts returns the parts and K⁻¹(y - mean). It reports false where a matrix cannot be
// factored.
func newParts(p Params, obs Observations) (t *parts, alpha []float64, ok bool) {
	k := newKinship(len(obs.X))
	k.relate(p, obs.X)
	t = &parts{}
	source := t.arrange(obs)
	_, ok = t.common.build(len(t.row), p.Common+p.Shared, func(i int, row []float64) {
		for j := range row[:i+1] {
			row[j] = k.common[max(t.row[i], t.row[j])][min(t.row[i], t.row[j])]
			row[j] = p.shared(row[j], t.row[i] == t.row[j], source[i] != 0 && source[i] == source[j])
		}
	})
	for a, of := range t.tasks {
		if !ok {
			break
		}
		_, ok = t.own[a].build(len(of), p.Own+p.Level+p.Rough+p.Noise, func(i int, row []float64) {
			u, s := obs.At[of[i]], obs.source(of[i])
			for j := range row[:i+1] {
				v := obs.At[of[j]]
				row[j] = p.apart(k.own[max(u, v)][min(u, v)], u == v, s != 0 && s == obs.source(of[j]))
			}
			row[i] += p.noise(obs, of[i])
			if obs.together(of[i], of[i]) {
				row[i] -= p.Job
			}
		})
	}
	if !ok {
		return nil, nil, false
	}
	known := t.known(p, obs)
	if !t.join(known) {
		return nil, nil, false
	}
	y := make([]float64, len(obs.Y))
	for j, v := range obs.Y {
		y[j] = v - p.Mean
	}
	alpha = t.solve(known, y)
	t.mixed = sync.OnceValue(func() [][]float64 { return t.mix(known) })
	return t, alpha, true
}

// shared is the covariance of what all tasks have in common at two rows of correlation c.
func (p Params) shared(c float64, sameRow, sameChange bool) float64 {
	v := p.Common * c
	if sameRow {
		v += p.Shared
	}
	if sameChange {
		v += p.Change*c + p.ChangeLevel
	}
	return v
}

// apart is what comes on top where the tasks are the same, o being the correlation of g.
func (p Params) apart(o float64, sameRow, sameChange bool) float64 {
	v := p.Own*o + p.Level
	if sameRow {
		v += p.Rough
	}
	if sameChange {
		v += p.ChangeOwn*o + p.ChangeOwnLevel
	}
	return v
}

// arrange finds groups and tasks and returns the source of each group.
func (t *parts) arrange(obs Observations) (source []int) {
	known := map[[2]int]int{}
	t.group = make([]int, len(obs.Y))
	for j, u := range obs.At {
		key := [2]int{u, obs.source(j)}
		g, seen := known[key]
		if !seen {
			g = len(t.row)
			known[key] = g
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

// known returns T.
func (t *parts) known(p Params, obs Observations) [][]float64 {
	jobs, groups := 0, len(t.row)
	if p.Job > 0 {
		jobs = obs.jobs()
	}
	known := newRows(groups+jobs, len(obs.Y))
	for a, of := range t.tasks {
		for _, j := range of {
			for k, r := range t.common.rows[t.group[j]][:t.group[j]+1] {
				known[groups-1-k][t.column[j]] = r
			}
			if job := obs.job(j); job > 0 && p.Job > 0 {
				known[groups+job-1][t.column[j]] = math.Sqrt(p.Job)
			}
		}
		zeros := t.zeros(of, len(known))
		for first, rows := 0, t.columns(known, a); first < len(rows); first += blockLen {
			last := min(first+blockLen, len(rows))
			t.own[a].solve(rows[first:last], zeros[last-1])
		}
	}
	return known
}

// zeros are how many numbers of each row of T or W are surely zero, if its columns are some
// observations by group.
func (t *parts) zeros(some []int, rows int) []int {
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

// join works out M from T.
func (t *parts) join(known [][]float64) bool {
	zeros := t.zeros(t.order, len(known))
	sorted := newRows(len(known), len(t.order))
	for k, row := range known {
		for i := zeros[k]; i < len(t.order); i++ {
			sorted[k][i] = row[t.column[t.order[i]]]
		}
	}
	square := squares(sorted, zeros)
	_, ok := t.joint.build(len(known), 1, func(i int, row []float64) {
		copy(row, square[i][:i+1])
		row[i]++
	})
	return ok
}

// mix works out W in the place of T.
func (t *parts) mix(known [][]float64) [][]float64 {
	across := newRows(len(t.group), len(known))
	transpose(across, known)
	lines := make([][]float64, len(across))
	for i, j := range t.order {
		lines[i] = across[t.column[j]]
	}
	for first := 0; first < len(lines); first += blockLen {
		last := min(first+blockLen, len(lines))
		t.joint.solve(lines[first:last], len(t.row)-1-t.group[t.order[last-1]])
	}
	transpose(known, across)
	return known
}

// columns are those of T or W that are of a task, a row for each group.
func (t *parts) columns(rows [][]float64, a int) [][]float64 {
	out := make([][]float64, len(rows))
	for k, row := range rows {
		out[k] = row[t.first[a] : t.first[a]+len(t.tasks[a])]
	}
	return out
}

// solve returns K⁻¹y. It takes T.
func (t *parts) solve(known [][]float64, y []float64) []float64 {
	w := make([]float64, len(y))
	for a, of := range t.tasks {
		here := w[t.first[a]:][:len(of)]
		for i, j := range of {
			here[i] = y[j]
		}
		t.own[a].solveRow(here)
	}
	e := make([]float64, len(known))
	for k, row := range known {
		e[k] = dot(row, w)
	}
	t.joint.solveRow(e)
	t.joint.solveBack(e)
	for k, row := range known {
		for i, v := range row {
			w[i] -= e[k] * v
		}
	}
	out := make([]float64, len(y))
	for a, of := range t.tasks {
		here := w[t.first[a]:][:len(of)]
		t.own[a].solveBack(here)
		for i, j := range of {
			out[j] = here[i]
		}
	}
	return out
}

// products returns the dot products of each row of a with each of b, rows being equally
// long.
func products(a, b [][]float64) [][]float64 {
	out := newRows(len(a), len(b))
	addProducts(out, a, b, nil, 1)
	return out
}

// squares returns the dot products of rows with each other: the lower triangle, and what
// lies in the same blocks. See addProducts for zeros.
func squares(rows [][]float64, zeros []int) [][]float64 {
	out := newRows(len(rows), len(rows))
	for first := 0; first < len(rows); first += blockLen {
		last := min(first+blockLen, len(rows))
		addProducts(out[first:last], rows[first:last], rows[:last], zeros, 1)
	}
	return out
}

// addProducts adds sign times the dot products of each row of a with each of b. Of the rows of b
// so many first numbers are zero, of none more than of one before it; nil for none.
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

// transpose writes the columns of from to the rows of to, by blocks that stay in cache.
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
