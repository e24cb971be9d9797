package gp

import (
	"math"
	"slices"
)

// likelihood evaluates the log marginal likelihood of centered targets, and its gradient. The argument is
// theta, the logarithms of the hyperparameters (see paramsOf). It reuses its memory: about n² numbers for n
// observations and 4u² numbers for u rows.
type likelihood struct {
	obs   Observations // its field Y is not used; its field Extra is in the unit of y
	y     []float64
	noise float64

	theta       []float64 // the theta for which the fields below were computed; nil before the first evaluation
	loglik      float64
	f           factor
	z           []float64   // L⁻¹y
	k           *corrMatrix // of the rows
	root        [][]float64 // L⁻ᵀ
	sums        rowWeights
	jobGradient float64 // sum of G (see gradient) over the pairs whose covariance depends on Params.Job, with halved diagonal elements
}

// maxLog limits the absolute values of the elements of theta, which are logarithms.
const maxLog = 50

// value returns the log marginal likelihood, or -Inf if the covariance cannot be factored. It takes O(n³/3)
// operations. If theta is the same as in the previous call, it returns the stored result.
func (l *likelihood) value(theta []float64) float64 {
	if l.theta != nil && slices.Equal(l.theta, theta) {
		return l.loglik
	}
	l.theta = append(l.theta[:0], theta...)
	l.loglik = math.Inf(-1)
	for _, v := range theta {
		if math.IsNaN(v) || math.Abs(v) > maxLog {
			return l.loglik
		}
	}
	if l.k == nil {
		u := len(l.obs.X)
		l.k = newCorrMatrix(u)
		l.k.commonSlope, l.k.ownSlope = trapezoid(0, u), trapezoid(0, u)
	}
	p := l.params(theta)
	l.k.compute(p, l.obs.X)
	ok := l.f.build(len(l.y), p.variance(), func(i int, row []float64) {
		l.k.fill(p, l.obs, i, row)
		p.addNoise(l.obs, i, row)
	})
	if !ok {
		return l.loglik
	}
	l.z = append(l.z[:0], l.y...)
	l.f.solveRow(l.z)
	l.loglik = -dot(l.z, l.z)/2 - l.f.halfLogDet() - float64(len(l.z))*math.Log(2*math.Pi)/2
	if math.IsNaN(l.loglik) {
		l.loglik = math.Inf(-1)
	}
	return l.loglik
}

// params returns the hyperparameters whose logarithms are theta, for targets of variance 1 and without steps.
func (l *likelihood) params(theta []float64) Params {
	p := paramsOf(theta, len(l.obs.X[0]), 1)
	p.Noise = l.noise
	return p
}

// gradient sets `grad` to the derivatives at `theta`, or to zero if value is -Inf. The derivatives are
// ½·tr(G·∂K/∂θ) with G = ααᵀ - K⁻¹ and α = K⁻¹y (Rasmussen and Williams 2006, equation 5.9). The elements
// of G are first added up for each pair of rows. gradient takes O(2n³/3) operations in addition to those of
// value.
func (l *likelihood) gradient(theta, grad []float64) {
	clear(grad)
	if math.IsInf(l.value(theta), -1) {
		return
	}
	p := l.params(theta)
	w := l.weights(p)
	d := len(l.obs.X[0])
	lengths, own, variances := grad[:d], grad[d:2*d], grad[2*d:]
	sum := Params{Job: l.jobGradient} // for each variance: the derivative divided by the variance
	for i, x := range l.obs.X {
		for j, row := range l.obs.X[:i+1] {
			all, same := w.all[i][j], w.same[i][j]
			rc, ro := l.k.common[i][j], l.k.own[i][j]
			sum.Common += all * rc
			sum.Own += same * ro
			sum.Level += same
			if i == j {
				sum.Shared += all
				sum.Rough += same
			}
			sc, so := all*p.Common, same*p.Own
			if w.source != nil {
				source, task := w.source[i][j], w.sourceTask[i][j]
				sum.ChangeLevel += source
				sum.Change += source * rc
				sum.ChangeOwnLevel += task
				sum.ChangeOwn += task * ro
				sc += source * p.Change
				so += task * p.ChangeOwn
			}
			sc *= l.k.commonSlope[i][j]
			so *= l.k.ownSlope[i][j]
			for k, v := range x {
				t := (v - row[k]) * (v - row[k])
				lengths[k] += sc * t
				own[k] += so * t
			}
		}
	}
	for k := range d {
		lengths[k] /= p.CommonLength[k] * p.CommonLength[k]
		own[k] /= p.OwnLength[k] * p.OwnLength[k]
	}
	sums := sum.variances()
	for k, variance := range p.variances()[:len(variances)] {
		variances[k] = *sums[k] * *variance
	}
}

