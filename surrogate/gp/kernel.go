package gp

import "math"

// maxSquaredDistance is the squared distance above which a correlation counts as zero. At this distance the
// correlation is about e^-690 = 1e-300, since √(5·1e5) = 707.
const maxSquaredDistance = 1e5

// The coefficients of the Matérn-5/2 correlation.
const (
	five       = 5.0
	fiveThirds = five / 3
)

// matern replaces the squared distances r² in `r2` by the Matérn-5/2 correlation (1 + √5·r + 5r²/3)·exp(-√5·r). Its
// derivative with respect to log length_d, for the rows a and b, is s·((a_d - b_d)/length_d)².
// If `slope` is not nil, matern fills it with the factors s.
//
// Source: Rasmussen and Williams, Gaussian Processes for ML (2006), equation 4.17.
func matern(r2, slope []float64) {
	for i, q := range r2 {
		if q > maxSquaredDistance {
			r2[i] = 0
			if slope != nil {
				slope[i] = 0
			}
			continue
		}
		s := math.Sqrt(five * q)
		e := decay(s)
		r2[i] = e * (1 + s + fiveThirds*q)
		if slope != nil {
			slope[i] = e * (1 + s) * fiveThirds
		}
	}
}

// columns holds rows divided by the length scales, stored by column. The distances between one row and many
// others are summed column by column.
type columns [][]float64

// newColumns divides the rows by the length scales and stores them by column.
func newColumns(rows [][]float64, length []float64) columns {
	c := make(columns, len(length))
	for d := range c {
		c[d] = make([]float64, 0, len(rows))
	}
	for _, row := range rows {
		for d := range c {
			c[d] = append(c[d], row[d]/length[d])
		}
	}
	return c
}

// distances sets dst to the squared distances between the scaled row x and the first len(dst) rows.
func (c columns) distances(dst, x []float64) {
	clear(dst)
	for d, col := range c {
		xd := x[d]
		for j, v := range col[:len(dst)] {
			t := xd - v
			dst[j] += t * t
		}
	}
}

// decaySteps is the number of values between 1/2 and 1 in the table `powers`.
const decaySteps = 64

// powers[k] is 2^(-k/decaySteps), for 0 ≤ k < decaySteps.
var powers = func() (t [decaySteps]float64) {
	for k := range t {
		t[k] = math.Exp2(-float64(k) / decaySteps)
	}
	return t
}()

// decayMax is the largest argument for which the function `decay` uses its table; e⁻⁷⁰⁰ is 1e-304. For larger
// arguments it calls math.Exp.
const decayMax = 700

// ln2High and ln2Low add up to ln 2 / decaySteps. ln2High has 32 bits, so that its product with a
// number of steps is exact.
const (
	ln2High = 0x1.62e42feep-7
	ln2Low  = math.Ln2/decaySteps - ln2High
)

// decay returns exp(-x) for x ≥ 0 with an error of at most two units in the last place, four times as fast
// as math.Exp. It splits -x into r - k·ln 2/64 with |r| ≤ ln 2/128. It then looks up the power of two and
// multiplies it by a Taylor polynomial of exp(r).
func decay(x float64) float64 {
	if !(x <= decayMax) {
		return math.Exp(-x) // 0, or not a number
	}
	k := int64(x*(decaySteps/math.Ln2) + 0.5)
	steps := float64(k)
	r := (steps*ln2High - x) + steps*ln2Low
	series := 1 + r*(1+r*(1./2+r*(1./6+r*(1./24+r*(1./120)))))
	scaled := math.Float64bits(powers[k%decaySteps]) - uint64(k/decaySteps)<<52
	return series * math.Float64frombits(scaled)
}
