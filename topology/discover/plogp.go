package discover

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ClassParameters holds the parameters of the network model PLogP for one class of pairs of ranks. All pairs of
// a class are equally far apart in the tree of nodes and switches.
type ClassParameters struct {
	Class string `json:"class"`
	Parameters
}

// FitClasses fits PLogP parameters to the examples of each class. Classes are in the order of their first
// examples. The result `gaps` lists the classes for which there are no parameters, with the reasons.
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

// firstRow is a number of consecutive messages. Example.Rows begins with the time of this many messages.
// Each further element is the time of twice as many messages as the previous one. The benchmark stops when
// the mean times of two elements agree within 1 %.
const firstRow = 10

// gap returns the mean time per message, in seconds, in the longest series of consecutive messages. It returns
// 0 if no series was measured.
func (e Example) gap() float64 {
	last := len(e.Rows) - 1
	if last < 0 {
		return 0
	}
	return e.Rows[last] / float64(int(firstRow)<<min(last, 30))
}

// ErrParameters is the error for measurements from which PLogP parameters cannot be computed. errors.Is
// finds it.
var ErrParameters = errors.New("not a reading")

// SizeTimes holds the times, in seconds, that were measured with messages of one size.
type SizeTimes struct {
	Bytes     int
	RoundTrip float64 // from sending a message to receiving the answer
	Send      float64 // of a synchronous send
	Receive   float64 // of a receive whose message has already arrived
	Gap       float64 // mean time per message in a long row of messages; 0 if not measured
}

// Overhead holds the PLogP parameters that depend on the message size, in seconds, for one size.
type Overhead struct {
	Bytes   int     `json:"bytes"`
	Send    float64 `json:"send"`    // o_s, the sender's CPU time
	Receive float64 `json:"receive"` // o_r, the receiver's CPU time
	Gap     float64 `json:"gap"`     // g, the least time between two messages
}

// Parameters holds the PLogP parameters of a pair of ranks. The zero value stands for a pair that was not
// measured.
type Parameters struct {
	Latency float64    `json:"latency"` // L, seconds
	Sizes   []Overhead `json:"sizes"`   // ascending by size
}

// FitPLogP computes the PLogP parameters from measured times. The parameters roundTrip and gap are the
// times of empty messages, in seconds.
//
// If no gap was measured for a size, its gap is the round trip of this size, minus roundTrip, plus gap
// (equation 3.1). The latency is half of roundTrip - 2·gap (equation 3.2).
//
// The error matches ErrParameters if times are missing, negative or infinite. It also matches for duplicate
// or negative sizes, and for a negative gap or latency.
//
// Source: Reinfjell, Automatic Detection of Interconnect Topologies (NTNU 2023).
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
