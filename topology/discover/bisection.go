package discover

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"tutti/topology"
)

const partners = 3

// RetestPairs pairs each suspected host with three hosts that are not suspected. It prefers hosts with
// which the suspected host was not paired before.
func RetestPairs(suspected, hosts []string, pairs []Measurement) [][2]string {
	met := map[[2]string]bool{}
	for _, p := range pairs {
		met[[2]string{p.A.Host, p.B.Host}], met[[2]string{p.B.Host, p.A.Host}] = true, true
	}
	var out [][2]string
	for i, host := range suspected {
		if !slices.Contains(hosts, host) {
			continue // the suspect is a link
		}
		var fresh, known [][2]string
		for k := range hosts {
			switch pair := [2]string{host, hosts[(i+k)%len(hosts)]}; {
			case slices.Contains(suspected, pair[1]):
			case met[pair]:
				known = append(known, pair)
			default:
				fresh = append(fresh, pair)
			}
		}
		fresh = append(fresh, known...)
		out = append(out, fresh[:min(partners, len(fresh))]...)
	}
	return out
}

// Cut divides the nodes below a switch into two halves. It holds pairs of nodes; the two nodes of a pair
// lie in different halves. Each node is in at most one pair.
type Cut struct {
	Switch string
	Pairs  [][2]string
}

// leastCut is the smallest number of pairs that can show whether a bisection is oversubscribed.
const leastCut = 2

// Cuts divides the nodes below each switch into two halves and pairs the nodes of the halves. It adds the
// switch's children to the first half until this half has half of the nodes. `hosts` lists the
// usable nodes. Cuts omits switches with fewer than two pairs.
func Cuts(t *topology.Tree, hosts []string) []Cut {
	var out []Cut
	for v := range t.All() {
		if v.Kind != topology.Switch || len(v.Children) < 2 {
			continue
		}
		var below [][]string
		total := 0
		for i := range v.Children {
			sub := topology.Tree{Root: v.Children[i]}
			nodes := slices.DeleteFunc(sub.Nodes(), func(n string) bool { return !slices.Contains(hosts, n) })
			below = append(below, nodes)
			total += len(nodes)
		}
		var one, other []string
		for _, nodes := range below {
			if 2*len(one) < total {
				one = append(one, nodes...)
			} else {
				other = append(other, nodes...)
			}
		}
		h := Cut{Switch: v.Name}
		for i := range min(len(one), len(other)) {
			h.Pairs = append(h.Pairs, [2]string{one[i], other[i]})
		}
		if len(h.Pairs) >= leastCut {
			out = append(out, h)
		}
	}
	return out
}

// CutRounds returns two rounds of measurements for each cut: one with all pairs of the cut, and one with the first pair
// alone.
func CutRounds(cuts []Cut) [][][2]string {
	var out [][][2]string
	for _, h := range cuts {
		out = append(out, h.Pairs, h.Pairs[:1])
	}
	return out
}

// Bisection is the throughput that was measured between the two halves of a switch.
type Bisection struct {
	Switch   string
	Pairs    int
	Bytes    float64 // bytes per second of all pairs at once, in both directions together
	Slowdown float64 // geometric mean time of a pair when all run at once, over the time of one pair alone
	Chance   float64 // probability of such a slowdown if pairs do not slow each other down
}

// Bisections evaluates the measurements of the rounds that CutRounds returned. `first` is the
// number of the first of these rounds, and `bytes` is the message size. Bisections ignores switches without
// measurements.
func Bisections(cuts []Cut, first, bytes int, pairs []Measurement) []Bisection {
	by := map[int][]float64{} // logarithms of times, by round
	for _, p := range pairs {
		by[p.Round] = append(by[p.Round], math.Log(p.LargeMedian))
	}
	var out []Bisection
	for i, h := range cuts {
		together, alone := by[first+2*i], by[first+2*i+1]
		if len(together) == 0 || len(alone) < 2 {
			continue
		}
		m1, s1 := stat.MeanStdDev(together, nil)
		m2, s2 := stat.MeanStdDev(alone, nil)
		wrong := math.Hypot(s1/math.Sqrt(float64(len(together))), s2/math.Sqrt(float64(len(alone))))
		out = append(out, Bisection{
			Switch: h.Switch, Pairs: len(h.Pairs), Slowdown: math.Exp(m1 - m2),
			Bytes:  2 * float64(len(h.Pairs)) * float64(bytes) / math.Exp(m1),
			Chance: distuv.UnitNormal.Survival((m1 - m2) / max(wrong, 1e-9)),
		})
	}
	return out
}
