package openmpi

import (
	"errors"
	"math"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

// distributionRows returns three layouts of twelve ranks with different best algorithms. Rules of 6.0 can
// distinguish two of them from all others.
func distributionRows() []selection.Row {
	names := []string{"binomial", "pipeline(segsize=8192)", "chain(faninout=4,segsize=1024)", coll.Default.Name}
	return []selection.Row{
		row(coll.Layout{Nodes: 3, PPN: 2}, 64, names, 1, 2, 3, 4),
		row(coll.Layout{Nodes: 3, PPN: 2}, 65536, names, 4, 1, 3, 4),
		row(coll.Layout{Nodes: 2, PPN: 6}, 64, names, 1, 2, 3, 4),
		row(coll.Layout{Nodes: 2, PPN: 6}, 65536, names, 3, 2, 1, 4),
		row(coll.Layout{Nodes: 12, PPN: 1}, 64, names, 1, 2, 3, 4),
		row(coll.Layout{Nodes: 12, PPN: 1}, 65536, names, 1, 1.5, 3, 4),
		row(coll.Layout{Nodes: 1, PPN: 12}, 64, names, 2, 2, 3, 1),
		row(coll.Layout{Nodes: 1, PPN: 12}, 65536, names, 2, 1.5, 3, 1),
	}
}

func TestJSONGolden(t *testing.T) {
	b := build{release(t, "6.0.x")}
	rows := distributionRows()
	sel, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.FitOptions{MaxLoss: 0.01})
	if d := cmp.Diff([]string{"openmpi.json", "openmpi.han", "openmpi.env", "layouts/2x6.json", "layouts/2x6.han", "layouts/3x2.json", "layouts/3x2.han"}, x.Names()); d != "" {
		t.Error(d)
	}
	for _, f := range x.Files {
		testutil.CheckGolden(t, "newer."+path.Base(f.Name), f.Content)
	}
	x = testutil.Must(b.Export(sel, "/dir"))(t)
	snippet := testutil.Must(x.Setup.Shell())(t)
	testutil.CheckGolden(t, "newer.openmpi.env", snippet)
}

// around returns each of the given numbers together with its two neighbors, in ascending order.
func around(numbers ...int64) []int64 {
	var out []int64
	for _, n := range numbers {
		for d := int64(-1); d <= 1; d++ {
			if n+d >= 0 {
				out = append(out, n+d)
			}
		}
	}
	return out
}

// TestJSONSaysWhatTheRulesSay checks that JSON and classic rules select the same algorithm. It compares them
// at every bound of the classic rules, and at the numbers directly below and above it.
func TestJSONSaysWhatTheRulesSay(t *testing.T) {
	b := build{release(t, "6.0.x")}
	for seed := range uint64(3) {
		sel, x := mpilibrarytest.FitAndExport(t, b, mpilibrarytest.Rows(b.cat, seed, 0), mpi.FitOptions{MaxLoss: 0.1})
		back := testutil.Must(parseJSON(x.Loaded(coll.Layout{}, fileVariable)))(t)
		rules := testutil.Must(b.bundle(sel))(t)
		rules.rules = withoutHan(rules.rules)
		for i, l := range rules.inCommonFile {
			rules.inCommonFile[i].rules = withoutHan(l.rules)
		}
		checked := 0
		for _, c := range rules.rules {
			for _, block := range c.Blocks {
				for _, n := range around(int64(block.Ranks)) {
					for _, l := range []coll.Layout{{Nodes: int(n), PPN: 1}, {Nodes: 1, PPN: int(n)}, {Nodes: int(n) / 2, PPN: 2}} {
						if l.Ranks() < 1 {
							continue
						}
						checked += sameRules(t, rules, back, c.Collective, l)
					}
				}
			}
		}
		if checked < 1000 {
			t.Errorf("only %d comparisons", checked)
		}
	}
}

