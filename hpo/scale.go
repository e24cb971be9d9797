package hpo

import "math"

// scale maps the coordinates 0 to 1 to the integers low to high, both included. On a linear
// scale, each integer has an interval of the same width. On a logarithmic scale, intervals
// shrink as the integers grow.
type scale struct {
	low, high int
	log       bool
}

// value returns the integer at coordinate x.
func (s scale) value(x float64) int {
	from, to := s.ends()
	v := from + x*(to-from)
	if s.log {
		v = math.Exp(v)
	}
	return min(max(int(math.Round(v)), s.low), s.high)
}

// coordinate returns a coordinate at which value returns v.
func (s scale) coordinate(v int) float64 {
	from, to := s.ends()
	x := float64(v)
	if s.log {
		x = math.Log(x)
	}
	return (x - from) / (to - from)
}

// ends returns the ends of the scale, 0.5 below low and 0.5 above high, or their logarithms.
func (s scale) ends() (from, to float64) {
	from, to = float64(s.low)-0.5, float64(s.high)+0.5
	if s.log {
		return math.Log(from), math.Log(to)
	}
	return from, to
}
