package selection_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/selection"
)

func alg(name string) coll.Algorithm { return coll.Algorithm{Name: name} }

func bytesOf(p coll.Point) int64 { return p.MsgBytes }

func nothing(coll.Point) int64 { return 0 }

// at returns a row of a bcast. `times` alternates between names of algorithms and their times in
// seconds.
func at(nodes, ppn int, size int64, times ...any) selection.Row {
	r := selection.Row{Point: coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: ppn, MsgBytes: size}}
	for i := 0; i < len(times); i += 2 {
		name := times[i].(string)
		if name == "default" {
			name = coll.Default.Name
		}
		r.Options = append(r.Options, selection.Option{Algorithm: alg(name), Seconds: times[i+1].(float64)})
	}
	return r
}

func TestFitSelects(t *testing.T) {
	tests := []struct {
		name   string
		rows   []selection.Row
		size   func(coll.Point) int64
		loss   float64
		leaves int
		want   map[[3]int]string // nodes, ppn, bytes -> algorithm; "" is outside the tuned range
	}{
		{
			name: "argmin per row, cut at the geometric mean",
			rows: []selection.Row{at(4, 1, 16, "a", 1.0, "b", 2.0), at(4, 1, 1024, "a", 2.0, "b", 1.0)},
			size: bytesOf, leaves: 3, // below 16 B the default remains
			want: map[[3]int]string{
				{4, 1, 1}: coll.Default.Name, {4, 1, 16}: "a", {4, 1, 128}: "a", {4, 1, 129}: "b", {4, 1, 1024}: "b",
				{4, 1, 1025}: "", {3, 1, 16}: "", {5, 1, 16}: "", {2, 2, 16}: "",
			},
		},
		{
			name: "merged within the bound",
			rows: []selection.Row{at(4, 1, 1, "a", 1.0, "b", 1.009), at(4, 1, 2, "a", 2.0, "b", 1.0)},
			size: bytesOf, loss: 0.01, leaves: 1,
			want: map[[3]int]string{{4, 1, 1}: "b", {4, 1, 2}: "b"},
		},
		{
			name: "not merged beyond the bound",
			rows: []selection.Row{at(4, 1, 1, "a", 1.0, "b", 1.011), at(4, 1, 2, "a", 2.0, "b", 1.0)},
			size: bytesOf, loss: 0.01, leaves: 2,
			want: map[[3]int]string{{4, 1, 1}: "a", {4, 1, 2}: "b"},
		},
		{
			name: "never slower than the default, however close",
			rows: []selection.Row{
				at(4, 1, 1, "a", 1.0, "b", 1.009, "default", 1.005), at(4, 1, 2, "a", 2.0, "b", 1.0, "default", 3.0)},
			size: bytesOf, loss: 0.5, leaves: 2,
			want: map[[3]int]string{{4, 1, 1}: "a", {4, 1, 2}: "b"},
		},
		{
			name: "the default is a choice, preferred on a tie",
			rows: []selection.Row{at(4, 1, 1, "a", 1.0, "default", 1.0)},
			size: bytesOf, leaves: 1,
			want: map[[3]int]string{{4, 1, 1}: coll.Default.Name},
		},
		{
			name: "an infeasible algorithm is not stretched over a row without it",
			rows: []selection.Row{at(3, 1, 1, "b", 1.0), at(3, 1, 2, "a", 1.0, "b", 9.0), at(3, 1, 4, "b", 1.0)},
			size: bytesOf, leaves: 3,
			want: map[[3]int]string{{3, 1, 1}: "b", {3, 1, 2}: "a", {3, 1, 4}: "b"},
		},
		{
			name: "rows without options stay with the library",
			rows: []selection.Row{at(3, 1, 1), at(3, 1, 2, "a", 1.0)},
			size: bytesOf, leaves: 2,
			want: map[[3]int]string{{3, 1, 1}: coll.Default.Name, {3, 1, 2}: "a"},
		},
		{
			name: "processes per node share bands, gaps go to the nearer side",
			rows: []selection.Row{
				at(12, 1, 1, "a", 1.0, "b", 2.0), at(6, 2, 1, "a", 1.0, "b", 2.0), at(2, 6, 1, "a", 2.0, "b", 1.0)},
			size: bytesOf, leaves: 2,
			want: map[[3]int]string{{12, 1, 1}: "a", {6, 2, 1}: "a", {4, 3, 1}: "a", {3, 4, 1}: "b", {2, 6, 1}: "b", {1, 12, 1}: ""},
		},
		{
			name: "communicator sizes share bands, cut at the geometric mean",
			rows: []selection.Row{
				at(3, 1, 1, "a", 1.0, "b", 2.0), at(5, 1, 1, "a", 1.0, "b", 2.0), at(20, 1, 1, "a", 2.0, "b", 1.0)},
			size: bytesOf, leaves: 2,
			want: map[[3]int]string{{3, 1, 1}: "a", {4, 1, 1}: "a", {10, 1, 1}: "a", {11, 1, 1}: "b", {20, 1, 1}: "b", {21, 1, 1}: ""},
		},
		{
			name: "rows the library cannot tell apart share the least worst loss",
			rows: []selection.Row{
				at(4, 1, 1, "a", 1.0, "b", 1.2, "c", 9.0), at(4, 1, 2, "a", 2.0, "b", 1.1, "c", 1.0)},
			size: nothing, leaves: 1,
			want: map[[3]int]string{{4, 1, 1}: "b", {4, 1, 2}: "b"},
		},
		{
			name: "no compromise is slower than the default",
			rows: []selection.Row{
				at(4, 1, 1, "a", 1.0, "default", 1.1), at(4, 1, 2, "a", 2.0, "default", 1.0)},
			size: nothing, leaves: 1,
			want: map[[3]int]string{{4, 1, 1}: coll.Default.Name},
		},
		{name: "no rows", size: bytesOf, want: map[[3]int]string{{4, 1, 1}: ""}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			tree := testutil.Must(selection.Merge(tc.rows, tc.size, selection.Options{MaxLoss: tc.loss}))(t)
			if tree.Summary.Leaves != tc.leaves {
				t.Errorf("leaves = %d, want %d: %+v", tree.Summary.Leaves, tc.leaves, tree.Comms)
			}
			for k, want := range tc.want {
				p := coll.Point{Collective: coll.Bcast, Nodes: k[0], PPN: k[1], MsgBytes: int64(k[2])}
				got, ok := tree.Select(p)
				if ok != (want != "") || ok && got.Name != want {
					t.Errorf("Select(%v) = %v, %t, want %q", p, got, ok, want)
				}
			}
		})
	}
}

