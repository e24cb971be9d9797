package selection

import "tutti/coll"

// Option is an algorithm that can run at a point, with its predicted time. Only the ratios of times within
// a row matter.
type Option struct {
	Algorithm coll.Algorithm
	Seconds   float64
	Equal     bool // counts as equally fast as the default: may replace it where settings hold for all sizes of a layout
}

// Row is a point with the algorithms that can run there. coll.Default is one of the options if its time was
// predicted. In a row without options, the library's default is selected.
type Row struct {
	Point   coll.Point
	Options []Option
}

// Options configures Merge.
type Options struct {
	// MaxLoss limits the loss of a tree's choice. The loss is the predicted slowdown compared with the best
	// option of the row, minus one; 0.01 means 1 %.
	MaxLoss float64

	// ByRanks is for a library whose rules compare the number of ranks but not the number of nodes. Such a library
	// cannot distinguish layouts with the same number of ranks. With ByRanks, every communicator with a tuned
	// number of ranks is in the tuned range.
	ByRanks bool

	// Between reports whether an algorithm that is faster than the default at two neighboring communicator sizes may be
	// selected between them, without a measurement there. It is used only if rows have the default. If it is nil, all may.
	Between func(alg coll.Algorithm, at Gap) bool
}

// Gap is what lies between two neighboring communicator sizes, both in ranks, at a number of processes per node.
type Gap struct {
	Collective     coll.Collective
	Low, High, PPN int // PPN is 1 if the library's rules ignore it
}

// Tree selects the algorithm of one collective. It is a plain value without pointers, and its levels are in
// ascending order. It does not depend on the order of the rows from which Merge builds it. An empty tree always
// selects the library's default.
type Tree struct {
	Collective coll.Collective `json:"collective"`
	Comms      []CommRange     `json:"comms"`
	Summary    Summary         `json:"summary"`

	size func(coll.Point) int64
}

// CommRange applies to communicators of Low to High ranks, both included. There is no gap between
// neighboring ranges.
type CommRange struct {
	Low  int        `json:"low"`
	High int        `json:"high"`
	PPNs []PPNRange `json:"ppns"`
}

// PPNRange applies to Low to High processes per node, both included. There is no gap between neighboring
// ranges.
type PPNRange struct {
	Low   int    `json:"low"`
	High  int    `json:"high"`
	Bands []Band `json:"bands"`
}

// Band applies to message sizes above the previous band, up to and including UpTo. The function `size` of Merge
// defines the size of a message. coll.Default selects the library's default, which also applies above the last
// band.
type Band struct {
	UpTo      int64          `json:"up_to"`
	Algorithm coll.Algorithm `json:"algorithm"`
}

// Summary compares the choices of a tree with the best options of all rows.
type Summary struct {
	Leaves      int     `json:"leaves"`      // bands of the whole tree
	Rows        int     `json:"rows"`        // rows with a predicted time of the choice
	Unpredicted int     `json:"unpredicted"` // rows in which the tree selects the default, whose time was not predicted
	WorstLoss   float64 `json:"worst_loss"`  // worst slowdown minus one, among these Rows
	MeanLoss    float64 `json:"mean_loss"`
}

// Select returns the algorithm at a point. Outside the tuned range it returns false; there the library uses its
// default. For a tree that was read from JSON, use Lookup: such a tree has no function that computes the
// library's message size.
func (t *Tree) Select(p coll.Point) (coll.Algorithm, bool) {
	if t.size == nil || p.Collective != t.Collective {
		return coll.Default, false
	}
	return t.Lookup(p.Ranks(), p.PPN, t.size(p))
}

// Lookup works like Select, for a communicator with the given number of ranks, `ppn` of them on each node. The
// parameter `size` is the message size that the library computes for its rules.
func (t *Tree) Lookup(ranks, ppn int, size int64) (coll.Algorithm, bool) {
	for _, c := range t.Comms {
		if ranks < c.Low || ranks > c.High {
			continue
		}
		for _, r := range c.PPNs {
			if ppn < r.Low || ppn > r.High {
				continue
			}
			for _, b := range r.Bands {
				if size <= b.UpTo {
					return b.Algorithm, true
				}
			}
		}
	}
	return coll.Default, false
}

func (t *Tree) summarize(rows []Row) Summary {
	var s Summary
	for _, c := range t.Comms {
		for _, r := range c.PPNs {
			s.Leaves += len(r.Bands)
		}
	}
	total := 0.0
	for _, row := range rows {
		alg, _ := t.Select(row.Point)
		loss, ok := row.Loss(alg)
		if !ok {
			s.Unpredicted++
			continue
		}
		s.Rows++
		s.WorstLoss = max(s.WorstLoss, loss)
		total += loss
	}
	if s.Rows > 0 {
		s.MeanLoss = total / float64(s.Rows)
	}
	return s
}

// Loss returns the loss of an algorithm: its predicted slowdown compared with the best option of the row,
// minus one. It returns false if the row does not have the algorithm.
func (r Row) Loss(alg coll.Algorithm) (float64, bool) {
	if len(r.Options) == 0 {
		return 0, false
	}
	best, own := r.Options[0].Seconds, 0.0
	for _, o := range r.Options {
		best = min(best, o.Seconds)
		if o.Algorithm == alg {
			own = o.Seconds
		}
	}
	if own == 0 {
		return 0, false
	}
	return own/best - 1, true
}
