package clustering_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/lab/clustering"
	"tutti/topology/discover"
)

// wire is a link that follows the PLogP model. Times are in seconds.
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

// saturate measures the gap by series, whose time starts when the first message is sent.
func (w wire) saturate(m int) clustering.Saturation {
	var s clustering.Saturation
	for n := s.Next(); n > 0; n = s.Next() {
		s.Add(n, float64(n)*w.gap(m)+2*w.latency)
	}
	return s
}

// TestFitOfMeasuredLink checks that measurements of a link that follows the model give the
// parameters of the link.
func TestFitOfMeasuredLink(t *testing.T) {
	w := ethernet()
	s := w.saturate(0)
	if gap := s.Gap(); !s.Steady() || math.Abs(gap/w.gap(0)-1) > 0.02 {
		t.Fatalf("gap %g, want %g within 2 %%", gap, w.gap(0))
	}
	var readings []discover.SizeTimes
	for _, m := range clustering.Sizes(1 << 20) {
		readings = append(readings, w.read(m))
	}
	slices.Reverse(readings)
	p, err := discover.FitPLogP(w.roundTrip(0), w.gap(0), readings)
	if err != nil {
		t.Fatal(err)
	}
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

// TestSaturation checks that series double from 10 messages until two gaps agree within 1 %, or
// the next series would have more than 37 500 messages.
func TestSaturation(t *testing.T) {
	measure := func(mean func(n int) float64) (counts []int, s clustering.Saturation) {
		for n := s.Next(); n > 0; n = s.Next() {
			counts = append(counts, n)
			s.Add(n, float64(n)*mean(n))
		}
		return counts, s
	}
	counts, s := measure(func(int) float64 { return 3e-6 })
	if d := cmp.Diff([]int{10, 20}, counts); d != "" || !s.Steady() || math.Abs(s.Gap()-3e-6) > 1e-18 {
		t.Errorf("a steady link: gap %g (-want +got):\n%s", s.Gap(), d)
	}
	counts, s = measure(func(n int) float64 { return 1 + float64(n) })
	if d := cmp.Diff([]int{10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 20480}, counts); d != "" || s.Steady() {
		t.Errorf("a link whose gap grows (-want +got):\n%s", d)
	}
}

// TestExtra checks that Extra asks for sizes near a jump in the times, and for none on a straight
// line.
func TestExtra(t *testing.T) {
	w := ethernet()
	var straight, bent []discover.SizeTimes
	handshake := ethernet() // messages above 12 000 bytes begin with a handshake
	handshake.gap = func(m int) float64 {
		if m > 12000 {
			return w.gap(m) + 50e-6
		}
		return w.gap(m)
	}
	for _, m := range clustering.Sizes(1 << 17) {
		straight, bent = append(straight, w.read(m)), append(bent, handshake.read(m))
	}
	if got := clustering.Extra(straight, 0.01); got != nil {
		t.Errorf("a straight line: %v", got)
	}
	rounds := 0
	for extra := clustering.Extra(bent, 0.01); len(extra) > 0; extra = clustering.Extra(bent, 0.01) {
		if rounds++; rounds > 20 {
			t.Fatalf("still wants %v", extra)
		}
		for _, m := range extra {
			bent = append(bent, handshake.read(m))
		}
	}
	p, err := discover.FitPLogP(w.roundTrip(0), w.gap(0), bent)
	if err != nil {
		t.Fatal(err)
	}
	for m := 1; m <= 1<<17; m += 100 {
		want := handshake.latency + 0.75*handshake.send(m) + handshake.gap(m)
		if got := clustering.Time(p, m); math.Abs(got/want-1) > 0.02 && (m < 12000-32 || m > 12000+32) {
			t.Errorf("%d bytes take %g, want %g", m, got, want)
		}
	}
}

// TestExtraEnds checks that Extra asks for no size twice, with random times.
func TestExtraEnds(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		read := func(m int) discover.SizeTimes { return discover.SizeTimes{Bytes: m, RoundTrip: rng.Float64()} }
		var readings []discover.SizeTimes
		for _, m := range clustering.Sizes(1 << 12) {
			readings = append(readings, read(m))
		}
		for extra := clustering.Extra(readings, 0.01); len(extra) > 0; extra = clustering.Extra(readings, 0.01) {
			for _, m := range extra {
				if slices.ContainsFunc(readings, func(r discover.SizeTimes) bool { return r.Bytes == m }) {
					t.Fatalf("seed %d: %d bytes again", seed, m)
				}
				readings = append(readings, read(m))
			}
		}
	}
}

// pair returns parameters that are the same for all message sizes.
func pair(latency, send, receive, gap float64) discover.Parameters {
	return discover.Parameters{Latency: latency, Sizes: []discover.Overhead{{Bytes: 1, Send: send, Receive: receive, Gap: gap}}}
}

func TestDistances(t *testing.T) {
	got, err := clustering.Distances([][]discover.Parameters{{}, {pair(1, 2, 4, 8)}, {{}, pair(2, 0, 0, 1)}}, 64)
	if err != nil {
		t.Fatal(err)
	}
	if got[1][0] != 12 || !math.IsNaN(got[2][0]) || got[2][1] != 3 {
		t.Errorf("%v, want 12, NaN and 3", got)
	}
	if _, err := clustering.Distances([][]discover.Parameters{{}, {}}, 64); !errors.Is(err, discover.ErrParameters) {
		t.Errorf("a row too short: %v", err)
	}
}

// TestProfiles checks the distances between profiles of three ranks. Ranks 0 and 1 have the same
// parameters with rank 2.
func TestProfiles(t *testing.T) {
	near, far := pair(1, 2, 4, 8), pair(3, 0, 0, 1)
	got, err := clustering.Profiles([][]discover.Parameters{{}, {near}, {far, far}}, 64)
	if err != nil {
		t.Fatal(err)
	}
	square := 1.0 + 4 + 16 + 64
	if want := math.Sqrt(2 * square); math.Abs(got[1][0]-want) > 1e-12 {
		t.Errorf("ranks 0 and 1: %g, want %g", got[1][0], want)
	}
	if want := math.Sqrt(2*(9+1) + (2*2 + 2*2 + 4*4 + 7*7)); math.Abs(got[2][0]-want) > 1e-12 {
		t.Errorf("ranks 0 and 2: %g, want %g", got[2][0], want)
	}
	for _, pairs := range [][][]discover.Parameters{{{}, {{}}}, {{}, {}}} {
		if _, err := clustering.Profiles(pairs, 64); !errors.Is(err, discover.ErrParameters) {
			t.Errorf("%v: %v", pairs, err)
		}
	}
}
