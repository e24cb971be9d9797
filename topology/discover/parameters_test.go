package discover_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/topology/discover"
)

// parametersOf returns a file with the parameters of all pairs of four ranks, without the pairs that `without` names.
// The ranks 0 and 1, and 2 and 3, are near each other.
func parametersOf(hosts [4]string, ranks [4]int, without ...string) string {
	lines := []string{`{"class":"switch0","latency":1e-6,"sizes":[{"bytes":1,"send":0,"receive":0,"gap":1e-6}]}`}
	for i := range hosts {
		for j := range i {
			if slices.Contains(without, fmt.Sprint(j, i)) {
				continue
			}
			latency := 2e-6
			if i/2 == j/2 {
				latency = 5e-7
			}
			lines = append(lines, fmt.Sprintf(`{"class":"p","a":{"host":%q,"rank":%d,"core":-1},"b":{"host":%q,"rank":%d,"core":-1},"latency":%g,`+
				`"sizes":[{"bytes":1,"send":1e-7,"receive":3e-7,"gap":1e-7},{"bytes":3,"send":1e-7,"receive":3e-7,"gap":3e-7}]}`,
				hosts[j], ranks[j], hosts[i], ranks[i], latency))
		}
	}
	return "[" + strings.Join(lines, ",\n") + "]"
}

// TestReadParameters checks that parameters of all pairs of ranks become times of pairs, whose ranks are named by node
// where each node has one.
func TestReadParameters(t *testing.T) {
	for _, tc := range []struct {
		hosts [4]string
		ranks [4]int
		want  string
	}{
		{[4]string{"n1", "n1", "n2", "n2"}, [4]int{0, 1, 0, 1}, "n1/0:n1/1"},
		{[4]string{"n1", "n2", "n3", "n4"}, [4]int{}, "n1:n2"},
	} {
		p := testutil.Must(discover.ReadParameters(strings.NewReader(parametersOf(tc.hosts, tc.ranks)), "f"))(t)
		times := p.Times(2)
		if first := times[0]; len(times) != 6 || first.A+":"+first.B != tc.want || fmt.Sprintf("%.3g", first.Seconds) != "9e-07" {
			t.Errorf("%d times, the first %+v; want 6, %s with 9e-07 s", len(times), first, tc.want)
		}
		pairs := testutil.Must(discover.ReadPairs(strings.NewReader(parametersOf(tc.hosts, tc.ranks)), "f"))(t)
		if len(pairs) != 6 || fmt.Sprintf("%.3g", pairs[0].Seconds) != "8e-07" {
			t.Errorf("pairs %+v, want 6, the first with 8e-07 s", pairs)
		}
	}
}

// TestIncomplete checks that a pair without parameters is named, and has no time.
func TestIncomplete(t *testing.T) {
	p := testutil.Must(discover.ReadParameters(strings.NewReader(parametersOf([4]string{"n1", "n1", "n2", "n2"}, [4]int{0, 1, 0, 1}, "1 2")), "f"))(t)
	if err := p.Complete(); !errors.Is(err, discover.ErrParameters) || !strings.Contains(err.Error(), "n1/1 and n2/0") {
		t.Errorf("error %v, want one that names n1/1 and n2/0", err)
	}
	if n := len(p.Times(1)); n != 5 {
		t.Errorf("%d times, want 5", n)
	}
}

func TestReadParametersRefuses(t *testing.T) {
	hosts, ranks := [4]string{"n1", "n1", "n2", "n2"}, [4]int{0, 1, 0, 1}
	whole := parametersOf(hosts, ranks)
	for name, text := range map[string]string{
		"classes alone":   parametersOf(hosts, ranks, "0 1", "0 2", "0 3", "1 2", "1 3", "2 3"),
		"a negative time": strings.Replace(whole, `"gap":1e-7`, `"gap":-1e-7`, 1),
		"a size twice":    strings.Replace(whole, `"bytes":3`, `"bytes":1`, 1),
		"no list":         `{"root":{}}`,
		"torn":            whole[:100],
	} {
		_, err := discover.ReadParameters(strings.NewReader(text), "plogp.json")
		if !errors.Is(err, discover.ErrParameters) || !strings.HasPrefix(err.Error(), "plogp.json: ") {
			t.Errorf("%s: error %v, want ErrParameters of plogp.json", name, err)
		}
	}
}
