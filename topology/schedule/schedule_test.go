package schedule_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tutti/topology"
	"tutti/topology/schedule"
)

// grow draws a tree of switches and up to most ranks on its nodes, at random.
func grow(rng *rand.Rand, most int) (topology.Tree, []string) {
	g := grower{rng: rng}
	tree := topology.Tree{Root: g.place(4)}
	if len(g.nodes) == 0 {
		tree.Root.Children = append(tree.Root.Children, g.node())
	}
	ranks := make([]string, 1+rng.IntN(most))
	for i := range ranks {
		ranks[i] = g.nodes[rng.IntN(len(g.nodes))]
	}
	return tree, ranks
}

type grower struct {
	rng      *rand.Rand
	switches int
	nodes    []string
}

func (g *grower) node() topology.Vertex {
	g.nodes = append(g.nodes, fmt.Sprintf("n%d", len(g.nodes)))
	return topology.Vertex{Kind: topology.Node, Name: g.nodes[len(g.nodes)-1]}
}

// place draws a switch with so many levels below it at most.
func (g *grower) place(levels int) topology.Vertex {
	g.switches++
	v := topology.Vertex{Kind: topology.Switch, Name: fmt.Sprintf("s%d", g.switches)}
	for range 1 + g.rng.IntN(4) {
		if levels == 0 || g.rng.IntN(3) == 0 {
			v.Children = append(v.Children, g.node())
		} else {
			v.Children = append(v.Children, g.place(levels-1))
		}
	}
	return v
}

// link is a way up or down between a place and what is above it.
type link struct {
	place string
	up    bool
}

// links knows the way of every message, found by itself.
type links struct {
	above map[string][]string // of each rank: itself and every place above, innermost first
}

func newLinks(t *topology.Tree, ranks []string) links {
	parent := map[string]string{}
	for v, p := range t.All() {
		if p != nil {
			parent[v.Name] = p.Name
		}
	}
	l := links{above: map[string][]string{}}
	for rank, node := range ranks {
		own := fmt.Sprint("rank ", rank)
		way := []string{own}
		for at, below := node, true; below; at, below = parent[at], parent[at] != "" {
			way = append(way, at)
		}
		l.above[own] = way
	}
	return l
}

func (l links) of(m schedule.Message) []link {
	a, b := l.above[fmt.Sprint("rank ", m.From)], l.above[fmt.Sprint("rank ", m.To)]
	var out []link
	for _, place := range a {
		if !slices.Contains(b, place) {
			out = append(out, link{place: place, up: true})
		}
	}
	for _, place := range b {
		if !slices.Contains(a, place) {
			out = append(out, link{place: place})
		}
	}
	return out
}

// bound returns how many messages of an alltoall the busiest link has to carry in one
// direction.
func (l links) bound() int {
	below := map[string]int{}
	for _, way := range l.above {
		for _, place := range way {
			below[place]++
		}
	}
	most := 0
	for _, n := range below {
		most = max(most, n*(len(l.above)-n))
	}
	return most
}

// Every message is there once, no phase uses a link twice in one direction, and there
// are as few phases as the busiest link allows: on 1000 trees.
func TestAlltoall(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		tree, ranks := grow(rng, 24)
		phases, err := schedule.Alltoall(&tree, ranks)
		if err != nil {
			t.Fatal(err)
		}
		l := newLinks(&tree, ranks)
		if len(phases) != l.bound() {
			t.Errorf("seed %d: %d phases of %d ranks, want %d", seed, len(phases), len(ranks), l.bound())
		}
		sent := map[schedule.Message]bool{}
		for i, p := range phases {
			busy := map[link]bool{}
			for _, m := range p {
				if m.From == m.To || sent[m] {
					t.Fatalf("seed %d, phase %d: %v again, or to itself", seed, i, m)
				}
				sent[m] = true
				for _, way := range l.of(m) {
					if busy[way] {
						t.Fatalf("seed %d, phase %d: two messages of %v take %v", seed, i, p, way)
					}
					busy[way] = true
				}
			}
		}
		if n := len(ranks); len(sent) != n*(n-1) {
			t.Fatalf("seed %d: %d messages of %d ranks", seed, len(sent), n)
		}
	}
}

