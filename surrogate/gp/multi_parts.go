package gp

// parts is a factored covariance of observations of several tasks. It costs less than one
// factor of the whole, since given what is common to the tasks each is on its own:
//
//	K = Z·G·Zᵀ + D,  G = R·Rᵀ,  D = L·Lᵀ
//
// G is the covariance of what all tasks have in common at each row of each source, here
// called a group; Z says of which group an observation is; D, what tasks have of their own
// and the noise, is of one block for each task. By the matrix inversion lemma (Rasmussen and
// Williams 2006, appendix A.3)
//
//	K⁻¹ = L⁻ᵀ·(I - Tᵀ·B⁻¹·T)·L⁻¹,  T = (L⁻¹·Z·R)ᵀ,  B = I + T·Tᵀ
//
// No eigenvalue of B is below 1. O(u³ + u²·n + Σn_a³) operations for u groups and n
// observations, n_a of them of a task.
type parts struct {
	group  []int       // of each observation
	row    []int       // of each group, in X
	tasks  [][]int     // observations of each task
	own    []factor    // L, of each task
	common factor      // R
	mixed  [][]float64 // T, observations in the order of tasks
	first  []int       // column of mixed of each task's first observation
	joint  factor      // of B
}

// newParts reports false where a matrix cannot be factored.
func newParts(p MultiParams, obs Observations) (*parts, bool) {
	k := newKinship(len(obs.X))
	k.relate(p, obs.X)
	t := &parts{}
	source := t.arrange(obs)
	_, ok := t.common.build(len(t.row), p.Common+p.Shared, func(i int, row []float64) {
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
			row[i] += p.Noise + obs.extra(of[i])
		})
	}
	return t, ok && t.join(len(obs.Y))
}

// shared is the covariance of what all tasks have in common at two rows of correlation c.
func (p MultiParams) shared(c float64, sameRow, sameChange bool) float64 {
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
func (p MultiParams) apart(o float64, sameRow, sameChange bool) float64 {
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
	for first, a := 0, 0; a < len(t.tasks); a++ {
		t.first = append(t.first, first)
		first += len(t.tasks[a])
	}
	return source
}

// join works out T and B for n observations.
func (t *parts) join(n int) bool {
	t.mixed = newRows(len(t.row), n)
	for a, of := range t.tasks {
		for i, j := range of {
			for k, r := range t.common.rows[t.group[j]][:t.group[j]+1] {
				t.mixed[k][t.first[a]+i] = r
			}
		}
		t.own[a].solve(t.mixedOf(a), 0)
	}
	square := squares(t.mixed)
	_, ok := t.joint.build(len(t.row), 1, func(i int, row []float64) {
		copy(row, square[i][:i+1])
		row[i]++
	})
	return ok
}

// mixedOf is the part of T of a task, a row for each group.
func (t *parts) mixedOf(a int) [][]float64 {
	out := make([][]float64, len(t.mixed))
	for k, row := range t.mixed {
		out[k] = row[t.first[a] : t.first[a]+len(t.tasks[a])]
	}
	return out
}

// solve returns K⁻¹y.
func (t *parts) solve(y []float64) []float64 {
	w := make([]float64, len(y))
	for a, of := range t.tasks {
		here := w[t.first[a]:][:len(of)]
		for i, j := range of {
			here[i] = y[j]
		}
		t.own[a].solveRow(here)
	}
	e := make([]float64, len(t.mixed))
	for k, row := range t.mixed {
		e[k] = dot(row, w)
	}
	t.joint.solveRow(e)
	t.joint.solveBack(e)
	for k, row := range t.mixed {
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
	multiply(out, a, b, len(b))
	return out
}

// squares returns the dot products of rows with each other: the lower triangle, and what
// lies in the same blocks.
func squares(rows [][]float64) [][]float64 {
	out := newRows(len(rows), len(rows))
	for first := 0; first < len(rows); first += blockLen {
		last := min(first+blockLen, len(rows))
		multiply(out[first:last], rows[first:last], rows, last)
	}
	return out
}

// multiply writes to out the dot products of the rows of a with the first n of b.
func multiply(out, a, b [][]float64, n int) {
	var c block
	for first := 0; first < len(a); first += blockLen {
		some := a[first:min(first+blockLen, len(a))]
		for left := 0; left < n; left += blockLen {
			others := b[left:min(left+blockLen, n)]
			c.mul(some, others, 0, len(some[0]))
			for i := range some {
				copy(out[first+i][left:], c[i*blockLen:i*blockLen+len(others)])
			}
		}
	}
}
