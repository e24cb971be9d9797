package preprocess

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tutti/internal/testutil"
)

func TestMicros(t *testing.T) {
	tests := []struct {
		text    string
		seconds float64
		want    string // empty: the same text
	}{
		{"0.4211", 0.4211e-6, ""},
		{"12.5", 12.5e-6, ""},
		{"1", 1e-6, ""},
		{"1500000", 1.5, ""},
		{"0.0001", 1e-10, ""},
		{"0", 0, ""},
		{"1E3", 1e-3, "1000"},
		{"+2.50", 2.5e-6, "2.5"},
		{"1e12", 1e6, "1000000000000"},
		{"0x1p-2", 0.25e-6, "0.25"},
	}
	for _, tc := range tests {
		got, err := parseMicros(tc.text)
		if err != nil || got != tc.seconds {
			t.Errorf("parseMicros(%q) = %g, %v, want %g", tc.text, got, err, tc.seconds)
		}
		want := tc.want
		if want == "" {
			want = tc.text
		}
		if got := formatMicros(tc.seconds); got != want {
			t.Errorf("formatMicros(%g) = %q, want %q", tc.seconds, got, want)
		}
	}
	for _, bad := range []string{"", "1us", "12.3ms", "1,5", "1e", "e5", "--1"} {
		if got, err := parseMicros(bad); err == nil {
			t.Errorf("parseMicros(%q) = %g, want an error", bad, got)
		}
	}
	if got, err := parseMicros("inf"); err != nil || !math.IsInf(got, 1) {
		t.Errorf("parseMicros(inf) = %g, %v", got, err)
	}
}

func TestMicrosRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for range 100_000 {
		seconds := math.Float64frombits(rng.Uint64() >> 1) // any positive number
		if math.IsInf(seconds, 0) || math.IsNaN(seconds) || seconds > 1e300 {
			continue
		}
		text := formatMicros(seconds)
		if got, err := parseMicros(text); err != nil || got != seconds {
			t.Fatalf("%g s is written %q and read %g, %v", seconds, text, got, err)
		}
	}
}

func TestLongCells(t *testing.T) {
	long := strings.Repeat("ä", 10_000)
	text := "collective,algorithm,nodes,ppn,msg_bytes,time_us\n" +
		long + ",a,1,1,1,1\nbcast," + long + ",1,1,1,1\nbcast,a," + long + ",1,1,1\nbcast,a,1,1,1,1\n"
	table := testutil.Must(readTable(strings.NewReader(text), "in.csv"))(t)
	for _, w := range table.Warnings {
		if len(w.String()) > 500 {
			t.Errorf("warning of %d bytes", len(w.String()))
		}
	}
}
