package intel

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

func TestLibrary(t *testing.T) { mpilibrarytest.Run(t, Library) }

func known(t testing.TB) build {
	t.Helper()
	return build{mpilibrarytest.Release(t, Library, "2019")}
}

// TestBoundaries replays around every bound of ranks and sizes, where a rule that
// reaches too far or not far enough shows.
func TestBoundaries(t *testing.T) {
	b := known(t)
	for seed := range uint64(4) {
		sel, x := mpilibrarytest.Told(t, b, mpilibrarytest.Rows(b.cat, seed, 0), mpi.FitOptions{MaxLoss: 0.1})
		checked := 0
		for _, tree := range sel.Trees {
			var rules rules
			for _, s := range x.Setup.Settings {
				if s.Name == variable(tree.Collective) {
					var err error
					if rules, err = parse(s.Value); err != nil {
						t.Fatal(err)
					}
				}
			}
			checked += boundaries(t, b, tree, rules)
		}
		if checked < 500 {
			t.Errorf("only %d comparisons", checked)
		}
	}
}

// boundaries compares a tree with its rules and returns the number of comparisons.
func boundaries(t *testing.T, b build, tree *selection.Tree, rules rules) int {
	t.Helper()
	checked := 0
	for _, c := range tree.Comms {
		for _, band := range c.PPNs[0].Bands {
			for _, n := range []int{c.Low - 1, c.Low, c.Low + 1, c.High - 1, c.High, c.High + 1} {
				for _, bytes := range []int64{band.UpTo - 1, band.UpTo, band.UpTo + 1} {
					if n < 1 || bytes < 0 || bytes > 0 && !sized(tree.Collective) {
						continue
					}
					alg, _ := tree.Lookup(n, 1, bytes)
					want, err := b.number(tree.Collective, alg)
					if err != nil {
						t.Fatal(err)
					}
					if got := rules.find(n, bytes); got != want {
						t.Fatalf("%s, %d ranks, %d B: algorithm %d, want %d", tree.Collective, n, bytes, got, want)
					}
					checked++
				}
			}
		}
	}
	return checked
}

// small are three layouts, two of which have as many ranks and disagree.
func small() []selection.Row {
	var rows []selection.Row
	add := func(l coll.Layout, size int64, binomial, ring, byDefault float64) {
		rows = append(rows, selection.Row{
			Point: coll.Point{Collective: coll.Bcast, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: size},
			Options: []selection.Option{
				{Algorithm: coll.Algorithm{Name: "binomial"}, Seconds: binomial},
				{Algorithm: coll.Algorithm{Name: "ring"}, Seconds: ring},
				{Algorithm: coll.Default, Seconds: byDefault},
			},
		})
	}
	add(coll.Layout{Nodes: 2, PPN: 2}, 64, 1, 2, 3)
	add(coll.Layout{Nodes: 2, PPN: 2}, 65536, 2, 1, 3)
	add(coll.Layout{Nodes: 3, PPN: 4}, 64, 1, 2, 3)
	add(coll.Layout{Nodes: 3, PPN: 4}, 65536, 2, 3, 1)
	add(coll.Layout{Nodes: 12, PPN: 1}, 64, 1, 2, 3)
	add(coll.Layout{Nodes: 12, PPN: 1}, 65536, 3, 1, 2)
	return rows
}

func TestGolden(t *testing.T) {
	_, x := mpilibrarytest.Told(t, known(t), small(), mpi.FitOptions{MaxLoss: 0.01})
	snippet, err := x.Setup.Shell()
	if err != nil {
		t.Fatal(err)
	}
	testutil.CheckGolden(t, x.Snippet, snippet)
}

