package selection

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"tutti/coll"
)

// ErrRow is the error for an invalid row. The row has a time that is not positive and finite, a duplicate
// point or algorithm, another collective than the other rows, or an impossible layout.
var ErrRow = errors.New("bad row")

// Merge merges the rows of one collective into a tree. The tree has the fewest bands (ranges of message sizes) that
// keep the guarantees of the package.
//
// The function `size` returns the message size that the library computes for its rules, or 0 if the rules ignore it.
// The library cannot distinguish rows with the same size and the same layout (with Options.ByRanks, the same number
// of ranks). Such rows get the same option. In none of these rows is it slower than the default. If each such option
// loses more than MaxLoss in some row, Merge takes the one whose largest loss is smallest.
//
// The number of bands is the smallest possible at each level, by dynamic programming over the cuts. If several
// divisions have equally few bands, Merge takes the one with the smallest sum of losses. First, sizes are merged into
// bands. Then neighboring processes per node of a communicator size are merged if the same bands serve them.
// Finally, neighboring communicator sizes are merged if the same ranges of processes per node and bands serve them.
// Layouts share only bands in which both were tuned.
//
// A rule reaches between two neighboring grid values if its algorithm is selected at both and, between communicator
// sizes, if Options.Between allows it. Between two sizes with different algorithms, an algorithm also reaches towards
// the other size if it is not slower than the default there. If both do, the boundary is the geometric mean of the
// sizes, rounded down, where the expected error is smallest on a logarithmic scale. Everything else is left to the
// library. If no row has the default, all boundaries between different algorithms are the geometric mean. Nothing is
// selected beyond the outermost grid values, except that the range of sizes begins at zero if the smallest message is
// a single element.
//
// The time is O(S²·k²·n²·a) for S communicator sizes, k numbers of processes per node, n sizes and a algorithms, if
// everything can be merged. If little can be merged, it is nearly linear in S.
func Merge(rows []Row, size func(coll.Point) int64, opt Options) (*Tree, error) {
	if len(rows) == 0 {
		return &Tree{size: size}, nil
	}
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b Row) int { return coll.ComparePoints(a.Point, b.Point) })
	if err := check(rows); err != nil {
		return nil, err
	}
	layouts, err := groupByLayout(rows, size, opt)
	if err != nil {
		return nil, err
	}
	t := &Tree{Collective: rows[0].Point.Collective, Comms: reachOf(rows, opt).mergeComms(layouts), size: size}
	for i := range t.Comms {
		if opt.ByRanks {
			t.Comms[i].PPNs[0].High = math.MaxInt
		}
	}
	t.Summary = t.summarize(rows)
	return t, nil
}

// check returns an error for the first invalid row, or nil. The rows must be sorted by point.
func check(rows []Row) error {
	for i, r := range rows {
		p := r.Point
		switch {
		case p.Collective != rows[0].Point.Collective:
			return fmt.Errorf("selection: %w: %v and %v: want one collective", ErrRow, p, rows[0].Point)
		case p.Nodes < 1 || p.PPN < 1 || p.MsgBytes < 0:
			return fmt.Errorf("selection: %w: %v: want one node or more, one rank or more, no negative size", ErrRow, p)
		case i > 0 && p == rows[i-1].Point:
			return fmt.Errorf("selection: %w: %v is given twice", ErrRow, p)
		}
		for k, o := range r.Options {
			if !(o.Seconds > 0) || math.IsInf(o.Seconds, 0) {
				return fmt.Errorf("selection: %w: %v %v: time %g s: want a positive finite number", ErrRow, p, o.Algorithm, o.Seconds)
			}
			if slices.ContainsFunc(r.Options[:k], func(x Option) bool { return x.Algorithm == o.Algorithm }) {
				return fmt.Errorf("selection: %w: %v: %v is given twice", ErrRow, p, o.Algorithm)
			}
		}
	}
	return nil
}

// choice is an algorithm that is allowed for some rows, and the sum of its losses over these rows.
type choice struct {
	alg  coll.Algorithm
	loss float64
}

// sizeChoices holds a message size, the choices that are allowed for the rows of this size, sorted, and all algorithms
// that are not slower than the default in any of these rows.
type sizeChoices struct {
	size    int64
	open    []choice
	passing []coll.Algorithm
}

// layoutChoices holds a layout, its message sizes in ascending order, and the range of sizes that is tuned for it.
type layoutChoices struct {
	ranks, ppn int
	sizes      []sizeChoices
	low, high  int64
}

// sizedRow is a row with the numbers by which the library's rules select.
type sizedRow struct {
	Row
	ranks, ppn int // ppn is 1 if the rules ignore it
	size       int64
}

