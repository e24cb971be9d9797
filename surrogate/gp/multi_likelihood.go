package gp

import "math"

// multiLikelihood evaluates the log marginal likelihood of centred targets and its
// gradient at theta, see multiParams. Its storage, about n² numbers for n observations
// and 5u² for u rows, serves every evaluation.
type multiLikelihood struct {
	obs   Observations
	y     []float64
	noise float64

	theta  []float64 // of the state below; nil before the first evaluation
	loglik float64
	f      factor
	z      []float64   // L⁻¹y
	common [][]float64 // correlations of rows, of c
	own    [][]float64 // and of g
	root   [][]float64 // L⁻ᵀ
}

// mostLog bounds theta: what exceeds it has no finite exponential worth looking at.
const mostLog = 50

// value returns the log marginal likelihood, -Inf where theta gives no usable matrix.
// O(n³/3) operations, none when theta is the last one.
func (l *multiLikelihood) value(theta []float64) float64 {
	if l.theta != nil && equal(l.theta, theta) {
		return l.loglik
	}
	l.theta = append(l.theta[:0], theta...)
	l.loglik = math.Inf(-1)
	for _, v := range theta {
		if math.IsNaN(v) || math.Abs(v) > mostLog {
			return l.loglik
		}
	}
	p := multiParams(theta, 1)
	l.correlate(p)
	_, ok := l.f.build(len(l.y), p.variance(), func(i int, row []float64) {
		l.fill(p, i, row)
		row[i] += l.noise
	})
	if !ok {
		return l.loglik
	}
	l.z = append(l.z[:0], l.y...)
	l.f.solveRow(l.z)
	l.loglik = logDensity(&l.f, l.z)
	if math.IsNaN(l.loglik) {
		l.loglik = math.Inf(-1)
	}
	return l.loglik
}

func (l *multiLikelihood) correlate(p MultiParams) {
	u := len(l.obs.X)
	if l.common == nil {
		l.common, l.own = newRows(u, u), newRows(u, u)
	}
	for i, x := range l.obs.X {
		for j, row := range l.obs.X[:i+1] {
			qc, qo := p.distances(x, row)
			l.common[i][j], l.own[i][j] = matern52(qc), matern52(qo)
			l.common[j][i], l.own[j][i] = l.common[i][j], l.own[i][j]
		}
	}
}

// fill writes the first i+1 covariances of observation i.
func (l *multiLikelihood) fill(p MultiParams, i int, row []float64) {
	ui, ai := l.obs.At[i], l.obs.Task[i]
	c, o := l.common[ui], l.own[ui]
	for j := range row[:i+1] {
		uj := l.obs.At[j]
		v := p.Common * c[uj]
		if uj == ui {
			v += p.Shared
		}
		if l.obs.Task[j] == ai {
			v += p.Own*o[uj] + p.Level
			if uj == ui {
				v += p.Rough
			}
		}
		row[j] = v
	}
}

// gradient sets grad to the derivatives at theta; to zero where value is -Inf. O(2n³/3)
// operations beside those of value: ½·tr(G·∂K/∂θ) with G = ααᵀ - K⁻¹ and α = K⁻¹y
// (Rasmussen and Williams 2006, equation 5.9), G summed by pairs of rows first.
func (l *multiLikelihood) gradient(theta, grad []float64) {
	clear(grad)
	if math.IsInf(l.value(theta), -1) {
		return
	}
	p := multiParams(theta, 1)
	all, same := l.weights()
	d := len(l.obs.X[0])
	lengths, own, tail := grad[:d], grad[d:2*d], grad[2*d:]
	for i, x := range l.obs.X {
		for j, row := range l.obs.X {
			wc, wo := all[i][j], same[i][j]
			if wc == 0 && wo == 0 {
				continue
			}
			tail[0] += wc * p.Common * l.common[i][j]
			tail[1] += wo * p.Own * l.own[i][j]
			tail[2] += wo * p.Level
			if i == j {
				tail[3] += wc * p.Shared
				tail[4] += wo * p.Rough
				continue
			}
			qc, qo := p.distances(x, row)
			sc, so := wc*p.Common*slope52(qc), wo*p.Own*slope52(qo)
			for k, v := range x {
				t := (v - row[k]) * (v - row[k])
				lengths[k] += sc * t / (p.CommonLength[k] * p.CommonLength[k])
				own[k] += so * t / (p.OwnLength[k] * p.OwnLength[k])
			}
		}
	}
}

// slope52 is the factor s for which the derivative of matern52 with respect to the
// logarithm of a length scale is s·((a_d - b_d)/length_d)².
func slope52(q float64) float64 {
	s := math.Sqrt(5 * q)
	return 5. / 3 * (1 + s) * math.Exp(-s)
}

// weights sums G, the diagonal halved and the upper triangle left out, by the rows of
// its observations: over all pairs, and over pairs of one task.
func (l *multiLikelihood) weights() (all, same [][]float64) {
	n, u := len(l.y), len(l.obs.X)
	if l.root == nil {
		l.root = newRows(n, n)
	}
	l.f.inverseRoot(l.root)
	alpha := make([]float64, n)
	for i, row := range l.root {
		alpha[i] = dot(row[i:], l.z[i:])
	}
	all, same = newRows(u, u), newRows(u, u)
	var c block
	for first := 0; first < n; first += blockLen {
		last := min(first+blockLen, n)
		for left := 0; left <= first; left += blockLen {
			right := min(left+blockLen, n)
			c.mul(l.root[first:last], l.root[left:right], first, n)
			for i := first; i < last; i++ {
				for j := left; j < min(right, i+1); j++ {
					g := alpha[i]*alpha[j] - c[(i-first)*blockLen+j-left]
					if i == j {
						g /= 2
					}
					all[l.obs.At[i]][l.obs.At[j]] += g
					if l.obs.Task[i] == l.obs.Task[j] {
						same[l.obs.At[i]][l.obs.At[j]] += g
					}
				}
			}
		}
	}
	return all, same
}
