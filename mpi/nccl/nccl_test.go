package nccl

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

// rows returns times of allreduce and allgather on two layouts. On the second, the library's own choice of allreduce is
// the best at a size.
func rows(t testing.TB) []selection.Row {
	t.Helper()
	row := func(c coll.Collective, nodes int, bytes int64, times map[string]float64) selection.Row {
		r := selection.Row{Point: coll.Point{Collective: c, Nodes: nodes, PPN: 8, MsgBytes: bytes}}
		for _, name := range []string{"library_default", "ring(channels=16,proto=simple)", "tree(channels=8,proto=ll)"} {
			if s, ok := times[name]; ok {
				r.Options = append(r.Options, selection.Option{Algorithm: mpilibrarytest.Algorithm(t, name), Seconds: s})
			}
		}
		return r
	}
	ring, tree, own := "ring(channels=16,proto=simple)", "tree(channels=8,proto=ll)", "library_default"
	return []selection.Row{
		row(coll.Allreduce, 2, 1024, map[string]float64{own: 30, ring: 40, tree: 20}), row(coll.Allreduce, 2, 1<<24, map[string]float64{own: 300, ring: 200, tree: 900}),
		row(coll.Allgather, 2, 1024, map[string]float64{own: 30, ring: 20}), row(coll.Allgather, 2, 1<<20, map[string]float64{own: 300, ring: 200}),
		row(coll.Allreduce, 4, 1024, map[string]float64{own: 30, ring: 40, tree: 20}), row(coll.Allreduce, 4, 1<<24, map[string]float64{own: 200, ring: 300, tree: 900}),
	}
}

// TestExport checks the files of both dialects, and that a layout whose own choice is the best at a size has no file.
func TestExport(t *testing.T) {
	for _, l := range []library{nvidia, amd} {
		b := build{l, mpilibrarytest.Release(t, l, "2.30")}
		_, x := mpilibrarytest.FitAndExport(t, b, rows(t), mpi.MergeOptions{MaxLoss: 0.02})
		testutil.CheckGolden(t, x.Files[0].Name, x.Files[0].Content)
		testutil.CheckGolden(t, x.Snippet, testutil.Must(x.Setup.Shell())(t))
		if len(x.Setup.Layouts) != 1 || x.Setup.Layouts[0].Layout.Nodes != 2 {
			t.Errorf("%s: settings for %v, want 2x8", l.name, x.Setup.Layouts)
		}
	}
}

// TestReader compiles a reader that follows the documentation. It must select what was exported, at every tuned size, at
// bounds, and beyond.
func TestReader(t *testing.T) {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		testutil.NeedMPI.Missing(t, "%v: needs apt-get install gcc libc6-dev", err)
	}
	program := filepath.Join(t.TempDir(), "reader")
	if out, err := exec.CommandContext(t.Context(), compiler, "-O1", "-o", program, "testdata/reader.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, l := range []library{nvidia, amd} {
		b := build{l, mpilibrarytest.Release(t, l, "2.30")}
		sel, x := mpilibrarytest.FitAndExport(t, b, rows(t), mpi.MergeOptions{MaxLoss: 0.02})
		file := filepath.Join(t.TempDir(), x.Files[0].Name)
		testutil.NoError(t, os.WriteFile(file, x.Files[0].Content, 0o666))
		var asked, want strings.Builder
		for _, r := range rows(t) {
			for _, bytes := range []int64{1, r.Point.MsgBytes, 3 * r.Point.MsgBytes, 1 << 40} {
				p := r.Point
				p.MsgBytes = bytes
				fmt.Fprintln(&asked, names[p.Collective], l.Size(p), p.Nodes, p.Ranks())
				alg, _ := b.parse(x.Files[0].Content).choose(l.Size(p), p)
				if tuned, ok := sel.Select(p); ok && bytes == r.Point.MsgBytes && tuned != alg {
					t.Errorf("%v: read as %v, want %v", p, alg, tuned)
				}
				proto, _ := alg.Param("proto")
				channels, _ := alg.Param("channels")
				if alg.IsDefault() {
					fmt.Fprintln(&want, "none")
				} else {
					fmt.Fprintln(&want, alg.Name, proto, channels)
				}
			}
		}
		cmd := exec.CommandContext(t.Context(), program, file)
		cmd.Stdin = strings.NewReader(asked.String())
		if d := cmp.Diff(want.String(), string(testutil.Must(cmd.Output())(t))); d != "" {
			t.Errorf("%s (-want +reader):\n%s", l.name, d)
		}
		if !strings.Contains(want.String(), "tree ll 8") || !strings.Contains(want.String(), "none") {
			t.Errorf("%s: only %s", l.name, want.String())
		}
	}
}

