package gp

import "math"

// kinship holds the correlations of every two rows, in the lower triangle with the
// diagonal, and their slopes by the logarithms of length scales, see slope52.
type kinship struct {
	common, own           [][]float64 // of c, of g
	commonSlope, ownSlope [][]float64 // nil unless asked for
	step                  [][]float64 // of the steps in g; nil before the first relate
}

// newKinship makes room for n rows.
func newKinship(n int) *kinship {
	k := &kinship{common: make([][]float64, n), own: make([][]float64, n)}
	for i := range n {
		k.common[i], k.own[i] = make([]float64, i+1), make([]float64, i+1)
	}
	return k
}

// withSlopes makes room for slopes, too.
func (k *kinship) withSlopes() *kinship {
	n := len(k.common)
	k.commonSlope, k.ownSlope = make([][]float64, n), make([][]float64, n)
	for i := range n {
		k.commonSlope[i], k.ownSlope[i] = make([]float64, i+1), make([]float64, i+1)
	}
	return k
}

// relate works out the correlations of rows. O(len(rows)²) exponentials.
func (k *kinship) relate(p MultiParams, rows [][]float64) {
	if k.step == nil {
		k.steps(p, rows)
	}
	for i, x := range rows {
		c, o, step := k.common[i], k.own[i], k.step[i]
		for j, row := range rows[:i] {
			qc, qo := p.distances(x, row)
			if k.commonSlope == nil {
				c[j], o[j] = matern52(qc), p.stepped(matern52(qo), step[j])
				continue
			}
			c[j], k.commonSlope[i][j] = slope52(qc)
			smooth, slope := slope52(qo)
			o[j], k.ownSlope[i][j] = p.stepped(smooth, step[j]), p.stepped(slope, 0)
		}
		c[i], o[i] = 1, 1
	}
}

// steps works out what no learnt length scale changes.
func (k *kinship) steps(p MultiParams, rows [][]float64) {
	k.step = make([][]float64, len(rows))
	for i, x := range rows {
		k.step[i] = make([]float64, i)
		for j, row := range rows[:i] {
			k.step[i][j] = p.step(x, row)
		}
	}
}

// fill writes the first i+1 covariances of observation i, without noise.
func (k *kinship) fill(p MultiParams, obs Observations, i int, row []float64) {
	ui, ai, si := obs.At[i], obs.Task[i], obs.source(i)
	for j := range row[:i+1] {
		uj := obs.At[j]
		c, o := k.common[max(ui, uj)][min(ui, uj)], 0.0
		v := p.Common * c
		same := obs.Task[j] == ai
		if same {
			o = k.own[max(ui, uj)][min(ui, uj)]
			v += p.Own*o + p.Level
		}
		if ui == uj {
			v += p.Shared
			if same {
				v += p.Rough
			}
		}
		if si != 0 && obs.Source[j] == si {
			v += p.Change*c + p.ChangeLevel
			if same {
				v += p.ChangeOwn*o + p.ChangeOwnLevel
			}
		}
		row[j] = v
	}
}

// stepShare is the part of each g_a's variance that goes by steps: libraries change
// protocols and algorithms their course at thresholds. Our choice; on recorded machines
// 0.3 to 0.7 lose less than none.
const stepShare = 0.5

// step is the correlation of steps, exp(-Σ|a_d - b_d|/length_d): that of functions
// constant between cuts that fall at random, which forests come close to (Balog and
// others, The Mondrian Kernel, UAI 2016).
func (p MultiParams) step(a, b []float64) float64 {
	if p.StepLength == nil {
		return 0
	}
	sum := 0.0
	for d, v := range a {
		sum += math.Abs(v-b[d]) / p.StepLength[d]
	}
	return math.Exp(-sum)
}

// stepped mixes the correlations of the smooth part of g_a and of its steps.
func (p MultiParams) stepped(smooth, step float64) float64 {
	if p.StepLength == nil {
		return smooth
	}
	return (1-stepShare)*smooth + stepShare*step
}

// matern52 is the correlation at squared distance q; see matern.
func matern52(q float64) float64 {
	s := math.Sqrt(5 * q)
	return (1 + s + 5./3*q) * math.Exp(-s)
}

// slope52 returns matern52 and the factor s for which its derivative with respect to
// the logarithm of a length scale is s·((a_d - b_d)/length_d)².
func slope52(q float64) (value, slope float64) {
	s := math.Sqrt(5 * q)
	e := math.Exp(-s)
	return (1 + s + 5./3*q) * e, 5. / 3 * (1 + s) * e
}
