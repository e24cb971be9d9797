package benchrunner_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tutti/benchrunner"
)

func TestPack(t *testing.T) {
	tests := []struct {
		name  string
		room  benchrunner.Room
		loads []benchrunner.Load
		want  []float64 // begins
		span  float64
	}{
		{"nothing", benchrunner.Room{Nodes: 4}, nil, []float64{}, 0},
		{"four beside each other", benchrunner.Room{Nodes: 8}, []benchrunner.Load{{2, 5}, {2, 3}, {2, 4}, {2, 1}}, []float64{0, 0, 0, 0}, 5},
		{"a wide one alone", benchrunner.Room{Nodes: 8}, []benchrunner.Load{{2, 3}, {8, 2}, {2, 3}}, []float64{2, 0, 2}, 5},
		{"the longest first", benchrunner.Room{Nodes: 2}, []benchrunner.Load{{1, 3}, {1, 3}, {1, 6}}, []float64{0, 3, 0}, 6},
		{"a long narrow one beside wide ones", benchrunner.Room{Nodes: 8}, []benchrunner.Load{{4, 10}, {4, 10}, {4, 10}, {4, 10}, {1, 40}}, []float64{0, 10, 20, 30, 0}, 40},
		{"what fits goes before what does not", benchrunner.Room{Nodes: 8}, []benchrunner.Load{{5, 4}, {5, 4}, {3, 4}, {3, 4}}, []float64{0, 4, 0, 4}, 8},
		{"one for each switch", benchrunner.Room{Nodes: 8, Groups: []int{4, 4}}, []benchrunner.Load{{2, 1}, {2, 1}, {2, 1}, {2, 1}}, []float64{0, 0, 1, 1}, 2},
		{"the smaller switch is left to the smaller one", benchrunner.Room{Nodes: 6, Groups: []int{2, 4}}, []benchrunner.Load{{3, 1}, {2, 1}}, []float64{0, 0}, 1},
		{"over switches one at a time", benchrunner.Room{Nodes: 8, Groups: []int{2, 2, 2, 2}}, []benchrunner.Load{{3, 2}, {3, 2}, {1, 1}, {1, 1}}, []float64{0, 2, 0, 0}, 4},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			p, err := tc.room.Pack(tc.loads)
			if err != nil || !slices.Equal(p.Begins, tc.want) || p.Makespan != tc.span {
				t.Errorf("begins %v, makespan %g, %v; want %v, %g", p.Begins, p.Makespan, err, tc.want, tc.span)
			}
		})
	}
}

// Whatever the loads, nodes are never used twice, spanning starts are alone above the
// switches, and without groups the makespan is within twice what it must be.
func TestPackHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		room := benchrunner.Room{Nodes: 1 + rng.IntN(20)}
		if rng.IntN(2) == 0 {
			for left := room.Nodes; left > 0; {
				size := 1 + rng.IntN(min(left, 6))
				room.Groups = append(room.Groups, size)
				left -= size
			}
		}
		loads := make([]benchrunner.Load, rng.IntN(30))
		for i := range loads {
			loads[i] = benchrunner.Load{Nodes: 1 + rng.IntN(room.Nodes), Seconds: math.Exp(3 * rng.NormFloat64())}
		}
		p, err := room.Pack(loads)
		if err != nil {
			t.Fatal(err)
		}
		checkPacked(t, room, loads, p)
	}
}

func checkPacked(t *testing.T, room benchrunner.Room, loads []benchrunner.Load, p benchrunner.Packed) {
	t.Helper()
	order := slices.Sorted(slices.Values(p.Order))
	area, longest, last := 0.0, 0.0, 0.0
	for i, l := range loads {
		if order[i] != i {
			t.Fatalf("order %v", p.Order)
		}
		area += float64(l.Nodes) * l.Seconds
		longest, last = max(longest, l.Seconds), max(last, p.Begins[i]+l.Seconds)
		nodes, spans := 0, 0
		for k, o := range loads {
			if p.Begins[k] <= p.Begins[i] && p.Begins[i] < p.Begins[k]+o.Seconds {
				nodes += o.Nodes
				if room.Groups != nil && o.Nodes > slices.Max(room.Groups) {
					spans++
				}
			}
		}
		if nodes > room.Nodes || spans > 1 {
			t.Fatalf("%+v: %d nodes at %g s, %d starts over groups: %+v %+v", room, nodes, p.Begins[i], spans, loads, p)
		}
	}
	least := max(area/float64(room.Nodes), longest)
	if p.Makespan != last || room.Groups == nil && p.Makespan > 2*least*(1+1e-12) {
		t.Fatalf("makespan %g, the last ends at %g, at least %g: %+v %+v", p.Makespan, last, least, room, loads)
	}
}

func TestPackRefuses(t *testing.T) {
	for _, tc := range []struct {
		room benchrunner.Room
		load benchrunner.Load
		want string
	}{
		{benchrunner.Room{Nodes: 4}, benchrunner.Load{Nodes: 5, Seconds: 1}, "want 1 to 4 nodes"},
		{benchrunner.Room{Nodes: 4}, benchrunner.Load{Nodes: 0, Seconds: 1}, "want 1 to 4 nodes"},
		{benchrunner.Room{Nodes: 4}, benchrunner.Load{Nodes: 1, Seconds: math.NaN()}, "and a time"},
		{benchrunner.Room{Nodes: 4, Groups: []int{2, 1}}, benchrunner.Load{Nodes: 1, Seconds: 1}, "want 4 together"},
		{benchrunner.Room{Nodes: 4, Groups: []int{4, 0}}, benchrunner.Load{Nodes: 1, Seconds: 1}, "one node or more in each"},
	} {
		if _, err := tc.room.Pack([]benchrunner.Load{tc.load}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v %+v: error %v, want %q", tc.room, tc.load, err, tc.want)
		}
	}
}

func ExampleRoom_Pack() {
	loads := []benchrunner.Load{{Nodes: 2, Seconds: 30}, {Nodes: 8, Seconds: 20}, {Nodes: 2, Seconds: 30}}
	p, err := benchrunner.Room{Nodes: 8}.Pack(loads)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Order, p.Begins, p.Makespan, p.Busy(8, loads))
	// Output: [1 0 2] [20 0 20] 50 0.7
}
