package measured

import (
	"fmt"

	"tutti/topology/plogp"
)

// ClassParameters are the PLogP parameters of an example of a class.
type ClassParameters struct {
	Class string `json:"class"`
	plogp.Parameters
}

// Parameters makes the PLogP parameters of each class of the examples, in their order.
// gaps says which classes have none, and why.
func Parameters(examples []Example) (out []ClassParameters, gaps []string) {
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
func fit(examples []Example) (plogp.Parameters, error) {
	var empty *Example
	var readings []plogp.Reading
	for _, e := range examples {
		if e.Bytes == 0 {
			empty, readings = &e, nil
			continue
		}
		readings = append(readings, plogp.Reading{Bytes: e.Bytes, RoundTrip: e.RoundTrip, Send: e.Send, Receive: e.Receive, Gap: e.gap()})
	}
	if empty == nil {
		return plogp.Parameters{}, fmt.Errorf("%w: no empty messages", plogp.ErrReading)
	}
	return plogp.Fit(empty.RoundTrip, empty.gap(), readings)
}

// gap is what rows of messages settle to; 0 without any.
func (e Example) gap() float64 {
	var s plogp.Saturation
	for _, seconds := range e.Rows {
		n := s.Next()
		if n == 0 {
			break
		}
		s.Add(n, seconds)
	}
	return s.Gap()
}
