package metrics_test

import (
	"math"
	"testing"

	"tutti/metrics"
)

func TestMistakeCalibration(t *testing.T) {
	var none metrics.MistakeCalibration
	// A gamma variable of shape 2 and rate 3 exceeds x with probability (1 + 3x)·e^(-3x).
	if x := none.Upper(); math.Abs((1+3*x)*math.Exp(-3*x)-0.05) > 1e-9 {
		t.Errorf("upper end %g of the prior", x)
	}
	if got := none.Mean(); math.Abs(got-2./3) > 1e-12 {
		t.Errorf("factor %g of the prior, want 2/3", got)
	}
	fewer, more := none, none
	for range 40 {
		fewer, more = fewer.Add(0.5, 0.05), more.Add(0.5, 1)
	}
	if mean, upper := fewer.Mean(), fewer.Upper(); mean > 0.3 || upper < mean {
		t.Errorf("factor %g, upper end %g where a tenth was found", mean, upper)
	}
	if got := fewer.Upper(); got < 0.1 || got > 0.6 {
		t.Errorf("upper end %g where a tenth was found, want it between 0.1 and 0.5", got)
	}
	if fewer.Expected != 8 || math.Abs(fewer.Found-0.8) > 1e-9 {
		t.Errorf("%g expected and %g found are remembered, want 8 and 0.8", fewer.Expected, fewer.Found)
	}
	if got := more.Upper(); got < 2 || got > 3.5 {
		t.Errorf("upper end %g where twice as much was found, want it between 2 and 3.5", got)
	}
	for range 40 {
		fewer = fewer.Add(0.5, 0.5)
	}
	if got := fewer.Upper(); got < 1 {
		t.Errorf("upper end %g after all expected mistakes were found, want earlier choices forgotten", got)
	}
}
