package openmpi

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/test/golden"
	"tutti/mpi"
	"tutti/selection"
)

// grid makes rows with random times for every algorithm that can run, on layouts
// with non-powers of two, some of which share their number of processes.
func grid(cat *mpi.Catalogue, seed uint64) []selection.Row {
	rng := rand.New(rand.NewPCG(seed, 0))
	var rows []selection.Row
	for _, c := range coll.Collectives() {
		sizes := []int64{1, 7, 64, 1000, 4096, 65536, 300000}
		if !c.Sized() {
			sizes = []int64{0}
		}
		for _, l := range []coll.Layout{{Nodes: 1, PPN: 2}, {Nodes: 3, PPN: 1}, {Nodes: 5, PPN: 1}, {Nodes: 2, PPN: 3}, {Nodes: 3, PPN: 2},
			{Nodes: 1, PPN: 8}, {Nodes: 2, PPN: 4}, {Nodes: 8, PPN: 1}, {Nodes: 4, PPN: 6}} {
			for _, size := range sizes {
				p := coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: size}
				r := selection.Row{Point: p}
				for _, e := range cat.Entries(c) {
					a := coll.Algorithm{Name: e.Name}
					if cat.Check(coll.Candidate{Point: p, Algorithm: a}) == nil {
						r.Options = append(r.Options, selection.Option{Algorithm: a, Seconds: 1 + rng.Float64()})
					}
				}
				r.Options = append(r.Options, selection.Option{Algorithm: coll.Default, Seconds: 1.3 + rng.Float64()})
				rows = append(rows, r)
			}
		}
	}
	return rows
}

func TestExportIsFollowed(t *testing.T) {
	for _, version := range []string{"4.1.4", "5.0.9", "6.0.x"} {
		cat := release(t, version)
		for seed := range uint64(2) {
			rows := grid(cat, seed)
			plan, err := Fit(rows, cat, Options{MaxLoss: 0.1, OpSafe: seed%2 == 0})
			if err != nil {
				t.Fatal(err)
			}
			b, err := Export(plan, cat)
			if err != nil {
				t.Fatal(err)
			}
			if err := Verify(b, plan, rows, cat); err != nil {
				t.Errorf("%s, seed %d: %v", version, seed, err)
			}
			again, err := Export(plan, cat)
			if err != nil || !bytes.Equal(again.Bytes(again.Rules), b.Bytes(b.Rules)) {
				t.Errorf("%s, seed %d: two exports differ, or %v", version, seed, err)
			}
			if len(plan.Layouts) == 0 || len(plan.Conflicts) == 0 {
				t.Errorf("%s, seed %d: random layouts agree", version, seed)
			}
			neverSlower(t, plan, rows)
		}
	}
}

// neverSlower: no choice, for everybody or for a layout, is slower than the default.
func neverSlower(t *testing.T, plan Plan, rows []selection.Row) {
	t.Helper()
	for _, r := range rows {
		for _, trees := range [][]*selection.Tree{plan.Trees, plan.For(r.Point.Layout())} {
			for _, tree := range trees {
				if tree.Collective != r.Point.Collective {
					continue
				}
				alg, _ := tree.Select(r.Point)
				chosen, ok := r.Loss(alg)
				untuned, _ := r.Loss(coll.Default)
				if !ok || chosen > untuned {
					t.Errorf("%v: %v loses %g, the default %g", r.Point, alg, chosen, untuned)
				}
			}
		}
	}
}

// TestBetweenGridPoints replays points that were not tuned.
func TestBetweenGridPoints(t *testing.T) {
	for _, version := range []string{"4.1.4", "6.0.x"} {
		betweenGridPoints(t, release(t, version))
	}
}

