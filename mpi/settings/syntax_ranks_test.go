package settings

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

// intelRows returns rows for three layouts. Two of the layouts have the same number of ranks but different
// best algorithms.
func intelRows() []selection.Row {
	names := [2]string{"binomial", "ring"}
	a, b, c := coll.Layout{Nodes: 2, PPN: 2}, coll.Layout{Nodes: 3, PPN: 4}, coll.Layout{Nodes: 12, PPN: 1}
	return []selection.Row{
		row(a, 64, names, 1, 2, 3), row(a, 65536, names, 2, 1, 3),
		row(b, 64, names, 1, 2, 3), row(b, 65536, names, 2, 3, 1),
		row(c, 64, names, 1, 2, 3), row(c, 65536, names, 3, 1, 2),
	}
}

// TestRankRulesFollowTree checks that the rules select the same algorithm as the tree. It tests every bound
// of ranks and sizes, and the numbers next to the bounds.
func TestRankRulesFollowTree(t *testing.T) {
	b := intel(t)
	for seed := range uint64(4) {
		sel, x := mpilibrarytest.FitAndExport(t, b, mpilibrarytest.Rows(b.cat, seed, 0), mpi.FitOptions{MaxLoss: 0.1})
		checked := 0
		for _, tree := range sel.Trees {
			var rules rankRules
			for _, s := range x.Setup.Settings {
				if s.Name == b.lib.variables[tree.Collective].name {
					rules = testutil.Must(parseRankRules(s.Value))(t)
				}
			}
			checked += checkBounds(t, b, tree, rules)
		}
		if checked < 500 {
			t.Errorf("only %d comparisons", checked)
		}
	}
}

// checkBounds compares a tree with its rules at and around every bound. It returns the number of
// comparisons.
func checkBounds(t *testing.T, b build, tree *selection.Tree, rules rankRules) int {
	t.Helper()
	checked := 0
	for _, c := range tree.Comms {
		for _, band := range c.PPNs[0].Bands {
			for _, n := range []int{c.Low - 1, c.Low, c.Low + 1, c.High - 1, c.High, c.High + 1} {
				for _, bytes := range []int64{band.UpTo - 1, band.UpTo, band.UpTo + 1} {
					if n < 1 || bytes < 0 || bytes > 0 && b.lib.variables[tree.Collective].bytes == noSize {
						continue
					}
					want := 0
					if alg, _ := tree.Lookup(n, 1, bytes); !alg.IsDefault() {
						e := testutil.Must(b.cat.Lookup(tree.Collective, alg))(t)
						want = e.ID
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

func TestRankRulesExportErrors(t *testing.T) {
	b := intel(t)
	rows := intelRows()
	rows[0].Options[0].Algorithm.Name = "smp"
	sel := testutil.Must(b.Fit(rows, 0))(t)
	if _, err := b.Export(sel, "/dir"); !errors.Is(err, mpi.ErrUnknown) {
		t.Errorf("unknown algorithm: %v", err)
	}
}

func TestRankRulesReplayErrors(t *testing.T) {
	b := intel(t)
	sel, x := mpilibrarytest.FitAndExport(t, b, intelRows(), mpi.FitOptions{})
	x.Setup.Settings[0].Value = strings.Replace(x.Setup.Settings[0].Value, "1:", "2:", 1)
	if err := b.Replay(x, sel, intelRows()); err == nil || !strings.Contains(err.Error(), "want 1 (binomial)") {
		t.Errorf("another algorithm: %v", err)
	}
	x.Setup.Settings[0].Value = "1:x"
	if err := b.Replay(x, sel, intelRows()); !errors.Is(err, errSyntax) {
		t.Errorf("bad value: %v, want errSyntax", err)
	}
}

func TestParseRankRules(t *testing.T) {
	for _, text := range []string{"", ";", "1;", "x", "-1", "01", "1", "1:", "1:2-", "1:3-2@1-2", "1:2-3@4-3", "1:2-3@3@4", "1:2-3@1-2,", "1:1-2-3@1-2", "1:0-99999999999@1-2", "1:0-1@1-2 "} {
		if got, err := parseRankRules(text); !errors.Is(err, errSyntax) {
			t.Errorf("parseRankRules(%q) = %v, %v, want errSyntax", text, got, err)
		}
	}
}

// TestRankRulesString checks that String groups rules by algorithm, and that parsing returns them in this
// order.
func TestRankRulesString(t *testing.T) {
	all := rankRules{
		{id: 1, highBytes: 9, lowRanks: 2, highRanks: 4}, {id: 3, lowBytes: 10, highBytes: 20, lowRanks: 2, highRanks: 4},
		{id: 1, highBytes: 5, lowRanks: 5, highRanks: 9},
	}
	const want = "1:0-9@2-4,0-5@5-9;3:10-20@2-4"
	if got := all.String(); got != want {
		t.Errorf("String() = %s, want %s", got, want)
	}
	back := testutil.Must(parseRankRules(want))(t)
	if d := cmp.Diff(rankRules{all[0], all[2], all[1]}, back, cmp.AllowUnexported(rankRule{})); d != "" {
		t.Error(d)
	}
}
