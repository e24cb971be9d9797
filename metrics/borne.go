package metrics

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// Borne compares the mistakes that choices were expected to be with those that measurements
// then found: what is borne out of an expectation. The zero value knows of none.
type Borne struct {
	Expected, Found float64   // mistakes
	Rule            BorneRule // the zero value: DefaultBorneRule
}

// BorneRule says what is made of mistakes expected and found. Other values than those of
// DefaultBorneRule are for studies of the method.
type BorneRule struct {
	Memory float64 `json:"memory"` // so many expected mistakes are remembered: models change as they learn
	Level  float64 `json:"level"`  // so likely is the factor below Upper
}

// DefaultBorneRule is our choice, see docs/method.md.
func DefaultBorneRule() BorneRule { return BorneRule{Memory: 8, Level: 0.95} }

// Validate says what is wrong with a rule.
func (r BorneRule) Validate() error {
	if !(r.Memory > 0) {
		return fmt.Errorf("borne memory %g: want a number above 0", r.Memory)
	}
	if !(r.Level > 0 && r.Level < 1) {
		return fmt.Errorf("borne level %g: want a number between 0 and 1", r.Level)
	}
	return nil
}

// Beforehand as much is known of the factor between found and expected as if so many mistakes
// had been found of so many expected ones.
const borneFound, borneExpected = 2, 3

func (b Borne) rule() BorneRule {
	if b.Rule == (BorneRule{}) {
		return DefaultBorneRule()
	}
	return b.Rule
}

// Add returns what is known after further choices.
func (b Borne) Add(expected, found float64) Borne {
	b.Expected += expected
	b.Found += found
	if memory := b.rule().Memory; b.Expected > memory {
		b.Found *= memory / b.Expected
		b.Expected = memory
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
func (b Borne) Upper() float64 { return b.factor().Quantile(b.rule().Level) }
