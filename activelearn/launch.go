package activelearn

import (
	"slices"

	"tutti/coll"
)

// fillLaunches returns additional candidates that the planned launches of a batch can measure as well. A
// candidate is added only if its acquisition value per second is at least the lowest one in the batch, where
// the seconds include launches. Together the additional candidates cost at most as much as the launches. The
// total cost is therefore at most twice the unavoidable cost (the ski-rental problem; Karlin, Manasse, Rudolph
// and Sleator, Algorithmica 3, 1988).
func (r *regret) fillLaunches(s State, selector *batchSelector, batch []coll.Candidate) ([]coll.Candidate, error) {
	if !r.sharesLaunches() {
		return nil, nil
	}
	launched, budget := selector.launches()
	if budget <= 0 {
		return nil, nil
	}
	b, err := r.newSelector(s, r.launchSample(s, selector, batch), selector.prices)
	if err != nil {
		return nil, err
	}
	b.totalWeight = r.launchScale() * r.totalWeight() // gains refer to the whole space
	b.scored = slices.DeleteFunc(b.scored, func(c scoredCandidate) bool { return !launched[c.launch] })
	var out []coll.Candidate
	for {
		c, rate := b.best()
		if c == nil || rate < selector.minRate || c.run > budget {
			break
		}
		budget -= c.run
		out = append(out, c.candidate)
		b.pick(c)
	}
	b.explain(r.reasons)
	return out, nil
}

// launches returns the launches that the picks (the selected candidates) use, and the budget for additional
// candidates in these launches. The budget is the price of the launches. It is reduced by the machine time of
// picks that use the launch of an earlier pick, since these are additional candidates, too.
func (b *batchSelector) launches() (launched map[any]bool, budget float64) {
	launched = map[any]bool{}
	for _, p := range b.picks {
		launched[p.launch] = true
		if p.launches {
			budget += b.prices.launch
		} else {
			budget -= p.run
		}
	}
	return launched, budget
}

// launchSample returns points at which the launches of the picks can measure further candidates: points with the same
// layouts as the picks. All candidates of the batch count as pending.
func (r *regret) launchSample(s State, selector *batchSelector, batch []coll.Candidate) pointSample {
	layouts := map[coll.Layout]bool{}
	for _, p := range selector.picks {
		layouts[selector.candidates[p.entry].Layout()] = true
	}
	over := pointSample{selected: asSet(batch)}
	for i, p := range s.Ledger.Space().Points() {
		if layouts[p.Layout()] && len(over.points) < maxLaunchPoints {
			over.points, over.weights = append(over.points, i), append(over.weights, r.launchScale()*r.opt.Weight.Of(p))
		}
	}
	return over
}

// launchScale returns the factor by which launchSample multiplies the weights of its points. It makes
// acquisition values at these points comparable with those at the points of samplePoints.
func (r *regret) launchScale() float64 {
	counted := float64(len(r.points))
	if r.opt.Weight != nil && counted > samplePoints {
		return samplePoints / max(minPrice, r.totalWeight())
	}
	return min(counted, samplePoints) / counted
}
