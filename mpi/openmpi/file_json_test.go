package openmpi

import (
	"fmt"
	"strings"
	"testing"

	"tutti/mpi"
)

func TestSpanSet(t *testing.T) {
	tests := []struct {
		name   string
		add    []span
		of     span
		covers bool
	}{
		{name: "nothing added", of: span{1, 2}},
		{name: "nothing asked, nothing added", of: span{2, 1}},
		{name: "nothing asked", add: []span{{5, 6}}, of: span{2, 1}, covers: true},
		{name: "the same", add: []span{{1, 9}}, of: span{1, 9}, covers: true},
		{name: "one short", add: []span{{1, 8}}, of: span{1, 9}},
		{name: "two that touch", add: []span{{5, 9}, {1, 4}}, of: span{1, 9}, covers: true},
		{name: "a gap", add: []span{{6, 9}, {1, 4}}, of: span{1, 9}},
		{name: "the gap is filled", add: []span{{6, 9}, {1, 4}, {5, 5}}, of: span{1, 9}, covers: true},
		{name: "one that spans others", add: []span{{2, 3}, {5, 6}, {0, 10}, {20, 30}}, of: span{0, 10}, covers: true},
		{name: "an empty one adds nothing", add: []span{{1, 4}, {9, 5}}, of: span{1, 5}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var s spanSet
			for _, n := range tc.add {
				s = s.with(n)
			}
			if got := s.covers(tc.of); got != tc.covers {
				t.Errorf("%v covers %v = %t, want %t", s, tc.of, got, tc.covers)
			}
		})
	}
}

// TestManyBlocks reads a file of 20 000 blocks, of which one is covered by those before.
func TestManyBlocks(t *testing.T) {
	const blocks = 20_000
	var b strings.Builder
	b.WriteString(`{"rule_file_version": 3, "module": "tuned", "collectives": {"allreduce": [`)
	for i := range blocks {
		fmt.Fprintf(&b, `{"comm_size_min": %d, "comm_size_max": %d, "rules": [{"msg_size_min": 0, "alg": 1}]},`+"\n", 2*i+2, 2*i+3)
	}
	fmt.Fprintf(&b, `{"comm_size_min": 100, "comm_size_max": %d, "rules": [{"msg_size_min": 0, "alg": 1}]}]}}`, blocks)
	f, ok := library{}.ReadRules(near(t, "6.0.0"), "", []byte(b.String()))
	if !ok {
		t.Fatal("the file is not recognised")
	}
	var covered []string
	for _, x := range f.Findings {
		if x.Kind == mpi.FindingUnreachable {
			covered = append(covered, x.Text)
		}
	}
	if len(covered) != 1 || !strings.Contains(covered[0], "blocks before serve all communicators of 100 to 20000 ranks") {
		t.Errorf("covered: %q", covered)
	}
}
