package plogp

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrReading is matched by errors about measurements that no pair of ranks can have.
var ErrReading = errors.New("not a reading")

// Reading is what was measured with messages of one size, in seconds.
type Reading struct {
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

// Fit returns the parameters that readings amount to, given the round trip and the gap
// of empty messages. Where a reading has no gap it is what its round trip exceeds that
// of an empty message by, and the gap of an empty message (equation 3.1). The latency is
// half a round trip without its two gaps (equation 3.2).
//
// It returns an error matching ErrReading without readings, for a size below 0 or twice,
// a time below 0 or not finite, a round trip of 0, and where a gap or the latency would
// be below 0.
func Fit(roundTrip, gap float64, readings []Reading) (Parameters, error) {
	empty := Reading{RoundTrip: roundTrip, Gap: gap}
	if err := empty.check(); err != nil {
		return Parameters{}, err
	}
	p := Parameters{Latency: (roundTrip - 2*gap) / 2}
	if p.Latency < 0 {
		return Parameters{}, fmt.Errorf("%w: a round trip of %g s with two gaps of %g s", ErrReading, roundTrip, gap)
	}
	if len(readings) == 0 {
		return Parameters{}, fmt.Errorf("%w: no sizes", ErrReading)
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
			return Parameters{}, fmt.Errorf("%w: %d bytes: a gap of %g s", ErrReading, r.Bytes, o.Gap)
		}
		p.Sizes = append(p.Sizes, o)
	}
	slices.SortFunc(p.Sizes, func(a, b Overhead) int { return cmp.Compare(a.Bytes, b.Bytes) })
	for i := 1; i < len(p.Sizes); i++ {
		if p.Sizes[i].Bytes == p.Sizes[i-1].Bytes {
			return Parameters{}, fmt.Errorf("%w: %d bytes are there twice", ErrReading, p.Sizes[i].Bytes)
		}
	}
	return p, nil
}

func (r Reading) check() error {
	if r.Bytes < 0 || !(r.RoundTrip > 0) {
		return fmt.Errorf("%w: %d bytes, round trip %g s: want 0 bytes or more and a time above 0", ErrReading, r.Bytes, r.RoundTrip)
	}
	for _, x := range []float64{r.RoundTrip, r.Send, r.Receive, r.Gap} {
		if !(x >= 0) || math.IsInf(x, 0) {
			return fmt.Errorf("%w: %d bytes: %g s: want 0 or more", ErrReading, r.Bytes, x)
		}
	}
	return nil
}

// At returns the overheads of a size: on the line between the two measured sizes around
// it, beyond them on the line through the nearest two. Nothing is below 0.
func (p Parameters) At(bytes int) Overhead {
	if len(p.Sizes) == 1 {
		o := p.Sizes[0]
		o.Bytes = bytes
		return o
	}
	i, _ := slices.BinarySearchFunc(p.Sizes, bytes, func(o Overhead, b int) int { return cmp.Compare(o.Bytes, b) })
	i = min(max(i, 1), len(p.Sizes)-1)
	a, b := p.Sizes[i-1], p.Sizes[i]
	share := float64(bytes-a.Bytes) / float64(b.Bytes-a.Bytes)
	return Overhead{
		Bytes:   bytes,
		Send:    between(a.Send, b.Send, share),
		Receive: between(a.Receive, b.Receive, share),
		Gap:     between(a.Gap, b.Gap, share),
	}
}

func between(a, b, share float64) float64 { return max(a+share*(b-a), 0) }

// Time returns the seconds that a message takes: the latency, the gap and the mean of
// the two overheads (equation 3.3). It is NaN for a pair that was not measured.
func (p Parameters) Time(bytes int) float64 {
	if len(p.Sizes) == 0 {
		return math.NaN()
	}
	o := p.At(bytes)
	return p.Latency + (o.Send+o.Receive)/2 + o.Gap
}
