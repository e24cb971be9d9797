package coll_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
)

func TestParseCollective(t *testing.T) {
	all := coll.Collectives()
	if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("Collectives() = %v, want each once in alphabetical order", all)
	}
	for _, want := range all {
		if got, err := coll.ParseCollective(string(want)); got != want || err != nil {
			t.Errorf("ParseCollective(%q) = %q, %v", want, got, err)
		}
	}
	golden := testutil.GoldenErrors(t)
	for _, s := range []string{"", "Bcast", "MPI_Bcast", " bcast", "broadcast"} {
		_, err := coll.ParseCollective(s)
		golden(strconv.Quote(s), err)
	}
}

// TestConventions checks that nonblocking collectives have the properties of the blocking ones, whose properties
// csource.TestCollectives checks. As in the OSU Micro-Benchmarks, reductions have elements of 4 bytes, and other
// collectives have elements of 1 byte.
func TestConventions(t *testing.T) {
	for _, c := range coll.Collectives() {
		element := int64(1)
		if c.Reduces() {
			element = 4
		}
		b := c.Blocking()
		same := c.Reduces() == b.Reduces() && c.PerRank() == b.PerRank() && c.SizesDiffer() == b.SizesDiffer() && c.Sized() == b.Sized()
		if !same || c.ElementBytes() != element {
			t.Errorf("%s: Reduces, PerRank, SizesDiffer, Sized, ElementBytes = %t, %t, %t, %t, %d", c, c.Reduces(), c.PerRank(), c.SizesDiffer(), c.Sized(), c.ElementBytes())
		}
		if name, nonblocking := strings.CutPrefix(string(c), "i"); c.Blocking() != coll.Collective(name) || c.Nonblocking() != nonblocking {
			t.Errorf("%s: Blocking, Nonblocking = %s, %t", c, c.Blocking(), c.Nonblocking())
		}
	}
}

func TestCount(t *testing.T) {
	for _, tc := range []struct {
		collective  coll.Collective
		bytes, want int64
	}{
		{coll.Bcast, 0, 0}, {coll.Bcast, 1, 1}, {coll.Bcast, 4096, 4096}, {coll.Barrier, 0, 0},
		{coll.Allreduce, 0, 0}, {coll.Allreduce, 1, 1}, // a message smaller than an element counts as one element
		{coll.Allreduce, 4, 1}, {coll.Allreduce, 7, 1}, {coll.Allreduce, 8, 2}, {coll.Reduce, 4096, 1024},
	} {
		p := coll.Point{Collective: tc.collective, Nodes: 2, PPN: 1, MsgBytes: tc.bytes}
		if got := p.Count(); got != tc.want {
			t.Errorf("%v Count() = %d, want %d", p, got, tc.want)
		}
	}
}

