package gp

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Sampler draws the values of all tasks at several rows from the joint posterior of a GP. It is not safe for
// concurrent use.
//
// A posterior draw is computed from a prior draw by Matheron's rule. The prior draw includes simulated
// observations with noise. The correction is the change of the posterior mean when the actual observations
// replace the simulated ones.
//
// Source: Wilson et al., Efficiently Sampling Functions from Gaussian Process Posteriors (ICML 2020),
// equation 9.
type Sampler struct {
	m                         *GP
	tasks                     int
	at                        []int         // of each row: its index among the distinct rows; the rows of the observations come first
	common                    [][]float64   // covariances of the common part between each row and the rows of the observations
	own                       [][][]float64 // of each observed task: covariances of its own part between each row and its observations
	commonRoot, ownRoot       factor        // of the covariances between the distinct rows
	changeRoot, changeOwnRoot factor        // of the covariances of changes between sources; empty if source 0 is the only source
	rng                       *rand.Rand
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
		s.at = append(s.at, i)
	}
	k := newCorrMatrix(len(distinct))
	k.compute(m.params, distinct)
	s.covary(k)
	if !s.factor(k) {
		return nil, fmt.Errorf("%w: %d rows to sample", ErrFactor, len(distinct))
	}
	return s, nil
}

// covary computes the covariances between the drawn values and the observations. `k` has the
// correlations between the distinct rows.
func (s *Sampler) covary(k *corrMatrix) {
	p, obs := s.m.params, s.m.obs
	s.common = newRows(len(s.at), len(obs.X))
	for a, of := range s.m.cov.tasks {
		s.own = append(s.own, newRows(len(s.at), len(of)))
		for r, u := range s.at {
			for i, j := range of {
				v := obs.At[j]
				s.own[a][r][i] = p.ownCov(k.own[max(u, v)][min(u, v)], u == v, false)
			}
		}
	}
	for r, u := range s.at {
		for v := range obs.X {
			s.common[r][v] = p.commonCov(k.common[max(u, v)][min(u, v)], u == v, false)
		}
	}
}

// factor computes Cholesky factors of the covariances between the distinct rows. `k` has the
// correlations between these rows. The result is false if a matrix cannot be factored.
func (s *Sampler) factor(k *corrMatrix) bool {
	p := s.m.params
	root := func(f *factor, corr [][]float64, process, level, rough float64) bool {
		return f.build(len(corr), process+level+rough, func(i int, row []float64) {
			for j, c := range corr[i] {
				row[j] = process*c + level
			}
			row[i] += rough
		})
	}
	ok := root(&s.commonRoot, k.common, p.Common, 0, p.Shared) && root(&s.ownRoot, k.own, p.Own, p.Level, p.Rough)
	if s.m.obs.sources() {
		ok = ok && root(&s.changeRoot, k.common, p.Change, p.ChangeLevel, 0) && root(&s.changeOwnRoot, k.own, p.ChangeOwn, p.ChangeOwnLevel, 0)
	}
	return ok
}

// Means returns the posterior mean of each task at each row, for source 0 (this campaign), as a tasks×rows matrix.
func (s *Sampler) Means() [][]float64 {
	means := s.explained([][]float64{s.m.alpha})[0]
	for _, of := range means {
		for r := range of {
			of[r] += s.m.params.Mean
		}
	}
	return means
}

// Draw draws several functions from the posterior, without noise, for this campaign (source 0). It returns
// their differences from the posterior mean, one tasks×rows matrix for each draw. With n observations at u
// distinct rows it takes O(draws·(tasks·u² + (rows + u)·n)) operations.
func (s *Sampler) Draw(draws int) [][][]float64 {
	common, own := s.functions(&s.commonRoot, draws), s.functions(&s.ownRoot, draws*s.tasks)
	observed := make([][]float64, draws)
	for d := range observed {
		observed[d] = s.observations(common[d], own[d*s.tasks:(d+1)*s.tasks])
	}
	out := s.explained(s.m.cov.solveReduced(observed))
	for d, draw := range out {
		for a, of := range draw {
			for r, u := range s.at {
				of[r] = common[d][u] + own[d*s.tasks+a][u] - of[r]
			}
		}
	}
	return out
}

// explained multiplies each vector in alphas by the matrix of covariances between predictions and observations.
// A vector has one number for each observation. The result has one tasks×rows matrix for each vector.
func (s *Sampler) explained(alphas [][]float64) [][][]float64 {
	weights := newRows(len(alphas), len(s.m.obs.X))
	for d, alpha := range alphas {
		for j, v := range alpha {
			weights[d][s.m.obs.At[j]] += v
		}
	}
	common := products(weights, s.common)
	out := make([][][]float64, len(alphas))
	for d := range out {
		out[d] = newRows(s.tasks, len(s.at))
		for a := range out[d] {
			copy(out[d][a], common[d])
		}
	}
	for a, of := range s.m.cov.tasks {
		here, own := newRows(len(alphas), len(of)), make([][]float64, len(alphas))
		for d, alpha := range alphas {
			own[d] = out[d][a]
			for i, j := range of {
				here[d][i] = alpha[j]
			}
		}
		addProducts(own, here, s.own[a], nil, 1)
	}
	return out
}

// functions draws functions from the prior, given as their values at the distinct rows. `f` is
// the factor of the covariances between these values.
func (s *Sampler) functions(f *factor, draws int) [][]float64 {
	out := newRows(draws, f.n)
	for _, z := range out {
		for i := range z {
			z[i] = s.rng.NormFloat64()
		}
	}
	f.times(out)
	return out
}

// normal draws from the normal distribution with mean 0 and the given variance.
func (s *Sampler) normal(variance float64) float64 {
	if variance == 0 {
		return 0
	}
	return math.Sqrt(variance) * s.rng.NormFloat64()
}

// observations simulates noisy observations of the given functions. If an observation belongs to another source
// than 0, such as an earlier campaign, it also contains a random change of that source.
func (s *Sampler) observations(common []float64, own [][]float64) []float64 {
	p, obs := s.m.params, s.m.obs
	out, changes, jobs := make([]float64, len(obs.Y)), map[[2]int][]float64{}, map[int]float64{}
	change := func(source, task int, f *factor) []float64 {
		key := [2]int{source, task}
		if changes[key] == nil {
			changes[key] = s.functions(f, 1)[0]
		}
		return changes[key]
	}
	for j, u := range obs.At {
		task, noise := obs.Task[j], p.noise(obs, j)
		out[j] = common[u] + own[task][u]
		if source := obs.source(j); source != 0 {
			out[j] += change(source, -1, &s.changeRoot)[u] + change(source, task, &s.changeOwnRoot)[u]
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