func TestFitErrors(t *testing.T) {
	good := at(2, 1, 1, "a", 1.0)
	other := good
	other.Point.Collective = coll.Reduce
	tests := []struct {
		name string
		rows []selection.Row
		size func(coll.Point) int64
	}{
		{name: "two collectives", rows: []selection.Row{good, other}},
		{name: "point twice", rows: []selection.Row{good, good}},
		{name: "algorithm twice", rows: []selection.Row{at(2, 1, 1, "a", 1.0, "a", 2.0)}},
		{name: "no time", rows: []selection.Row{at(2, 1, 1, "a", 0.0)}},
		{name: "time not a number", rows: []selection.Row{at(2, 1, 1, "a", math.NaN())}},
		{name: "endless time", rows: []selection.Row{at(2, 1, 1, "a", math.Inf(1))}},
		{name: "no nodes", rows: []selection.Row{at(0, 1, 1, "a", 1.0)}},
		{name: "negative size", rows: []selection.Row{at(1, 1, -1, "a", 1.0)}},
		{name: "negative measure", rows: []selection.Row{good}, size: func(coll.Point) int64 { return -1 }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if tc.size == nil {
				tc.size = bytesOf
			}
			if _, err := selection.Merge(tc.rows, tc.size, selection.Options{}); !errors.Is(err, selection.ErrRow) {
				t.Errorf("error = %v, want ErrRow", err)
			}
		})
	}
}

