package activelearn_test

import (
	"testing"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/internal/testutil"
)

// TestExcludedCandidates checks that candidates that were given up are excluded. Unmeasured candidates with
// more nodes or greater sizes must be excluded, too.
func TestExcludedCandidates(t *testing.T) {
	at := func(nodes int, bytes int64, alg string) coll.Candidate {
		return coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: 4, MsgBytes: bytes}, Algorithm: coll.Algorithm{Name: alg}}
	}
	type try struct {
		nodes  int
		bytes  int64
		worked bool
	}
	tests := []struct {
		name  string
		tries []try
		nodes int
		want  string // status of the sizes 1, 64, 4096 and 65536: w worked, x excluded, . may be selected
	}{
		{"nothing failed", []try{{2, 64, true}}, 2, ".w.."},
		{"fails from a size on", []try{{2, 64, true}, {2, 4096, false}}, 2, ".wxx"},
		{"fails at the largest alone", []try{{2, 64, true}, {2, 65536, false}}, 2, ".wxx"},
		{"fails up to a size", []try{{2, 1, false}, {2, 4096, true}}, 2, "xxw."},
		{"fails between sizes that work", []try{{2, 1, true}, {2, 64, false}, {2, 65536, true}}, 2, "wx.w"},
		{"fails wherever it was tried", []try{{2, 64, false}}, 2, "xxxx"},
		{"works where it was tried, fails elsewhere", []try{{2, 64, false}, {3, 64, true}}, 3, ".w.."},
		{"not tried in the layout", []try{{2, 64, true}, {2, 4096, false}, {3, 4096, false}}, 8, "..xx"},
		{"tried in the layout where it works", []try{{2, 64, true}, {2, 4096, false}, {3, 1, true}}, 3, "w.xx"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			l := activelearn.NewLedger(cube(t))
			for _, try := range tc.tries {
				c := at(try.nodes, try.bytes, "tree")
				pend(t, l, c)
				if try.worked {
					record(t, l, trial(t, c))
				} else {
					l.Abandon(c)
				}
			}
			barred, got := l.Excluded(), ""
			for _, bytes := range []int64{1, 64, 4096, 65536} {
				c := at(tc.nodes, bytes, "tree")
				switch {
				case barred.Has(c):
					got += "x"
				case len(l.Missing(c.Point)) < len(testutil.SyntheticAlgorithms()):
					got += "w"
				default:
					got += "."
				}
			}
			if got != tc.want {
				t.Errorf("barred %s, want %s", got, tc.want)
			}
			if barred.Has(at(tc.nodes, 64, "ring")) {
				t.Error("another algorithm is barred")
			}
		})
	}
}

// TestDefaultIsNeverExcluded checks that the library's default is not excluded even if it was given up at
// some points.
func TestDefaultIsNeverExcluded(t *testing.T) {
	p := coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 8}
	c := coll.Candidate{Point: p, Algorithm: coll.Default}
	l := activelearn.NewLedger(coll.NewSpace([]coll.Point{p}, []coll.Algorithm{coll.Default}, func(coll.Candidate) error { return nil }))
	pend(t, l, c)
	l.Abandon(c)
	if l.Excluded().Has(c) {
		t.Error("the default is barred")
	}
}
