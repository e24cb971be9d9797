package gp

import (
	"fmt"
	"math"
	"slices"
)

// GP models several related functions, called tasks, of the same rows:
//
//	y(x, a) = mean + c(x) + s(x) + o_a + g_a(x) + r_a(x) + noise
//
// c is common to all tasks and g_a is the task's own. Both are Gaussian processes of
// Matérn-5/2 covariance; c has its own length scales, and all g_a share theirs. A part
// of the variance of g_a is of functions that change by steps: their correlation is
// exp(-Σ|a_d - b_d|/length_d), that of functions constant between cuts that fall at random,
// which forests come close to (Balog and others, The Mondrian Kernel, UAI 2016). Another part, of
// both, is split by the values of one column: it is independent from value to value. s and r_a are
// independent from row to row: s is what a row does to all tasks, r_a what it does to one.
// o_a is the level of a task. The difference of two tasks does not depend on mean, c and
// s, so one task observed at a row tells of the others there.
//
// Observations may come from several sources. Those of source 0 are of the functions
// that are asked about; those of another source i, say of an earlier year, are of
// functions that differ from these by
//
//	d_i + e_i(x) + d_ia + e_ia(x)
//
// d_i is a level and e_i a smooth part that all tasks share, d_ia and e_ia the same of
// one task. e_i is as smooth as c, and e_ia as g_a. The variances of these four parts are
// learnt with the rest: a few observations of source 0 beside those of others say what
// the others are worth. Posteriors, means and entries are those of source 0.
//
// Observations may have been made by jobs. Each job moves all of its own by one number, normal
// with a variance that is learnt, too; posteriors are of the functions without it.
//
// Source: Bonilla, Chai and Williams, GP-task Gaussian Process Prediction (NIPS
// 2007), with the task covariances 1 and δ of hierarchical models (Hensman, Lawrence
// and Rattray, BMC Bioinformatics 14, 2013); sources as the co-kriging of Kennedy and
// O'Hagan (Biometrika 87, 2000) with a factor of 1.
//
// A GP does not change and is safe for concurrent use.
type GP struct {
	params Params
	obs    Observations
	rows   scaledRows // of obs
	parts  *parts
	alpha  []float64 // K⁻¹(y - mean)
}

// Observations of tasks at rows: number j is Y[j], of task Task[j] at row At[j] of
// X, from source Source[j]. The rows of X are distinct; tasks and sources count from
// 0. A nil Source means 0 for all. Extra is the variance of the noise of Y[j] beyond that of
// every observation, nil for none. Job[j] is the job that made Y[j], counted from 1; 0, and a nil
// Job, say that none did. What a job does is part of the extra noise, which is that much at least.
type Observations struct {
	X      [][]float64
	At     []int
	Task   []int
	Source []int
	Y      []float64
	Extra  []float64
	Job    []int
}

// extra noise of observation j.
func (o Observations) extra(j int) float64 {
	if o.Extra == nil {
		return 0
	}
	return o.Extra[j]
}

// source of observation j.
func (o Observations) source(j int) int {
	if o.Source == nil {
		return 0
	}
	return o.Source[j]
}

// sources reports whether any observation is of another source than 0.
func (o Observations) sources() bool {
	return slices.ContainsFunc(o.Source, func(s int) bool { return s != 0 })
}

func (o Observations) validate() error {
	if err := checkRows(o.X, 0); err != nil {
		return err
	}
	if len(o.At) != len(o.Y) || len(o.Task) != len(o.Y) || len(o.Y) == 0 {
		return fmt.Errorf("%w: %d targets at %d rows of %d tasks", ErrShape, len(o.Y), len(o.At), len(o.Task))
	}
	if o.Source != nil && len(o.Source) != len(o.Y) {
		return fmt.Errorf("%w: %d targets from %d sources", ErrShape, len(o.Y), len(o.Source))
	}
	if o.Extra != nil && len(o.Extra) != len(o.Y) {
		return fmt.Errorf("%w: %d targets with %d variances", ErrShape, len(o.Y), len(o.Extra))
	}
	if o.Job != nil && len(o.Job) != len(o.Y) {
		return fmt.Errorf("%w: %d targets from %d jobs", ErrShape, len(o.Y), len(o.Job))
	}
	for j := range o.Y {
		if err := o.validateOne(j); err != nil {
			return err
		}
	}
	return nil
}

