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

// Thresholds for reporting a node or link as slow.
const (
	// falseAlarms is the probability that any component is reported on a machine without slow ones.
	falseAlarms = 0.05

	// leastSlowdown is the smallest slowdown that is reported. It equals the smallest ratio between two levels of a
	// topology.
	leastSlowdown = 1.1

	// leastAlike is the smallest number of pairs from which a usual time is computed. Such pairs have paths of the
	// same height in the tree.
	leastAlike = 8

	// leastPairs is the smallest number of measured pairs whose path leads through a component. With fewer pairs, the
	// slow component may as well be the one at the other end of the path.
	leastPairs = 2
)

// Suspect is a component that seems to be slow.
type Suspect struct {
	Component
	Slowdown float64 `json:"slowdown"` // median slowdown of its pairs that pass no suspect of higher rank
	Pairs    int     `json:"pairs"`    // number of these pairs
	Chance   float64 `json:"chance"`   // upper bound of the probability that a machine without slow components shows this
}

// String describes the slow node or link, its slowdown, the number of pairs and the probability of a false
// alarm.
func (s Suspect) String() string {
	return fmt.Sprintf("%s: %.2g times as long, %d pairs, by chance %.2g", s.Component, s.Slowdown, s.Pairs, s.Chance)
}

// SuspectReport lists the nodes and links that FindSuspects found to be slow, and those that may be.
type SuspectReport struct {
	Suspects []Suspect `json:"suspects"` // highest score first

	// Unclear are components that seem to be slow but cannot be distinguished from others. Either each path through
	// such a component also leads through a suspect with a higher score, or the same paths lead through another
	// component.
	Unclear []Component `json:"unclear"`

	Noise   float64 `json:"noise"`    // relative standard deviation of the times of usual pairs
	LeftOut int     `json:"left_out"` // number of pairs at heights of the tree with too few pairs
}

// FindSuspects finds slow nodes and slow links from the times that were measured between pairs of nodes.
//
// To find slow nodes, it needs at least three rounds of measurements. In a round each node has one partner,
// which changes from round to round. To find slow links, it needs pairs of nodes below different switches. At
// each height of the tree, more than half of the pairs must have usual times. If a switch has only one node, a
// slow node looks like a slow link of the switch. FindSuspects then reports the node.
//
// It returns an error if the tree does not pass the method Check. The error matches ErrPair if a node is
// unknown or paired with itself, or if a time is not positive. It takes O(height) time for each pair, plus time
// proportional to the number of components times the number of pairs.
func FindSuspects(t *topology.Tree, pairs []PairTime) (SuspectReport, error) {
	if err := t.Check(); err != nil {
		return SuspectReport{}, err
	}
	var e slowness
	all := newRoutes(t)
	for i, p := range pairs {
		w, err := all.between(p)
		if err != nil {
			return SuspectReport{}, fmt.Errorf("pair %d: %w", i+1, err)
		}
		e.routes = append(e.routes, w)
		e.excess = append(e.excess, math.Log(p.Seconds))
	}
	r := SuspectReport{LeftOut: e.compare()}
	if e.noise > 0 {
		r.Noise = e.noise
		e.find(&r)
	}
	return r, nil
}

// slowness decides which components are slow.
//
// The excess of a pair says how much longer than usual its time is, in standard deviations. The score of a
// component with k pairs is the sum of their excesses over √k. Every excess is limited to the smallest one plus the
// usual range of k normally distributed numbers. A component with one usual pair therefore has no high score,
// whatever delays its other pairs.
//
// Without this limit, the score of usual pairs is normally distributed. With the limit it is smaller. The tail of
// the normal distribution is therefore an upper bound for the probability of a score. Multiplied by the number of
// components, it is an upper bound for the probability that any component has such a score (Bonferroni).
//
// Usual nodes differ slightly, so the scores of usual components may have a standard deviation above 1. Scores of
// each kind of component are then divided by this standard deviation.
type slowness struct {
	routes     []route
	excess     []float64   // natural logarithm of the time over the usual time; NaN where the usual time is unknown
	noise      float64     // standard deviation of the excess of usual pairs
	components []Component // all components, in the order of the pairs
	of         map[Component][]int

	needed float64                   // least score of a slow component
	unit   map[topology.Kind]float64 // standard deviation of an excess, by kind
}

