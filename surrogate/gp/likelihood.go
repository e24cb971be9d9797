package gp

import "math"

// likelihood evaluates the log marginal likelihood of centred targets and its gradient with
// respect to theta = log(length_0 … length_d-1, signal, noise). Func and gradient at one theta
// share one factorisation. Its storage, about 2n² numbers, serves every evaluation.
type likelihood struct {
	x [][]float64
	y []float64

	theta  []float64 // of the state below; nil before the first evaluation
	loglik float64
	noise  float64 // on the diagonal, jitter included
	cols   columns
	f      factor
	z      []float64   // L⁻¹y
	slope  [][]float64 // matern's slope for j ≤ i
	root   [][]float64 // L⁻ᵀ
}

func newLikelihood(x [][]float64, y []float64) *likelihood {
	l := &likelihood{x: x, y: y, z: make([]float64, len(y))}
	l.slope = make([][]float64, len(x))
	for i := range l.slope {
		l.slope[i] = make([]float64, i+1)
	}
	return l
}

// value returns the log marginal likelihood, -Inf where theta gives no usable matrix.
// O(n³/3 + n²d) operations, none when theta is the last one.
//
// Source: Rasmussen and Williams (2006), equation 5.8.
func (l *likelihood) value(theta []float64) float64 {
	if l.theta != nil && equal(l.theta, theta) {
		return l.loglik
	}
	l.theta = append(l.theta[:0], theta...)
	l.loglik = math.Inf(-1)
	d := len(theta) - 2
	length := make([]float64, d)
	for i := range length {
		length[i] = math.Exp(theta[i])
	}
	signal, noise := math.Exp(theta[d]), math.Exp(theta[d+1])
	if (params{length: length, signal: signal, noise: noise}).validate(d) != nil {
		return l.loglik
	}
	l.cols = newColumns(l.x, length)
	xi := make([]float64, d)
	jitter, ok := l.f.build(len(l.x), signal+noise, func(i int, row []float64) {
		l.cols.row(i, xi)
		l.cols.distances(row, xi)
		matern(row, l.slope[i], signal)
		row[i] += noise
	})
	if !ok {
		return l.loglik
	}
	l.noise = noise + jitter
	copy(l.z, l.y)
	l.f.solveRow(l.z)
	l.loglik = logDensity(&l.f, l.z)
	if math.IsNaN(l.loglik) {
		l.loglik = math.Inf(-1)
	}
	return l.loglik
}

// logDensity is the log density of targets y under N(0, LLᵀ), with z = L⁻¹y.
func logDensity(f *factor, z []float64) float64 {
	return -0.5*dot(z, z) - f.halfLogDet() - 0.5*float64(len(z))*math.Log(2*math.Pi)
}

// gradient sets grad to the derivatives at theta; to zero where value is -Inf.
// O(2n³/3 + n²d) operations beside those of value.
//
// With α = K⁻¹y and G = ααᵀ - K⁻¹ the derivative is ½·tr(G·∂K/∂θ) (Rasmussen and Williams,
// equation 5.9). Both factors are symmetric, so half the pairs are visited, once for all θ, and
// tr(G·K) = zᵀz - n spares the signal a pass of its own.
func (l *likelihood) gradient(theta, grad []float64) {
	clear(grad)
	if math.IsInf(l.value(theta), -1) {
		return
	}
	n, d := len(l.x), len(theta)-2
	for i := len(l.root); i < n; i++ {
		l.root = append(l.root, make([]float64, n))
	}
	l.f.inverseRoot(l.root)
	alpha := make([]float64, n)
	for i, row := range l.root {
		alpha[i] = dot(row[i:], l.z[i:])
	}
	var trace float64 // of G
	var c block
	for first := 0; first < n; first += blockLen {
		last := min(first+blockLen, n)
		for left := 0; left <= first; left += blockLen {
			right := min(left+blockLen, n)
			c.mul(l.root[first:last], l.root[left:right], first, n)
			for i := first; i < last; i++ {
				row := c[(i-first)*blockLen:]
				if left == first {
					trace += alpha[i]*alpha[i] - row[i-first]
				}
				l.addPairs(grad[:d], row, alpha, i, left, min(right, i))
			}
		}
	}
	noise := math.Exp(theta[d+1])
	grad[d] = 0.5 * (dot(l.z, l.z) - float64(n) - l.noise*trace)
	grad[d+1] = 0.5 * noise * trace
}

// addPairs adds to grad what the pairs of row i with rows left ≤ j < right contribute to the
// derivatives of the length scales; inverse holds K⁻¹ of these pairs and is overwritten.
func (l *likelihood) addPairs(grad, inverse, alpha []float64, i, left, right int) {
	if left >= right {
		return
	}
	w := inverse[:right-left]
	ai, slope, aj := alpha[i], l.slope[i][left:right], alpha[left:right]
	for j, v := range w {
		w[j] = (ai*aj[j] - v) * slope[j]
	}
	for d, col := range l.cols {
		xi := col[i]
		var s float64
		for j, v := range col[left:right] {
			t := xi - v
			s += w[j] * t * t
		}
		grad[d] += s
	}
}

func equal(a, b []float64) bool {
	for i, v := range a {
		if v != b[i] {
			return false
		}
	}
	return true
}