// rowWeights holds sums of elements of the matrix G (see gradient), whose rows and columns are observations. There is
// one sum for each pair of rows of X, over the pairs of observations at these two rows. Only the lower triangle of G
// is summed, with halved diagonal elements. The greater index of a pair of rows comes first.
//
// `all` sums over all pairs of observations, and `same` over pairs of the same task. `source` and `sourceTask` are
// the same two sums for pairs of one source other than 0. They are nil if there is no such source.
type rowWeights struct{ all, same, source, sourceTask [][]float64 }

// weights returns the sums from which gradient computes derivatives (see rowWeights). It also sets jobGradient, the
// derivative with respect to the variance between jobs.
func (l *likelihood) weights(p Params) rowWeights {
	n, u := len(l.y), len(l.obs.X)
	if l.root == nil {
		l.root = newRows(n, n)
	}
	l.f.inverseRoot(l.root)
	alpha := make([]float64, n)
	for i, row := range l.root {
		alpha[i] = dot(row[i:], l.z[i:])
	}
	if l.sums.all == nil {
		l.sums.all, l.sums.same = newRows(u, u), newRows(u, u)
		if l.obs.sources() {
			l.sums.source, l.sums.sourceTask = newRows(u, u), newRows(u, u)
		}
	}
	l.jobGradient = 0
	w := l.sums
	for _, sums := range [][][]float64{w.all, w.same, w.source, w.sourceTask} {
		for _, row := range sums {
			clear(row)
		}
	}
	var c block
	for first := 0; first < n; first += blockLen {
		last := min(first+blockLen, n)
		for left := 0; left <= first; left += blockLen {
			right := min(left+blockLen, n)
			c.mul(l.root[first:last], l.root[left:right], first, n)
			for i := first; i < last; i++ {
				l.addPairs(p, i, left, min(right, i+1), alpha, c[(i-first)*blockLen:])
			}
		}
	}
	return w
}

// addPairs adds to l.sums the elements of the matrix G of observation i with each observation j, left ≤ j < right.
// `inverse` holds the elements of K⁻¹ for the same pairs.
func (l *likelihood) addPairs(p Params, i, left, right int, alpha, inverse []float64) {
	w, job, at, task := l.sums, l.obs.job(i), l.obs.At[i], l.obs.Task[i]
	for j := left; j < right; j++ {
		g := alpha[i]*alpha[j] - inverse[j-left]
		if i == j {
			g /= 2
		}
		if job > 0 && job == l.obs.Job[j] && (i != j || p.Job > l.obs.extra(i)) {
			l.jobGradient += g
		}
		u, v := max(at, l.obs.At[j]), min(at, l.obs.At[j])
		w.all[u][v] += g
		if task == l.obs.Task[j] {
			w.same[u][v] += g
		}
		if s := l.obs.source(j); s == 0 || s != l.obs.Source[i] {
			continue
		}
		w.source[u][v] += g
		if task == l.obs.Task[j] {
			w.sourceTask[u][v] += g
		}
	}
}
