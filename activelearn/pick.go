package activelearn

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"tutti/coll"
	"tutti/surrogate/gp"
)

// leastFall is the part of a variance below which a fall of it is not worth the
// arithmetic.
const leastFall = 1e-3

// value counts what is pending as observed and works out what each option is worth.
func (b *board) value(waiting []option) {
	for _, o := range waiting {
		b.started[o.launch] = true
		step := b.posterior.Condition(o.entry)
		for k := range b.pairs {
			p := &b.pairs[k]
			p.shrink(step[p.best]-step[p.other], b.stakes)
		}
	}
	between := make([]gp.Pair, len(b.pairs))
	for k, p := range b.pairs {
		between[k] = gp.Pair{One: p.best, Other: p.other}
	}
	covariances := b.posterior.WithDifferences(b.optionEntries(), between)
	for i := range b.options {
		o := &b.options[i]
		o.variance = b.posterior.Variance(o.entry)
		o.covariance = covariances[i]
		o.worth = b.worth(o)
	}
}

// optionEntries are the entries of the options.
func (b *board) optionEntries() []int {
	out := make([]int, len(b.options))
	for i := range b.options {
		out[i] = b.options[i].entry
	}
	return out
}

// worth is by how much the losses fall when the option is measured.
func (b *board) worth(o *option) float64 {
	sum := 0.0
	for k := range b.pairs {
		p := &b.pairs[k]
		if fall := b.fall(o, k); fall > leastFall*p.variance && p.loss > 0 {
			sum += p.loss - p.weight*b.stakes.loss(p.gap, max(0, p.variance-fall))
		}
	}
	return sum
}

// fall is by how much the variance of a pair falls when the option is measured.
func (b *board) fall(o *option, k int) float64 {
	return o.covariance[k] * o.covariance[k] / (o.variance + b.noise)
}

// pick takes the options worth most for their price, want of them if there are as many and
// the budget lasts, one at least.
func (b *board) pick(want int) []coll.Candidate {
	var batch []coll.Candidate
	for len(batch) < want {
		o, rate := b.best()
		if o == nil {
			break
		}
		if len(b.picks) > 0 && b.price(o) > b.budget {
			b.full = true
			break
		}
		b.budget -= b.price(o)
		b.least = min(b.least, rate)
		batch = append(batch, o.candidate)
		b.take(o)
	}
	return batch
}

// best is the option worth most a second, nil when none is left. What an option is
// worth hardly ever rises by other picks, so only those at the top are valued anew.
func (b *board) best() (*option, float64) {
	for {
		var top *option
		most := math.Inf(-1)
		for i := range b.options {
			o := &b.options[i]
			if o.taken {
				continue
			}
			if rate := o.worth / b.price(o); rate > most {
				top, most = o, rate
			}
		}
		if top == nil || !top.stale {
			return top, most
		}
		top.worth, top.stale = b.worth(top), false
	}
}

// price is what an option costs in this batch, in seconds.
func (b *board) price(o *option) float64 {
	if b.started[o.launch] {
		return max(leastPrice, o.run)
	}
	return max(leastPrice, o.run+b.launch)
}

// take counts an option as observed. O(options·(n + pairs)) operations.
func (b *board) take(o *option) {
	b.note(o)
	o.taken = true
	b.started[o.launch] = true
	deviation := math.Sqrt(max(o.variance+b.noise, leastDeviation*leastDeviation))
	between := b.posterior.Covariances([]int{o.entry}, b.optionEntries())[0]
	own := make([]float64, len(b.pairs))
	for k, c := range o.covariance {
		own[k] = c / deviation
		b.pairs[k].shrink(own[k], b.stakes)
	}
	before := o.steps
	for i := range b.options {
		q := &b.options[i]
		v := between[i]
		for k, s := range before {
			v -= s * q.steps[k]
		}
		v /= deviation
		q.steps = append(q.steps, v)
		q.variance = max(0, q.variance-v*v)
		floats.AddScaled(q.covariance, -v, own)
		q.stale = true
	}
}

// leastDeviation keeps an observation without doubt or noise from a division by zero,
// in decades.
const leastDeviation = 1e-6
