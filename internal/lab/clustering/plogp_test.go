package clustering_test

import (
	"math"
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

// TestFitOfMeasuredLink fits a link that follows the PLogP model. It checks that the fitted parameters are those of
// the link.
func TestFitOfMeasuredLink(t *testing.T) {
	w := ethernet()
	readings := []discover.SizeTimes{{RoundTrip: w.roundTrip(0), Gap: w.gap(0)}}
	for m := 1 << 20; m > 0; m /= 2 {
		readings = append(readings, w.read(m))
	}
	p := testutil.Must(discover.FitPLogP(readings))(t)
	if math.Abs(p.Latency-w.latency) > 1e-15 {
		t.Errorf("latency %g, want %g", p.Latency, w.latency)
	}
	for _, m := range []int{0, 1, 3, 1000, 1 << 16, 3 << 18, 1 << 21} { // within and beyond the measured sizes
		want := w.latency + 0.75*w.send(m) + w.gap(m)
		if got := p.Time(m); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%d bytes take %g, want %g", m, got, want)
		}
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

// TestProfiles compares the distances between the profiles of three ranks with known values. Messages between ranks
// 0 and 2 have the same parameters as messages between ranks 1 and 2.
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
