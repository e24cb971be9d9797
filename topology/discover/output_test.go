package discover_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
	"tutti/topology/discover"
)

const hello = `{"event":"hello","format":1,"nodes":[{"host":"n1","domain":0,"ranks":1},{"host":"n2","domain":1,"ranks":1}],"library":"MPICH"}`

func TestReadOutput(t *testing.T) {
	const pair = `{"event":"pair","stage":"between","pass":0,"round":0,"a":"n1","rank_a":0,"core_a":2,"b":"n2","rank_b":0,"core_b":-1,"small":1e-6,"small_median":2e-6,"large":3e-6,"large_median":4e-6}`
	got, err := discover.ReadOutput(slices.Values([]string{
		"a word of the library", hello, "0: " + pair, pair[:40],
		strings.Replace(pair, `"small":1e-6`, `"small":0,"error":"a number is not finite"`, 1),
		strings.Replace(pair, `"small":1e-6`, `"small":0`, 1),
		`{"event":"stage","stage":"between","passes":1,"spread":-1,"took":0.5}`,
		`{"event":"example","class":"switch0","bytes":8,"round_trip":1e-6,"send":1e-7,"receive":2e-7,"rows":[10,20]}`,
		`{"event":"end","cases":0,"at":1}`,
	}))
	want := discover.Measurements{
		Hosts: []string{"n1", "n2"}, Library: "MPICH", Ended: true, Damaged: 3,
		Pairs: []discover.Measurement{{
			Stage: discover.Between, A: discover.Endpoint{Host: "n1", Core: 2}, B: discover.Endpoint{Host: "n2", Core: -1},
			Small: 1e-6, SmallMedian: 2e-6, Large: 3e-6, LargeMedian: 4e-6,
		}},
		Stages:   []discover.Stage{{Name: discover.Between, Passes: 1, Seconds: 0.5}},
		Examples: []discover.Example{{Class: "switch0", SizeTimes: discover.SizeTimes{Bytes: 8, RoundTrip: 1e-6, Send: 1e-7, Receive: 2e-7, Gap: 1}}},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

func TestReadRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for _, tc := range []struct{ name, line string }{
		{"a wrong world", `{"event":"error","why":"the world is 4 ranks on 1 nodes (4), the plan wants 2 nodes of 2"}`},
		{"a name twice", strings.Replace(hello, "n2", "n1", 1)},
	} {
		_, err := discover.ReadOutput(slices.Values([]string{tc.line}))
		golden(tc.name, err, discover.ErrOutput)
	}
}

func FuzzReadOutput(f *testing.F) {
	f.Add(hello + "\n" + `{"event":"pair","stage":"inside","a":"n1","rank_b":1,"b":"n1","small":1,"small_median":1,"large":1,"large_median":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := discover.ReadOutput(strings.SplitSeq(text, "\n"))
		if err != nil || len(r.Hosts) == 0 {
			return
		}
		if tree, err := r.Tree(); err == nil {
			if err := tree.Check(); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}

func TestPlanText(t *testing.T) {
	p := discover.Plan{
		Nodes: 4, PPN: 2, Bytes: 1024, Passes: 8, Repetitions: 10, Precision: 0.05, Seconds: 1.5, Inside: true, Rounds: 3,
		Chosen:  [][][2]string{{{"n1", "n2"}}, {{"n3", "n4"}}},
		Classes: []discover.Class{{Name: "node", Pairs: []discover.Measurement{{A: discover.Endpoint{Host: "n1"}, B: discover.Endpoint{Host: "n1", Rank: 1}}}}},
	}
	want := `tutti-pairs-plan 1
nodes 4
ppn 2
bytes 1024
passes 8
repetitions 10
precision 0.05
seconds 1.5
inside yes
between 3
pair 0 n1 n2
pair 1 n3 n4
example node n1 0 n1 1
end
`
	if got := string(p.Text()); got != want {
		t.Errorf("plan\n%s\nwant\n%s", got, want)
	}
}

func TestDisjointRounds(t *testing.T) {
	pairs := [][2]string{{"a", "b"}, {"a", "c"}, {"c", "d"}, {"b", "d"}}
	rounds := discover.DisjointRounds(pairs)
	if len(rounds) != 2 || !slices.Equal(rounds[0], [][2]string{{"a", "b"}, {"c", "d"}}) || !slices.Equal(rounds[1], [][2]string{{"a", "c"}, {"b", "d"}}) {
		t.Errorf("rounds %v", rounds)
	}
}

func TestFitClasses(t *testing.T) {
	example := func(class string, times discover.SizeTimes) discover.Example {
		return discover.Example{Class: class, SizeTimes: times}
	}
	examples := []discover.Example{
		example("switch0", discover.SizeTimes{RoundTrip: 10e-6, Gap: 1e-6}),
		example("switch0", discover.SizeTimes{Bytes: 8, RoundTrip: 12e-6, Send: 1e-6, Receive: 3e-6, Gap: 1e-6}),
		example("node", discover.SizeTimes{Bytes: 8, RoundTrip: 1e-6}),
	}
	got, gaps := discover.FitClasses(examples)
	if len(got) != 1 || got[0].Class != "switch0" || math.Abs(got[0].Latency-4e-6) > 1e-12 || got[0].Sizes[0].Bytes != 8 || math.Abs(got[0].Sizes[0].Gap-1e-6) > 1e-12 {
		t.Errorf("parameters %+v, want a latency of 4 µs and a gap of 1 µs for 8 bytes", got)
	}
	if len(gaps) != 1 || !strings.Contains(gaps[0], "parameters of node: not a reading: no empty messages") {
		t.Errorf("gaps %q", gaps)
	}
}

// TestFitGap checks that FitPLogP keeps a measured gap (the time per message) and computes a missing gap from
// the round-trip time.
func TestFitGap(t *testing.T) {
	p := testutil.Must(discover.FitPLogP([]discover.SizeTimes{{RoundTrip: 10e-6, Gap: 1e-6}, {Bytes: 8, RoundTrip: 11e-6, Gap: 5e-6}, {Bytes: 16, RoundTrip: 12e-6}}))(t)
	if got := []float64{p.Latency, p.Sizes[0].Gap, p.Sizes[1].Gap}; math.Abs(got[0]-4e-6) > 1e-18 || got[1] != 5e-6 || math.Abs(got[2]-3e-6) > 1e-18 {
		t.Errorf("latency and gaps %g, want 4, 5 and 3 µs", got)
	}
}

func TestFitRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	ok := []discover.SizeTimes{{Bytes: 1, RoundTrip: 10e-6}}
	for _, tc := range []struct {
		name           string
		roundTrip, gap float64
		readings       []discover.SizeTimes
	}{
		{"no round trip", 0, 0, ok},
		{"NaN", math.NaN(), 0, ok},
		{"a gap of NaN", 10e-6, math.NaN(), ok},
		{"a gap too long", 10e-6, 6e-6, ok},
		{"nothing", 10e-6, 1e-6, nil},
		{"a size below 0", 10e-6, 1e-6, []discover.SizeTimes{{Bytes: -1, RoundTrip: 1}}},
		{"a time below 0", 10e-6, 1e-6, []discover.SizeTimes{{Bytes: 1, RoundTrip: 1, Send: -1}}},
		{"an endless time", 10e-6, 1e-6, []discover.SizeTimes{{Bytes: 1, RoundTrip: math.Inf(1)}}},
		{"a size twice", 10e-6, 1e-6, []discover.SizeTimes{{Bytes: 1, RoundTrip: 10e-6}, {Bytes: 1, RoundTrip: 11e-6}}},
		{"faster than nothing", 4, 1, []discover.SizeTimes{{Bytes: 4, RoundTrip: 2}}},
	} {
		_, err := discover.FitPLogP(append([]discover.SizeTimes{{RoundTrip: tc.roundTrip, Gap: tc.gap}}, tc.readings...))
		golden(tc.name, err, discover.ErrParameters)
	}
}
