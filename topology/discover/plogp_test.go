package discover_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"tutti/topology/discover"
)

// A measured gap is kept. A missing gap follows from the round trip.
func TestFitGap(t *testing.T) {
	p, err := discover.FitPLogP(10e-6, 1e-6, []discover.SizeTimes{{Bytes: 8, RoundTrip: 11e-6, Gap: 5e-6}, {Bytes: 16, RoundTrip: 12e-6}})
	if err != nil {
		t.Fatal(err)
	}
	if got := []float64{p.Latency, p.Sizes[0].Gap, p.Sizes[1].Gap}; math.Abs(got[0]-4e-6) > 1e-18 || got[1] != 5e-6 || math.Abs(got[2]-3e-6) > 1e-18 {
		t.Errorf("latency and gaps %g, want 4, 5 and 3 µs", got)
	}
}

func TestFitRefuses(t *testing.T) {
	ok := []discover.SizeTimes{{Bytes: 1, RoundTrip: 10e-6}}
	for _, tc := range []struct {
		name           string
		roundTrip, gap float64
		readings       []discover.SizeTimes
		want           string
	}{
		{"no round trip", 0, 0, ok, "round trip 0 s"},
		{"NaN", math.NaN(), 0, ok, "round trip NaN s"},
		{"a gap of NaN", 10e-6, math.NaN(), ok, "NaN s: want 0 or more"},
		{"a gap too long", 10e-6, 6e-6, ok, "a round trip of 1e-05 s with two gaps of 6e-06 s"},
		{"nothing", 10e-6, 1e-6, nil, "no sizes"},
		{"a size below 0", 10e-6, 1e-6, []discover.SizeTimes{{Bytes: -1, RoundTrip: 1}}, "-1 bytes"},
		{"a time below 0", 10e-6, 1e-6, []discover.SizeTimes{{Bytes: 1, RoundTrip: 1, Send: -1}}, "1 bytes: -1 s"},
		{"an endless time", 10e-6, 1e-6, []discover.SizeTimes{{Bytes: 1, RoundTrip: math.Inf(1)}}, "+Inf s"},
		{"a size twice", 10e-6, 1e-6, []discover.SizeTimes{{Bytes: 1, RoundTrip: 10e-6}, {Bytes: 1, RoundTrip: 11e-6}}, "1 bytes are there twice"},
		{"faster than nothing", 10e-6, 1e-6, []discover.SizeTimes{{Bytes: 4, RoundTrip: 8e-6}}, "4 bytes: a gap of -1"},
	} {
		if _, err := discover.FitPLogP(tc.roundTrip, tc.gap, tc.readings); !errors.Is(err, discover.ErrParameters) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func ExampleFitPLogP() {
	p, err := discover.FitPLogP(2e-6, 0.2e-6, []discover.SizeTimes{
		{Bytes: 1, RoundTrip: 2e-6, Send: 0.3e-6, Receive: 0.1e-6},
		{Bytes: 4096, RoundTrip: 3e-6, Send: 0.5e-6, Receive: 0.3e-6},
	})
	fmt.Printf("latency %.2g s, gap of 4 KiB %.2g s, %v\n", p.Latency, p.Sizes[1].Gap, err)
	// Output: latency 8e-07 s, gap of 4 KiB 1.2e-06 s, <nil>
}