// validateOne is validate for observation j of lists as long as one another.
func (o Observations) validateOne(j int) error {
	switch e := o.extra(j); {
	case !(e >= 0) || math.IsInf(e, 0):
		return fmt.Errorf("%w: observation %d has the variance %g", ErrValue, j, e)
	case o.job(j) < 0:
		return fmt.Errorf("%w: observation %d is of job %d", ErrValue, j, o.job(j))
	case o.source(j) < 0:
		return fmt.Errorf("%w: observation %d is of source %d", ErrValue, j, o.source(j))
	case !finite(o.Y[j]) || o.At[j] < 0 || o.At[j] >= len(o.X) || o.Task[j] < 0:
		return fmt.Errorf("%w: observation %d: %g of task %d at row %d of %d", ErrValue, j, o.Y[j], o.Task[j], o.At[j], len(o.X))
	}
	return nil
}

// New returns the model with given hyper-parameters conditioned on the
// observations, which it keeps. It returns an error matching ErrShape or ErrValue
// for bad arguments and ErrFactor for a covariance that cannot be factored.
// O(u²·n) operations for n observations at u rows.
func New(p Params, obs Observations) (*GP, error) {
	if err := obs.validate(); err != nil {
		return nil, err
	}
	if err := p.validate(len(obs.X[0])); err != nil {
		return nil, err
	}
	t, alpha, ok := newParts(p, obs)
	if !ok {
		return nil, fmt.Errorf("%w: %d observations", ErrFactor, len(obs.Y))
	}
	return &GP{params: p, obs: obs, rows: p.scaled(obs.X), parts: t, alpha: alpha}, nil
}

// Params returns the hyper-parameters; the caller must not change them.
func (m *GP) Params() Params { return m.params }

// variance of the function at a row.
func (p Params) variance() float64 { return p.Common + p.Own + p.Level + p.Shared + p.Rough }

// Means returns the posterior mean of tasks 0 to tasks-1 at each row, tasks×rows.
// A task without observations has the mean of what is common. O(rows·n) operations.
func (m *GP) Means(rows [][]float64, tasks int) [][]float64 {
	here, weight := newKin(len(m.obs.X), len(m.obs.X[0])), m.weights()
	known := len(m.parts.tasks)
	means := make([]float64, known+1)
	out := newRows(tasks, len(rows))
	for i, x := range rows {
		here.covary(m.params, x, m.rows)
		m.meansAt(means, here, weight)
		for a := range out {
			out[a][i] = means[min(a, known)]
		}
	}
	return out
}

// weights sums alpha by rows.
func (m *GP) weights() []float64 {
	out := make([]float64, len(m.obs.X))
	for j, a := range m.alpha {
		out[m.obs.At[j]] += a
	}
	return out
}

// meansAt sets means to those of the tasks at a row, the last being that of a task that was
// never observed.
func (m *GP) meansAt(means []float64, here kin, weight []float64) {
	common := m.params.Mean + dot(here.common, weight)
	for a := range means {
		means[a] = common
	}
	for j, v := range m.alpha {
		means[m.obs.Task[j]] += here.own[m.obs.At[j]] * v
	}
}

// solveBack replaces b by L⁻ᵀb. O(n²) operations.
func (f *factor) solveBack(b []float64) {
	for i := f.n - 1; i >= 0; i-- {
		row := f.rows[i]
		b[i] /= row[i]
		for j, v := range row[:i] {
			b[j] -= v * b[i]
		}
	}
}
