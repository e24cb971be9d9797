package metrics

// Allowed holds the criteria of a campaign. The method Loss divides by the first two of these values. A zero
// value means the default.
type Allowed struct {
	Slowdown  float64 // average slowdown minus one
	Mistakes  float64 // proportion of significant mistakes
	Threshold float64 // a choice that is slower than the best by more than this fraction is a mistake
}

// WithDefaults replaces zero and negative values by the default criteria.
func (a Allowed) WithDefaults() Allowed {
	for _, f := range []struct {
		value   *float64
		instead float64
	}{
		{&a.Slowdown, DefaultAllowedSlowdown},
		{&a.Mistakes, DefaultAllowedMistakes},
		{&a.Threshold, DefaultMistakeThreshold},
	} {
		if !(*f.value > 0) {
			*f.value = f.instead
		}
	}
	return a
}

// Loss returns (slowdown minus one) / its allowed value + mistakes / their allowed value. The parameter
// `slowdown` is the slowdown minus one. The parameter `mistakes` is the proportion or the probability of
// mistakes.
func (a Allowed) Loss(slowdown, mistakes float64) float64 {
	a = a.WithDefaults()
	return slowdown/a.Slowdown + mistakes/a.Mistakes
}

// LossOf returns the loss of a single choice. The parameter `slowdown` is the choice's slowdown minus one.
func (a Allowed) LossOf(slowdown float64) float64 {
	if slowdown > a.WithDefaults().Threshold {
		return a.Loss(slowdown, 1)
	}
	return a.Loss(slowdown, 0)
}

// Price combines the slowdown and the mistakes of a summary into one number. It is the average slowdown plus
// the proportion of mistakes, weighted so that both count equally.
func (a Allowed) Price(s Summary) float64 {
	a = a.WithDefaults()
	return 1 + a.Slowdown*a.Loss(s.Slowdown-1, s.Mistakes)
}
