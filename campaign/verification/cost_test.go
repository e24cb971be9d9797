package verification

import (
	"math"
	"slices"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/journal"
	"tutti/verify"
)

// TestBlockCost checks the expected cost of a block, which is one repetition at all test points. Each launch counts
// with the mean launch time in earlier jobs on the same number of nodes. Each case counts with the mean time of a
// candidate in these jobs.
func TestBlockCost(t *testing.T) {
	at := func(nodes int, bytes int64) coll.Point {
		return coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: 2, MsgBytes: bytes}
	}
	problem := journal.Problem{Library: "mpich", Collective: coll.Bcast}
	var state journal.State
	batch := []coll.Candidate{{Point: at(2, 8)}, {Point: at(2, 16)}, {Point: at(4, 8)}}
	state.Add(journal.Record{Kind: journal.KindBatch, Problem: problem, Round: 1, Batch: batch})
	for _, j := range []coll.Job{
		{Name: "two", Nodes: 2, Requests: []int{0, 1}, Spent: coll.Spent{Queue: 100, Launch: 2, Idle: 1, Warmup: 1, Measure: 3}},
		{Name: "four", Nodes: 4, Requests: []int{2}, Spent: coll.Spent{Launch: 5, Measure: 7}},
		{Name: "dead", Nodes: 4, Requests: []int{2}, Spent: coll.Spent{Launch: 900}, NoStartReason: "nothing started"},
	} {
		j.State = coll.JobEnded
		state.Add(journal.Record{Kind: journal.KindJob, Problem: problem, Round: 1, Job: &j})
	}
	same := func(journal.Problem) benchrunner.Start { return nil }
	usages := testutil.Must(usagesOf(&state, "mpich", benchrunner.LaunchNative, same))(t)
	for _, tc := range []struct {
		name   string
		points []coll.Point
		nodes  int
		want   float64 // time of a block, seconds
	}{
		{"two launches of two nodes with two cases each", []coll.Point{at(2, 8), at(2, 64)}, 2, 2*3 + 4*2},
		{"four nodes", []coll.Point{at(4, 8)}, 4, 2*5 + 2*7},
		{"a number of nodes that no job had: all jobs", []coll.Point{at(8, 8)}, 8, 2*4 + 2*11.0/3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var points []verify.TestPoint
			for _, p := range tc.points {
				points = append(points, verify.TestPoint{Point: p})
			}
			block := launchesOf(points, benchrunner.LaunchNative)[tc.nodes]
			if got := usages.of(tc.nodes).seconds(block); math.Abs(got-tc.want) > 1e-12 {
				t.Errorf("a block takes %g s, want %g", got, tc.want)
			}
		})
	}
	if got := testutil.Must(usagesOf(&state, "openmpi", benchrunner.LaunchNative, same))(t).of(2).seconds(usage{launches: 1, cases: 1}); got != 0 {
		t.Errorf("a library without jobs has the cost %g s", got)
	}
}

func TestSample(t *testing.T) {
	var ms []coll.Measurement
	for _, size := range []int64{64, 8, 512, 32, 256, 16, 1024, 128} {
		ms = append(ms, coll.Measurement{Candidate: coll.Candidate{
			Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: size}, Algorithm: coll.Default,
		}})
	}
	given := slices.Clone(ms)
	for _, tc := range []struct {
		n    int
		want []int64
	}{
		{1, []int64{128}},
		{2, []int64{32, 512}},
		{3, []int64{16, 128, 512}},
		{8, []int64{8, 16, 32, 64, 128, 256, 512, 1024}},
		{20, []int64{8, 16, 32, 64, 128, 256, 512, 1024}},
	} {
		var got []int64
		for _, m := range sample(ms, tc.n) {
			got = append(got, m.MsgBytes)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%d of %d: sizes %v, want %v", tc.n, len(ms), got, tc.want)
		}
	}
	if got := sample(nil, 3); len(got) != 0 {
		t.Errorf("without measurements: %v", got)
	}
	if !slices.Equal(ms, given) {
		t.Error("the measurements were moved")
	}
}
