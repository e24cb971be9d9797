package discover_test

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"tutti/internal/lab/clustering"
	"tutti/topology/discover"
)

// noTrees are networks that have no tree of switches. The function hops returns the number of switches
// between two members.
var noTrees = []struct {
	name    string
	members int
	hops    func(i, j int) int
	groups  int // number of groups of members on the same router or node
}{
	{name: "ring of 64", members: 64, hops: func(i, j int) int { return min((i-j+64)%64, (j-i+64)%64) }},
	{name: "mesh of 8 x 8", members: 64, hops: func(i, j int) int { return abs(i/8-j/8) + abs(i%8-j%8) }},
	{name: "torus of 4 x 4 x 4", members: 64, hops: func(i, j int) int {
		return around(i, j, 4) + around(i/4, j/4, 4) + around(i/16, j/16, 4)
	}},
	{name: "hypercube of 64", members: 64, hops: func(i, j int) int { return bits.OnesCount(uint(i ^ j)) }},
	{name: "8 nodes of 8 with a rail for each", members: 64, hops: func(i, j int) int {
		if i/8 == j/8 || i%8 == j%8 {
			return 1
		}
		return 2
	}},
	{name: "16 nodes of 4, slower between nodes and slowest between rails", members: 64, hops: func(i, j int) int {
		switch {
		case i/4 == j/4:
			return 1
		case i%4 == j%4:
			return 3
		}
		return 5
	}, groups: 16},
	{name: "flattened butterfly of 8 x 8", members: 64, hops: func(i, j int) int {
		hops := 0
		if i/8 != j/8 {
			hops++
		}
		if i%8 != j%8 {
			hops++
		}
		return hops
	}},
	{name: "dragonfly of 9 groups of 4 routers of 2", members: 72, hops: dragonfly(4, 2), groups: 36},
	{name: "dragonfly of 13 groups of 4 routers of 3", members: 156, hops: dragonfly(4, 3), groups: 52},
	{name: "dragonfly of 5 groups of 4 routers of 1", members: 20, hops: dragonfly(4, 1)},
}

// around returns the length of the shorter way between two members of a ring of n members.
func around(i, j, n int) int { return min((i-j+2*n*n*n)%n, (j-i+2*n*n*n)%n) }

// dragonfly returns the number of hops between members of a dragonfly network. The network has a·p+1 groups. A
// group has `a` routers, and a router has p members. All routers of a group are connected with one another, and
// any two groups are connected by one link.
func dragonfly(a, p int) func(i, j int) int {
	gate := func(from, to int) int { return ((to-from-1)%(a*p+1) + a*p + 1) % (a*p + 1) / p }
	return func(i, j int) int {
		ri, rj := i/p, j/p
		gi, gj := ri/a, rj/a
		switch {
		case ri == rj:
			return 1
		case gi == gj:
			return 2
		}
		hops := 2
		if gate(gi, gj) != ri%a {
			hops++
		}
		if gate(gj, gi) != rj%a {
			hops++
		}
		return hops
	}
}

func abs(x int) int { return max(x, -x) }

// TestNoTree checks networks that are not trees. No level may be found in them, apart from the level of routers or
// nodes. The members are in random order, and the distances have 2 or 5 % noise.
func TestNoTree(t *testing.T) {
	for _, tc := range noTrees {
		for _, noise := range []float64{0.02, 0.05} {
			for seed := range seeds(5) {
				rng := rand.New(rand.NewPCG(seed, 7))
				order := rng.Perm(tc.members)
				a, b := measure(t, clustering.DefaultNoise(noise), tc.members, func(i, j int) float64 {
					return 1 + 0.5*float64(tc.hops(order[i], order[j]))
				}, rng)
				want := []int{}
				if tc.groups > 0 {
					want = append(want, tc.groups)
				}
				if r := findLevels(t, a, b); !slices.Equal(groups(r.Levels), want) {
					t.Errorf("%s, noise %g, seed %d: levels of %v groups, want %v; unclear %+v", tc.name, noise, seed, groups(r.Levels), want, r.Unclear)
				}
			}
		}
	}
}

// TestRanks512 checks that three levels of 512 randomly placed ranks are found at 10 % noise. It tries this
// with a known and with an unknown number of groups.
func TestRanks512(t *testing.T) {
	m := clustering.Machine{Shape: []int{4, 8, 2, 8}, Seconds: []float64{0.8, 1.46, 2.18, 2.78}}
	for seed := range seeds(3) {
		a, b, truth := draw(t, m, clustering.DefaultNoise(0.1), seed)
		rows := discover.Profile(mean(t, a, b))
		tree := discover.Agglomerate(rows, discover.Ward)
		for level, labels := range truth {
			if share := clustering.Accuracy(tree.Cut(labels.Groups()), labels); share < 1 {
				t.Errorf("seed %d: level %d of %d groups: accuracy %g", seed, level, labels.Groups(), share)
			}
		}
		if r := findLevels(t, a, b); !exact(t, r.Levels, truth) {
			t.Errorf("seed %d: levels of %v groups, want 4, 32 and 64", seed, groups(r.Levels))
		}
	}
}
