package activelearn

import (
	"tutti/coll"
)

// doubt is how open the choice at a point is before a batch is picked.
type doubt struct {
	best, rival int     // entries: the lowest mean, and the one that it is expected to lose most to
	slowdown    float64 // expected of best against rival, as a part
}

// pick is an option that was taken, as it was then.
type pick struct {
	entry  int
	launch any
	starts bool    // the first of the batch that needs the launch
	run    float64 // seconds
	spares float64 // expected fall of the average slowdown, as a part
}

// note remembers an option that is about to be taken.
func (b *board) note(o *option) {
	p := pick{entry: o.entry, launch: o.launch, starts: !b.started[o.launch], run: o.run}
	for k := range b.pairs {
		q := &b.pairs[k]
		if fall := b.fall(o, k); fall > leastFall*q.variance {
			p.spares += q.weight / b.weight * (slowdown(q.gap, q.variance) - slowdown(q.gap, max(0, q.variance-fall)))
		}
	}
	b.picks = append(b.picks, p)
}

// explain writes why each pick was taken. A launch is shared evenly by those it
// serves.
func (b *board) explain(reasons map[coll.Candidate]Reason) {
	served := map[any]float64{}
	started := map[any]bool{}
	for _, p := range b.picks {
		served[p.launch]++
		started[p.launch] = started[p.launch] || p.starts
	}
	for _, p := range b.picks {
		d := b.doubts[b.entries[p.entry].Row]
		why := Reason{Uncertainty: d.slowdown, Gain: p.spares, Seconds: p.run}
		if started[p.launch] {
			why.Seconds += b.launch / served[p.launch]
		}
		switch {
		case d.rival == d.best: // the only one at its point
		case p.entry == d.best:
			why.Rival = b.candidates[d.rival].Algorithm
		default:
			why.Rival = b.candidates[d.best].Algorithm
		}
		reasons[b.candidates[p.entry]] = why
	}
}
