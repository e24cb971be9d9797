package openmpi

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
)

// ruleTexts are selection files with the faults that their authors make.
var ruleTexts = []struct{ name, version, text string }{
	{"right", "4.1.4", "1 # collectives\n7 # bcast\n2\n1\n1\n0 0 0 0\n8\n2\n0 6 0 0\n8192 9 0 0\n"},
	{"CRLF", "4.1.4", "1 # collectives\r\n7 # bcast\r\n1\r\n1\r\n1\r\n0 6 0 0\r\n"},
	{"no comments, one line", "4.1.4", "1 7 1 1 1 0 6 0 0"},
	{"rows of several lines", "4.1.4", "1\n7\n1\n1\n2\n0\n6\n0\n0\n1024\n9\n0\n0\n"},
	{"too many rules announced", "4.1.4", "1\n0\n2\n2\n3\n0 2 0 0\n64 3 0 0\n4\n2\n0 2 0 0\n8 4 0 0\n"},
	{"too few rules announced", "4.1.4", "1\n0\n2\n2\n1\n0 2 0 0\n64 3 0 0\n4\n2\n0 2 0 0\n8 4 0 0\n"},
	{"cut off", "4.1.4", "1\n7\n1\n8\n2\n0 6 0 0\n8192 9"},
	{"rules after the last", "4.1.4", "1\n7\n1\n8\n1\n0 6 0 0\n8192 9 0 0\n"},
	{"first size", "4.1.4", "1\n7\n1\n8\n1\n1 6 0 0\n"},
	{"sizes out of order", "4.1.4", "1\n7\n1\n8\n3\n0 6 0 0\n8192 9 0 0\n1024 1 0 0\n"},
	{"communicators out of order", "4.1.4", "1\n7\n3\n1\n1\n0 0 0 0\n16\n1\n0 6 0 0\n8\n1\n0 9 0 0\n"},
	{"collective twice", "4.1.4", "2\n7\n1\n1\n1\n0 6 0 0\n7\n1\n1\n1\n0 9 0 0\n"},
	{"collective without rules", "4.1.4", "1\n10\n1\n1\n1\n0 1 0 0\n"},
	{"unknown collective", "4.1.4", "1\n22\n1\n1\n1\n0 1 0 0\n"},
	{"too many collectives", "4.1.4", "23\n7\n1\n1\n1\n0 1 0 0\n"},
	{"negative", "4.1.4", "1\n7\n1\n1\n1\n0 -1 0 0\n"},
	{"octal", "4.1.4", "1\n7\n1\n1\n2\n0 6 0 0\n08192 9 0 0\n"},
	{"words", "4.1.4", "1 collective\n7\n1\n1\n1\n0 6 0 0\n"},
	{"decimals", "4.1.4", "1\n7\n1\n1\n1\n0 6.5 0 0\n"},
	{"algorithm of a later release", "4.1.4", "1\n0\n1\n1\n1\n0 7 0 0\n"},
	{"the same in its release", "5.0.7", "1\n0\n1\n1\n1\n0 7 0 0\n"},
	{"two_proc on more ranks", "4.1.4", "1\n3\n1\n4\n1\n0 5 0 0\n"},
	{"two_proc on two ranks", "4.1.4", "1\n3\n3\n1\n1\n0 0 0 0\n2\n1\n0 5 0 0\n3\n1\n0 0 0 0\n"},
	{"operations that do not commute", "4.1.4", "1\n2\n1\n1\n2\n0 3 0 0\n65536 4 0 0\n"},
	{"sizes of gather", "4.1.4", "1\n9\n1\n4\n2\n0 1 0 0\n1024 3 0 0\n"},
	{"sizes of barrier", "4.1.4", "1\n6\n1\n1\n2\n0 1 0 0\n1024 3 0 0\n"},
	{"allgather in place", "4.1.4", "1\n0\n1\n1\n2\n0 4 0 0\n1048576 2 0 0\n"},
	{"version 2", "5.0.7", "rule-file-version-2\n1\n3\n1\n1\n2\n0 0 0 0 0\n512 4 0 0 64\n"},
	{"version 2, fifth number left out", "5.0.7", "rule-file-version-2\n1\n3\n1\n1\n2\n0 0 0 0\n512 4 0 0 64\n"},
	{"version 2 for an older release", "5.0.6", "rule-file-version-2\n1\n3\n1\n1\n1\n0 0 0 0 0\n"},
	{"version 2 after a comment", "5.0.7", "# mine\nrule-file-version-2\n1\n3\n1\n1\n1\n0 4 0 0 0\n"},
	{"classic for 6", "6.0.x", "1\n7\n2\n8\n1\n0 6 0 0\n16\n1\n0 9 0 0\n"},
	{"JSON", "6.0.x", `{"rule_file_version":3,"module":"tuned","collectives":{"bcast":[{"comm_size_min":8,"rules":[{"alg":"binomial"}]}]}}`},
	{"JSON for an older release", "5.0.7", `{"rule_file_version":3,"module":"tuned","collectives":{}}`},
	{"JSON with many faults", "6.0.x", `{
 "$schema": "x.json", "rule_file_version": 3, "module": "tuned", "colectives": {},
 "collectives": {
  "bcast": [
   {"comm_size_min": 8, "comm_size_max": "inf", "rules": [{"alg": 6}]},
   {"comm_size_min": 8, "comm_size_max": 15, "rules": [{"msg_size_max": 1024, "alg": "binomial"}, {"msg_size_min": 512, "msg_size_max": 600, "alg": 1}, {"alg": "fast"}, {"segsize": 1}]},
   {"comm_size_min": 10, "comm_size_max": 12, "rules": [{"alg": 9}]},
   {"comm_rank_distribution": "spread", "rules": [{"alg": 9, "msg_size_min": 5, "msg_size_max": 4}]}
  ],
  "neighbor_allgather": [], "allgatherv": [{"rules": [{"msg_size_max": 99, "alg": 1}, {"alg": 3}]}]
 }
}`},
	{"JSON cut off", "6.0.x", "{\"rule_file_version\":3,\n\"collectives\":{\"bcast\":["},
	{"JSON of a wrong kind", "6.0.x", `{"collectives":{"bcast":{"rules":[]},"reducescatter":[],"scan":[{"comm_size_min":1.5}]}}`},
	{"HAN with segment lengths", "4.1.4", "1\nbcast\n1\n0\n1\n1\n2\n0 tuned [ 1024 2048 ]\n4096 sm\n"},
	{"HAN with open segment lengths", "4.1.4", "1\nbcast\n1\n0\n1\n1\n1\n0 tuned [ 1024\n"},
	{"HAN", "5.0.7", "1\nbcast\n1\nglobal_communicator\n2\n1\n1\n0 han\n8\n2\n0 tuned\n1024 han @simple\n"},
	{"HAN with numbers", "4.1.4", "1\n7\n1\n2\n1\n1\n1\n0 tuned\n"},
	{"HAN, names of levels", "4.1.4", "1\nbcast\n1\nglobal_communicator\n1\n1\n1\n0 tuned\n"},
	{"HAN, first communicator", "5.0.7", "1\nbcast\n1\nglobal_communicator\n1\n2\n1\n0 tuned\n"},
	{"HAN, component", "5.0.7", "1\nbcast\n1\nglobal_communicator\n1\n1\n1\n0 fast\n"},
	{"HAN, collective", "5.0.7", "1\nscan\n1\nglobal_communicator\n1\n1\n1\n0 tuned\n"},
	{"HAN, cut off", "5.0.7", "1\nbcast\n1\nglobal_communicator\n1\n1\n2\n0 tuned\n"},
	{"HAN, no collective", "5.0.7", "0\n# tuned\n"},
}

