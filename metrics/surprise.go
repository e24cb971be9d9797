package metrics

import "gonum.org/v1/gonum/stat/distuv"

// Surprises are events whose probabilities were told beforehand.
type Surprises struct {
	Expected float64 // sum of the probabilities
	Seen     float64 // how many there were, or the sum of later probabilities
}

// Add counts further events.
func (s Surprises) Add(t Surprises) Surprises {
	return Surprises{s.Expected + t.Expected, s.Seen + t.Seen}
}

// Mean of the factor; see Factor.
func (s Surprises) Mean() float64 { return (1 + s.Seen) / (1 + s.Expected) }

// Factor returns a quantile of the factor by which such probabilities are too low: the
// events are taken for a Poisson process of the factor times what is expected, and of
// the factor is believed beforehand what one event expected and one seen would say.
//
// Source: Gelman et al., Bayesian Data Analysis (2013), section 2.6: conjugate gamma
// prior of a Poisson rate with exposure.
func (s Surprises) Factor(quantile float64) float64 {
	return distuv.Gamma{Alpha: 1 + s.Seen, Beta: 1 + s.Expected}.Quantile(quantile)
}
