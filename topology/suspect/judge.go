package suspect

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"tutti/internal/robust"
	"tutti/topology"
)

// judge decides whether a place is slow.
//
// The score of a place is the sum of what its k pairs exceed the usual, in standard
// deviations, over √k. None counts for more than the least one and the width that k
// normal numbers have, so that late messages and slow partners are not enough where one
// pair is as usual. Of usual pairs the score is normal and what is cut off makes it
// smaller, so the tail of the normal distribution bounds the probability of a score;
// times the number of places it bounds that of any.
//
// No two nodes are quite the same, so the scores of usual places may spread by more than
// 1: then all deviations count that much less.
type judge struct {
	e      *evidence
	needed float64                   // score of a slow place
	unit   map[topology.Kind]float64 // standard deviation that a pair counts with
}

// verdict is a suspect that may be none.
type verdict struct {
	Suspect
	score float64
	slow  bool
}

func (e *evidence) newJudge() judge {
	j := judge{e: e, unit: map[topology.Kind]float64{topology.Node: e.noise, topology.Switch: e.noise}}
	j.needed = distuv.UnitNormal.Quantile(1 - alarm/float64(len(e.places)))
	scores := map[topology.Kind][]float64{}
	for _, p := range e.places {
		scores[p.Kind] = append(scores[p.Kind], j.score(p, e.of[p]))
	}
	for kind, x := range scores {
		j.unit[kind] *= max(robust.Deviation(x), 1)
	}
	return j
}

// score returns the score of a place by some of its pairs.
func (j judge) score(p Place, pairs []int) float64 {
	k := float64(len(pairs))
	least := math.Inf(1)
	for _, i := range pairs {
		least = min(least, j.e.excess[i]/j.unit[p.Kind])
	}
	width := 2 * distuv.UnitNormal.Quantile(k/(k+1)) // of k normal numbers, about
	sum := 0.0
	for _, i := range pairs {
		sum += min(j.e.excess[i]/j.unit[p.Kind], least+width)
	}
	return sum / math.Sqrt(k)
}

// verdict judges a place by some of its pairs.
func (j judge) verdict(p Place, pairs []int) verdict {
	excess := make([]float64, len(pairs))
	for k, i := range pairs {
		excess[k] = j.e.excess[i]
	}
	v := verdict{score: j.score(p, pairs)}
	v.Suspect = Suspect{
		Place:    p,
		Slowdown: math.Exp(robust.Quantile(excess, 0.5)),
		Pairs:    len(pairs),
		Chance:   min(1, float64(len(j.e.places))*distuv.UnitNormal.Survival(v.score)),
	}
	v.slow = v.score > j.needed && v.Slowdown >= leastSlowdown
	return v
}