func sizedRows(rows []Row, size func(coll.Point) int64, opt Options) ([]sizedRow, error) {
	out := make([]sizedRow, len(rows))
	for i, r := range rows {
		s := sizedRow{Row: r, ranks: r.Point.Ranks(), ppn: r.Point.PPN, size: size(r.Point)}
		if opt.ByRanks {
			s.ppn = 1
		}
		if s.size < 0 {
			return nil, fmt.Errorf("selection: %w: %v: measure of message size %d: want zero or more", ErrRow, r.Point, s.size)
		}
		out[i] = s
	}
	return out, nil
}

// groupByLayout groups rows by layout or, with Options.ByRanks, by the number of ranks. It sorts the result by ranks and ppn.
func groupByLayout(rows []Row, size func(coll.Point) int64, opt Options) ([]layoutChoices, error) {
	all, err := sizedRows(rows, size, opt)
	if err != nil {
		return nil, err
	}
	byLayout := func(a, b sizedRow) int { return cmp.Or(cmp.Compare(a.ranks, b.ranks), cmp.Compare(a.ppn, b.ppn)) }
	slices.SortStableFunc(all, func(a, b sizedRow) int { return cmp.Or(byLayout(a, b), cmp.Compare(a.size, b.size)) })
	var layouts []layoutChoices
	for _, group := range chunk(all, func(a, b sizedRow) bool { return byLayout(a, b) == 0 }) {
		l := layoutChoices{ranks: group[0].ranks, ppn: group[0].ppn}
		for _, same := range chunk(group, func(a, b sizedRow) bool { return a.size == b.size }) {
			open, passing := openChoices(same, opt.MaxLoss)
			l.sizes = append(l.sizes, sizeChoices{same[0].size, open, passing})
		}
		p := group[0].Point
		l.low, l.high = tunedRange(l.sizes, p.MsgBytes <= p.Collective.ElementBytes())
		layouts = append(layouts, l)
	}
	return layouts, nil
}

// chunk splits a slice between two neighboring elements wherever the function `same` returns false for them.
func chunk[T any](all []T, same func(a, b T) bool) [][]T {
	var out [][]T
	start := 0
	for i := 1; i <= len(all); i++ {
		if i == len(all) || !same(all[i-1], all[i]) {
			out = append(out, all[start:i])
			start = i
		}
	}
	return out
}

// openChoices returns the choices for rows that the library cannot distinguish: the algorithms that are in no
// row slower than the default, and in no row lose more than maxLoss. If there are none, it drops the second
// condition and returns the algorithm whose largest loss is smallest. The result `passing` has all algorithms that meet
// the first condition.
func openChoices(rows []sizedRow, maxLoss float64) (within []choice, passing []coll.Algorithm) {
	safe := guarded(rows[0].Row)
	for _, r := range rows[1:] {
		safe = intersect(safe, guarded(r.Row))
	}
	compromise, least := choice{alg: coll.Default}, math.Inf(1)
	for _, c := range safe {
		passing = append(passing, c.alg)
		worst := 0.0
		for _, r := range rows {
			loss, _ := r.Loss(c.alg)
			worst = max(worst, loss)
		}
		if worst <= maxLoss {
			within = append(within, c)
		}
		if worst < least {
			compromise, least = c, worst
		}
	}
	if len(within) == 0 {
		within = []choice{compromise}
	}
	return within, passing
}

// guarded returns the options of a row that are not slower than the library's default, sorted by algorithm.
// If there are none, it returns the default.
func guarded(r Row) []choice {
	limit, best := math.Inf(1), math.Inf(1)
	for _, o := range r.Options {
		best = min(best, o.Seconds)
		if o.Algorithm.IsDefault() {
			limit = o.Seconds
		}
	}
	out := make([]choice, 0, len(r.Options))
	for _, o := range r.Options {
		if o.Seconds <= limit {
			out = append(out, choice{o.Algorithm, o.Seconds/best - 1})
		}
	}
	if len(out) == 0 {
		return []choice{{alg: coll.Default}}
	}
	slices.SortFunc(out, func(a, b choice) int { return coll.CompareAlgorithms(a.alg, b.alg) })
	return out
}

// intersect returns the algorithms that occur in both a and b, each with the sum of its losses.
func intersect(a, b []choice) []choice {
	var out []choice
	for len(a) > 0 && len(b) > 0 {
		switch d := coll.CompareAlgorithms(a[0].alg, b[0].alg); {
		case d < 0:
			a = a[1:]
		case d > 0:
			b = b[1:]
		default:
			out = append(out, choice{a[0].alg, a[0].loss + b[0].loss})
			a, b = a[1:], b[1:]
		}
	}
	return out
}

// tunedRange returns the range of message sizes that counts as tuned: from zero if no smaller message exists.
func tunedRange(sizes []sizeChoices, fromZero bool) (low, high int64) {
	low, high = sizes[0].size, sizes[len(sizes)-1].size
	if fromZero || low == 1 { // an empty message takes part in the rule for 1 byte
		low = 0
	}
	return low, high
}
