package activelearn

import (
	"math"

	"tutti/coll"
)

// Excluded holds the candidates that may not be selected because of failures. These are candidates that were
// given up, and unmeasured candidates that are likely to fail, too. A candidate that was given up for a reason outside
// of it excludes no other.
//
// If an algorithm failed at every tried point of a layout, it may be selected in this layout only at points
// where it was measured. If an algorithm worked up to some message size and failed at every larger tried
// size, it is not selected above the largest size that worked. The same applies below the smallest size that
// worked. Both rules also apply to all layouts together. The library's default is never excluded.
type Excluded struct {
	ledger *Ledger
	tried  map[layoutAlgorithm]span // empty if no candidate was given up
}

// layoutAlgorithm is an algorithm at the points that differ only in size or, if the point has neither nodes nor ppn, in
// all layouts together.
type layoutAlgorithm struct {
	point     coll.Point // without size
	algorithm coll.Algorithm
}

// layoutAlgorithms returns an algorithm in the layout of a point and in all layouts together.
func layoutAlgorithms(p coll.Point, alg coll.Algorithm) [2]layoutAlgorithm {
	one := p.WithSize(0)
	all := one
	all.Nodes, all.PPN = 0, 0
	return [2]layoutAlgorithm{{one, alg}, {all, alg}}
}

// span holds two ranges of message sizes in bytes: the sizes at which an algorithm worked, and the sizes at
// which it was given up.
type span struct{ worked, failed sizes }

// sizes is a range of message sizes in bytes. It is empty if smallest is greater than largest.
type sizes struct{ smallest, largest int64 }

var noSizes = sizes{smallest: math.MaxInt64, largest: math.MinInt64}

// with returns the range, extended so that it includes a size.
func (s sizes) with(bytes int64) sizes {
	return sizes{min(s.smallest, bytes), max(s.largest, bytes)}
}

// excludes reports whether an untried size is likely to fail. Either it is larger than all sizes that worked,
// and a larger size failed. Or it is smaller than all sizes that worked, and a smaller size failed.
func (s span) excludes(bytes int64) bool {
	above := s.failed.largest > s.worked.largest && bytes > s.worked.largest
	below := s.failed.smallest < s.worked.smallest && bytes < s.worked.smallest
	return above || below
}

// Excluded returns the candidates that are excluded according to the trials so far. If any candidate was
// given up, it takes O(candidates) time.
func (l *Ledger) Excluded() *Excluded {
	e := &Excluded{ledger: l}
	if l.marked[abandoned] == 0 {
		return e
	}
	e.tried = map[layoutAlgorithm]span{}
	for i, p := range l.space.Points() {
		for k, a := range l.space.Feasible(i) {
			if now := l.status[l.first[i]+k]; now == done || now == abandoned {
				for _, at := range layoutAlgorithms(p, l.space.Algorithms()[a]) {
					e.add(at, p.MsgBytes, now == done)
				}
			}
		}
	}
	return e
}

// add records that an algorithm worked with a layout and a message size, or that it was given up there.
func (e *Excluded) add(at layoutAlgorithm, bytes int64, worked bool) {
	s, known := e.tried[at]
	if !known {
		s = span{noSizes, noSizes}
	}
	if worked {
		s.worked = s.worked.with(bytes)
	} else {
		s.failed = s.failed.with(bytes)
	}
	e.tried[at] = s
}

// Has reports whether the candidate is excluded. The candidate must be in the space of the ledger.
func (e *Excluded) Has(c coll.Candidate) bool {
	if len(e.tried)+e.ledger.marked[noisy]+e.ledger.marked[refused] == 0 || c.Algorithm.IsDefault() {
		return false
	}
	_, at, ok := e.ledger.find(c)
	switch {
	case !ok || e.ledger.status[at] == done:
		return false
	case e.ledger.status[at] >= abandoned:
		return true
	}
	for _, at := range layoutAlgorithms(c.Point, c.Algorithm) {
		if s, known := e.tried[at]; known && s.excludes(c.MsgBytes) {
			return true
		}
	}
	return false
}

// Selectable returns the algorithms that may be selected at the i-th point.
func (e *Excluded) Selectable(i int) []coll.Algorithm {
	var out []coll.Algorithm
	for _, c := range e.ledger.space.At(i) {
		if !e.Has(c) {
			out = append(out, c.Algorithm)
		}
	}
	return out
}
