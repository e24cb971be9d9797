package metrics

// Allowed is what a selection may lose: the criteria of a campaign, in whose units every
// expected loss is counted. Zero values take the defaults.
type Allowed struct {
	Slowdown  float64 // average slowdown minus one
	Mistakes  float64 // proportion of significant mistakes
	Threshold float64 // a mistake is slower than the best by more than this part
}

// What a selection may lose unless the user says otherwise (section V of FACT; the
// threshold is DefaultMistakeThreshold).
const (
	DefaultAllowedSlowdown = 0.03
	DefaultAllowedMistakes = 0.05
)

// WithDefaults returns the criteria with zero and negative values replaced.
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

// Loss adds up a slowdown minus one and a proportion, or probability, of mistakes, each in
// units of what is allowed: 2 uses up both.
func (a Allowed) Loss(slowdown, mistakes float64) float64 {
	a = a.WithDefaults()
	return slowdown/a.Slowdown + mistakes/a.Mistakes
}

// LossOf is Loss of a choice that is slower than the best by a part.
func (a Allowed) LossOf(slowdown float64) float64 {
	if slowdown > a.WithDefaults().Threshold {
		return a.Loss(slowdown, 1)
	}
	return a.Loss(slowdown, 0)
}

// Price is an average slowdown to which mistakes add what they weigh beside it: as much as
// is allowed of them counts as the slowdown that is allowed.
func (a Allowed) Price(s Summary) float64 {
	a = a.WithDefaults()
	return 1 + a.Slowdown*a.Loss(s.Slowdown-1, s.Mistakes)
}
