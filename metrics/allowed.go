package metrics

// Allowed holds the criteria of a campaign. Losses are measured in units of these values. A zero value
// means the default.
type Allowed struct {
	Slowdown  float64 // average slowdown minus one
	Mistakes  float64 // proportion of significant mistakes
	Threshold float64 // a mistake is slower than the best by more than this part
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

// Loss returns the sum of two quotients. The first is the slowdown minus one, which is the parameter
// slowdown, divided by the allowed value. The second is the proportion or probability of mistakes, divided
// by the allowed value.
func (a Allowed) Loss(slowdown, mistakes float64) float64 {
	a = a.WithDefaults()
	return slowdown/a.Slowdown + mistakes/a.Mistakes
}

// LossOf returns the loss of a single choice. The parameter slowdown is the choice's slowdown minus one.
func (a Allowed) LossOf(slowdown float64) float64 {
	if slowdown > a.WithDefaults().Threshold {
		return a.Loss(slowdown, 1)
	}
	return a.Loss(slowdown, 0)
}

// Price combines the slowdown and the mistakes of a summary into one number. It is the average slowdown
// plus the weighted proportion of mistakes. The weight makes both count equally.
func (a Allowed) Price(s Summary) float64 {
	a = a.WithDefaults()
	return 1 + a.Slowdown*a.Loss(s.Slowdown-1, s.Mistakes)
}
