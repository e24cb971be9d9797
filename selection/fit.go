package selection

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"tutti/coll"
)

// ErrRow reports a row that cannot be: a time that is not positive and finite, a
// point or an algorithm given twice, another collective, an impossible layout.
var ErrRow = errors.New("bad row")

// Fit merges the rows of one collective into a tree with as few bands as the
// promises of the package allow.
//
// size is the library's own measure of a message, what its rules compare; 0
// everywhere when its rules know no size. Rows the library cannot tell apart (same
// layout or Options.ByRanks, same measure) share the option with the least worst loss
// among those no slower than the default in any of them.
//
// Merging is exact at each level, by dynamic programming over cut positions with
// ties broken by the sum of losses: sizes into bands, neighbouring processes per
// node of one communicator size into ranges that share bands, neighbouring
// communicator sizes with the same tuned range of processes per node into ranges
// that share all of that. Layouts share bands only where both were tuned.
//
// A boundary between neighbouring grid values lies at their geometric mean, where
// the expected error is smallest on a logarithmic scale; the values up to it,
// rounded down, belong to the lower one. Sizes are covered half a grid step, again
// geometric, beyond the smallest and the largest tuned ones, and down to nothing
// when the smallest message is a single element. Communicators and processes per
// node are not extended.
//
// Time grows with S²·k²·n²·a for S communicator sizes, k processes per node, n
// sizes and a algorithms when everything can be merged, and is near linear in S
// when little can.
func Fit(rows []Row, size func(coll.Point) int64, opt Options) (*Tree, error) {
	if size == nil {
		return nil, errors.New("selection: no measure of message size")
	}
	if !(opt.MaxLoss >= 0) || math.IsInf(opt.MaxLoss, 0) {
		return nil, fmt.Errorf("selection: largest loss %g: want zero or more, for example 0.01", opt.MaxLoss)
	}
	if len(rows) == 0 {
		return &Tree{size: size}, nil
	}
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b Row) int { return coll.ComparePoints(a.Point, b.Point) })
	if err := check(rows); err != nil {
		return nil, err
	}
	lanes, err := makeLanes(rows, size, opt)
	if err != nil {
		return nil, err
	}
	t := &Tree{Collective: rows[0].Point.Collective, Comms: mergeComms(lanes), size: size}
	for i := range t.Comms {
		if opt.ByRanks {
			t.Comms[i].PPNs[0].High = math.MaxInt
		}
	}
	t.Summary = t.summarize(rows)
	return t, nil
}

// check reports the first bad row of rows sorted by point.
func check(rows []Row) error {
	for i, r := range rows {
		p := r.Point
		switch {
		case p.Collective != rows[0].Point.Collective:
			return fmt.Errorf("selection: %w: %v beside %v: want one collective", ErrRow, p, rows[0].Point)
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

// choice is an algorithm that some rows may all be given, and what that loses in
// total.
type choice struct {
	alg  coll.Algorithm
	loss float64
}

// cell is one message size with the choices open to its rows, by algorithm.
type cell struct {
	size int64
	open []choice
}

// lane is one layout: its sizes ascending, and the range they were tuned for.
type lane struct {
	ranks, ppn int
	cells      []cell
	low, high  int64
}

// sized is a row with what the library's rules know of it.
type sized struct {
	Row
	ranks, ppn int // ppn is 1 where the rules do not know it
	size       int64
}

// sizedRows adds that to rows.
func sizedRows(rows []Row, size func(coll.Point) int64, opt Options) ([]sized, error) {
	out := make([]sized, len(rows))
	for i, r := range rows {
		s := sized{Row: r, ranks: r.Point.Ranks(), ppn: r.Point.PPN, size: size(r.Point)}
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

// makeLanes groups rows by layout, or by ranks, lanes ordered by ranks
// and ppn.
func makeLanes(rows []Row, size func(coll.Point) int64, opt Options) ([]lane, error) {
	all, err := sizedRows(rows, size, opt)
	if err != nil {
		return nil, err
	}
	byLane := func(a, b sized) int { return cmp.Or(cmp.Compare(a.ranks, b.ranks), cmp.Compare(a.ppn, b.ppn)) }
	slices.SortStableFunc(all, func(a, b sized) int { return cmp.Or(byLane(a, b), cmp.Compare(a.size, b.size)) })
	var lanes []lane
	for _, group := range chunk(all, func(a, b sized) bool { return byLane(a, b) == 0 }) {
		l := lane{ranks: group[0].ranks, ppn: group[0].ppn}
		for _, same := range chunk(group, func(a, b sized) bool { return a.size == b.size }) {
			l.cells = append(l.cells, cell{size: same[0].size, open: openChoices(same, opt.MaxLoss)})
		}
		p := group[0].Point
		l.low, l.high = tunedRange(l.cells, p.MsgBytes <= p.Collective.ElementBytes())
		lanes = append(lanes, l)
	}
	return lanes, nil
}

// chunk cuts a slice where neighbours differ.
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

// openChoices returns what rows that the library cannot tell apart may be given:
// every algorithm within the bound in all of them, or else the one compromise.
func openChoices(rows []sized, maxLoss float64) []choice {
	safe := guarded(rows[0].Row)
	for _, r := range rows[1:] {
		safe = intersect(safe, guarded(r.Row))
	}
	var within []choice
	compromise, least := choice{alg: coll.Default}, math.Inf(1)
	for _, c := range safe {
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
		return []choice{compromise}
	}
	return within
}

// guarded returns the options of a row that are no slower than the default, or
// the default when there are none, by algorithm.
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

// intersect returns the algorithms in both, with losses added.
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

// tunedRange returns the sizes a lane answers for: half a geometric step beyond
// its own, and from zero when nothing smaller than the smallest can be sent.
func tunedRange(cells []cell, fromZero bool) (low, high int64) {
	n := len(cells)
	low, high = cells[0].size, cells[n-1].size
	if n > 1 && cells[n-2].size > 0 {
		a, b := float64(cells[n-2].size), float64(cells[n-1].size)
		high = int64(min(b*math.Sqrt(b/a), math.MaxInt64/2))
	}
	if n > 1 && low > 0 {
		a, b := float64(cells[0].size), float64(cells[1].size)
		low = int64(a*math.Sqrt(a/b)) + 1
	}
	if fromZero || low == 1 { // an empty message needs no rule of its own
		low = 0
	}
	return low, high
}

// midpoint returns the geometric mean of 0 ≤ a < b, rounded down and kept in [a, b).
func midpoint(a, b int64) int64 {
	m := int64(math.Sqrt(float64(a) * float64(b)))
	return min(max(m, a), b-1)
}
