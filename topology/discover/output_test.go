package discover_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/topology/discover"
)

const hello = `{"event":"hello","format":1,"nodes":[{"host":"n1","domain":0,"ranks":1},{"host":"n2","domain":1,"ranks":1}],"library":"MPICH"}`

func TestReadOutput(t *testing.T) {
	const pair = `{"event":"pair","stage":"between","pass":0,"round":0,"a":"n1","rank_a":0,"core_a":2,"b":"n2","rank_b":0,"core_b":-1,"small":1e-6,"small_median":2e-6,"large":3e-6,"large_median":4e-6}`
	got, err := discover.ReadOutput([]string{
		"a word of the library", hello, "0: " + pair, pair[:40],
		strings.Replace(pair, `"small":1e-6`, `"small":0,"error":"a number is not finite"`, 1),
		strings.Replace(pair, `"small":1e-6`, `"small":0`, 1),
		`{"event":"stage","stage":"between","passes":1,"spread":-1,"took":0.5}`,
		`{"event":"example","class":"switch0","bytes":8,"round_trip":1e-6,"send":1e-7,"receive":2e-7,"rows":[1e-5,2e-5]}`,
		`{"event":"end","cases":0,"at":1}`,
	})
	want := discover.Measurements{
		Hosts: []string{"n1", "n2"}, Library: "MPICH", Ended: true, Damaged: 3,
		Pairs: []discover.Measurement{{
			Stage: discover.Between, A: discover.Endpoint{Host: "n1", Core: 2}, B: discover.Endpoint{Host: "n2", Core: -1},
			Small: 1e-6, SmallMedian: 2e-6, Large: 3e-6, LargeMedian: 4e-6,
		}},
		Stages:   []discover.Stage{{Name: discover.Between, Passes: 1, Spread: -1, Seconds: 0.5}},
		Examples: []discover.Example{{Class: "switch0", Bytes: 8, RoundTrip: 1e-6, Send: 1e-7, Receive: 2e-7, Rows: []float64{1e-5, 2e-5}}},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, tc := range []struct{ name, line, want string }{
		{"a wrong world", `{"event":"error","why":"the world is 4 ranks on 1 nodes (4), the plan wants 2 nodes of 2"}`, "the world is 4 ranks on 1 nodes"},
		{"a name twice", strings.Replace(hello, "n2", "n1", 1), "two nodes are called n1"},
	} {
		if _, err := discover.ReadOutput([]string{tc.line}); !errors.Is(err, discover.ErrOutput) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.want)
		}
	}
}

func FuzzReadOutput(f *testing.F) {
	f.Add(hello + "\n" + `{"event":"pair","stage":"inside","a":"n1","rank_b":1,"b":"n1","small":1,"small_median":1,"large":1,"large_median":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := discover.ReadOutput(strings.Split(text, "\n"))
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

func ExampleMeasurements_Tree() {
	r, err := discover.ReadOutput([]string{hello,
		`{"event":"pair","stage":"between","a":"n1","b":"n2","small":2e-6,"small_median":2e-6,"large":3e-6,"large_median":4e-6}`})
	if err != nil {
		fmt.Println(err)
		return
	}
	tree, err := r.Tree()
	fmt.Println(tree.Levels(), tree.Gaps, err)
	// Output: [1 switch of 2 nodes, 2 µs] [no clear level] <nil>
}
