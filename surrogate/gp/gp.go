package gp

import (
	"fmt"
	"math"
)

// GP is a Gaussian process for one or several related functions, called tasks, of the same rows:
//
//	y(x, a) = mean + c(x) + s(x) + o_a + g_a(x) + r_a(x) + noise
//
// c is common to all tasks, and g_a belongs to task a. Both have Matérn-5/2 covariances. All g_a have the
// same length scales, and c has its own. o_a is the level of task a. s and r_a are independent between rows:
// s is the effect of a row on all tasks, and r_a is its effect on task a. The difference between two tasks
// does not depend on mean, c and s, so an observation of one task is informative about the others.
//
// A part of the variance of g_a belongs to a step function with the correlation exp(-Σ|a_d - b_d|/length_d);
// see Params.Steps. Another part is independent between the values of one column; see Params.Split.
//
// Source 0 of the observations is the one that is predicted. The functions of another source i, for example
// an earlier campaign, differ from it by
//
//	d_i + e_i(x) + d_ia + e_ia(x)
//
// d_i and the smooth function e_i are common to all tasks; d_ia and e_ia belong to task a. In addition, each
// job shifts all its observations by one normal number, which predictions leave out.
//
// A GP is immutable and safe for concurrent use.
type GP struct {
	params Params
	obs    Observations
	rows   scaledRows // of obs
	cov    *covFactor
	alpha  []float64 // K⁻¹(y - mean)
}

// New returns the GP with the given hyperparameters, conditioned on the observations. The GP keeps the
// slices of the observations. For invalid arguments the error matches ErrShape or ErrValue. It matches
// ErrFactor if the covariance cannot be factored. New takes O(u²·n) operations for n observations at u
// rows.
func New(p Params, obs Observations) (*GP, error) {
	if err := obs.validate(); err != nil {
		return nil, err
	}
	if err := p.validate(len(obs.X[0])); err != nil {
		return nil, err
	}
	t, alpha, ok := newCovFactor(p, obs)
	if !ok {
		return nil, fmt.Errorf("%w: %d observations", ErrFactor, len(obs.Y))
	}
	return &GP{params: p, obs: obs, rows: p.scaled(obs.X), cov: t, alpha: alpha}, nil
}

// Params returns the hyperparameters. The caller must not change their slices.
func (m *GP) Params() Params { return m.params }

// variance returns the prior variance of a task at a row.
func (p Params) variance() float64 { return p.Common + p.Own + p.Level + p.Shared + p.Rough }

// Means returns the posterior mean of each task at each row, as a tasks×rows matrix. The tasks are numbered
// from 0. A task without observations has the mean of the common part. It takes O(rows·observations)
// operations.
func (m *GP) Means(rows [][]float64, tasks int) [][]float64 {
	here, weight := newCorrRow(len(m.obs.X), len(m.obs.X[0])), m.weights()
	observed := len(m.cov.tasks)
	means := make([]float64, observed+1)
	out := newRows(tasks, len(rows))
	for i, x := range rows {
		here.covary(m.params, x, m.rows)
		m.meansAt(means, here, weight)
		for a := range out {
			out[a][i] = means[min(a, observed)]
		}
	}
	return out
}

// weights returns one number for each row of X: the sum of alpha = K⁻¹(y - mean) over its observations.
func (m *GP) weights() []float64 {
	out := make([]float64, len(m.obs.X))
	for j, a := range m.alpha {
		out[m.obs.At[j]] += a
	}
	return out
}

// meansAt sets `means` to the posterior means at one row: of each observed task, and of a task without observations.
func (m *GP) meansAt(means []float64, here corrRow, weight []float64) {
	common := m.params.Mean + dot(here.common, weight)
	for a := range means {
		means[a] = common
	}
	for j, v := range m.alpha {
		means[m.obs.Task[j]] += here.own[m.obs.At[j]] * v
	}
}

// LOOResiduals returns the leave-one-out residuals of some observations, and their standard deviations. A residual is
// the target minus its prediction from all other observations. Its standard deviation includes the noise.
//
// No further GP is fitted, because K⁻¹ gives the residual (K⁻¹(y - mean))_j / (K⁻¹)_jj and its variance 1 /
// (K⁻¹)_jj (Rasmussen and Williams 2006, equations 5.10 to 5.12). It takes O(len(some)·n_a·(n_a + u))
// operations for n_a observations of a task at u rows.
func (m *GP) LOOResiduals(some []int) (residuals, deviations []float64) {
	residuals, deviations = make([]float64, len(some)), make([]float64, len(some))
	for a, of := range m.cov.tasks {
		var here []int // of some
		for k, j := range some {
			if m.obs.Task[j] == a {
				here = append(here, k)
			}
		}
		if len(here) == 0 {
			continue
		}
		roots := newRows(len(here), len(of)) // L⁻¹ of unit vectors
		for i, k := range here {
			roots[i][m.cov.column[some[k]]-m.cov.first[a]] = 1
		}
		m.cov.own[a].solve(roots, 0)
		known := products(roots, m.cov.columns(m.cov.reduced().rows, a))
		for i, k := range here {
			inverse := dot(roots[i], roots[i]) - dot(known[i], known[i])
			residuals[k], deviations[k] = m.alpha[some[k]]/inverse, 1/math.Sqrt(inverse)
		}
	}
	return residuals, deviations
}
