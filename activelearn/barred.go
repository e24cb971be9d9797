package activelearn

import (
	"math"

	"tutti/coll"
)

// Barred says which candidates must not be selected: those that were given up, and those
// that a prediction alone must not choose.
//
// An algorithm that failed wherever it was tried in a layout is not chosen there without a
// measurement. One that worked up to some size and failed wherever it was tried beyond is
// not chosen above the largest size that worked, and likewise below the smallest. The same
// holds of all layouts together. The library's default is never barred.
type Barred struct {
	ledger *Ledger
	tried  map[attempted]span // empty where nothing was given up
}

// attempted is an algorithm in a layout; the zero layout stands for all.
type attempted struct {
	layout    coll.Layout
	algorithm coll.Algorithm
}

// span holds the least and the greatest sizes at which an algorithm worked and at which it
// was given up, in bytes.
type span struct{ worked, failed sizes }

// sizes from least to most; none where least is greater.
type sizes struct{ least, most int64 }

var noSizes = sizes{least: math.MaxInt64, most: math.MinInt64}

func (s sizes) with(bytes int64) sizes {
	return sizes{min(s.least, bytes), max(s.most, bytes)}
}

// bars reports whether a size that was not tried lies beyond all sizes that worked, on a
// side where larger or smaller ones failed.
func (s span) bars(bytes int64) bool {
	above := s.failed.most > s.worked.most && bytes > s.worked.most
	below := s.failed.least < s.worked.least && bytes < s.worked.least
	return above || below
}

// Barred returns what is barred by the trials so far. O(candidates) time once something
// was given up.
func (l *Ledger) Barred() *Barred {
	b := &Barred{ledger: l}
	if l.abandoned == 0 {
		return b
	}
	b.tried = map[attempted]span{}
	for i, p := range l.space.Points() {
		for k, a := range l.space.Feasible(i) {
			if now := l.status[l.first[i]+k]; now == done || now == abandoned {
				b.add(p.Layout(), l.space.Algorithms()[a], p.MsgBytes, now == done)
				b.add(coll.Layout{}, l.space.Algorithms()[a], p.MsgBytes, now == done)
			}
		}
	}
	return b
}

func (b *Barred) add(layout coll.Layout, alg coll.Algorithm, bytes int64, worked bool) {
	at := attempted{layout, alg}
	s, known := b.tried[at]
	if !known {
		s = span{noSizes, noSizes}
	}
	if worked {
		s.worked = s.worked.with(bytes)
	} else {
		s.failed = s.failed.with(bytes)
	}
	b.tried[at] = s
}

// Any reports whether anything may be barred.
func (b *Barred) Any() bool { return len(b.tried) > 0 }

// Has reports whether a candidate of the ledger's space is barred.
func (b *Barred) Has(c coll.Candidate) bool {
	if !b.Any() || c.Algorithm.IsDefault() {
		return false
	}
	_, at, ok := b.ledger.find(c)
	switch {
	case !ok || b.ledger.status[at] == done:
		return false
	case b.ledger.status[at] == abandoned:
		return true
	}
	for _, layout := range []coll.Layout{c.Layout(), {}} {
		if s, known := b.tried[attempted{layout, c.Algorithm}]; known && s.bars(c.MsgBytes) {
			return true
		}
	}
	return false
}

// Open returns the algorithms that may be selected at point i.
func (b *Barred) Open(i int) []coll.Algorithm {
	sp := b.ledger.space
	out := make([]coll.Algorithm, 0, len(sp.Feasible(i)))
	for _, a := range sp.Feasible(i) {
		c := coll.Candidate{Point: sp.Points()[i], Algorithm: sp.Algorithms()[a]}
		if !b.Has(c) {
			out = append(out, c.Algorithm)
		}
	}
	return out
}
