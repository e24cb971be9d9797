package discover_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tutti/internal/testutil"
	"tutti/topology"
	"tutti/topology/discover"
)

// TestSimulated checks that the topology of a machine that SimGrid simulates is found at 10 % noise. Nodes
// have two sockets, and leaf switches have eight nodes. Ranks are assigned to cores at random. By default,
// the machine has 16 nodes with one assignment; RANKS=512 gives 32 nodes and three assignments.
func TestSimulated(t *testing.T) {
	testutil.NeedAllCases(t)
	ranks, socket, seeds := 64, 2, []int{1}
	if os.Getenv("RANKS") == "512" {
		ranks, socket, seeds = 512, 8, []int{1, 2, 3}
	}
	dir := testutil.BuildSimulated(t, "../..", "pairs")
	p := discover.Plan{Nodes: ranks / socket / 2, PPN: 2 * socket, Bytes: 1, Repetitions: 10, Passes: 64, Precision: 0.05, Seconds: 60, Inside: true, Rounds: discover.AllRounds}
	plan := filepath.Join(dir, "plan")
	testutil.NoError(t, os.WriteFile(plan, p.Text(), 0o666))
	for _, seed := range seeds {
		lines := simulate(t, dir, "sockets", strconv.Itoa(ranks), strconv.Itoa(socket), fmt.Sprint("random:", seed), dir+"/pairs", plan)
		r := testutil.Must(discover.ReadOutput(slices.Values(lines)))(t)
		tree := testutil.Must(r.Tree())(t)
		places, seconds := simulated(t, lines)
		got, want := grouped(&tree), built(places)
		if !slices.Equal(got, want) {
			t.Errorf("ranks dealt by %d: found\n%s\nwant\n%s\ngaps %q", seed, strings.Join(got, "\n"), strings.Join(want, "\n"), tree.Gaps)
		}
		if seconds > 0.05 {
			t.Errorf("ranks dealt by %d: measuring took %g simulated seconds, want 0.05 at most", seed, seconds)
		}
		t.Logf("%d ranks dealt by %d: %.1f ms of measuring, gaps %q", ranks, seed, seconds*1e3, tree.Gaps)
	}
}

// TestSimulatedParameters measures the PLogP parameters of all pairs of ranks on simulated nodes of two ranks (Reinfjell 2023,
// figure 5.18). Pairs of different nodes are measured at the same time, so that the time grows less than the number of
// pairs. 32 repetitions take less than twice as long as 8, because fewer sizes are added.
func TestSimulatedParameters(t *testing.T) {
	testutil.NeedAllCases(t)
	dir := testutil.BuildSimulated(t, "../..", "pairs")
	t.Setenv("OPTIONS", "--cfg=smpi/wtime:1e-7") // reading the clock takes time
	measure := func(nodes, bytes, repetitions int) float64 {
		p := discover.Plan{Nodes: nodes, PPN: 2, Bytes: bytes, Passes: 1, Repetitions: repetitions, Precision: 0.05, Seconds: 60}
		p.Classes = rankPairs(t, nodes, 2)
		plan := filepath.Join(dir, "plan")
		testutil.NoError(t, os.WriteFile(plan, p.Text(), 0o666))
		lines := simulate(t, dir, "sockets", strconv.Itoa(2*nodes), "1", "block", dir+"/pairs", plan)
		measured, gaps := discover.FitClasses(testutil.Must(discover.ReadOutput(slices.Values(lines)))(t).Examples)
		if len(measured)+len(gaps) != len(p.Classes) {
			t.Errorf("%d nodes: parameters of %d pairs, gaps %q: want all %d", nodes, len(measured), gaps, len(p.Classes))
		}
		_, seconds := simulated(t, lines)
		t.Logf("%d nodes, up to %d bytes, %d repetitions: %d pairs in %d rounds, %.3g s", nodes, bytes, repetitions, len(p.Classes), p.ExampleRounds(), seconds)
		return seconds
	}
	if few, many := measure(1, 2<<20, 8), measure(1, 2<<20, 32); many > 2*few {
		t.Errorf("32 repetitions take %.3g s, 8 take %.3g: want less than twice as long", many, few)
	}
	if one, all := measure(1, 4096, 8), measure(4, 4096, 8); all > 45*one { // 30; one after another, 63: pairs of different nodes are slower
		t.Errorf("28 pairs of four nodes take %.3g s, one pair %.3g: want at most 45 times as long", all, one)
	}
}

// simulate runs scripts/simulate.sh and returns the lines of its output.
func simulate(t *testing.T, args ...string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testutil.HangTimeout)
	if os.Getenv("RANKS") != "" || testutil.AllCases() { // long simulations; the limit of go test holds
		ctx, cancel = context.WithCancel(t.Context())
	}
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", append([]string{"../../scripts/simulate.sh"}, args...)...)
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "NOISE=0.1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.Split(string(out), "\n")
}

// place is an event in the output of the simulated program: where a rank runs, or the end of the program.
type place struct {
	Event  string  `json:"event"`
	Host   string  `json:"host"`
	Rank   int     `json:"rank"`
	Socket int     `json:"socket"`
	At     float64 `json:"at"` // simulated time in seconds, of the end
}

// simulated returns where all ranks run. It also returns how long the measurement took in simulated time.
func simulated(t *testing.T, lines []string) (places []place, seconds float64) {
	t.Helper()
	for _, line := range lines {
		var p place
		if json.Unmarshal([]byte(line), &p) != nil {
			continue
		}
		switch p.Event {
		case "place":
			places = append(places, p)
		case "end":
			seconds = p.At
		}
	}
	if len(places) == 0 || seconds == 0 {
		t.Fatalf("%d places, %g seconds: the program did not come to its end", len(places), seconds)
	}
	return places, seconds
}

// built returns the groups of the simulated machine, each as one text: the nodes of a leaf switch, or the ranks
// of a socket.
func built(places []place) []string {
	by := map[string][]string{}
	for _, p := range places {
		var node int
		fmt.Sscanf(p.Host, "n%d", &node)
		leaf, socket := fmt.Sprint("leaf", node/8), fmt.Sprint(p.Host, "/", p.Socket)
		if p.Rank == 0 {
			by[leaf] = append(by[leaf], p.Host)
		}
		by[socket] = append(by[socket], fmt.Sprintf("%s:rank%d", p.Host, p.Rank))
	}
	return sets(by)
}

// grouped returns the groups at the lowest levels of a tree, each as one text: the nodes below a switch, or the
// cores below a group inside a node.
func grouped(tree *topology.Tree) []string {
	by := map[string][]string{}
	host := ""
	for v, parent := range tree.All() {
		if v.Kind == topology.Node {
			host = v.Name
			by[fmt.Sprintf("%p", parent)] = append(by[fmt.Sprintf("%p", parent)], v.Name)
		} else if v.Kind != topology.Switch && len(v.Children) == 0 {
			by[fmt.Sprintf("%p", parent)] = append(by[fmt.Sprintf("%p", parent)], host+":"+v.Name)
		}
	}
	return sets(by)
}

// sets returns one string for each group, which lists the members in sorted order. The strings are sorted,
// too.
func sets(by map[string][]string) []string {
	var out []string
	for _, members := range by {
		slices.Sort(members)
		out = append(out, strings.Join(members, " "))
	}
	slices.Sort(out)
	return out
}
