package discover

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"tutti/topology"
)

// partners is how many others a doubtful node meets.
const partners = 3

// Again returns pairs of each doubtful host with three others that are not doubtful, first
// those that it has not met.
func Again(doubtful, hosts []string, pairs []Measurement) [][2]string {
	met := map[[2]string]bool{}
	for _, p := range pairs {
		met[[2]string{p.A.Host, p.B.Host}], met[[2]string{p.B.Host, p.A.Host}] = true, true
	}
	var out [][2]string
	for i, host := range doubtful {
		if !slices.Contains(hosts, host) {
			continue // a link
		}
		var fresh, known [][2]string
		for k := range hosts {
			switch pair := [2]string{host, hosts[(i+k)%len(hosts)]}; {
			case slices.Contains(doubtful, pair[1]):
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

// Half is a switch with pairs of nodes of its one half and the other, each node in one
// pair at most.
type Half struct {
	Switch string
	Pairs  [][2]string
}

// leastHalf is how many pairs must meet in a switch for its halves to say anything.
const leastHalf = 2

// Halves returns the switches of a tree with nodes in both halves: the first of its
// children that make half of the nodes, and the others. hosts are the nodes that can be
// had. Switches with less than two pairs are left out.
func Halves(t *topology.Tree, hosts []string) []Half {
	var out []Half
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
		h := Half{Switch: v.Name}
		for i := range min(len(one), len(other)) {
			h.Pairs = append(h.Pairs, [2]string{one[i], other[i]})
		}
		if len(h.Pairs) >= leastHalf {
			out = append(out, h)
		}
	}
	return out
}

// HalfRounds returns two rounds for each switch: all pairs of its halves at once, and the
// first one alone.
func HalfRounds(halves []Half) [][][2]string {
	var out [][][2]string
	for _, h := range halves {
		out = append(out, h.Pairs, h.Pairs[:1])
	}
	return out
}

// Bisection is what the halves of a switch exchange.
type Bisection struct {
	Switch   string
	Pairs    int
	Bytes    float64 // a second, there and back, of all pairs at once
	Slowdown float64 // of a pair, geometric mean, over one pair alone
	Chance   float64 // that pairs which do not disturb one another look like this
}

// Bisections returns what the rounds of HalfRounds measured with messages of so many
// bytes, the first of them being round first. Switches that were not come to are left out.
func Bisections(halves []Half, first, bytes int, pairs []Measurement) []Bisection {
	by := map[int][]float64{} // logarithms of times, by round
	for _, p := range pairs {
		by[p.Round] = append(by[p.Round], math.Log(p.LargeMedian))
	}
	var out []Bisection
	for i, h := range halves {
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
