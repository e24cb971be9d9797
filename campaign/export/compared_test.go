package export

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/report"
	"tutti/verify"
)

// noisy returns measurements of the synthetic machine with 2 % noise. The time of each candidate is
// multiplied by a factor.
func noisy(t testing.TB, seed uint64, factor func(coll.Candidate) float64) []coll.Measurement {
	t.Helper()
	points := testutil.Must(coll.Grid{Nodes: []int{2, 4, 8}, PPN: []int{1, 4}, Sizes: []int64{8, 64, 512, 4096, 32768, 262144}}.Points(coll.Bcast))(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	ms := testutil.SyntheticMeasurements(points)
	for i, m := range ms {
		ms[i].Seconds *= math.Exp(0.02*rng.NormFloat64()) * factor(m.Candidate)
	}
	return ms
}

// everyNth returns every n-th measurement. The given list has four measurements for each point.
func everyNth(ms []coll.Measurement, n int) []coll.Measurement {
	var out []coll.Measurement
	for i := 0; i < len(ms); i += n {
		out = append(out, ms[i])
	}
	return out
}

func unchanged(coll.Candidate) float64 { return 1 }

// TestCompare checks that a change since an earlier campaign is found, with the right factor and for the
// right algorithm or message sizes. No other change may be reported.
func TestCompare(t *testing.T) {
	earlier := noisy(t, 1, unchanged)
	for _, tc := range []struct {
		name       string
		factor     func(coll.Candidate) float64
		algorithms []string // changed algorithms
		sizes      bool     // only large messages changed
		by         float64
	}{
		{name: "nothing", factor: unchanged},
		{name: "one algorithm", factor: func(c coll.Candidate) float64 {
			if c.Algorithm.Name == "ring" {
				return 2
			}
			return 1
		}, algorithms: []string{"ring"}, by: 2},
		{name: "large messages", factor: func(c coll.Candidate) float64 {
			if c.MsgBytes >= 32768 {
				return 1.5
			}
			return 1
		}, sizes: true, by: 1.5},
		{name: "everything", factor: func(coll.Candidate) float64 { return 0.5 }, algorithms: []string{"halving", "linear", "ring", "tree"}, by: 0.5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := compare("first", earlier, everyNth(noisy(t, 2, tc.factor), 3))
			if tc.sizes {
				if first, last := f.Sizes[0], f.Sizes[len(f.Sizes)-1]; first.Changed || !last.Changed || math.Abs(last.Factor.Value/tc.by-1) > 0.1 {
					t.Errorf("sizes: %+v %+v to %+v %+v, want the last changed by %g", first, first.Factor, last, last.Factor, tc.by)
				}
				return
			}
			var changed []string
			for _, a := range f.Algorithms {
				if !a.Changed {
					continue
				}
				changed = append(changed, a.Name)
				if a.Factor.Low > 1.05*tc.by || a.Factor.High < tc.by/1.05 {
					t.Errorf("%s changed by %+v, want %g", a.Name, a.Factor, tc.by)
				}
			}
			if !slices.Equal(changed, tc.algorithms) {
				t.Errorf("changed: %q, want %q", changed, tc.algorithms)
			}
		})
	}
}

// TestCompareCounts checks how a comparison with an earlier campaign counts candidates: those measured again and
// those measured for the first time. An algorithm that the earlier campaign did not measure must not be compared.
func TestCompareCounts(t *testing.T) {
	all := noisy(t, 1, unchanged)
	isTree := func(m coll.Measurement) bool { return m.Algorithm.Name == "tree" }
	earlier := slices.DeleteFunc(slices.Clone(all), isTree)[:40]
	f := compare("first", earlier, all[:60])
	if f.Campaign != "first" || f.Earlier != 40 || f.Remeasured+f.New != 60 || f.Remeasured == 0 || f.New == 0 {
		t.Errorf("%d measured again and %d new of 60, after %d", f.Remeasured, f.New, f.Earlier)
	}
	if slices.ContainsFunc(f.Algorithms, func(c report.ChangeFacts) bool { return c.Name == "tree" }) {
		t.Errorf("the algorithm tree is compared without earlier measurements: %+v", f.Algorithms)
	}
	measured := 0
	for _, a := range f.Algorithms {
		measured += a.Measured
	}
	if measured != f.Remeasured {
		t.Errorf("%d measurements are compared, want %d", measured, f.Remeasured)
	}
}

// TestCompareWithoutMeasurements checks a comparison in which one campaign has no measurements. If it is the new
// one, algorithms must have no factor. If it is the earlier one, no algorithm may be listed.
func TestCompareWithoutMeasurements(t *testing.T) {
	f := compare("first", noisy(t, 1, unchanged), nil)
	if len(f.Algorithms) != 4 || len(f.Sizes) != 0 {
		t.Fatalf("%+v", f)
	}
	for _, a := range f.Algorithms {
		if a.Factor != (verify.Interval{}) || a.Measured != 0 || a.Changed {
			t.Errorf("%+v", a)
		}
	}
	if none := compare("none", nil, noisy(t, 1, unchanged)); none.Remeasured != 0 || len(none.Algorithms) != 0 {
		t.Errorf("without earlier measurements: %+v", none)
	}
}

// TestSizeBands checks that all ranges of sizes have about the same number of sizes, and that each size is
// in one range.
func TestSizeBands(t *testing.T) {
	for _, tc := range []struct {
		sizes []int64
		want  string
	}{
		{nil, ""},
		{[]int64{8}, "8B"},
		{[]int64{1024, 8, 8}, "8B, 1KiB"},
		{[]int64{1, 2, 4, 8, 16, 32, 64, 128}, "1B, 2B, 4B to 8B, 16B, 32B, 64B to 128B"},
	} {
		var changes []change
		for _, s := range tc.sizes {
			changes = append(changes, change{Candidate: coll.Candidate{Point: coll.Point{MsgBytes: s}}})
		}
		var names []string
		for _, b := range sizeBands(changes) {
			names = append(names, b.name)
		}
		if got := strings.Join(names, ", "); got != tc.want {
			t.Errorf("%v: bands %s, want %s", tc.sizes, got, tc.want)
		}
	}
}

// TestOtherPlacements checks the report's texts about a verification that placed ranks on nodes in another way
// than the campaign.
func TestOtherPlacements(t *testing.T) {
	trial := func(nodes int, order coll.Order, switches int) verify.Entry {
		tr := coll.Trial{Measurement: coll.Measurement{Placement: coll.Placement{Order: order, Switches: switches}}}
		tr.Nodes, tr.PPN = nodes, 2
		return verify.Entry{Trial: &tr}
	}
	tuned := coll.Placements{Order: coll.Block, PPN: []int{2}, Switches: []coll.Switches{{Nodes: 2, Least: 1, Most: 1}, {Nodes: 4, Least: 1, Most: 2}}}
	verified := []verify.Entry{trial(4, coll.Block, 2), trial(4, coll.Block, 4), trial(2, coll.Block, 2), {}, trial(4, coll.Block, 4), trial(1, "", 0)}
	want := []string{"2 nodes on 2 switches, not on 1", "4 nodes on 4 switches, not on 1 to 2"}
	if d := cmp.Diff(want, otherPlacements(tuned, verified)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := otherPlacements(coll.Placements{}, verified); got != nil {
		t.Errorf("the placements of the campaign are unknown: %q", got)
	}
	if got := otherPlacements(tuned, nil); got != nil {
		t.Errorf("without a verification: %q", got)
	}
}
