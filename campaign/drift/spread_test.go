package drift

import (
	"slices"
	"testing"

	"tutti/coll"
)

func TestSpread(t *testing.T) {
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
		for _, m := range spread(ms, tc.n) {
			got = append(got, m.MsgBytes)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%d of %d: sizes %v, want %v", tc.n, len(ms), got, tc.want)
		}
	}
	if got := spread(nil, 3); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
	if !slices.Equal(ms, given) {
		t.Error("the measurements were moved")
	}
}