// TestByRanks checks layouts with the same number of ranks. All must get the same algorithm: the one whose
// largest loss is the smallest. Any layout with this number of ranks must be in the tuned range.
func TestByRanks(t *testing.T) {
	rows := []selection.Row{
		at(6, 1, 1, "a", 1.0, "b", 1.2), at(2, 3, 1, "a", 2.0, "b", 1.0), at(1, 2, 1, "a", 1.0, "b", 3.0)}
	tree := testutil.Must(selection.Merge(rows, bytesOf, selection.Options{ByRanks: true}))(t)
	for p, want := range map[[2]int]string{{6, 1}: "b", {2, 3}: "b", {3, 2}: "b", {1, 6}: "b", {2, 1}: "a", {1, 2}: "a", {7, 1}: ""} {
		got, ok := tree.Select(coll.Point{Collective: coll.Bcast, Nodes: p[0], PPN: p[1], MsgBytes: 1})
		if ok != (want != "") || ok && got.Name != want {
			t.Errorf("Select on %dx%d = %v, %t, want %q", p[0], p[1], got, ok, want)
		}
	}
	if got := tree.Summary.WorstLoss; math.Abs(got-0.2) > 1e-12 {
		t.Errorf("worst loss %g, want 0.2", got)
	}
}

// randomRows returns the rows of a random grid. Points may be missing, times may be tied, and numbers need
// not be powers of two.
func randomRows(rng *rand.Rand) []selection.Row {
	names := []string{"a", "b", "c", "default"}
	var rows []selection.Row
	for _, nodes := range []int{1, 2, 3, 5, 8, 12} {
		for _, ppn := range []int{1, 3, 4, 6} {
			for _, size := range []int64{1, 3, 8, 100, 1000, 4096, 65536} {
				if rng.IntN(20) == 0 {
					continue
				}
				r := at(nodes, ppn, size)
				for _, n := range names {
					if rng.IntN(8) == 0 {
						continue
					}
					if n == "default" {
						n = coll.Default.Name
					}
					seconds := 1 + math.Round(rng.Float64()*20)/20
					r.Options = append(r.Options, selection.Option{Algorithm: alg(n), Seconds: seconds})
				}
				rows = append(rows, r)
			}
		}
	}
	return rows
}

func TestFitGuarantees(t *testing.T) {
	total := func(p coll.Point) int64 { return p.MsgBytes * int64(p.Ranks()) }
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rows := randomRows(rng)
		for name, size := range map[string]func(coll.Point) int64{"bytes": bytesOf, "total": total} {
			const bound = 0.1
			tree := testutil.Must(selection.Merge(rows, size, selection.Options{MaxLoss: bound}))(t)
			for _, r := range rows {
				got, ok := tree.Select(r.Point)
				if !ok {
					t.Fatalf("seed %d %s: %v is a tuned point outside the range", seed, name, r.Point)
				}
				checkPromise(t, r, got, bound)
			}
			shuffled := append([]selection.Row(nil), rows...)
			rng.Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
			again := testutil.Must(selection.Merge(shuffled, size, selection.Options{MaxLoss: bound}))(t)
			if d := cmp.Diff(tree, again, sameTree()); d != "" {
				t.Fatalf("seed %d %s: another order of rows, another tree:\n%s", seed, name, d)
			}
		}
	}
}