func TestLayout(t *testing.T) {
	p := coll.Point{Collective: coll.Bcast, Nodes: 6, PPN: 36, MsgBytes: 1536}
	if got := p.Ranks(); got != 216 {
		t.Errorf("%v Ranks() = %d, want 216", p, got)
	}
	if l := p.Layout(); l.String() != "6x36" || l.Ranks() != 216 {
		t.Errorf("Layout() = %v of %d ranks, want 6x36 of 216", l, l.Ranks())
	}
	if got, want := p.String(), "bcast 6x36 1536B"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

// TestCompare checks the order of candidates: each key of the order matters only if all earlier keys are equal.
func TestCompare(t *testing.T) {
	ascending := []coll.Candidate{
		candidate(coll.Allreduce, 9, 9, 9, "z"),
		candidate(coll.Bcast, 1, 9, 9, "z"),
		candidate(coll.Bcast, 2, 1, 9, "z"),
		candidate(coll.Bcast, 2, 2, 8, "z"),
		candidate(coll.Bcast, 2, 2, 16, "a"),
		candidate(coll.Bcast, 2, 2, 16, "b"),
		candidate(coll.Bcast, 16, 1, 1, "a"), // numbers, not text
	}
	for i, a := range ascending {
		for j, b := range ascending {
			want := sign(i - j)
			if got := coll.CompareCandidates(a, b); got != want {
				t.Errorf("CompareCandidates(%v, %v) = %d, want %d", a, b, got, want)
			}
			if a.Point == b.Point {
				want = 0
			}
			if got := coll.ComparePoints(a.Point, b.Point); got != want {
				t.Errorf("ComparePoints(%v, %v) = %d, want %d", a.Point, b.Point, got, want)
			}
		}
	}
	layouts := []coll.Layout{{Nodes: 1, PPN: 8}, {Nodes: 2, PPN: 1}, {Nodes: 2, PPN: 4}, {Nodes: 10, PPN: 1}}
	for i, a := range layouts {
		for j, b := range layouts {
			if got, want := coll.CompareLayouts(a, b), sign(i-j); got != want {
				t.Errorf("CompareLayouts(%v, %v) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func sign(n int) int { return min(1, max(-1, n)) }

func candidate(c coll.Collective, nodes, ppn int, size int64, algorithm string) coll.Candidate {
	return coll.Candidate{
		Point:     coll.Point{Collective: c, Nodes: nodes, PPN: ppn, MsgBytes: size},
		Algorithm: coll.Algorithm{Name: algorithm},
	}
}

func TestValidate(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for _, tc := range []struct {
		seconds, cost float64
		valid         bool
	}{
		{1e-6, 1, true}, {1e-6, 0, true},
		{seconds: 0}, {seconds: -1}, {seconds: math.NaN()}, {seconds: math.Inf(1)},
		{seconds: 1, cost: -1}, {seconds: 1, cost: math.NaN()}, {seconds: 1, cost: math.Inf(1)},
	} {
		err := coll.Measurement{Candidate: candidate(coll.Bcast, 2, 1, 8, "ring"), Seconds: tc.seconds, CostSeconds: tc.cost}.Validate()
		if !tc.valid {
			golden(fmt.Sprintf("%g s for %g s", tc.seconds, tc.cost), err)
		} else if err != nil {
			t.Errorf("%g s for %g s: %v", tc.seconds, tc.cost, err)
		}
	}
}

// TestTrialJSON checks that trials in the journal keep their JSON form. Keys may be added, but existing keys
// must not move.
func TestTrialJSON(t *testing.T) {
	alg := testutil.Must(coll.ParseAlgorithm("chain(segsize=8192,faninout=4)"))(t)
	where := coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 16, PPN: 4, MsgBytes: 65536}, Algorithm: alg}
	tests := []struct {
		name string
		in   coll.Trial
		want string
	}{
		{
			name: "done",
			in: coll.Trial{
				Measurement: coll.Measurement{Candidate: where, Seconds: 1.25e-5, Low: 1e-5, High: 2e-5, Samples: 7, CostSeconds: 3.5},
				Attempt:     1, State: coll.TrialDone,
			},
			want: `{"collective":"bcast","nodes":16,"ppn":4,"msg_bytes":65536,"algorithm":"chain(faninout=4,segsize=8192)",` +
				`"seconds":0.0000125,"low":0.00001,"high":0.00002,"samples":7,"cost_seconds":3.5,"attempt":1,"state":"done"}`,
		},
		{
			name: "failed",
			in: coll.Trial{
				Measurement: coll.Measurement{Candidate: where, CostSeconds: 2},
				Attempt:     2, State: coll.TrialFailed, Phase: "launch", Error: "no such host",
			},
			want: `{"collective":"bcast","nodes":16,"ppn":4,"msg_bytes":65536,"algorithm":"chain(faninout=4,segsize=8192)",` +
				`"seconds":0,"cost_seconds":2,"attempt":2,"state":"failed","phase":"launch","error":"no such host"}`,
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := testutil.Must(json.Marshal(tc.in))(t)
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("trial as JSON (-want +got):\n%s", diff)
			}
			var back coll.Trial
			testutil.NoError(t, json.Unmarshal(got, &back))
			if back != tc.in {
				t.Errorf("trial read back = %+v, want %+v", back, tc.in)
			}
		})
	}
}

// TestOverlap checks the share of a call that computation hides.
func TestOverlap(t *testing.T) {
	for _, tc := range []struct {
		overall, want float64
		ok            bool
	}{{0, 1, false}, {1, 1, true}, {0.5, 1, true}, {1.25, 0.75, true}, {2, 0, true}, {7, 0, true}} {
		m := coll.Measurement{Seconds: 1, Overall: tc.overall}
		if got, ok := m.Overlap(); ok != tc.ok || ok && got != tc.want {
			t.Errorf("%g s with computation: overlap %g, %t, want %g, %t", tc.overall, got, ok, tc.want, tc.ok)
		}
	}
}
