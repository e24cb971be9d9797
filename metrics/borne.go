package metrics

import "gonum.org/v1/gonum/stat/distuv"

// Borne compares the mistakes that choices were expected to be with those that measurements
// then found: what is borne out of an expectation. The zero value knows of none.
type Borne struct {
	Expected, Found float64 // mistakes
}

const (
	// Beforehand as much is known of the factor between found and expected as if so many mistakes
	// had been found of so many expected ones.
	borneFound, borneExpected = 2, 3
	// So many expected mistakes are remembered: models change as they learn.
	borneMemory = 8
	// So likely is the factor below Upper.
	borneLevel = 0.95
)

// Add returns what is known after further choices.
func (b Borne) Add(expected, found float64) Borne {
	b.Expected += expected
	b.Found += found
	if b.Expected > borneMemory {
		b.Found *= borneMemory / b.Expected
		b.Expected = borneMemory
	}
	return b
}

// factor by which expected mistakes are to be multiplied: their number is a Poisson variable,
// so that the factor has a gamma distribution.
func (b Borne) factor() distuv.Gamma {
	return distuv.Gamma{Alpha: borneFound + b.Found, Beta: borneExpected + b.Expected}
}

// Mean is the factor that is expected.
func (b Borne) Mean() float64 { return b.factor().Mean() }

// Upper is the upper end of the factor.
func (b Borne) Upper() float64 { return b.factor().Quantile(borneLevel) }