// compare replaces the logarithm of each time by its difference from the usual value at the same height. It
// returns the number of pairs for which the usual time is unknown.
func (e *slowness) compare() (leftOut int) {
	alike := map[int][]float64{}
	for i, w := range e.routes {
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
	for i, w := range e.routes {
		e.excess[i] -= usual[w.height]
		if math.IsNaN(e.excess[i]) {
			leftOut++
			continue
		}
		known = append(known, e.excess[i])
		for _, p := range w.components {
			if e.of[p] == nil {
				e.components = append(e.components, p)
			}
			e.of[p] = append(e.of[p], i)
		}
	}
	if len(known) > 0 {
		const exact = 1e-6 // least noise, when pairs have exactly equal times
		e.noise = max(metrics.RobustDeviation(known), exact)
	}
	return leftOut
}

// find adds suspects to the report, beginning with the highest score. It rates a node or link only by pairs whose path
// avoids all suspects found earlier.
func (e *slowness) find(r *SuspectReport) {
	e.calibrate()
	var slow []rating
	for _, p := range e.components {
		if v := e.rate(p, e.of[p]); v.slow && v.Pairs >= leastPairs {
			slow = append(slow, v)
		}
	}
	slices.SortStableFunc(slow, func(a, b rating) int { return cmp.Compare(b.score, a.score) })
	named := map[Component]bool{}
	for _, s := range slow {
		own := e.unexplained(s.Component, named)
		if len(own) == 0 || slices.ContainsFunc(slow, func(o rating) bool {
			return o.Component != s.Component && o.Kind == s.Kind && slices.Equal(own, e.unexplained(o.Component, named))
		}) {
			r.Unclear = append(r.Unclear, s.Component)
			continue
		}
		if v := e.rate(s.Component, own); v.slow {
			named[s.Component] = true
			r.Suspects = append(r.Suspects, v.Suspect)
		}
	}
}

func (e *slowness) unexplained(p Component, named map[Component]bool) []int {
	return slices.DeleteFunc(slices.Clone(e.of[p]), func(i int) bool {
		return slices.ContainsFunc(e.routes[i].components, func(p Component) bool { return named[p] })
	})
}

type rating struct {
	Suspect
	score float64
	slow  bool
}

// calibrate sets the score from which on a component counts as slow. For each kind of component, it sets the unit of
// scores from their spread, so that usual components have low scores.
func (e *slowness) calibrate() {
	e.needed = distuv.UnitNormal.Quantile(1 - falseAlarms/float64(len(e.components)))
	e.unit = map[topology.Kind]float64{topology.Node: e.noise, topology.Switch: e.noise}
	scores := map[topology.Kind][]float64{}
	for _, p := range e.components {
		scores[p.Kind] = append(scores[p.Kind], e.score(p, e.of[p]))
	}
	for kind, x := range scores {
		e.unit[kind] *= max(metrics.RobustDeviation(x), 1)
	}
}

func (e *slowness) score(p Component, pairs []int) float64 {
	k := float64(len(pairs))
	least := math.Inf(1)
	for _, i := range pairs {
		least = min(least, e.excess[i]/e.unit[p.Kind])
	}
	width := 2 * distuv.UnitNormal.Quantile(k/(k+1)) // approximate range of k normal numbers
	sum := 0.0
	for _, i := range pairs {
		sum += min(e.excess[i]/e.unit[p.Kind], least+width)
	}
	return sum / math.Sqrt(k)
}

// rate computes the score and the slowdown of a component. It uses only the given pairs.
func (e *slowness) rate(p Component, pairs []int) rating {
	excess := make([]float64, len(pairs))
	for k, i := range pairs {
		excess[k] = e.excess[i]
	}
	v := rating{score: e.score(p, pairs)}
	v.Suspect = Suspect{
		Component: p,
		Slowdown:  math.Exp(metrics.Quantile(excess, 0.5)),
		Pairs:     len(pairs),
		Chance:    min(1, float64(len(e.components))*distuv.UnitNormal.Survival(v.score)),
	}
	v.slow = v.score > e.needed && v.Slowdown >= leastSlowdown
	return v
}

// NetworkReport holds the suspects and the bisections in the network of a machine.
type NetworkReport struct {
	Nodes      int
	Latency    SuspectReport // by the time of empty messages
	Bandwidth  SuspectReport // by the time of large messages
	Bisections []Bisection
	Gaps       []string
}

// FindSuspects finds the suspects: for Latency from the median times of empty messages, for Bandwidth from
// those of large messages.
func (n *NetworkReport) FindSuspects(t *topology.Tree, pairs []Measurement) (err error) {
	if n.Latency, err = FindSuspects(t, medians(pairs, func(p Measurement) float64 { return p.SmallMedian })); err != nil {
		return err
	}
	n.Bandwidth, err = FindSuspects(t, medians(pairs, func(p Measurement) float64 { return p.LargeMedian }))
	return err
}

func medians(pairs []Measurement, seconds func(Measurement) float64) []PairTime {
	times := map[[2]string][]float64{}
	var order [][2]string
	for _, p := range pairs {
		key := [2]string{p.A.Host, p.B.Host}
		if times[key] == nil {
			order = append(order, key)
		}
		times[key] = append(times[key], seconds(p))
	}
	var out []PairTime
	for _, key := range order {
		out = append(out, PairTime{A: key[0], B: key[1], Seconds: metrics.Quantile(times[key], 0.5)})
	}
	return out
}

// Suspects returns the names of all suspected and unclear nodes and links, sorted.
func (n *NetworkReport) Suspects() []string {
	var out []string
	for _, r := range []SuspectReport{n.Latency, n.Bandwidth} {
		for _, s := range r.Suspects {
			out = append(out, s.Name)
		}
		for _, p := range r.Unclear {
			out = append(out, p.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
