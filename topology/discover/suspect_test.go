package discover_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
	"tutti/topology"
	"tutti/topology/discover"
)

// leafTree returns a tree with one switch above several leaf switches. All leaf switches have the same
// number of nodes.
func leafTree(leaves, nodes int) topology.Tree {
	root := topology.Vertex{Kind: topology.Switch, Name: "top", Confidence: 1}
	for l := range leaves {
		leaf := topology.Vertex{Kind: topology.Switch, Name: fmt.Sprintf("leaf%d", l), Confidence: 1}
		for n := range nodes {
			leaf.Children = append(leaf.Children, topology.Vertex{Kind: topology.Node, Name: fmt.Sprintf("n%d", l*nodes+n)})
		}
		root.Children = append(root.Children, leaf)
	}
	return topology.Tree{Root: root}
}

// trial describes how a test draws times. The time of a message depends on the slower of its two nodes, and
// on slow links.
type trial struct {
	noise    float64 // standard deviation of the logarithm of a measurement
	nodes    float64 // standard deviation of the logarithm of a node's speed
	late     float64 // share of measurements that take 1.5 to 4 times as long
	slow     map[string]float64
	slowLink map[string]float64 // slowdown by name of the leaf switch
}

// times draws how much slower than usual each node is.
func (tr trial) times(t *topology.Tree, rng *rand.Rand) map[string]float64 {
	factor := map[string]float64{}
	for _, leaf := range t.Switches() {
		for _, n := range leaf {
			factor[n] = math.Exp(tr.nodes*rng.NormFloat64()) * max(tr.slow[n], 1)
		}
	}
	return factor
}

// measure draws the measured time of one pair of nodes. `usual` is its time without noise and
// delays.
func (tr trial) measure(a, b string, usual float64, rng *rand.Rand) discover.PairTime {
	seconds := usual * math.Exp(tr.noise*rng.NormFloat64())
	if rng.Float64() < tr.late {
		seconds *= 1.5 + 2.5*rng.Float64()
	}
	return discover.PairTime{A: a, B: b, Seconds: seconds}
}

// rounds draws the times of rounds in which pairs have no node in common. The two nodes of a pair are on
// the same leaf switch, and partners change in each round.
func (tr trial) rounds(t *topology.Tree, n int, rng *rand.Rand) []discover.PairTime {
	factor := tr.times(t, rng)
	var out []discover.PairTime
	for _, leaf := range t.Switches() {
		rng.Shuffle(len(leaf), func(i, j int) { leaf[i], leaf[j] = leaf[j], leaf[i] })
		for round := range n {
			for _, p := range tournament(len(leaf), round) {
				a, b := leaf[p[0]], leaf[p[1]]
				out = append(out, tr.measure(a, b, 80e-6*max(factor[a], factor[b]), rng))
			}
		}
	}
	return out
}

// tournament returns the pairs in one round of a round-robin tournament. The number of players must be
// even.
func tournament(players, round int) [][2]int {
	others := players - 1
	pairs := [][2]int{{others, round}}
	for k := 1; k < players/2; k++ {
		pairs = append(pairs, [2]int{(round + k) % others, (round - k + others) % others})
	}
	return pairs
}

// across draws the times of rounds in which pairs have no node in common. The two nodes of a pair are on
// different leaf switches.
func (tr trial) across(t *topology.Tree, n int, rng *rand.Rand) []discover.PairTime {
	factor := tr.times(t, rng)
	leaves := t.Switches()
	var out []discover.PairTime
	for round := range n {
		for i := 0; i+1 < len(leaves); i += 2 {
			a, b := (i+round)%len(leaves), (i+1+2*round)%len(leaves)
			if a == b {
				continue
			}
			link := max(tr.slowLink[fmt.Sprintf("leaf%d", a)], tr.slowLink[fmt.Sprintf("leaf%d", b)], 1)
			for k := range leaves[a] {
				x, y := leaves[a][k], leaves[b][(k+round)%len(leaves[b])]
				out = append(out, tr.measure(x, y, 95e-6*link*max(factor[x], factor[y]), rng))
			}
		}
	}
	return out
}

// some draws the slow nodes and returns how much slower they are. Each node is slow with a probability of 1
// %.
func some(t *topology.Tree, times float64, rng *rand.Rand) map[string]float64 {
	slow := map[string]float64{}
	for _, n := range t.Nodes() {
		if rng.Float64() < 0.01 {
			slow[n] = times
		}
	}
	return slow
}