// sameRules compares JSON and classic rules at every bound of message sizes. It returns the number of
// comparisons.
func sameRules(t *testing.T, all bundle, back jsonRules, c coll.Collective, l coll.Layout) int {
	t.Helper()
	rules := all.rules
	for _, s := range all.inCommonFile {
		if s.layout == l {
			rules = s.rules
		}
	}
	checked := 0
	for _, x := range rules {
		if x.Collective != c {
			continue
		}
		for _, block := range x.Blocks {
			for _, r := range block.Rules {
				for _, size := range around(r.Size) {
					want, _ := rules.Find(c, l.Ranks(), size)
					got, decided := back.Find(c, l, size)
					if decided != (want.Algorithm != 0) || got.SegSize != want.SegSize || decided && got.Algorithm == "" {
						t.Fatalf("%s %s %d B: %+v, %t, want %+v", c, l, size, got, decided, want)
					}
					checked++
				}
			}
		}
	}
	return checked
}

func TestJSONFirstMatch(t *testing.T) {
	rules, err := parseJSON([]byte(`{"rule_file_version":3,"module":"tuned","collectives":{"bcast":[
		{"comm_size_min":8,"comm_size_max":8,"comm_rank_distribution":"one-per-node","rules":[{"alg":"ignore"}]},
		{"comm_size_min":4,"comm_size_max":8,"comm_rank_distribution":"single-node","rules":[{"msg_size_min":10,"msg_size_max":20,"alg":"3"}]},
		{"comm_size_min":8,"rules":[{"msg_size_max":99,"alg":"binomial"},{"alg":"chain","faninout":2}]}]}}`))
	testutil.NoError(t, err)
	tests := []struct {
		nodes, ppn int
		size       int64
		want       string
	}{
		{8, 1, 5, ""}, {1, 8, 10, "3"}, {1, 8, 20, "3"}, {1, 8, 21, ""}, {1, 8, 9, ""}, {1, 4, 15, "3"}, {2, 2, 15, ""}, {1, 3, 15, ""},
		{2, 4, 99, "binomial"}, {2, 4, 100, "chain"}, {9, 1, 100, "chain"}, {1, 9, math.MaxInt64, "chain"},
	}
	for _, tc := range tests {
		got, ok := rules.Find(coll.Bcast, coll.Layout{Nodes: tc.nodes, PPN: tc.ppn}, tc.size)
		if !ok {
			got.Algorithm = ""
		}
		if got.Algorithm != tc.want {
			t.Errorf("%dx%d %d B: %q, want %q", tc.nodes, tc.ppn, tc.size, got.Algorithm, tc.want)
		}
	}
}

func TestReplayFindsWrongJSON(t *testing.T) {
	b := build{release(t, "6.0.x")}
	rows := distributionRows()
	sel, _ := mpilibrarytest.FitAndExport(t, b, rows, mpi.FitOptions{})
	rules := testutil.Must(b.bundle(sel))(t)
	rules.inCommonFile = nil // the layouts fall to the rules for everybody
	if err := b.Replay(b.files(rules, "/dir"), sel, rows); err == nil || !strings.Contains(err.Error(), "the file reaches") {
		t.Errorf("Replay = %v", err)
	}
}

// TestRadix checks that a rule of 6.0 contains the radix of its algorithm. Without a radix such an
// algorithm never ends, so it must not be exported.
func TestRadix(t *testing.T) {
	b := build{release(t, "6.0.x")}
	for c, name := range map[coll.Collective]string{coll.Allgather: "bruck-k-fanout", coll.Reduce: "knomial"} {
		var rows []selection.Row
		for _, a := range b.cat.Algorithms(c) {
			if a.Name == name {
				rows = append(rows, selection.Row{
					Point:   coll.Point{Collective: c, Nodes: 1, PPN: 4, MsgBytes: 64 << len(rows)},
					Options: []selection.Option{{Algorithm: a, Seconds: 1}},
				})
			}
		}
		_, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.FitOptions{})
		text := strings.Join(strings.Fields(string(x.Loaded(coll.Layout{}, fileVariable))), "")
		for _, radix := range []string{"2", "4", "8"} {
			if want := `"alg":"` + name + `","faninout":` + radix; !strings.Contains(text, want) {
				t.Errorf("no %s in\n%s", want, text)
			}
		}
		rows[0].Options[0].Algorithm = coll.Algorithm{Name: name}
		sel := testutil.Must(b.Fit(rows, 0))(t)
		if _, err := b.Export(sel, "/dir"); !errors.Is(err, mpi.ErrUnknown) || !strings.Contains(err.Error(), "want a radix of 2 or more") {
			t.Errorf("%s without a radix: %v", name, err)
		}
	}
}
