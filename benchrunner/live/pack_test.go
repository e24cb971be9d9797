package live

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPack(t *testing.T) {
	tests := []struct {
		name  string
		pool  nodePool
		loads []load
		want  []float64 // begin of each load
		span  float64
	}{
		{"nothing", nodePool{Nodes: 4}, nil, []float64{}, 0},
		{"four at the same time", nodePool{Nodes: 8}, []load{{2, 5}, {2, 3}, {2, 4}, {2, 1}}, []float64{0, 0, 0, 0}, 5},
		{"a wide one alone", nodePool{Nodes: 8}, []load{{2, 3}, {8, 2}, {2, 3}}, []float64{2, 0, 2}, 5},
		{"the longest first", nodePool{Nodes: 2}, []load{{1, 3}, {1, 3}, {1, 6}}, []float64{0, 3, 0}, 6},
		{"a long narrow one with wide ones", nodePool{Nodes: 8}, []load{{4, 10}, {4, 10}, {4, 10}, {4, 10}, {1, 40}}, []float64{0, 10, 20, 30, 0}, 40},
		{"what fits goes before what does not", nodePool{Nodes: 8}, []load{{5, 4}, {5, 4}, {3, 4}, {3, 4}}, []float64{0, 4, 0, 4}, 8},
		{"one for each switch", nodePool{Nodes: 8, Groups: []int{4, 4}}, []load{{2, 1}, {2, 1}, {2, 1}, {2, 1}}, []float64{0, 0, 1, 1}, 2},
		{"the smaller switch is left to the smaller one", nodePool{Nodes: 6, Groups: []int{2, 4}}, []load{{3, 1}, {2, 1}}, []float64{0, 0}, 1},
		{"over switches one at a time", nodePool{Nodes: 8, Groups: []int{2, 2, 2, 2}}, []load{{3, 2}, {3, 2}, {1, 1}, {1, 1}}, []float64{0, 2, 0, 0}, 4},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			p := tc.pool.pack(tc.loads)
			if got := begins(p); !slices.Equal(got, tc.want) || p.Makespan != tc.span {
				t.Errorf("begins %v, makespan %g; want %v, %g", got, p.Makespan, tc.want, tc.span)
			}
		})
	}
}

func begins(p packing) []float64 {
	out := make([]float64, len(p.Places))
	for _, at := range p.Places {
		out[at.Load] = at.Begin
	}
	return out
}

// TestPackPlaces checks which groups a load gets and which loads must end before it begins.
func TestPackPlaces(t *testing.T) {
	pool := nodePool{Nodes: 9, Groups: []int{2, 4, 3}}
	loads := []load{{Nodes: 5, Seconds: 9}, {Nodes: 3, Seconds: 4}, {Nodes: 2, Seconds: 8}, {Nodes: 6, Seconds: 2}}
	want := []place{
		{Load: 0, Groups: []int{1, 2}, After: []int{}},
		{Load: 2, Groups: []int{0}, After: []int{}},
		{Load: 1, Begin: 9, Groups: []int{2}, After: []int{0}},
		{Load: 3, Begin: 9, Groups: []int{1, 0}, After: []int{0, 1}},
	}
	if diff := cmp.Diff(want, pool.pack(loads).Places); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	free := nodePool{Nodes: 3}
	p := free.pack([]load{{Nodes: 2, Seconds: 1}, {Nodes: 1, Seconds: 3}, {Nodes: 2, Seconds: 2}})
	want = []place{
		{Load: 2, Groups: []int{0, 1}, After: []int{}}, {Load: 1, Groups: []int{2}, After: []int{}},
		{Load: 0, Begin: 2, Groups: []int{0, 1}, After: []int{0}},
	}
	if diff := cmp.Diff(want, p.Places); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPackRandom packs random loads, and simulates loads that end earlier than planned. No group of nodes may
// have two loads at the same time, and loads that span groups may not overlap. No load may begin later than
// planned. Without groups, the makespan must be at most twice its lower bound.
func TestPackRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		pool := nodePool{Nodes: 1 + rng.IntN(20)}
		if rng.IntN(2) == 0 {
			for left := pool.Nodes; left > 0; {
				size := 1 + rng.IntN(min(left, 6))
				pool.Groups = append(pool.Groups, size)
				left -= size
			}
		}
		loads := make([]load, rng.IntN(30))
		shorter := make([]float64, len(loads))
		for i := range loads {
			loads[i] = load{Nodes: 1 + rng.IntN(pool.Nodes), Seconds: math.Exp(3 * rng.NormFloat64())}
			shorter[i] = loads[i].Seconds * rng.Float64()
		}
		p := pool.pack(loads)
		checkMakespan(t, pool, loads, p)
		checkSimulated(t, pool, loads, p, shorter)
	}
}

// checkMakespan checks that each load is placed once and that the makespan is within its
// bounds.
func checkMakespan(t *testing.T, pool nodePool, loads []load, p packing) {
	t.Helper()
	placed := make([]int, len(loads))
	area, longest, last := 0.0, 0.0, 0.0
	for _, at := range p.Places {
		l := loads[at.Load]
		placed[at.Load]++
		area += float64(l.Nodes) * l.Seconds
		longest, last = max(longest, l.Seconds), max(last, at.Begin+l.Seconds)
	}
	if slices.ContainsFunc(placed, func(n int) bool { return n != 1 }) {
		t.Fatalf("loads are placed %v times", placed)
	}
	least := max(area/float64(pool.Nodes), longest)
	if p.Makespan != last || pool.Groups == nil && p.Makespan > 2*least*(1+1e-12) {
		t.Fatalf("makespan %g, the last ends at %g, at least %g: %+v %+v", p.Makespan, last, least, pool, loads)
	}
}

// checkSimulated simulates the schedule `p`. The element `seconds[i]` is the duration of load i. A load
// begins when the loads listed in its field After have ended. It must have enough free nodes, and it must
// not begin later than planned.
func checkSimulated(t *testing.T, pool nodePool, loads []load, p packing, seconds []float64) {
	t.Helper()
	sizes := pool.Groups
	if sizes == nil {
		sizes = slices.Repeat([]int{1}, pool.Nodes)
	}
	free := make([]float64, len(sizes)) // time since which each group is free
	above := 0.0                        // time since which no load spans groups
	ends := make([]float64, len(p.Places))
	for i, at := range p.Places {
		begin, nodes := 0.0, 0
		for _, before := range at.After {
			begin = max(begin, ends[before])
		}
		ends[i] = begin + seconds[at.Load]
		for _, g := range at.Groups {
			if begin < free[g] {
				t.Fatalf("%+v: load %d begins on group %d at %g s, where another ends at %g s: %+v", pool, at.Load, g, begin, free[g], p)
			}
			nodes += sizes[g]
			free[g] = ends[i]
		}
		if pool.Groups != nil && len(at.Groups) > 1 {
			if begin < above {
				t.Fatalf("%+v: load %d spans groups at %g s, another one until %g s: %+v", pool, at.Load, begin, above, p)
			}
			above = ends[i]
		}
		if begin > at.Begin || nodes < loads[at.Load].Nodes {
			t.Fatalf("%+v: load %d begins at %g s on %d nodes: %+v", pool, at.Load, begin, nodes, p)
		}
	}
}
