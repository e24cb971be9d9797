package suspect

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tutti/internal/robust"
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
	Place
	Slowdown float64 `json:"slowdown"` // times as long as usual: median of the pairs that no surer suspect slows down
	Pairs    int     `json:"pairs"`    // these pairs
	Chance   float64 `json:"chance"`   // that some place of a machine without slow places looks like this, or less
}

// String says it in words.
func (s Suspect) String() string {
	return fmt.Sprintf("%s: %.2g times as long, %d pairs, by chance %.2g", s.Place, s.Slowdown, s.Pairs, s.Chance)
}

// Result is what pairs say about a machine.
type Result struct {
	Suspects []Suspect `json:"suspects"` // the surest first

	// Unclear places look slow, but each of their pairs passes a surer suspect, or the
	// same pairs pass another one: two nodes that only met each other.
	Unclear []Place `json:"unclear"`

	Noise   float64 `json:"noise"`    // relative spread of what usual pairs take
	LeftOut int     `json:"left_out"` // pairs that meet at a height where too few do to know what is usual
}

// Find finds slow places. Pairs are best measured in three rounds or more, in each of
// which a node has one partner, another one each time; between switches some pairs must
// meet for a link to be seen. More than half of the pairs that meet at one height must
// be usual. A node that is alone below its switch is not told from the switch's link;
// the node is named.
//
// It returns an error when the tree does not pass Check, and one matching ErrPair for a
// node that is not in the tree, a node with itself and a time that is not above 0.
// O(height) for each pair, and the places times their pairs.
func Find(t *topology.Tree, pairs []Pair) (Result, error) {
	if err := t.Check(); err != nil {
		return Result{}, err
	}
	var e evidence
	all := newWays(t)
	for i, p := range pairs {
		w, err := all.of(p)
		if err != nil {
			return Result{}, fmt.Errorf("pair %d: %w", i+1, err)
		}
		e.ways = append(e.ways, w)
		e.excess = append(e.excess, math.Log(p.Seconds))
	}
	r := Result{LeftOut: e.compare()}
	if e.noise > 0 {
		r.Noise = e.noise
		e.find(&r)
	}
	return r, nil
}

// evidence is what pairs take.
type evidence struct {
	ways   []way
	excess []float64 // logarithm of how much longer than usual; NaN where what is usual is not known
	noise  float64   // standard deviation of the excess of usual pairs
	places []Place   // in the order of the pairs
	of     map[Place][]int
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
			usual[height] = robust.Quantile(times, 0.5)
		}
	}
	e.of = map[Place][]int{}
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
		e.noise = max(robust.Deviation(known), exact)
	}
	return leftOut
}

// find names the places that look slow, the surest first, each by the pairs that surer
// ones leave to it.
func (e *evidence) find(r *Result) {
	j := e.newJudge()
	var slow []verdict
	for _, p := range e.places {
		if v := j.verdict(p, e.of[p]); v.slow && v.Pairs >= leastPairs {
			slow = append(slow, v)
		}
	}
	slices.SortStableFunc(slow, func(a, b verdict) int { return cmp.Compare(b.score, a.score) })
	named := map[Place]bool{}
	for _, s := range slow {
		own := e.left(s.Place, named)
		if len(own) == 0 || slices.ContainsFunc(slow, func(o verdict) bool {
			return o.Place != s.Place && o.Kind == s.Kind && slices.Equal(own, e.left(o.Place, named))
		}) {
			r.Unclear = append(r.Unclear, s.Place)
			continue
		}
		if v := j.verdict(s.Place, own); v.slow {
			named[s.Place] = true
			r.Suspects = append(r.Suspects, v.Suspect)
		}
	}
}

// left returns the pairs of a place that pass no named one.
func (e *evidence) left(p Place, named map[Place]bool) []int {
	return slices.DeleteFunc(slices.Clone(e.of[p]), func(i int) bool {
		return slices.ContainsFunc(e.ways[i].places, func(p Place) bool { return named[p] })
	})
}