func checkPromise(t *testing.T, r selection.Row, got coll.Algorithm, bound float64) {
	t.Helper()
	best, own, limit := math.Inf(1), 0.0, math.Inf(1)
	for _, o := range r.Options {
		best = min(best, o.Seconds)
		if o.Algorithm == got {
			own = o.Seconds
		}
		if o.Algorithm.IsDefault() {
			limit = o.Seconds
		}
	}
	switch {
	case len(r.Options) == 0:
		if !got.IsDefault() {
			t.Errorf("%v: %v chosen without options", r.Point, got)
		}
	case own == 0:
		t.Errorf("%v: %v is not an option", r.Point, got)
	case own > limit:
		t.Errorf("%v: %v is slower than the default", r.Point, got)
	case own/best-1 > bound:
		t.Errorf("%v: %v loses %g", r.Point, got, own/best-1)
	}
}

// TestFewestBands checks that Merge finds as few bands (ranges of message sizes) as an exhaustive search over
// all ways to divide ten sizes.
func TestFewestBands(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var rows []selection.Row
		for i := range 10 {
			rows = append(rows, at(4, 1, 1<<i, "a", 1+rng.Float64(), "b", 1+rng.Float64(), "c", 1+rng.Float64()))
		}
		tree := testutil.Must(selection.Merge(rows, bytesOf, selection.Options{MaxLoss: 0.3}))(t)
		fewest := len(rows)
		for cuts := range 1 << (len(rows) - 1) {
			bands, ok := 1, true
			first := 0
			for i := range rows {
				if i == len(rows)-1 || cuts>>i&1 == 1 {
					ok = ok && servable(rows[first:i+1], 0.3)
					first = i + 1
					if i < len(rows)-1 {
						bands++
					}
				}
			}
			if ok {
				fewest = min(fewest, bands)
			}
		}
		if tree.Summary.Leaves != fewest {
			t.Errorf("seed %d: %d bands, want %d", seed, tree.Summary.Leaves, fewest)
		}
	}
}

func servable(rows []selection.Row, bound float64) bool {
	for _, name := range []string{"a", "b", "c"} {
		ok := true
		for _, r := range rows {
			loss, _ := r.Loss(alg(name))
			ok = ok && loss <= bound
		}
		if ok {
			return true
		}
	}
	return false
}

func TestTreeJSON(t *testing.T) {
	tree := testutil.Must(selection.Merge(randomRows(rand.New(rand.NewPCG(1, 1))), bytesOf, selection.Options{MaxLoss: 0.1}))(t)
	text := testutil.Must(json.Marshal(tree))(t)
	var back selection.Tree
	testutil.NoError(t, json.Unmarshal(text, &back))
	if d := cmp.Diff(*tree, back, sameTree()); d != "" {
		t.Error(d)
	}
	want, _ := tree.Lookup(12, 3, 100)
	if got, ok := back.Lookup(12, 3, 100); !ok || got != want {
		t.Errorf("Lookup = %v, %t, want %v", got, ok, want)
	}
}

func BenchmarkFit(b *testing.B) {
	rows := randomRows(rand.New(rand.NewPCG(1, 1)))
	for b.Loop() {
		if _, err := selection.Merge(rows, bytesOf, selection.Options{MaxLoss: 0.1}); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleMerge() {
	point := coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 2, MsgBytes: 1024}
	large := point
	large.MsgBytes = 65536
	rows := []selection.Row{
		{Point: point, Options: []selection.Option{{Algorithm: coll.Default, Seconds: 9e-6}, {Algorithm: coll.Algorithm{Name: "binomial"}, Seconds: 7e-6}}},
		{Point: large, Options: []selection.Option{{Algorithm: coll.Default, Seconds: 60e-6}, {Algorithm: coll.Algorithm{Name: "binomial"}, Seconds: 80e-6}}},
	}
	tree, err := selection.Merge(rows, func(p coll.Point) int64 { return p.MsgBytes }, selection.Options{MaxLoss: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tree.Select(point))
	fmt.Println(tree.Select(large))
	// Output:
	// binomial true
	// library_default true
}

func sameTree() cmp.Option {
	return cmp.Options{
		cmpopts.IgnoreUnexported(selection.Tree{}),
		cmp.Comparer(func(a, b coll.Algorithm) bool { return a == b }),
	}
}
