package activelearn

import (
	"slices"

	"tutti/coll"
	"tutti/surrogate/gp"
)

// riders are candidates that share the launches of a board's picks. They are worth as
// much a second as the least of these picks, launches included, and together they cost
// no more than these launches: another launch would cost that much again. So no more is
// spent than twice what was inevitable (the ski-rental problem; Karlin, Manasse, Rudolph
// and Sleator, Algorithmica 3, 1988).
func (r *regret) riders(s State, m *gp.GP, picked *board, batch []coll.Candidate) ([]coll.Candidate, error) {
	if !r.sharing() {
		return nil, nil
	}
	started, budget := picked.launches()
	if budget <= 0 {
		return nil, nil
	}
	b, err := r.board(s, m, r.aboard(s, picked, batch))
	if err != nil {
		return nil, err
	}
	b.weight = r.rideScale() * r.total() // reasons speak of the whole space
	b.options = slices.DeleteFunc(b.options, func(o option) bool { return !started[o.launch] })
	var out []coll.Candidate
	for {
		o, rate := b.best()
		if o == nil || rate < picked.least || o.run > budget {
			break
		}
		budget -= o.run
		out = append(out, o.candidate)
		b.take(o)
	}
	b.explain(r.reasons)
	return out, nil
}

// launches are those that the picks of a board use, and what riders may cost: the prices of
// the launches that the picks start, less the runs of picks that ride on them already.
func (b *board) launches() (started map[any]bool, budget float64) {
	started = map[any]bool{}
	for _, p := range b.picks {
		started[p.launch] = true
		if p.starts {
			budget += b.launch
		} else {
			budget -= p.run
		}
	}
	return started, budget
}

// ridePoints bounds the points of the layouts that are looked at.
const ridePoints = 600

// aboard is the layout of a board for riders: the points of the layouts of the picks. What
// is in the batch counts as asked for.
func (r *regret) aboard(s State, picked *board, batch []coll.Candidate) layout {
	layouts := map[coll.Layout]bool{}
	for _, p := range picked.picks {
		layouts[picked.candidates[p.entry].Layout()] = true
	}
	over := layout{asked: asSet(batch)}
	for i, p := range s.Ledger.Space().Points() {
		if layouts[p.Layout()] && len(over.points) < ridePoints {
			over.points, over.weights = append(over.points, i), append(over.weights, r.rideScale()*r.opt.weight(i))
		}
	}
	return over
}

// rideScale brings the weights of points to those that points have in a sample, so that
// riders and picks are worth the same.
func (r *regret) rideScale() float64 {
	counted := float64(len(r.rows))
	if r.opt.Weights != nil && counted > regretPoints {
		return regretPoints / max(leastPrice, r.total())
	}
	return min(counted, regretPoints) / counted
}
