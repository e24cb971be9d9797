package intel

import (
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
	"tutti/internal/test/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

func TestLibrary(t *testing.T) { mpilibrarytest.Run(t, Library) }

func release(t testing.TB) *mpi.Catalogue {
	t.Helper()
	return mpilibrarytest.Release(t, Library, "2019")
}

// grid makes rows with random times for every algorithm that can run, on layouts
// with non-powers of two, some of which share their number of processes.
func grid(cat *mpi.Catalogue, seed uint64, slowDefault float64) []selection.Row {
	rng := rand.New(rand.NewPCG(seed, 0))
	var rows []selection.Row
	for _, c := range coll.Collectives() {
		sizes := []int64{1, 7, 64, 1000, 4096, 65536, 300000}
		if !c.Sized() {
			sizes = []int64{0}
		}
		for _, l := range []coll.Layout{{Nodes: 1, PPN: 2}, {Nodes: 3, PPN: 1}, {Nodes: 5, PPN: 1}, {Nodes: 2, PPN: 3}, {Nodes: 3, PPN: 2}, {Nodes: 4, PPN: 6}} {
			for _, size := range sizes {
				p := coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: size}
				r := selection.Row{Point: p}
				for _, e := range cat.Entries(c) {
					a := coll.Algorithm{Name: e.Name}
					if cat.Check(coll.Candidate{Point: p, Algorithm: a}) == nil {
						r.Options = append(r.Options, selection.Option{Algorithm: a, Seconds: 1 + rng.Float64()})
					}
				}
				r.Options = append(r.Options, selection.Option{Algorithm: coll.Default, Seconds: slowDefault + rng.Float64()})
				rows = append(rows, r)
			}
		}
	}
	return rows
}

func TestExportIsFollowed(t *testing.T) {
	cat := release(t)
	for seed := range uint64(4) {
		rows := grid(cat, seed, 1.3)
		plan, err := selection.FitPlan(rows, Size, 0.1)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Export(plan, cat)
		if err != nil {
			t.Fatal(err)
		}
		if err := Verify(s, plan, rows, cat); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if len(s.Layouts) == 0 {
			t.Errorf("seed %d: random layouts agree", seed)
		}
		boundaries(t, s, plan, cat)
	}
}

// boundaries replays around every bound of processes and sizes, where a rule that
// reaches too far or not far enough shows.
func boundaries(t *testing.T, s selection.Setup, plan selection.Plan, cat *mpi.Catalogue) {
	t.Helper()
	checked := 0
	for _, tree := range plan.Trees {
		for _, c := range tree.Comms {
			for _, b := range c.PPNs[0].Bands {
				for _, n := range []int{c.Low - 1, c.Low, c.Low + 1, c.High - 1, c.High, c.High + 1} {
					for _, size := range []int64{b.UpTo - 1, b.UpTo, b.UpTo + 1} {
						if n < 1 || size < 0 || s.For(coll.Layout{Nodes: n, PPN: 1}) == nil {
							continue
						}
						alg, _ := tree.Lookup(n, 1, size)
						want := 0
						if e, err := cat.Lookup(tree.Collective, alg); err == nil {
							want = e.ID
						}
						got := 0
						for _, x := range s.Settings {
							if x.Name == Variable(tree.Collective) {
								rules, err := Parse(x.Value)
								if err != nil {
									t.Fatal(err)
								}
								if tree.Collective.Sized() && tree.Collective != coll.Alltoallv || size == 0 {
									got, _ = rules.Find(n, size)
								} else {
									got = want
								}
							}
						}
						if got != want {
							t.Fatalf("%s, %d processes, %d B: algorithm %d, want %d", tree.Collective, n, size, got, want)
						}
						checked++
					}
				}
			}
		}
	}
	if checked < 500 {
		t.Errorf("only %d comparisons", checked)
	}
}

// small are three layouts, two of which have as many processes and disagree.
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
	cat := release(t)
	plan, err := selection.FitPlan(small(), Size, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Export(plan, cat)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), FileName)
	if err := s.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, FileName, got)
}