// A ring in the order of Ring takes every link that it needs once up and once down: a
// depth-first walk comes by every edge twice.
func TestRing(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		tree, ranks := grow(rng, 60)
		order, err := schedule.Ring(&tree, ranks)
		if err != nil {
			t.Fatal(err)
		}
		if sorted := slices.Sorted(slices.Values(order)); len(order) != len(ranks) || sorted[0] != 0 || len(slices.Compact(sorted)) != len(ranks) {
			t.Fatalf("seed %d: order %v of %d ranks", seed, order, len(ranks))
		}
		l := newLinks(&tree, ranks)
		carried, needed := map[link]int{}, map[link]bool{}
		for i, from := range order {
			to := order[(i+1)%len(order)]
			for _, way := range l.of(schedule.Message{From: from, To: to}) {
				carried[way]++
			}
			for _, way := range l.of(schedule.Message{From: 0, To: from}) {
				needed[way], needed[link{way.place, !way.up}] = true, true
			}
		}
		for way := range needed {
			if carried[way] != 1 {
				t.Errorf("seed %d: %v carries %d messages, want 1", seed, way, carried[way])
			}
		}
		if len(carried) != len(needed) {
			t.Errorf("seed %d: %d links in use, want %d", seed, len(carried), len(needed))
		}
	}
}

func TestRefuses(t *testing.T) {
	tree := topology.Tree{Root: topology.Vertex{Kind: topology.Switch, Children: []topology.Vertex{{Kind: topology.Node, Name: "n1"}}}}
	for _, ranks := range [][]string{nil, {"n1", "n2"}} {
		if _, err := schedule.Ring(&tree, ranks); !errors.Is(err, schedule.ErrPlacement) {
			t.Errorf("ring of %v: %v", ranks, err)
		}
		if _, err := schedule.Alltoall(&tree, ranks); !errors.Is(err, schedule.ErrPlacement) {
			t.Errorf("alltoall of %v: %v", ranks, err)
		}
	}
	tree.Root.Children = append(tree.Root.Children, tree.Root.Children[0])
	if _, err := schedule.Ring(&tree, []string{"n1"}); !errors.Is(err, topology.ErrTree) {
		t.Errorf("a node twice: %v", err)
	}
}

func star(leaves, nodes int) (topology.Tree, []string) {
	tree := topology.Tree{Root: topology.Vertex{Kind: topology.Switch}}
	for l := range leaves {
		leaf := topology.Vertex{Kind: topology.Switch, Name: fmt.Sprintf("leaf%d", l)}
		for n := range nodes {
			leaf.Children = append(leaf.Children, topology.Vertex{Kind: topology.Node, Name: fmt.Sprintf("n%d", l*nodes+n)})
		}
		tree.Root.Children = append(tree.Root.Children, leaf)
	}
	return tree, tree.Nodes()
}

func BenchmarkAlltoall1024(b *testing.B) {
	tree, ranks := star(32, 32)
	for b.Loop() {
		if _, err := schedule.Alltoall(&tree, ranks); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleAlltoall() {
	tree, ranks := star(4, 8)
	phases, err := schedule.Alltoall(&tree, ranks)
	fmt.Println(len(phases), "phases, the first", phases[0], err)
	// Output: 192 phases, the first [{0 8} {8 16} {16 24} {24 0}] <nil>
}

func ExampleRing() {
	tree, _ := star(2, 2) // n0 and n1, n2 and n3
	order, err := schedule.Ring(&tree, []string{"n0", "n2", "n1", "n3"})
	fmt.Println(order, err)
	// Output: [0 2 1 3] <nil>
}