func find(t *testing.T, tree *topology.Tree, pairs []discover.PairTime) discover.SuspectReport {
	t.Helper()
	return testutil.Must(discover.FindSuspects(tree, pairs))(t)
}

// TestNodes checks that slow nodes among 1024 are found after three rounds. The speeds of normal nodes
// differ by 1.5 %, and up to 1 % of the measurements are delayed.
func TestNodes(t *testing.T) {
	tests := []struct {
		noise, late, speed float64
		recall             float64 // least share of slow nodes that are found
	}{
		{0.02, 0, 0.5, 1}, {0.05, 0, 0.5, 1}, {0.10, 0, 0.5, 1},
		{0.02, 0, 0.8, 0.99}, {0.05, 0, 0.8, 0.95},
		{0.05, 0.01, 0.5, 1}, {0.05, 0.01, 0.8, 0.95},
		{0.02, 0, 1, 0}, {0.05, 0.01, 1, 0}, {0.10, 0, 1, 0},
	}
	const rounds = 3
	machines := 20
	if testutil.AllCases() {
		machines = 100
	}
	for _, tc := range tests {
		name := fmt.Sprintf("noise %g, late %g, speed %g", tc.noise, tc.late, tc.speed)
		var slow, found, wrong int
		for seed := range uint64(machines) {
			tree := leafTree(32, 32)
			rng := rand.New(rand.NewPCG(seed, 1))
			tr := trial{noise: tc.noise, nodes: 0.015, late: tc.late, slow: some(&tree, 1/tc.speed, rng)}
			r := find(t, &tree, tr.rounds(&tree, rounds, rng))
			if tc.speed < 1 {
				slow += len(tr.slow)
			}
			for _, s := range r.Suspects {
				if tc.speed < 1 && tr.slow[s.Name] > 0 {
					found++
				} else {
					wrong++
				}
			}
		}
		recall, alarms := float64(found)/float64(max(slow, 1)), float64(wrong)/float64(machines)
		t.Logf("%s: recall %.4f of %d, %.3f false alarms a run", name, recall, slow, alarms)
		if recall < tc.recall || alarms > 0.1 {
			t.Errorf("%s: recall %.4f and %.3f false alarms, want %g and 0.1", name, recall, alarms, tc.recall)
		}
	}
}

// TestLinks checks that a slow link is reported, but not the nodes behind it. A slow node must be reported
// without its link.
func TestLinks(t *testing.T) {
	tree := leafTree(16, 16)
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 2))
		tr := trial{noise: 0.05, nodes: 0.015, late: 0.01, slow: map[string]float64{"n7": 2, "n100": 2}, slowLink: map[string]float64{"leaf3": 1.5}}
		pairs := slices.Concat(tr.rounds(&tree, 3, rng), tr.across(&tree, 4, rng))
		var names []string
		for _, s := range find(t, &tree, pairs).Suspects {
			names = append(names, s.Component.String())
		}
		slices.Sort(names)
		if got := strings.Join(names, ", "); got != "link of switch leaf3, node n100, node n7" {
			t.Errorf("seed %d: %s", seed, got)
		}
	}
}

// TestUnclear checks slow nodes behind a slow link. They must be reported as unclear if all their pairs use
// this link.
func TestUnclear(t *testing.T) {
	tree := leafTree(16, 16)
	rng := rand.New(rand.NewPCG(1, 3))
	tr := trial{noise: 0.02, slowLink: map[string]float64{"leaf3": 3}}
	r := find(t, &tree, tr.across(&tree, 4, rng))
	if len(r.Suspects) != 1 || r.Suspects[0].Name != "leaf3" || len(r.Unclear) != 16 {
		t.Fatalf("%v, %d unclear, want the link of leaf3 and its 16 nodes unclear", r.Suspects, len(r.Unclear))
	}
	if s := r.Suspects[0]; math.Abs(s.Slowdown-3) > 0.2 || s.Chance > 1e-12 {
		t.Errorf("%v, want 3 times as long", s)
	}
}