// TestReadRules checks what is found in files with many faults.
func TestReadRules(t *testing.T) {
	var b strings.Builder
	for _, tc := range ruleTexts {
		f, ok := Library.(mpi.RuleReader).ReadRules(near(t, tc.version), "", []byte(tc.text))
		if !ok {
			fmt.Fprintf(&b, "%s: no rules\n\n", tc.name)
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n%s\n", tc.name, f.Format, f.Effect)
		for _, x := range f.Findings {
			fmt.Fprintf(&b, "%d: %s: %s\n", x.Line, x.Kind, x.Text)
		}
		b.WriteString("\n")
		if f.Loaded != (f.Choose != nil) || f.Loaded == strings.Contains(f.Effect, "ignores") {
			t.Errorf("%s: loaded %t, but %s", tc.name, f.Loaded, f.Effect)
		}
	}
	testutil.CheckGolden(t, "TestReadRules.txt", []byte(b.String()))
}

// TestChooseRules checks the rule that serves a call, in files whose order matters.
func TestChooseRules(t *testing.T) {
	const unordered = "1\n7\n3\n8\n1\n0 6 0 0\n16\n2\n0 1 0 0\n4096 9 0 0\n4\n1\n0 7 0 0\n"
	const layouts = `{"collectives":{"bcast":[{"comm_rank_distribution":"one-per-node","rules":[{"msg_size_min":64,"alg":1}]},{"comm_size_max":8,"rules":[{"alg":6}]},{"rules":[{"alg":9}]}]}}`
	tests := []struct {
		version, text string
		nodes, ppn    int
		bytes         int64
		want          string
		line          int
	}{
		{"4.1.4", unordered, 2, 1, 64, "binomial(segsize=0)", 6}, // the first block serves smaller communicators
		{"4.1.4", unordered, 8, 1, 64, "binomial(segsize=0)", 6},
		{"4.1.4", unordered, 15, 1, 4095, "binomial(segsize=0)", 6},
		{"4.1.4", unordered, 4, 4, 4096, "knomial(segsize=0)", 13}, // the search goes on to the last block
		{"6.0.x", layouts, 4, 1, 64, "basic_linear", 1},
		{"6.0.x", layouts, 4, 1, 63, "library_default", 0}, // the first block applies, none of its rules does
		{"6.0.x", layouts, 4, 2, 63, "binomial(segsize=0)", 1},
		{"6.0.x", layouts, 4, 4, 63, "scatter_allgather_ring", 1},
	}
	for _, tc := range tests {
		f, ok := Library.(mpi.RuleReader).ReadRules(near(t, tc.version), "", []byte(tc.text))
		if !ok || !f.Loaded {
			t.Fatalf("%s: not loaded: %+v", tc.text, f)
		}
		p := coll.Point{Collective: coll.Bcast, Nodes: tc.nodes, PPN: tc.ppn, MsgBytes: tc.bytes}
		if got := f.Choose(p); got.Algorithm.String() != tc.want || got.Line != tc.line {
			t.Errorf("%v in %q: %v by line %d, want %s by line %d", p, tc.text, got.Algorithm, got.Line, tc.want, tc.line)
		}
	}
}

// TestReadRulesOfExport checks that exported files have no errors, and that they select what the rules do.
func TestReadRulesOfExport(t *testing.T) {
	for _, version := range []string{"4.1.4", "5.0.7", "6.0.x"} {
		cat := near(t, version)
		rules := classicRules{{coll.Allreduce, []classicBlock{{1, undecided()}, {8, []rule{{Size: 0, Algorithm: 3}, {Size: 1000, Algorithm: 6}}}}}}
		b := build{cat}
		f, ok := library{}.ReadRules(cat, "", b.text(rules, nil))
		if !ok || !f.Loaded || len(f.Of(mpi.FindingHarm)) > 0 {
			t.Fatalf("%s: %+v", version, f)
		}
		for _, size := range []int64{0, 4, 996, 1000, 1 << 20} {
			p := coll.Point{Collective: coll.Allreduce, Nodes: 4, PPN: 2, MsgBytes: size}
			want := coll.Default.String()
			if r := rules.Find(coll.Allreduce, p.Ranks(), compared(p)); r.Algorithm != 0 {
				want = b.cat.NameOf(coll.Allreduce, r.Algorithm)
			}
			if got := f.Choose(p).Algorithm; got.Name != want {
				t.Errorf("%s %v: %s, want %s", version, p, got, want)
			}
		}
	}
}

// FuzzReadRules checks that no text crashes the reader, and that all findings are on lines of the text.
func FuzzReadRules(f *testing.F) {
	for _, tc := range ruleTexts {
		f.Add([]byte(tc.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, version := range []string{"4.1.4", "6.0.x"} {
			r, ok := library{}.ReadRules(near(t, version), "", text)
			if !ok {
				continue
			}
			for _, x := range r.Findings {
				if lines := 1 + strings.Count(string(text), "\n"); x.Line < 0 || x.Line > lines {
					t.Errorf("line %d of %d: %s", x.Line, lines, x.Text)
				}
			}
			if r.Choose != nil {
				r.Choose(coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 2, MsgBytes: 8})
			}
		}
	})
}

func near(t testing.TB, version string) *mpi.Catalogue {
	t.Helper()
	cat, ok := mpi.Near(Library.Releases(), version)
	if !ok {
		t.Fatalf("no release like %s", version)
	}
	return cat.As(version)
}

// TestLiveReadRules checks for each file whether the library loads it, as ReadRules says. A rule with an algorithm that
// does not exist, which follows in the file, aborts the call of a bcast if the file is loaded.
func TestLiveReadRules(t *testing.T) {
	testutil.NeedAllCases(t)
	prog := testutil.BuildProgram(t, toolchain, testutil.CollectivesProgram)
	for _, tc := range ruleTexts {
		if tc.version != "4.1.4" || strings.HasPrefix(tc.name, "HAN") {
			continue
		}
		// The canary counts as one more collective. Where bcast comes twice, the last rules count.
		text := regexp.MustCompile(`^[0-9]+`).ReplaceAllStringFunc(tc.text, func(n string) string {
			return fmt.Sprint(1 + testutil.Must(strconv.Atoi(n))(t))
		}) + "\n7\n1\n1\n1\n0 99 0 0\n"
		f, _ := library{}.ReadRules(near(t, tc.version), "", []byte(text))
		path := filepath.Join(t.TempDir(), "file.rules")
		testutil.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		out := launch(t, []string{dynamicRules.Name + "=1", fileVariable + "=" + path}, 2, prog, "call", "64", "bcast")
		want := f.Choose != nil && f.Choose(coll.Point{Collective: coll.Bcast, Nodes: 1, PPN: 2, MsgBytes: 64}).Algorithm.Name == "unknown_99"
		if aborts := strings.Contains(out, "MPI_ERR_ARG"); aborts != want {
			t.Errorf("%s: the call fails: %t, want %t; %s\n%s\n%+v", tc.name, aborts, want, f.Effect, out, f.Findings)
		}
	}
}
