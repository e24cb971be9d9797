package discover

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ClassParameters holds the parameters of the network model PLogP for one class of pairs of ranks. All pairs of
// a class are equally far apart in the tree of nodes and switches. A class of a single pair has its two ranks.
type ClassParameters struct {
	Class string    `json:"class"`
	A     *Endpoint `json:"a,omitempty"`
	B     *Endpoint `json:"b,omitempty"`
	Parameters
}

// FitClasses fits PLogP parameters to the examples of each class. Classes are in the order of their first
// examples. The result `gaps` lists the classes for which there are no parameters, with the reasons.
func FitClasses(examples []Example) (out []ClassParameters, gaps []string) {
	var classes []string
	by := map[string][]SizeTimes{}
	for _, e := range examples {
		if by[e.Class] == nil {
			classes = append(classes, e.Class)
		}
		if e.Bytes == 0 { // a launch begins with empty messages: its examples replace those of earlier launches
			by[e.Class] = nil
		}
		by[e.Class] = append(by[e.Class], e.SizeTimes)
	}
	for _, class := range classes {
		p, err := FitPLogP(by[class])
		if err != nil {
			gaps = append(gaps, fmt.Sprintf("parameters of %s: %v", class, err))
			continue
		}
		out = append(out, ClassParameters{Class: class, Parameters: p})
	}
	return out, gaps
}

// ErrParameters is the error for measurements from which PLogP parameters cannot be computed. errors.Is
// finds it.
var ErrParameters = errors.New("not a reading")

// SizeTimes holds the times, in seconds, that were measured with messages of one size.
type SizeTimes struct {
	Bytes     int     `json:"bytes"`
	RoundTrip float64 `json:"round_trip"` // from sending a message to receiving the answer
	Send      float64 `json:"send"`       // of a synchronous send
	Receive   float64 `json:"receive"`    // of a receive whose message has already arrived
	Gap       float64 `json:"-"`          // mean time per message in a long row of messages; 0 if not measured
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

// FitPLogP computes the PLogP parameters from measured times, which must include those of empty messages.
//
// If no gap was measured for a size, its gap is the gap of empty messages plus the difference of both round trips
// (equation 3.1). The latency is half of the round trip of empty messages, minus their gap (equation 3.2).
//
// The error matches ErrParameters if times are missing, negative or infinite. It also matches for duplicate or
// negative sizes, and for a negative gap or latency.
//
// Source: Reinfjell, Automatic Detection of Interconnect Topologies (NTNU 2023).
func FitPLogP(times []SizeTimes) (Parameters, error) {
	times = slices.SortedStableFunc(slices.Values(times), func(a, b SizeTimes) int { return cmp.Compare(a.Bytes, b.Bytes) })
	for i, t := range times {
		if err := t.check(); err != nil {
			return Parameters{}, err
		}
		if i > 0 && t.Bytes == times[i-1].Bytes {
			return Parameters{}, fmt.Errorf("%w: %d bytes are there twice", ErrParameters, t.Bytes)
		}
	}
	switch {
	case len(times) == 0 || times[0].Bytes > 0:
		return Parameters{}, fmt.Errorf("%w: no empty messages", ErrParameters)
	case len(times) == 1:
		return Parameters{}, fmt.Errorf("%w: no sizes", ErrParameters)
	}
	empty := times[0]
	p := Parameters{Latency: (empty.RoundTrip - 2*empty.Gap) / 2}
	if p.Latency < 0 {
		return Parameters{}, fmt.Errorf("%w: a round trip of %g s with two gaps of %g s", ErrParameters, empty.RoundTrip, empty.Gap)
	}
	for _, t := range times[1:] {
		gap := t.Gap
		if gap == 0 {
			gap = t.RoundTrip - empty.RoundTrip + empty.Gap
		}
		if gap < 0 {
			return Parameters{}, fmt.Errorf("%w: %d bytes: a gap of %g s", ErrParameters, t.Bytes, gap)
		}
		p.Sizes = append(p.Sizes, Overhead{Bytes: t.Bytes, Send: t.Send, Receive: t.Receive, Gap: gap})
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

// At returns the parameters of a message size, computed by linear interpolation between the measured sizes, or
// by extrapolation. No result is below 0.
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

// Time returns the time of a message in seconds: the sum of the latency, the gap and the mean of both overheads
// (Reinfjell, equation 3.3).
func (p Parameters) Time(bytes int) float64 {
	o := p.At(bytes)
	return p.Latency + (o.Send+o.Receive)/2 + o.Gap
}