// TestFalseAlarms checks machines without slow nodes. Suspects may be reported on fewer than 5 % of them.
func TestFalseAlarms(t *testing.T) {
	tree := leafTree(1, 16)
	below := 0
	const runs = 2000
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 4))
		below += len(find(t, &tree, trial{noise: 0.3}.rounds(&tree, 4, rng)).Suspects)
	}
	if share := float64(below) / runs; share > 0.05 {
		t.Errorf("%g suspects a run of machines without any", share)
	}
}

// TestWithoutNoise checks that a slow node is found even if all other times are exactly equal.
func TestWithoutNoise(t *testing.T) {
	tree := leafTree(2, 16)
	rng := rand.New(rand.NewPCG(1, 5))
	r := find(t, &tree, trial{slow: map[string]float64{"n3": 1.5}}.rounds(&tree, 3, rng))
	if len(r.Suspects) != 1 || r.Suspects[0].Name != "n3" || math.Abs(r.Suspects[0].Slowdown-1.5) > 1e-9 {
		t.Errorf("%v, want n3, 1.5 times", r.Suspects)
	}
}

// TestTwoSlowPartners checks two slow nodes that were paired only with each other. Both must be reported as
// unclear.
func TestTwoSlowPartners(t *testing.T) {
	tree := leafTree(1, 16)
	rng := rand.New(rand.NewPCG(1, 6))
	pairs := trial{noise: 0.02}.rounds(&tree, 5, rng)
	pairs = slices.DeleteFunc(pairs, func(p discover.PairTime) bool {
		return slices.Contains([]string{"n4", "n5"}, p.A) || slices.Contains([]string{"n4", "n5"}, p.B)
	})
	for range 3 {
		pairs = append(pairs, discover.PairTime{A: "n4", B: "n5", Seconds: 160e-6})
	}
	if r := find(t, &tree, pairs); len(r.Suspects) != 0 || len(r.Unclear) != 2 {
		t.Errorf("%v, unclear %v: want n4 and n5 unclear", r.Suspects, r.Unclear)
	}
}

func TestTooFewPairs(t *testing.T) {
	tree := leafTree(2, 4)
	r := find(t, &tree, []discover.PairTime{{A: "n0", B: "n1", Seconds: 1}, {A: "n2", B: "n3", Seconds: 9}})
	if len(r.Suspects) != 0 || r.LeftOut != 2 {
		t.Errorf("%+v: want two pairs left out", r)
	}
	if r := find(t, &tree, nil); len(r.Suspects) != 0 || r.LeftOut != 0 {
		t.Errorf("%+v of nothing", r)
	}
}

func TestFindRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	tree := leafTree(2, 4)
	for _, pair := range []discover.PairTime{
		{A: "n0", B: "n99", Seconds: 1},
		{A: "leaf0", B: "n1", Seconds: 1},
		{A: "n0", B: "n0", Seconds: 1},
		{A: "n0", B: "n1"},
		{A: "n0", B: "n1", Seconds: math.NaN()},
		{A: "n0", B: "n1", Seconds: math.Inf(1)},
	} {
		_, err := discover.FindSuspects(&tree, []discover.PairTime{pair})
		golden(fmt.Sprint(pair), err, discover.ErrPair)
	}
	tree.Root.Children[1].Name = "leaf0"
	if _, err := discover.FindSuspects(&tree, nil); !errors.Is(err, topology.ErrTree) {
		t.Errorf("a switch twice: %v", err)
	}
}