func TestExportRefuses(t *testing.T) {
	rows := small()
	rows[0].Options[0].Algorithm.Name = "smp"
	b := known(t)
	sel, err := b.Fit(rows, mpi.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Export(sel, "/dir"); !errors.Is(err, mpi.ErrUnknown) {
		t.Errorf("unknown algorithm: %v", err)
	}
}

func TestReplayFindsWrongSettings(t *testing.T) {
	b := known(t)
	sel, x := mpilibrarytest.Told(t, b, small(), mpi.FitOptions{})
	x.Setup.Settings[0].Value = strings.Replace(x.Setup.Settings[0].Value, "1:", "2:", 1)
	if err := b.Replay(x, sel, small()); err == nil || !strings.Contains(err.Error(), "want 1 for binomial") {
		t.Errorf("Replay = %v", err)
	}
	x.Setup.Settings[0].Value = "1:x"
	if err := b.Replay(x, sel, small()); !errors.Is(err, errSyntax) {
		t.Errorf("Replay = %v, want errSyntax", err)
	}
}

// TestParse reads forms of the documentation, the last rule for all other messages.
func TestParse(t *testing.T) {
	rules, err := parse("4:0-100,5001-10000;1:101-3200@2-8;2:3201@5;3")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		ranks int
		size  int64
		want  int
	}{
		{1, 0, 4}, {1, 100, 4}, {2, 101, 1}, {8, 3200, 1}, {9, 3200, 3}, {5, 3201, 2}, {4, 3201, 3}, {5, 5001, 4}, {5, 10001, 3}, {math.MaxInt32, math.MaxInt64, 3},
	}
	for _, tc := range tests {
		if got := rules.find(tc.ranks, tc.size); got != tc.want {
			t.Errorf("find(%d, %d) = %d, want %d", tc.ranks, tc.size, got, tc.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", ";", "1;", "x", "-1", "01", "1:", "1:2-", "1:3-2", "1:2@", "1:2@4-3", "1:2@3@4", "1:2,", "1:1-2-3", "1:99999999999999999999"} {
		if got, err := parse(text); !errors.Is(err, errSyntax) {
			t.Errorf("parse(%q) = %v, %v, want errSyntax", text, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("4:0-100,5001-10000;1:101-3200@2-8;2:3201@5;3")
	f.Add("0")
	f.Fuzz(func(t *testing.T, value string) {
		rules, err := parse(value)
		if err != nil {
			return
		}
		again, err := parse(rules.String())
		if err != nil {
			t.Fatalf("%q written as %q: %v", value, rules, err)
		}
		if len(again) != len(rules) {
			t.Fatalf("%q written as %q: %d rules, want %d", value, rules, len(again), len(rules))
		}
	})
}

func TestSize(t *testing.T) {
	for c, want := range map[coll.Collective]int64{
		coll.Bcast: 4096, coll.Allreduce: 4096, coll.Reduce: 4096, coll.ReduceScatter: 4096, coll.Allgather: 4096, coll.Alltoall: 4096,
		coll.Gather: 4096, coll.Scatter: 4096, coll.Allgatherv: 6 * 4096, coll.Alltoallv: 0, coll.Barrier: 0,
	} {
		p := coll.Point{Collective: c, Nodes: 3, PPN: 2, MsgBytes: 4096}
		if got := size(p); got != want {
			t.Errorf("size(%v) = %d, want %d", p, got, want)
		}
	}
	if got := size(coll.Point{Collective: coll.Bcast, Nodes: 3, PPN: 2, MsgBytes: 1 << 40}); got != math.MaxInt32 {
		t.Errorf("1 TiB measures %d", got)
	}
}

func TestRoundTrip(t *testing.T) {
	all := rules{
		{Algorithm: 1, HighBytes: 9, LowRanks: 2, HighRanks: 4}, {Algorithm: 3, LowBytes: 10, HighBytes: 20, LowRanks: 2, HighRanks: 4},
		{Algorithm: 1, HighBytes: 5, LowRanks: 5, HighRanks: 9},
	}
	const want = "1:0-9@2-4,0-5@5-9;3:10-20@2-4"
	if got := all.String(); got != want {
		t.Errorf("String() = %s, want %s", got, want)
	}
	back, err := parse(want)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(rules{all[0], all[2], all[1]}, back); d != "" {
		t.Error(d)
	}
}
