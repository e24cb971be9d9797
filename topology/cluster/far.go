package cluster

import (
	"math"

	"tutti/metrics"
)

// remote is a member that is farther from all others than they are from one another.
type remote struct {
	member int
	excess float64 // as a logarithm
}

// far looks for members whose longer distances exceed those that all others have at the
// coarsest level, by 10 % and three standard deviations of how much members do.
func (d *detector) far(found []Labels) []remote {
	n := d.mean.n
	tops := d.tops(found)
	excess := make([]float64, n)
	for i := range n {
		excess[i] = d.upperQuarter(i) - reference(tops, i)
	}
	spread := append([]float64(nil), excess...)
	middle := max(metrics.Quantile(spread, 0.5), 0) // the upper quarter of noise lies above its mean
	sure := 3 * metrics.RobustDeviation(spread)
	var out []remote
	for i, x := range excess {
		if x -= middle; x > least && x > sure {
			out = append(out, remote{member: i, excess: x})
		}
	}
	return out
}

// upperQuarter returns the quantile above which a quarter of a member's distances lie,
// of many members those to some.
func (d *detector) upperQuarter(i int) float64 {
	var some []float64
	row := d.mean.row(i)
	for _, j := range landmarks(d.mean.n) {
		if j != i {
			some = append(some, row[j])
		}
	}
	return metrics.Quantile(some, 0.75)
}

// top is what lies between different groups of one division, in all and for each member.
type top struct {
	all sample
	of  []sample
}

// tops returns the tops of the divisions, the coarsest first, and of single members.
func (d *detector) tops(found []Labels) []top {
	n := d.mean.n
	divisions := append([]Labels{everyone(n)}, found...)
	var out []top
	for k := len(divisions) - 1; k >= 0; k-- {
		t := top{of: make([]sample, n)}
		for i, own := range divisions[k] {
			for j, x := range d.mean.row(i) {
				if divisions[k][j] != own {
					t.of[i].add(x)
				}
			}
			t.all = t.all.plus(t.of[i])
		}
		out = append(out, t)
	}
	return out
}

// reference returns the mean distance between different groups of the coarsest division
// that has any without the member.
func reference(tops []top, member int) float64 {
	for _, t := range tops {
		others := t.all.minus(t.of[member]).minus(t.of[member]) // each pair counts for both
		if others.n > 0.5 {
			return others.mean()
		}
	}
	return math.Inf(1) // two members: neither is farther
}

// pull brings a remote member as near to the others as they are to one another.
func (d *detector) pull(r remote) {
	for _, t := range append([]table{d.mean}, d.halves...) {
		for j := range t.n {
			if j != r.member {
				t.x[r.member*t.n+j] -= r.excess
				t.x[j*t.n+r.member] -= r.excess
			}
		}
	}
}

// confidence returns the share of the members whose group each half alone confirms.
func (d *detector) confidence(labels Labels, near, far float64) float64 {
	if d.halves == nil {
		return suited(d.mean, labels, near, far)
	}
	return (suited(d.halves[0], labels, near, far) + suited(d.halves[1], labels, near, far)) / 2
}
