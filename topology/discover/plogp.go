package discover

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ClassParameters are the PLogP parameters of an example of a class.
type ClassParameters struct {
	Class string `json:"class"`
	Parameters
}

// FitClasses makes the PLogP parameters of each class of the examples, in their order.
// gaps says which classes have none, and why.
func FitClasses(examples []Example) (out []ClassParameters, gaps []string) {
	var classes []string
	by := map[string][]Example{}
	for _, e := range examples {
		if by[e.Class] == nil {
			classes = append(classes, e.Class)
		}
		by[e.Class] = append(by[e.Class], e)
	}
	for _, class := range classes {
		p, err := fit(by[class])
		if err != nil {
			gaps = append(gaps, fmt.Sprintf("parameters of %s: %v", class, err))
			continue
		}
		out = append(out, ClassParameters{class, p})
	}
	return out, gaps
}

// fit makes the parameters of one class; what was measured of it last counts.
func fit(examples []Example) (Parameters, error) {
	var empty *Example
	var readings []SizeTimes
	for _, e := range examples {
		if e.Bytes == 0 {
			empty, readings = &e, nil
			continue
		}
		readings = append(readings, SizeTimes{Bytes: e.Bytes, RoundTrip: e.RoundTrip, Send: e.Send, Receive: e.Receive, Gap: e.gap()})
	}
	if empty == nil {
		return Parameters{}, fmt.Errorf("%w: no empty messages", ErrParameters)
	}
	return FitPLogP(empty.RoundTrip, empty.gap(), readings)
}

// firstRow is the number of messages of an example's first row; each row has twice as many as
// the one before. The benchmark program ends when two rows agree within 1 %.
const firstRow = 10

// gap returns the mean time of a message of the longest row, in seconds; 0 without rows.
func (e Example) gap() float64 {
	last := len(e.Rows) - 1
	if last < 0 {
		return 0
	}
	return e.Rows[last] / float64(int(firstRow)<<min(last, 30))
}

// ErrParameters is matched by errors about measurements that no pair of ranks can have.
var ErrParameters = errors.New("not a reading")

// SizeTimes is what was measured with messages of one size, in seconds.
type SizeTimes struct {
	Bytes     int
	RoundTrip float64 // there and back
	Send      float64 // of a synchronous send
	Receive   float64 // of a receive whose message is there already
	Gap       float64 // of Saturation; 0 where it was not measured
}

// Overhead is what messages of one size cost, in seconds.
type Overhead struct {
	Bytes   int     `json:"bytes"`
	Send    float64 `json:"send"`    // o_s
	Receive float64 `json:"receive"` // o_r
	Gap     float64 `json:"gap"`     // g: least time between two messages
}

// Parameters are those of one pair of ranks. The zero value is of a pair that was not
// measured.
type Parameters struct {
	Latency float64    `json:"latency"` // L, seconds
	Sizes   []Overhead `json:"sizes"`   // by size, ascending
}

// FitPLogP returns the parameters that readings amount to, given the round trip and the gap
// of empty messages. Where a reading has no gap it is what its round trip exceeds that
// of an empty message by, and the gap of an empty message (equation 3.1). The latency is
// half a round trip without its two gaps (equation 3.2).
//
// It returns an error matching ErrParameters without readings, for a size below 0 or twice,
// a time below 0 or not finite, a round trip of 0, and where a gap or the latency would
// be below 0.
func FitPLogP(roundTrip, gap float64, readings []SizeTimes) (Parameters, error) {
	empty := SizeTimes{RoundTrip: roundTrip, Gap: gap}
	if err := empty.check(); err != nil {
		return Parameters{}, err
	}
	p := Parameters{Latency: (roundTrip - 2*gap) / 2}
	if p.Latency < 0 {
		return Parameters{}, fmt.Errorf("%w: a round trip of %g s with two gaps of %g s", ErrParameters, roundTrip, gap)
	}
	if len(readings) == 0 {
		return Parameters{}, fmt.Errorf("%w: no sizes", ErrParameters)
	}
	for _, r := range readings {
		if err := r.check(); err != nil {
			return Parameters{}, err
		}
		o := Overhead{Bytes: r.Bytes, Send: r.Send, Receive: r.Receive, Gap: r.Gap}
		if o.Gap == 0 {
			o.Gap = r.RoundTrip - roundTrip + gap
		}
		if o.Gap < 0 {
			return Parameters{}, fmt.Errorf("%w: %d bytes: a gap of %g s", ErrParameters, r.Bytes, o.Gap)
		}
		p.Sizes = append(p.Sizes, o)
	}
	slices.SortFunc(p.Sizes, func(a, b Overhead) int { return cmp.Compare(a.Bytes, b.Bytes) })
	for i := 1; i < len(p.Sizes); i++ {
		if p.Sizes[i].Bytes == p.Sizes[i-1].Bytes {
			return Parameters{}, fmt.Errorf("%w: %d bytes are there twice", ErrParameters, p.Sizes[i].Bytes)
		}
	}
	return p, nil
}

func (r SizeTimes) check() error {
	if r.Bytes < 0 || !(r.RoundTrip > 0) {
		return fmt.Errorf("%w: %d bytes, round trip %g s: want 0 bytes or more and a time above 0", ErrParameters, r.Bytes, r.RoundTrip)
	}
	for _, x := range []float64{r.RoundTrip, r.Send, r.Receive, r.Gap} {
		if !(x >= 0) || math.IsInf(x, 0) {
			return fmt.Errorf("%w: %d bytes: %g s: want 0 or more", ErrParameters, r.Bytes, x)
		}
	}
	return nil
}
