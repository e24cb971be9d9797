package metrics

import "gonum.org/v1/gonum/stat/distuv"

// Borne compares the mistakes that choices were expected to be with those that measurements
// then found: what is borne out of an expectation. The zero value knows of none.
type Borne struct {
	Expected, Found float64 // mistakes
}

const (
	// The factor between found and expected is taken to be 1 beforehand, for as much as so
	// many mistakes are worth.
	bornePrior = 1
	// So many expected mistakes are remembered: models change as they learn.
	borneMemory = 8
	// Of the factors that are likely so many are below Upper.
	borneLevel = 0.9
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

// Upper is the upper end of the factor by which expected mistakes are to be multiplied: their
// number is a Poisson variable, the factor has a gamma distribution.
func (b Borne) Upper() float64 {
	return distuv.Gamma{Alpha: bornePrior + b.Found, Beta: bornePrior + b.Expected}.Quantile(borneLevel)
}