func TestExportRefuses(t *testing.T) {
	rows := small()
	rows[0].Options[0].Algorithm.Name = "smp"
	plan, err := selection.FitPlan(rows, Size, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Export(plan, release(t)); !errors.Is(err, mpi.ErrUnknown) {
		t.Errorf("unknown algorithm: %v", err)
	}
}

func TestVerifyFindsWrongSettings(t *testing.T) {
	cat := release(t)
	plan, err := selection.FitPlan(small(), Size, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Export(plan, cat)
	if err != nil {
		t.Fatal(err)
	}
	s.Settings[0].Value = strings.Replace(s.Settings[0].Value, "1:", "2:", 1)
	if err := Verify(s, plan, small(), cat); err == nil || !strings.Contains(err.Error(), "want 1 for binomial") {
		t.Errorf("Verify = %v", err)
	}
	s.Settings[0].Value = "1:x"
	if err := Verify(s, plan, small(), cat); !errors.Is(err, ErrSyntax) {
		t.Errorf("Verify = %v, want ErrSyntax", err)
	}
}

// TestParse reads forms of the documentation, the last rule for all other messages.
func TestParse(t *testing.T) {
	rules, err := Parse("4:0-100,5001-10000;1:101-3200@2-8;2:3201@5;3")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		processes int
		size      int64
		want      int
	}{
		{1, 0, 4}, {1, 100, 4}, {2, 101, 1}, {8, 3200, 1}, {9, 3200, 3}, {5, 3201, 2}, {4, 3201, 3}, {5, 5001, 4}, {5, 10001, 3}, {math.MaxInt32, math.MaxInt64, 3},
	}
	for _, tc := range tests {
		if got, ok := rules.Find(tc.processes, tc.size); !ok || got != tc.want {
			t.Errorf("Find(%d, %d) = %d, %t, want %d", tc.processes, tc.size, got, ok, tc.want)
		}
	}
	if zero, err := Parse("0"); err != nil {
		t.Error(err)
	} else if id, ok := zero.Find(4, 4); ok {
		t.Errorf("0 decides for %d", id)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", ";", "1;", "x", "-1", "01", "1:", "1:2-", "1:3-2", "1:2@", "1:2@4-3", "1:2@3@4", "1:2,", "1:1-2-3", "1:99999999999999999999"} {
		if got, err := Parse(text); !errors.Is(err, ErrSyntax) {
			t.Errorf("Parse(%q) = %v, %v, want ErrSyntax", text, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("4:0-100,5001-10000;1:101-3200@2-8;2:3201@5;3")
	f.Add("0")
	f.Fuzz(func(t *testing.T, value string) {
		rules, err := Parse(value)
		if err != nil {
			return
		}
		again, err := Parse(rules.String())
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
		if got := Size(p); got != want {
			t.Errorf("Size(%v) = %d, want %d", p, got, want)
		}
	}
	if got := Size(coll.Point{Collective: coll.Bcast, Nodes: 3, PPN: 2, MsgBytes: 1 << 40}); got != math.MaxInt32 {
		t.Errorf("1 TiB measures %d", got)
	}
}

func ExampleParse() {
	rules, err := Parse("1:0-1024@4-8;3:1025-65536@4-8")
	fmt.Println(err)
	fmt.Println(rules.Find(4, 64))
	fmt.Println(rules.Find(8, 4096))
	fmt.Println(rules.Find(9, 4096))
	// Output:
	// <nil>
	// 1 true
	// 3 true
	// 0 false
}

func TestRoundTrip(t *testing.T) {
	rules := Rules{
		{Algorithm: 1, HighBytes: 9, LowProcesses: 2, HighProcesses: 4}, {Algorithm: 3, LowBytes: 10, HighBytes: 20, LowProcesses: 2, HighProcesses: 4},
		{Algorithm: 1, HighBytes: 5, LowProcesses: 5, HighProcesses: 9},
	}
	const want = "1:0-9@2-4,0-5@5-9;3:10-20@2-4"
	if got := rules.String(); got != want {
		t.Errorf("String() = %s, want %s", got, want)
	}
	back, err := Parse(want)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Rules{rules[0], rules[2], rules[1]}, back); d != "" {
		t.Error(d)
	}
}
