package metrics_test

import (
	"math"
	"testing"

	"tutti/metrics"
)

func TestBorne(t *testing.T) {
	var none metrics.Borne
	// The prior is exponential: its quantile is known.
	if got, want := none.Upper(), -math.Log(1-0.9); math.Abs(got-want) > 1e-9 {
		t.Errorf("upper end %g of nothing known, want %g", got, want)
	}
	fewer, more := none, none
	for range 40 {
		fewer, more = fewer.Add(0.5, 0.05), more.Add(0.5, 1)
	}
	if got := fewer.Upper(); got < 0.1 || got > 0.5 {
		t.Errorf("upper end %g where a tenth was found, want it between 0.1 and 0.5", got)
	}
	if got := more.Upper(); got < 2 || got > 3.5 {
		t.Errorf("upper end %g where twice as much was found, want it between 2 and 3.5", got)
	}
	for range 40 {
		fewer = fewer.Add(0.5, 0.5)
	}
	if got := fewer.Upper(); got < 1 {
		t.Errorf("upper end %g after all that was expected of late was found, want what was before forgotten", got)
	}
}
