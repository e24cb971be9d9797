package clustering_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tutti/internal/lab/clustering"
	"tutti/internal/testutil"
	"tutti/topology/discover"
)

// wire is a simulated link that follows the PLogP model. Times are in seconds.
type wire struct {
	latency float64
	gap     func(bytes int) float64
	send    func(bytes int) float64
}

func ethernet() wire {
	return wire{
		latency: 20e-6,
		gap:     func(m int) float64 { return 4e-6 + float64(m)/125e6 },
		send:    func(m int) float64 { return 3e-6 + float64(m)/2e9 },
	}
}

func (w wire) roundTrip(m int) float64 { return 2*w.latency + w.gap(m) + w.gap(0) }

func (w wire) read(m int) discover.SizeTimes {
	return discover.SizeTimes{Bytes: m, RoundTrip: w.roundTrip(m), Send: w.send(m), Receive: w.send(m) / 2}
}

// TestFitOfMeasuredLink measures a link that follows the PLogP model. It checks that the fitted parameters
// are those of the link.
func TestFitOfMeasuredLink(t *testing.T) {
	w := ethernet()
	gap, steady := clustering.Gap(func(messages int) float64 { return float64(messages)*w.gap(0) + 2*w.latency })
	if !steady || math.Abs(gap/w.gap(0)-1) > 0.02 {
		t.Fatalf("gap %g, want %g within 2 %%", gap, w.gap(0))
	}
	readings := clustering.Readings(1<<20, 0.01, w.read)
	slices.Reverse(readings)
	p := testutil.Must(discover.FitPLogP(w.roundTrip(0), w.gap(0), readings))(t)
	if math.Abs(p.Latency-w.latency) > 1e-15 {
		t.Errorf("latency %g, want %g", p.Latency, w.latency)
	}
	for _, m := range []int{0, 1, 3, 1000, 1 << 16, 3 << 18, 1 << 21} { // within and beyond the measured sizes
		want := w.latency + 0.75*w.send(m) + w.gap(m)
		if got := clustering.Time(p, m); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%d bytes take %g, want %g", m, got, want)
		}
	}
}

// TestGap checks that the length of the series doubles from 10 messages until two gaps agree within 1 %, or
// until the next series would exceed 37 500 messages.
func TestGap(t *testing.T) {
	for _, tc := range []struct {
		name   string
		gap    func(messages int) float64
		counts []int
		steady bool
	}{
		{"a steady link", func(int) float64 { return 3e-6 }, []int{10, 20}, true},
		{
			"a link whose gap grows", func(n int) float64 { return 1 + float64(n) },
			[]int{10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 20480}, false,
		},
	} {
		var counts []int
		got, steady := clustering.Gap(func(n int) float64 {
			counts = append(counts, n)
			return float64(n) * tc.gap(n)
		})
		want := tc.gap(counts[len(counts)-1])
		if !slices.Equal(counts, tc.counts) || steady != tc.steady || math.Abs(got-want) > 1e-12*want {
			t.Errorf("%s: gap %g after series %v, steady %t, want %g", tc.name, got, counts, steady, want)
		}
	}
}

// TestReadings checks that more sizes are measured near a jump of the times. If the times form a straight
// line, only powers of two are measured.
func TestReadings(t *testing.T) {
	w, handshake := ethernet(), ethernet()
	handshake.gap = func(m int) float64 {
		if m > 12000 { // larger messages begin with a handshake
			return w.gap(m) + 50e-6
		}
		return w.gap(m)
	}
	if got := clustering.Readings(1<<17, 0.01, w.read); len(got) != len(clustering.Sizes(1<<17)) {
		t.Errorf("%d sizes of a straight line, want the powers of two", len(got))
	}
	p := testutil.Must(discover.FitPLogP(w.roundTrip(0), w.gap(0), clustering.Readings(1<<17, 0.01, handshake.read)))(t)
	for m := 1; m <= 1<<17; m += 100 {
		want := handshake.latency + 0.75*handshake.send(m) + handshake.gap(m)
		if got := clustering.Time(p, m); math.Abs(got/want-1) > 0.02 && (m < 12000-32 || m > 12000+32) {
			t.Errorf("%d bytes take %g, want %g", m, got, want)
		}
	}
}

// TestReadingsMeasureEachSizeOnce checks with random times that no size is measured twice.
func TestReadingsMeasureEachSizeOnce(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		measured := map[int]bool{}
		clustering.Readings(1<<12, 0.01, func(m int) discover.SizeTimes {
			if measured[m] {
				t.Fatalf("seed %d: %d bytes again", seed, m)
			}
			measured[m] = true
			return discover.SizeTimes{Bytes: m, RoundTrip: rng.Float64()}
		})
	}
}

// pair returns parameters that are the same for all message sizes.
func pair(latency, send, receive, gap float64) discover.Parameters {
	return discover.Parameters{Latency: latency, Sizes: []discover.Overhead{{Bytes: 1, Send: send, Receive: receive, Gap: gap}}}
}

func TestDistances(t *testing.T) {
	got := clustering.Distances([][]discover.Parameters{{}, {pair(1, 2, 4, 8)}, {pair(2, 0, 0, 2), pair(2, 0, 0, 1)}}, 64)
	if got[1][0] != 12 || got[2][0] != 4 || got[2][1] != 3 {
		t.Errorf("%v, want 12, 4 and 3", got)
	}
}

// TestProfiles checks the distances between profiles of three ranks. Ranks 0 and 1 have the same
// parameters with rank 2.
func TestProfiles(t *testing.T) {
	near, far := pair(1, 2, 4, 8), pair(3, 0, 0, 1)
	got := clustering.Profiles([][]discover.Parameters{{}, {near}, {far, far}}, 64)
	square := 1.0 + 4 + 16 + 64
	if want := math.Sqrt(2 * square); math.Abs(got[1][0]-want) > 1e-12 {
		t.Errorf("ranks 0 and 1: %g, want %g", got[1][0], want)
	}
	if want := math.Sqrt(2*(9+1) + (2*2 + 2*2 + 4*4 + 7*7)); math.Abs(got[2][0]-want) > 1e-12 {
		t.Errorf("ranks 0 and 2: %g, want %g", got[2][0], want)
	}
}
