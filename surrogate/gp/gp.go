package gp

import (
	"fmt"
	"math"
)

// GP is a Gaussian process of one or several related functions, called tasks, of the same rows:
//
//	y(x, a) = mean + c(x) + s(x) + o_a + g_a(x) + r_a(x) + noise
//
// c is common to all tasks, g_a belongs to task a. Both have Matérn-5/2 covariances; c has its own
// length scales, and all g_a share theirs. s and r_a are independent between rows: s is the effect
// of a row on all tasks, r_a its effect on one task. o_a is the level of task a. The difference of
// two tasks does not depend on mean, c and s, so an observation of one task at a row informs about
// the others there.
//
// A part of the variance of g_a belongs to a step function with the correlation
// exp(-Σ|a_d - b_d|/length_d): piecewise constant, with cuts at random places. Random forests
// approximate it (Balog and others, The Mondrian Kernel, UAI 2016). Another part of both is
// independent between the values of one column, the split column.
//
// Observations may come from several sources. Source 0 is the one that posteriors refer to. The
// functions of another source i, for example an earlier year, differ from it by
//
//	d_i + e_i(x) + d_ia + e_ia(x)
//
// d_i is a level and e_i a smooth function, both common to all tasks; d_ia and e_ia are those of
// one task. e_i is as smooth as c, and e_ia as g_a. The four variances are learned: a few
// observations of source 0 determine how much the other sources count.
//
// Observations may be made by jobs. A job shifts all its observations by one normal number. Its
// variance is learned, too. Posteriors are those of the functions without this shift.
//
// Source: Bonilla, Chai and Williams, Multi-task Gaussian Process Prediction (NIPS
// 2007), with the task covariances 1 and δ of hierarchical models (Hensman, Lawrence
// and Rattray, BMC Bioinformatics 14, 2013); sources as in the co-kriging of Kennedy and
// O'Hagan (Biometrika 87, 2000) with a factor of 1.
//
// A GP is immutable and safe for concurrent use.
type GP struct {
	params Params
	obs    Observations
	rows   scaledRows // of obs
	cov    *covFactor
	alpha  []float64 // K⁻¹(y - mean)
}

// Fit returns the GP with the hyperparameters of Learn, conditioned on all observations.
func Fit(obs Observations, opt Options) (*GP, error) {
	p, err := Learn(obs, opt)
	if err != nil {
		return nil, err
	}
	return New(p, obs)
}

// New returns the GP with the given hyperparameters, conditioned on the observations. The GP keeps the
// slices of the observations. The error matches ErrShape or ErrValue for bad arguments, and ErrFactor for a
// covariance that cannot be factored. New takes O(u²·n) operations for n observations at u rows.
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

// Means returns the posterior means of tasks 0 to tasks-1 at each row, as a tasks×rows matrix. A
// task without observations has the mean of the common part. It takes O(rows·n) operations.
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

// weights returns one number for each row: the sum of alpha over the observations at the row.
func (m *GP) weights() []float64 {
	out := make([]float64, len(m.obs.X))
	for j, a := range m.alpha {
		out[m.obs.At[j]] += a
	}
	return out
}

// meansAt sets means to the posterior means of the observed tasks at one row. The last element is
// the mean of a task without observations.
func (m *GP) meansAt(means []float64, here corrRow, weight []float64) {
	common := m.params.Mean + dot(here.common, weight)
	for a := range means {
		means[a] = common
	}
	for j, v := range m.alpha {
		means[m.obs.Task[j]] += here.own[m.obs.At[j]] * v
	}
}

// LOOResiduals returns the standardized leave-one-out residuals of some observations. A residual is
// the target minus its prediction from all other observations, divided by the standard deviation of
// this difference, noise included.
//
// It fits no other GP, because K⁻¹ gives the residual: (K⁻¹(y - mean))_j / √(K⁻¹)_jj (Rasmussen and
// Williams 2006, equations 5.10 to 5.12). It takes O(len(some)·n_a·(n_a + u)) operations for n_a
// observations of a task at u rows.
func (m *GP) LOOResiduals(some []int) []float64 {
	place := make([]int, len(m.obs.Y)) // of each observation in its task
	for _, of := range m.cov.tasks {
		for i, j := range of {
			place[j] = i
		}
	}
	out := make([]float64, len(some))
	for k, j := range some {
		a := m.obs.Task[j]
		root := make([]float64, len(m.cov.tasks[a]))
		root[place[j]] = 1
		m.cov.own[a].solveRow(root)
		inverse := dot(root, root)
		for _, row := range m.cov.columns(m.cov.reduced(), a) {
			v := dot(row, root)
			inverse -= v * v
		}
		out[k] = m.alpha[j] / math.Sqrt(inverse)
	}
	return out
}