func betweenGridPoints(t *testing.T, cat *mpi.Catalogue) {
	t.Helper()
	plan, err := Fit(grid(cat, 9), cat, Options{MaxLoss: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Export(plan, cat)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(10, 0))
	var rows []selection.Row
	for range 5000 {
		p := coll.Point{Collective: coll.Collectives()[rng.IntN(14)], Nodes: 1 + rng.IntN(30), PPN: 1}
		if p.Collective.Sized() {
			p.MsgBytes = int64(math.Exp2(rng.Float64() * 22))
		}
		rows = append(rows, selection.Row{Point: p})
	}
	if err := Verify(b, plan, rows, cat); err != nil {
		t.Error(err)
	}
}

// row builds a row of a bcast with times by name.
func row(l coll.Layout, size int64, names []string, seconds ...float64) selection.Row {
	r := selection.Row{Point: coll.Point{Collective: coll.Bcast, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: size}}
	for i, name := range names {
		alg, err := coll.ParseAlgorithm(name)
		if err != nil {
			panic(err)
		}
		r.Options = append(r.Options, selection.Option{Algorithm: alg, Seconds: seconds[i]})
	}
	return r
}

func TestGolden(t *testing.T) {
	cat := release(t, "4.1.4")
	names := []string{"binomial", "pipeline(segsize=8192)", "chain(faninout=4,segsize=1024)", coll.Default.Name}
	rows := []selection.Row{
		row(coll.Layout{Nodes: 3, PPN: 2}, 64, names, 1, 2, 3, 4),
		row(coll.Layout{Nodes: 3, PPN: 2}, 65536, names, 4, 1, 3, 4),
		row(coll.Layout{Nodes: 2, PPN: 6}, 64, names, 1, 2, 3, 4),
		row(coll.Layout{Nodes: 2, PPN: 6}, 65536, names, 3, 2, 1, 4),
		row(coll.Layout{Nodes: 12, PPN: 1}, 64, names, 1, 2, 3, 4),
		row(coll.Layout{Nodes: 12, PPN: 1}, 65536, names, 1, 1.5, 3, 4),
	}
	plan, err := Fit(rows, cat, Options{MaxLoss: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Export(plan, cat)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := b.Write(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"openmpi.rules", "layouts/2x6.rules", "layouts/12x1.rules"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, filepath.Base(name), got)
	}
	env, err := b.Env("/home/me/my runs/openmpi.rules")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "openmpi.env", selection.EnvFile(env))
	setup, err := b.Setup("/home/me/my runs")
	if err != nil {
		t.Fatal(err)
	}
	shell, err := setup.Shell()
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "layouts.env", shell)
	want := []Conflict{
		{Collective: coll.Bcast, Layout: coll.Layout{Nodes: 2, PPN: 6}, Loss: 1},
		{Collective: coll.Bcast, Layout: coll.Layout{Nodes: 12, PPN: 1}, Loss: 0.5},
	}
	if d := cmp.Diff(want, plan.Conflicts); d != "" {
		t.Error(d)
	}
	if err := b.Write(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error = %v, want ErrNotExist", err)
	}
	if _, err := b.Env("openmpi.rules"); err == nil {
		t.Error("relative path: no error")
	}
}

func TestEnvOfNewerReleases(t *testing.T) {
	env, err := Bundle{Version: "5.0.9"}.Env("/x")
	if err != nil {
		t.Fatal(err)
	}
	// The user's own list of components, OMPI_MCA_coll, is not touched.
	if last := env[len(env)-1]; last != (selection.Setting{Name: "OMPI_MCA_coll_han_priority", Value: "0"}) {
		t.Errorf("last setting of 5.0.9 = %v, want the priority of han", last)
	}
}

