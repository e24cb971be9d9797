package mpilibrarytest

import (
	"math/rand/v2"
	"slices"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
	"tutti/selection"
)

// layouts returns layouts for tests. Several of them have the same number of processes, and some of these
// numbers are not powers of two.
func layouts() []coll.Layout {
	return []coll.Layout{
		{Nodes: 1, PPN: 2}, {Nodes: 3, PPN: 1}, {Nodes: 5, PPN: 1}, {Nodes: 2, PPN: 3}, {Nodes: 3, PPN: 2},
		{Nodes: 1, PPN: 8}, {Nodes: 2, PPN: 4}, {Nodes: 8, PPN: 1},
	}
}

// family describes one kind of random rows.
type family struct {
	name    string
	layouts []coll.Layout
	sizes   []int64
	change  func(r *selection.Row, rng *rand.Rand) // nil: every algorithm has a random time
}

func families() []family {
	all := allFamilies()
	if testutil.AllCases() {
		return all
	}
	return slices.DeleteFunc(all, func(f family) bool {
		return !slices.Contains([]string{"one layout", "holes", "nothing"}, f.name)
	})
}

func allFamilies() []family {
	sizes := []int64{1, 64, 1000, 65536, 300000}
	without := func(r *selection.Row, drop func(selection.Option) bool) {
		var kept []selection.Option
		for _, o := range r.Options {
			if !drop(o) {
				kept = append(kept, o)
			}
		}
		r.Options = kept
	}
	return []family{
		{name: "layouts disagree", layouts: layouts(), sizes: sizes},
		{name: "one size", layouts: layouts(), sizes: []int64{4096}},
		{name: "one layout", layouts: layouts()[3:4], sizes: sizes},
		{name: "many sizes", layouts: layouts()[2:5], sizes: []int64{1, 2, 3, 8, 17, 100, 333, 1 << 10, 1<<12 + 1, 1 << 16, 1 << 20, 1 << 24, 1 << 33}},
		{name: "the default is best", layouts: layouts(), sizes: sizes, change: func(r *selection.Row, _ *rand.Rand) {
			for i, o := range r.Options {
				if o.Algorithm.IsDefault() {
					r.Options[i].Seconds = 0.5
				}
			}
		}},
		{name: "the default is not predicted", layouts: layouts(), sizes: sizes, change: func(r *selection.Row, _ *rand.Rand) {
			without(r, func(o selection.Option) bool { return o.Algorithm.IsDefault() })
		}},
		{name: "holes", layouts: layouts(), sizes: sizes, change: func(r *selection.Row, rng *rand.Rand) {
			none := rng.IntN(8) == 0
			without(r, func(selection.Option) bool { return none || rng.IntN(3) == 0 })
		}},
		{name: "nothing"},
	}
}

// rows returns the rows of a family for a release. If the family has a function `change`, a tenth of the points is
// left out.
func (f family) rows(cat *mpi.Catalogue, seed uint64) []selection.Row {
	rng := rand.New(rand.NewPCG(seed, 0))
	var out []selection.Row
	for _, c := range coll.Collectives() {
		sizes := f.sizes
		if !c.Sized() {
			sizes = []int64{0}
		}
		for _, l := range f.layouts {
			for _, size := range sizes {
				r := randomRow(cat, coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: size}, rng)
				if f.change != nil {
					f.change(&r, rng)
				}
				if f.change == nil || rng.IntN(10) > 0 {
					out = append(out, r)
				}
			}
		}
	}
	return out
}

// Rows returns random rows for all collectives of a release. Several layouts have the same number of
// processes and different best algorithms. Times are uniform between 1 and 2 seconds. Times of the default
// are uniform between 1.3 and 2.3 seconds, plus delay.
func Rows(cat *mpi.Catalogue, seed uint64, delay float64) []selection.Row {
	rows := allFamilies()[0].rows(cat, seed)
	for _, r := range rows {
		r.Options[len(r.Options)-1].Seconds += delay // the default is the last
	}
	return rows
}

// randomRow returns a row with random times for every algorithm that can run at a point. The default is the
// last algorithm and one of the slower ones.
func randomRow(cat *mpi.Catalogue, p coll.Point, rng *rand.Rand) selection.Row {
	r := selection.Row{Point: p}
	for _, a := range cat.Algorithms(p.Collective) {
		if cat.Check(coll.Candidate{Point: p, Algorithm: a}) == nil {
			r.Options = append(r.Options, selection.Option{Algorithm: a, Seconds: 1 + rng.Float64()})
		}
	}
	r.Options = append(r.Options, selection.Option{Algorithm: coll.Default, Seconds: 1.3 + rng.Float64()})
	return r
}

// Turn returns rows of all collectives for messages of the given sizes, and the names of these collectives. The
// parameter `turn` is the index of the algorithm that is the fastest, among those that can run on the layout.
// Collectives without so many algorithms have no rows.
func Turn(cat *mpi.Catalogue, l coll.Layout, turn int, sizes ...int64) (rows []selection.Row, collectives []string) {
	for _, c := range coll.Collectives() {
		p := coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN}
		each := []int64{0}
		if c.Sized() {
			p.MsgBytes, each = sizes[0], sizes
		}
		list := slices.DeleteFunc(cat.Algorithms(c), func(a coll.Algorithm) bool {
			return cat.Check(coll.Candidate{Point: p, Algorithm: a}) != nil
		})
		if turn >= len(list) {
			continue
		}
		collectives = append(collectives, string(c))
		for _, p.MsgBytes = range each {
			rows = append(rows, selection.Row{Point: p, Options: []selection.Option{{Algorithm: list[turn], Seconds: 1}, {Algorithm: coll.Default, Seconds: 2}}})
		}
	}
	return rows, collectives
}
