package gp

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Sampler draws all tasks at several rows from the joint posterior of a GP. It is not safe for concurrent
// use.
//
// A draw follows from one of the prior by Matheron's rule: the prior at the rows, plus the change of the
// posterior mean when the observations change from the prior's values, with noise, to the observed ones.
//
// Source: Wilson et al., Efficiently Sampling Functions from Gaussian Process Posteriors (ICML 2020),
// equation 9.
type Sampler struct {
	m           *GP
	tasks       int
	at          []int     // of each row: its index among the distinct rows, those of the observations first
	cross       []corrRow // of each row: covariances with the rows of the observations
	common, own factor    // of the correlations between the distinct rows
	rng         *rand.Rand
}

// Sampler returns a sampler of the tasks 0 to tasks-1 at the given rows. For u distinct rows it takes O(u³)
// operations.
func (m *GP) Sampler(rows [][]float64, tasks int, rng *rand.Rand) (*Sampler, error) {
	if err := checkRows(rows, len(m.obs.X[0])); err != nil {
		return nil, err
	}
	s := &Sampler{m: m, tasks: max(tasks, len(m.cov.tasks)), rng: rng}
	distinct, index := m.obs.X[:len(m.obs.X):len(m.obs.X)], map[string]int{}
	for i, x := range distinct {
		index[fmt.Sprint(x)] = i
	}
	for _, x := range rows {
		i, known := index[fmt.Sprint(x)]
		if !known {
			i = len(distinct)
			index[fmt.Sprint(x)] = i
			distinct = append(distinct, x)
		}
		here := newCorrRow(len(m.obs.X), len(x))
		here.covary(m.params, x, m.rows)
		s.at, s.cross = append(s.at, i), append(s.cross, here)
	}
	k := newCorrMatrix(len(distinct))
	k.compute(m.params, distinct)
	_, ok := s.common.build(len(distinct), 1, func(i int, row []float64) { copy(row, k.common[i]) })
	if ok {
		_, ok = s.own.build(len(distinct), 1, func(i int, row []float64) { copy(row, k.own[i]) })
	}
	if !ok {
		return nil, fmt.Errorf("%w: %d rows to sample", ErrFactor, len(distinct))
	}
	return s, nil
}

// Draw returns the deviations of one joint draw from the posterior means, for source 0 and without noise,
// as a tasks×rows matrix. For n observations it takes O(tasks·u² + rows·n + n²) operations.
func (s *Sampler) Draw() [][]float64 {
	p, obs := s.m.params, s.m.obs
	common, own := s.function(&s.common, p.Common, 0, p.Shared), make([][]float64, s.tasks)
	for a := range own {
		own[a] = s.function(&s.own, p.Own, p.Level, p.Rough)
	}
	alpha := s.m.cov.solveReduced(s.observations(common, own))
	weight := make([]float64, len(obs.X))
	for j, v := range alpha {
		weight[obs.At[j]] += v
	}
	out := newRows(s.tasks, len(s.at))
	for r, u := range s.at {
		c := common[u] - dot(s.cross[r].common, weight)
		for a := range out {
			out[a][r] = c + own[a][u]
		}
		for j, v := range alpha {
			out[obs.Task[j]][r] -= s.cross[r].own[obs.At[j]] * v
		}
	}
	return out
}

// function draws a function of the distinct rows from the prior: a process with the given factor of its
// correlations, a level, and a part that is independent between rows. The parameters are their variances.
func (s *Sampler) function(f *factor, process, level, rough float64) []float64 {
	z, out := make([]float64, f.n), make([]float64, f.n)
	for i := range z {
		z[i] = s.rng.NormFloat64()
	}
	shift := s.normal(level)
	for i := range out {
		out[i] = math.Sqrt(process)*dot(f.rows[i][:i+1], z[:i+1]) + shift + s.normal(rough)
	}
	return out
}

// normal draws from the normal distribution with mean 0 and the given variance.
func (s *Sampler) normal(variance float64) float64 {
	if variance == 0 {
		return 0
	}
	return math.Sqrt(variance) * s.rng.NormFloat64()
}

// observations draws what would be observed of the given functions: their values with noise, and in other
// sources than 0 with a change.
func (s *Sampler) observations(common []float64, own [][]float64) []float64 {
	p, obs := s.m.params, s.m.obs
	out, changes, jobs := make([]float64, len(obs.Y)), map[[2]int][]float64{}, map[int]float64{}
	change := func(source, task int, f *factor, process, level float64) []float64 {
		key := [2]int{source, task}
		if changes[key] == nil {
			changes[key] = s.function(f, process, level, 0)
		}
		return changes[key]
	}
	for j, u := range obs.At {
		task, noise := obs.Task[j], p.noise(obs, j)
		out[j] = common[u] + own[task][u]
		if source := obs.source(j); source != 0 {
			out[j] += change(source, -1, &s.common, p.Change, p.ChangeLevel)[u] + change(source, task, &s.own, p.ChangeOwn, p.ChangeOwnLevel)[u]
		}
		if job := obs.job(j); job > 0 {
			if _, drawn := jobs[job]; !drawn {
				jobs[job] = s.normal(p.Job)
			}
			out[j] += jobs[job]
			noise -= p.Job
		}
		out[j] += s.normal(max(0, noise))
	}
	return out
}