// TestReadRules checks what is wrong with files that others wrote, with lines.
func TestReadRules(t *testing.T) {
	const text = `# tuned by hand
collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks
allreduce,0,65535,tree,ll,8,2,16,-1,-1
allreduce,0,4096,ring,ll,4,2,16,-1,-1
allreduce,65536,1048576,ring,simple,-1,-1,-1
broadcast,0,10,rings,ll,1,-1,-1
scatter,0,10,ring,ll,1,-1,-1
reduce,0,10,ring,ll,0,-1,-1
reduce,20,10,ring,ll,4,-1,-1
reduce,0,10,ring
allgather,0,10,ring,ll,4,-1,-1,-1,-1,cpx,8
  # a comment of RCCL alone
reduce,0,18446744073709551615,ring,-1,4,-1,-1
reduce,0,10,ring,ll,4,-1,-1,-1,-1,dpx
`
	var out strings.Builder
	for _, l := range []library{nvidia, amd} {
		f, ok := l.ReadRules(mpilibrarytest.Release(t, l, "2.30"), "", []byte(text))
		if !ok {
			t.Fatal("not read")
		}
		fmt.Fprintf(&out, "%s: %d rules, %v, %s\n", f.Format, f.Rules, f.Collectives, f.Activation)
		for _, x := range f.Findings {
			fmt.Fprintf(&out, "%d %s: %s\n", x.Line, x.Kind, x.Text)
		}
		for _, p := range []coll.Point{{Collective: coll.Allreduce, Nodes: 2, PPN: 8, MsgBytes: 1024}, {Collective: coll.Allreduce, Nodes: 4, PPN: 8, MsgBytes: 1024}} {
			fmt.Fprintf(&out, "%v: %+v\n", p, f.Choose(p))
		}
	}
	for _, tc := range []struct {
		row  string
		line int // that serves a single call; 0: none
	}{
		{"allreduce,0,65535,tree,ll,8,2,16,-1,-1\n", 1}, {"allreduce,0,65535,tree,ll,8,2,16,1,0\n", 1}, {"allreduce,0,65535,tree,ll,8,2,16,2,-1\n", 0}, {"allreduce,0,65535,tree,ll,8,2,16,1,1\n", 0},
	} {
		f, _ := nvidia.ReadRules(mpilibrarytest.Release(t, nvidia, "2.30"), "", []byte(tc.row))
		if c := f.Choose(coll.Point{Collective: coll.Allreduce, Nodes: 2, PPN: 8, MsgBytes: 1024}); c.Line != tc.line {
			t.Errorf("%s: line %d serves a single call, want %d", tc.row, c.Line, tc.line)
		}
		if f.Findings == nil || f.Collectives == nil || len(f.Setup("/a").Files) != 1 {
			t.Errorf("%s: %+v: want findings, collectives and the variable that names the file", tc.row, f)
		}
	}
	testutil.CheckGolden(t, "TestReadRules.txt", []byte(out.String()))
	for _, row := range []string{"\ufeffallreduce,0,65535,tree,ll,8,2,16\n", "allreduce;0;65535;tree;ll;8;2;16\n", "allreduce\t0\t65535\ttree\tll\t8\t2\t16\n", "\"allreduce\",0,65535,tree,ll,8,2,16\n", "AllReduce,0,65535,tree,ll,8,2,16\n"} {
		if f, ok := nvidia.ReadRules(nvidia.Releases()[0], "", []byte(row)); !ok || len(f.Of(mpi.FindingError)) != 1 {
			t.Errorf("%q: want a tuner file with an error", row)
		}
	}
	for _, other := range []string{"", "1 # collectives\n", "allreduce\n", `{"collective=bcast": {}}`, "collective,algorithm,nodes,ppn,msg_bytes,time_us\n"} {
		if _, ok := nvidia.ReadRules(nvidia.Releases()[0], "", []byte(other)); ok {
			t.Errorf("%q: taken for a tuner file", other)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("allreduce,0,65535,tree,ll,8,2,16,-1,-1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d := amd.parse(text)
		d.choose(8, coll.Point{Collective: coll.Allreduce, Nodes: 2, PPN: 8, MsgBytes: 8})
	})
}

// TestWider compares the search for wider rules with the rules that serve each size of random rules.
func TestWider(t *testing.T) {
	rng := rand.New(rand.NewPCG(54, 1))
	any := func(n int) int { return rng.IntN(n+1) - 1 }
	covers := func(outer, inner int) bool { return outer == -1 || outer == inner }
	alone, together := 0, 0
	for range 200 {
		w, rules, reached := wider{}, []rule{}, []rule{}
		for line := range 40 {
			low := rng.Int64N(20)
			r := rule{line: line + 1, collective: []string{"allreduce", "broadcast"}[rng.IntN(2)], low: low, high: low + rng.Int64N(12), nodes: any(1), ranks: any(1), pipeOps: any(1), buffer: any(1)}
			serves := func(o rule, size int64) bool {
				return o.collective == r.collective && o.low <= size && size <= o.high && covers(o.nodes, r.nodes) && covers(o.ranks, r.ranks) &&
					covers(o.pipeOps, r.pipeOps) && covers(o.buffer, r.buffer)
			}
			want := true
			one := func(o rule) bool { return serves(o, r.low) && serves(o, r.high) }
			got := w.lines(r)
			for size := r.low; size <= r.high; size++ {
				served := func(o rule) bool { return serves(o, size) }
				want = want && slices.ContainsFunc(rules, served)
				if len(got) > 0 && !slices.ContainsFunc(got, func(line int) bool { return served(rules[line-1]) }) {
					t.Fatalf("%+v: no rule of lines %v serves %d bytes", r, got, size)
				}
			}
			if want != (len(got) > 0) || slices.ContainsFunc(reached, one) != (len(got) == 1) {
				t.Fatalf("%+v: lines %v, rules serve it: %v", r, got, want)
			}
			switch len(got) {
			case 0:
				w.add(r)
				reached = append(reached, r)
			case 1:
				alone++
			default:
				together++
			}
			rules = append(rules, r)
		}
	}
	if alone < 1000 || together < 100 {
		t.Errorf("only %d rules of 8000 are served by another one, %d by several", alone, together)
	}
}
