package activelearn

import (
	"slices"
	"testing"

	"tutti/coll"
)

// TestLeftToLibrary checks which points are left to the library: those where the default or every candidate was given
// up. A refused or noisy candidate must exclude no other.
func TestLeftToLibrary(t *testing.T) {
	ring, tree := coll.Algorithm{Name: "ring"}, coll.Algorithm{Name: "tree"}
	var points []coll.Point
	for _, size := range []int64{8, 64, 512, 4096} {
		points = append(points, coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: size})
	}
	l := NewLedger(coll.NewSpace(points, []coll.Algorithm{coll.Default, ring, tree}, func(coll.Candidate) error { return nil }))
	at := func(i int, a coll.Algorithm) coll.Candidate { return coll.Candidate{Point: points[i], Algorithm: a} }
	for _, step := range []struct {
		mark func(coll.Candidate)
		c    coll.Candidate
	}{
		{l.Abandon, at(0, coll.Default)},
		{l.MarkRefused, at(1, coll.Default)}, {l.MarkRefused, at(1, ring)}, {l.MarkRefused, at(1, tree)},
		{l.MarkNoisy, at(2, ring)},
	} {
		if err := l.Pend(step.c); err != nil {
			t.Fatal(err)
		}
		step.mark(step.c)
	}
	if got := l.LeftToLibrary(); !slices.Equal(got, points[:2]) {
		t.Errorf("left to the library: %v, want %v", got, points[:2])
	}
	e := l.Excluded()
	if !e.Has(at(2, ring)) || e.Has(at(3, ring)) || e.Has(at(3, tree)) || e.Has(at(0, ring)) || l.Noisy() != 1 {
		t.Error("a noisy or refused candidate must be excluded itself, and exclude no other")
	}
}
