package activelearn

import (
	"slices"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/surrogate/gp"
)

// riders are candidates that share the launches of a board's picks. They are worth as
// much a second as the least of these picks, launches included, and together they cost
// no more than these launches: another launch would cost that much again. So no more is
// spent than twice what was inevitable (the ski-rental problem; Karlin, Manasse, Rudolph
// and Sleator, Algorithmica 3, 1988).
func (r *regret) riders(s State, m *gp.Multi, picked *board, batch []coll.Candidate) ([]coll.Candidate, error) {
	if !r.sharing() {
		return nil, nil
	}
	budget := 0.0
	started := map[benchrunner.LaunchKey]bool{}
	over := layout{asked: asSet(batch)}
	layouts := map[coll.Layout]bool{}
	for _, p := range picked.picks {
		c := picked.candidates[p.entry]
		started[p.launch], layouts[c.Layout()] = true, true
		if p.starts {
			budget += picked.launch
		} else {
			budget -= p.run
		}
	}
	if budget <= 0 {
		return nil, nil
	}
	counted := float64(len(r.rows))
	scale := min(counted, regretPoints) / counted
	if r.opt.Weights != nil && counted > regretPoints {
		scale = regretPoints / max(leastPrice, r.total())
	}
	for i, p := range s.Ledger.Space().Points() {
		if layouts[p.Layout()] && len(over.points) < ridePoints {
			over.points, over.weights = append(over.points, i), append(over.weights, scale*r.opt.weight(i))
		}
	}
	b, err := r.board(s, m, over)
	if err != nil {
		return nil, err
	}
	b.weight = scale * r.total() // reasons speak of the whole space
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

// ridePoints bounds the points of the layouts that are looked at.
const ridePoints = 600
