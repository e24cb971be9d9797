package discover

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"tutti/metrics"
	"tutti/topology"
)

// What a suspect must show.
const (
	// alarm is the probability that a machine without slow places gives a suspect.
	alarm = 0.05

	// leastSlowdown is the least slowdown that is worth a word, as in a step between
	// levels.
	leastSlowdown = 1.1

	// leastAlike is how many pairs must meet at a height for it to be known what is usual
	// there.
	leastAlike = 8

	// leastPairs is how many pairs it takes to blame a place and not its partner.
	leastPairs = 2
)

// Suspect is a place that is slow.
type Suspect struct {
	Component
	Slowdown float64 `json:"slowdown"` // times as long as usual: median of the pairs that no surer suspect slows down
	Pairs    int     `json:"pairs"`    // these pairs
	Chance   float64 `json:"chance"`   // that some place of a machine without slow places looks like this, or less
}

// String says it in words.
func (s Suspect) String() string {
	return fmt.Sprintf("%s: %.2g times as long, %d pairs, by chance %.2g", s.Component, s.Slowdown, s.Pairs, s.Chance)
}

// SuspectReport is what pairs say about a machine.
type SuspectReport struct {
	Suspects []Suspect `json:"suspects"` // the surest first

	// Unclear places look slow, but each of their pairs passes a surer suspect, or the
	// same pairs pass another one: two nodes that only met each other.
	Unclear []Component `json:"unclear"`

	Noise   float64 `json:"noise"`    // relative spread of what usual pairs take
	LeftOut int     `json:"left_out"` // pairs that meet at a height where too few do to know what is usual
}

// FindSuspects finds slow places. Pairs are best measured in three rounds or more, in each of
// which a node has one partner, another one each time; between switches some pairs must
// meet for a link to be seen. More than half of the pairs that meet at one height must
// be usual. A node that is alone below its switch is not told from the switch's link;
// the node is named.
//
// It returns an error when the tree does not pass Check, and one matching ErrPair for a
// node that is not in the tree, a node with itself and a time that is not above 0.
// O(height) for each pair, and the places times their pairs.
func FindSuspects(t *topology.Tree, pairs []PairTime) (SuspectReport, error) {
	if err := t.Check(); err != nil {
		return SuspectReport{}, err
	}
	var e evidence
	all := newWays(t)
	for i, p := range pairs {
		w, err := all.of(p)
		if err != nil {
			return SuspectReport{}, fmt.Errorf("pair %d: %w", i+1, err)
		}
		e.ways = append(e.ways, w)
		e.excess = append(e.excess, math.Log(p.Seconds))
	}
	r := SuspectReport{LeftOut: e.compare()}
	if e.noise > 0 {
		r.Noise = e.noise
		e.find(&r)
	}
	return r, nil
}

// evidence is what pairs take.
type evidence struct {
	ways   []way
	excess []float64   // logarithm of how much longer than usual; NaN where what is usual is not known
	noise  float64     // standard deviation of the excess of usual pairs
	places []Component // in the order of the pairs
	of     map[Component][]int
}

// compare puts the excess in the place of what pairs take, and returns how many have
// none.
func (e *evidence) compare() (leftOut int) {
	alike := map[int][]float64{}
	for i, w := range e.ways {
		alike[w.height] = append(alike[w.height], e.excess[i])
	}
	usual := map[int]float64{}
	for height, times := range alike {
		usual[height] = math.NaN()
		if len(times) >= leastAlike {
			usual[height] = metrics.Quantile(times, 0.5)
		}
	}
	e.of = map[Component][]int{}
	var known []float64
	for i, w := range e.ways {
		e.excess[i] -= usual[w.height]
		if math.IsNaN(e.excess[i]) {
			leftOut++
			continue
		}
		known = append(known, e.excess[i])
		for _, p := range w.places {
			if e.of[p] == nil {
				e.places = append(e.places, p)
			}
			e.of[p] = append(e.of[p], i)
		}
	}
	if len(known) > 0 {
		const exact = 1e-6 // pairs that take the same to the last digit
		e.noise = max(metrics.RobustDeviation(known), exact)
	}
	return leftOut
}

// find names the places that look slow, the surest first, each by the pairs that surer
// ones leave to it.
func (e *evidence) find(r *SuspectReport) {
	j := e.newJudge()
	var slow []judgement
	for _, p := range e.places {
		if v := j.judge(p, e.of[p]); v.slow && v.Pairs >= leastPairs {
			slow = append(slow, v)
		}
	}
	slices.SortStableFunc(slow, func(a, b judgement) int { return cmp.Compare(b.score, a.score) })
	named := map[Component]bool{}
	for _, s := range slow {
		own := e.left(s.Component, named)
		if len(own) == 0 || slices.ContainsFunc(slow, func(o judgement) bool {
			return o.Component != s.Component && o.Kind == s.Kind && slices.Equal(own, e.left(o.Component, named))
		}) {
			r.Unclear = append(r.Unclear, s.Component)
			continue
		}
		if v := j.judge(s.Component, own); v.slow {
			named[s.Component] = true
			r.Suspects = append(r.Suspects, v.Suspect)
		}
	}
}

// left returns the pairs of a place that pass no named one.
func (e *evidence) left(p Component, named map[Component]bool) []int {
	return slices.DeleteFunc(slices.Clone(e.of[p]), func(i int) bool {
		return slices.ContainsFunc(e.ways[i].places, func(p Component) bool { return named[p] })
	})
}

// scorer decides whether a place is slow.
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
type scorer struct {
	e      *evidence
	needed float64                   // score of a slow place
	unit   map[topology.Kind]float64 // standard deviation that a pair counts with
}

// judgement is a suspect that may be none.
type judgement struct {
	Suspect
	score float64
	slow  bool
}

func (e *evidence) newJudge() scorer {
	j := scorer{e: e, unit: map[topology.Kind]float64{topology.Node: e.noise, topology.Switch: e.noise}}
	j.needed = distuv.UnitNormal.Quantile(1 - alarm/float64(len(e.places)))
	scores := map[topology.Kind][]float64{}
	for _, p := range e.places {
		scores[p.Kind] = append(scores[p.Kind], j.score(p, e.of[p]))
	}
	for kind, x := range scores {
		j.unit[kind] *= max(metrics.RobustDeviation(x), 1)
	}
	return j
}

// score returns the score of a place by some of its pairs.
func (j scorer) score(p Component, pairs []int) float64 {
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

// judgement judges a place by some of its pairs.
func (j scorer) judge(p Component, pairs []int) judgement {
	excess := make([]float64, len(pairs))
	for k, i := range pairs {
		excess[k] = j.e.excess[i]
	}
	v := judgement{score: j.score(p, pairs)}
	v.Suspect = Suspect{
		Component: p,
		Slowdown:  math.Exp(metrics.Quantile(excess, 0.5)),
		Pairs:     len(pairs),
		Chance:    min(1, float64(len(j.e.places))*distuv.UnitNormal.Survival(v.score)),
	}
	v.slow = v.score > j.needed && v.Slowdown >= leastSlowdown
	return v
}