func TestReadPairs(t *testing.T) {
	got, err := discover.ReadPairs(strings.NewReader("a,b,seconds\nn1,n2,8e-5\nn1,n2,9e-5\n"), "p.csv")
	if d := cmp.Diff([]discover.PairTime{{A: "n1", B: "n2", Seconds: 8e-5}, {A: "n1", B: "n2", Seconds: 9e-5}}, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	got, err = discover.ReadPairs(strings.NewReader("pass,seconds,b,a\n1,8e-5,n2,n1\n"), "p.csv")
	if d := cmp.Diff([]discover.PairTime{{A: "n1", B: "n2", Seconds: 8e-5}}, got); d != "" || err != nil {
		t.Errorf("another column and another order: %v (-want +got):\n%s", err, d)
	}
	got, err = discover.ReadPairs(strings.NewReader("\ufeffa,b,seconds\r\nn1,n2,8e-5\r\n"), "p.csv")
	if d := cmp.Diff([]discover.PairTime{{A: "n1", B: "n2", Seconds: 8e-5}}, got); d != "" || err != nil {
		t.Errorf("a byte order mark: %v (-want +got):\n%s", err, d)
	}
	golden := testutil.GoldenErrors(t)
	for _, tc := range []struct{ name, text string }{
		{"nothing", ""},
		{"another header", "from,to,seconds\nn1,n2,1\n"},
		{"a header alone", "a,b,seconds\n"},
		{"a word", "a,b,seconds\nn1,n2,1\nn1,n3,slow\n"},
		{"a cell too few", "a,b,seconds\nn1,n2\n"},
	} {
		_, err := discover.ReadPairs(strings.NewReader(tc.text), "p.csv")
		golden(tc.name, err)
	}
}

func FuzzReadPairs(f *testing.F) {
	f.Add("a,b,seconds\nn0,n1,8e-5\nn0,n2,NaN\n")
	tree := leafTree(2, 4)
	f.Fuzz(func(t *testing.T, text string) {
		pairs, err := discover.ReadPairs(strings.NewReader(text), "p.csv")
		if (err == nil) != (len(pairs) > 0) {
			t.Errorf("%q: %d pairs, %v", text, len(pairs), err)
		}
		if found, err := discover.FindSuspects(&tree, pairs); err != nil && len(found.Suspects) > 0 {
			t.Errorf("%q: %v with %v", text, found.Suspects, err)
		}
	})
}

func TestRetestPairs(t *testing.T) {
	met := []discover.Measurement{{A: discover.Endpoint{Host: "n1"}, B: discover.Endpoint{Host: "n2"}}, {A: discover.Endpoint{Host: "n4"}, B: discover.Endpoint{Host: "n1"}}}
	hosts := []string{"n1", "n2", "n3", "n4", "n5", "n6", "n7"}
	got := discover.RetestPairs([]string{"n1", "n3", "leaf1"}, hosts, met)
	want := [][2]string{{"n1", "n5"}, {"n1", "n6"}, {"n1", "n7"}, {"n3", "n2"}, {"n3", "n4"}, {"n3", "n5"}}
	if !slices.Equal(got, want) {
		t.Errorf("again %v, want %v", got, want)
	}
	if got := discover.RetestPairs([]string{"n1"}, hosts[:2], met); !slices.Equal(got, [][2]string{{"n1", "n2"}}) {
		t.Errorf("nobody it has not met: %v", got)
	}
}

// TestBisections checks an oversubscribed switch: if its four pairs communicate at once, each takes twice as long.
// The leaf switches below it must not count as oversubscribed.
func TestBisections(t *testing.T) {
	tree := leafTree(2, 4)
	hosts := tree.Nodes()
	cuts := discover.Cuts(&tree, hosts)
	if len(cuts) != 3 || cuts[0].Switch != "top" || len(cuts[0].Pairs) != 4 || cuts[0].Pairs[0] != [2]string{"n0", "n4"} || len(cuts[1].Pairs) != 2 {
		t.Fatalf("cuts %v", cuts)
	}
	var pairs []discover.Measurement
	for round, together := range discover.CutRounds(cuts) {
		for _, p := range together {
			for pass := range 4 {
				seconds := 1e-3 * (1 + 0.001*float64(pass))
				if round == 0 {
					seconds *= 2
				}
				pairs = append(pairs, discover.Measurement{Round: 5 + round, A: discover.Endpoint{Host: p[0]}, B: discover.Endpoint{Host: p[1]}, LargeMedian: seconds})
			}
		}
	}
	got := discover.Bisections(cuts, 5, 1e6, pairs)
	if len(got) != 3 || math.Abs(got[0].Slowdown-2) > 1e-3 || got[0].Chance > 1e-6 || math.Abs(got[0].Bytes/4e9-1) > 0.01 {
		t.Fatalf("bisections %+v: want the top 2 times as slow at 4 GB/s", got)
	}
	if leaf := got[1]; leaf.Switch != "leaf0" || math.Abs(leaf.Slowdown-1) > 1e-3 || leaf.Chance < 0.1 {
		t.Errorf("%+v: want a leaf that is not oversubscribed", leaf)
	}
	if lost := discover.Cuts(&tree, hosts[:1]); len(lost) != 0 {
		t.Errorf("cuts of one node: %v", lost)
	}
}
