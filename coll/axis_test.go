package coll_test

import (
	"slices"
	"testing"

	"tutti/coll"
)

// TestAxes checks that points which differ in one axis only are different wherever points are compared, written or
// used as keys.
func TestAxes(t *testing.T) {
	p := coll.Point{Collective: coll.Bcast}
	for _, a := range coll.Axes {
		a.Set(&p, max(1, a.Least))
	}
	for i, a := range coll.Axes {
		q := p
		a.Set(&q, 2)
		if a.Of(q) != 2 || coll.ComparePoints(p, q) != -1 {
			t.Errorf("%s: %v after %v in the order: want before", a.Name, p, q)
		}
		if p.String() == q.String() || slices.Equal(coll.AxisTexts(p), coll.AxisTexts(q)) {
			t.Errorf("%s: both points are written as %v, %q", a.Name, p, coll.AxisTexts(p))
		}
		if size := i == len(coll.Axes)-1; (p.WithSize(8) == q.WithSize(8)) != size {
			t.Errorf("%s: equal apart from their sizes: %t", a.Name, !size)
		}
	}
}
