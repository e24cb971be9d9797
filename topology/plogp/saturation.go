package plogp

import "math"

// How a gap is measured.
const (
	firstMessages = 10
	mostMessages  = 37500
	steady        = 0.01 // relative change between two counts that ends it
)

// MostSaturated is the largest size whose gap is worth measuring by saturation: beyond
// it Fit finds the same from round trips.
const MostSaturated = 1 << 16

// Saturation finds the gap of messages of one size: so many are sent in a row that
// sending more of them no longer changes what one takes. The zero value is ready.
type Saturation struct {
	count int // messages of the last row
	gap   float64
	done  bool
}

// Next returns how many messages to send in a row, 10 at first and then twice as many as
// before, or 0 when the gap is found or 37 500 messages would not do.
func (s *Saturation) Next() int {
	next := max(firstMessages, 2*s.count)
	if s.done || next > mostMessages {
		return 0
	}
	return next
}

// Add takes in the seconds that a row of count messages took, with the one that came
// back when all had arrived.
func (s *Saturation) Add(count int, seconds float64) {
	mean := seconds / float64(count)
	s.done = s.count > 0 && math.Abs(mean-s.gap) < steady*s.gap
	s.count, s.gap = count, mean
}

// Gap returns the mean of the last row, in seconds.
func (s *Saturation) Gap() float64 { return s.gap }

// Steady reports whether the last two rows agreed within 1 %. The gap of a link that
// does not settle is the mean of the longest row.
func (s *Saturation) Steady() bool { return s.done }