func TestExportRefuses(t *testing.T) {
	cat := release(t, "4.1.4")
	for _, name := range []string{"smp", "binomial(k=2)", "pipeline(segsize=many)"} {
		rows := []selection.Row{row(coll.Layout{Nodes: 4, PPN: 1}, 64, []string{name}, 1)}
		plan, err := Fit(rows, cat, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Export(plan, cat); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := Fit(rows, cat, Options{OpSafe: true}); err == nil && name != "pipeline(segsize=many)" {
			t.Errorf("%s: OpSafe finds no error", name)
		}
	}
}

func TestOpSafe(t *testing.T) {
	cat := release(t, "4.1.4")
	p := coll.Point{Collective: coll.Allreduce, Nodes: 4, PPN: 1, MsgBytes: 65536}
	r := selection.Row{Point: p}
	for i, name := range []string{"ring", "recursive_doubling", coll.Default.Name} {
		r.Options = append(r.Options, selection.Option{Algorithm: coll.Algorithm{Name: name}, Seconds: float64(1 + i)})
	}
	for safe, want := range map[bool]string{false: "ring", true: "recursive_doubling"} {
		plan, err := Fit([]selection.Row{r}, cat, Options{OpSafe: safe})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := plan.Trees[0].Select(p); got.Name != want {
			t.Errorf("op safe %t: %v, want %s", safe, got, want)
		}
	}
}

// TestTwoProcesses: an algorithm for two processes alone is never ruled for more,
// though the next grid size is far away.
func TestTwoProcesses(t *testing.T) {
	cat := release(t, "4.1.4")
	var rows []selection.Row
	for _, n := range []int{2, 18} { // the boundary is at 6
		r := selection.Row{Point: coll.Point{Collective: coll.Barrier, Nodes: n, PPN: 1}}
		r.Options = append(r.Options, selection.Option{Algorithm: coll.Algorithm{Name: "tree"}, Seconds: 2})
		if n == 2 {
			r.Options = append(r.Options, selection.Option{Algorithm: coll.Algorithm{Name: "two_proc"}, Seconds: 1})
		}
		rows = append(rows, r)
	}
	plan, err := Fit(rows, cat, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Export(plan, cat)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]int{1: 0, 2: 5, 3: 0, 6: 0, 7: 6, 18: 6, 19: 0} {
		got, _, err := Replay(b.Rules.Bytes(), coll.Point{Collective: coll.Barrier, Nodes: n, PPN: 1})
		if err != nil || got.Algorithm != want {
			t.Errorf("%d processes: algorithm %d, %v, want %d", n, got.Algorithm, err, want)
		}
	}
}

func TestVerifyFindsWrongRules(t *testing.T) {
	cat := release(t, "4.1.4")
	rows := grid(cat, 1)
	plan, err := Fit(rows, cat, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Export(plan, cat)
	if err != nil {
		t.Fatal(err)
	}
	b.Rules[0].Blocks[1].Rules[0].Algorithm++
	if err := Verify(b, plan, rows, cat); err == nil || !strings.Contains(err.Error(), "the file reaches") {
		t.Errorf("changed algorithm: %v", err)
	}
	b.Rules[0].Blocks[1].Rules[0].Size = 1
	if err := Verify(b, plan, rows, cat); !errors.Is(err, ErrSyntax) {
		t.Errorf("first size 1: %v, want ErrSyntax", err)
	}
}

func TestFind(t *testing.T) {
	rules, err := Parse([]byte(`1 7 # bcast
		2
		4 2   0 1 0 0   1000 2 3 512
		010 1   0 6 0 0  # octal: 8 processes`))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		processes int
		size      int64
		want      int
	}{
		{2, 0, 1}, {4, 999, 1}, {4, 1000, 2}, {7, 1 << 40, 2}, {8, 1, 6}, {1000, 1, 6},
	}
	for _, tc := range tests {
		if got, ok := rules.Find(coll.Bcast, tc.processes, tc.size); !ok || got.Algorithm != tc.want {
			t.Errorf("Find(%d, %d) = %v, %t, want %d", tc.processes, tc.size, got, ok, tc.want)
		}
	}
	if _, ok := rules.Find(coll.Reduce, 4, 0); ok {
		t.Error("rule found for a collective that is not in the file")
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", "line 1: the file ends: want number of collectives"},
		{"cut off", "1\n7\n1\n4\n1\n0 1", "line 6: the file ends: want fan in/out"},
		{"negative", "1 7 1 4 1 0 -1 0 0", "algorithm -1: want 0 to"},
		{"first size", "1 7 1 4 1 5 1 0 0", "first message size 5: want 0"},
		{"size order", "1 7 1 4 2 0 1 0 0 0 1 0 0", "message size 0 after 0"},
		{"communicator order", "1 7 2 4 0 4 0", "communicator size 4 after 4"},
		{"unknown collective", "1 5 0", "collective 5: want"},
		{"collective twice", "2 7 0 7 0", "given twice"},
		{"count too small", "1 7 1 4 1 0 1 0 0 5", "after the last rule"},
		{"octal digits", "1 7 1 08 1 0 1 0 0", "first message size 1"},
		{"other header", "rule-file-version-3\n1 7 0", "number of collectives -3"},
		{"header after a comment", "#\nrule-file-version-2\n1 7 0", "number of collectives -2"},
		{"five numbers of the first version", "1 7 1 4 1 0 1 0 0 9", "after the last rule"},
		{"overflow", "99999999999999999999", "want a number of at most"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := Parse([]byte(tc.text)); !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want ErrSyntax with %q", err, tc.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("1 7 2 4 1 0 1 0 0 010 1 0 6 0 0x20 # end"))
	f.Add([]byte("rule-file-version-2\n2\n+3 0"))
	f.Add([]byte("rule-file-version-2\n1 3 1 4 2 0 4 0 0 8\n5 4 0 0 # none\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		rules, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(rules.Bytes())
		if err != nil {
			t.Fatalf("written rules: %v", err)
		}
		if d := cmp.Diff(rules, again); d != "" {
			t.Fatal(d)
		}
		rules.Find(coll.Bcast, 4, 100)
	})
}

func TestSize(t *testing.T) {
	tests := []struct {
		collective coll.Collective
		want       int64 // of 4 KiB on 3 nodes x 2
	}{
		{coll.Bcast, 4096}, {coll.Allreduce, 4096}, {coll.Reduce, 4096}, {coll.ReduceScatter, 4096},
		{coll.ReduceScatterBlock, 4096}, {coll.Allgatherv, 4096}, {coll.Allgather, 6 * 4096}, {coll.Alltoall, 6 * 4096},
		{coll.Gather, 6 * 4096}, {coll.Scatter, 6 * 4096}, {coll.Alltoallv, 0}, {coll.Barrier, 0}, {coll.Scan, 0}, {coll.Exscan, 0},
	}
	for _, tc := range tests {
		p := coll.Point{Collective: tc.collective, Nodes: 3, PPN: 2, MsgBytes: 4096}
		if got := Size(p); got != tc.want {
			t.Errorf("Size(%v) = %d, want %d", p, got, tc.want)
		}
	}
}

func ExampleReplay() {
	rules := []byte(`1
7  # bcast
2
1  1  0 0 0 0
4  2  0 6 0 0  1024 3 0 4096`)
	for _, size := range []int64{64, 65536} {
		rule, decided, err := Replay(rules, coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 2, MsgBytes: size})
		fmt.Println(rule.Algorithm, rule.SegSize, decided, err)
	}
	// Output:
	// 6 0 true <nil>
	// 3 4096 true <nil>
}
