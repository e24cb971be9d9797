package mpich

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

var toolchain = testutil.Toolchain{Compiler: "mpicc.mpich", Launcher: "mpirun.mpich", Install: "mpich libmpich-dev"}

func installed(t *testing.T, prog string) build {
	t.Helper()
	out := testutil.Must(exec.Command("ldd", prog).Output())(t)
	path := regexp.MustCompile(`libmpich\.so\S* => (\S+)`).FindSubmatch(out)
	if path == nil {
		t.Fatalf("no libmpich in\n%s", out)
	}
	lib := testutil.Must(readLibraryTree(string(path[1])))(t)
	for _, cat := range releases() {
		if cat.Version == lib.Version {
			return build{lib, cat}
		}
	}
	testutil.NeedMPI.Missing(t, "MPICH %s is installed: needs a release of the catalogue", lib.Version)
	return build{}
}

// TestLiveLibrary checks that the embedded trees equal those of the installed library.
func TestLiveLibrary(t *testing.T) {
	lib := installed(t, testutil.BuildProgram(t, toolchain, testutil.CollectivesProgram)).lib
	want, err := embeddedTree(lib.Version)
	if errors.Is(err, errNoTree) {
		testutil.NeedMPI.Missing(t, "needs an MPICH whose tree is built in: %v", err)
	}
	testutil.NoError(t, err)
	if d := cmp.Diff(want, lib, cmpopts.IgnoreFields(libraryTree{}, "Source", "Transport", "Asserts", "Posix")); d != "" {
		t.Errorf("(-built in +installed):\n%s", d)
	}
}

// launch runs the program on a layout. MPICH distributes the ranks of one machine over the given number of
// simulated nodes.
func launch(t *testing.T, env []string, l coll.Layout, prog string, args ...string) string {
	t.Helper()
	env = append([]string{fmt.Sprintf("MPIR_CVAR_NUM_CLIQUES=%d", l.Nodes)}, env...)
	return testutil.RunProgram(t, env, "mpirun.mpich", append([]string{"-n", fmt.Sprint(l.Ranks()), prog}, args...)...)
}

// ran returns the bcast algorithm that an error stack names. It also returns the stack.
func ran(t *testing.T, env []string, p coll.Point, prog string) (string, string) {
	t.Helper()
	out := launch(t, env, p.Layout(), prog, "name", fmt.Sprint(p.MsgBytes))
	name := regexp.MustCompile(`stack .*?(MPIR_Bcast_intra_[a-z_]+)\(`).FindStringSubmatch(out)
	if name == nil {
		t.Fatalf("%v: no algorithm in the error stack:\n%s", p, out)
	}
	return name[1], out
}

// layered returns rows whose choices differ. Rows of 2·i and 2·i+1 have the same choice, because one rank of the test
// program receives only three quarters of a message.
func layered(cat *mpi.Catalogue) []selection.Row {
	const c = coll.Bcast
	var rows []selection.Row
	for i, l := range []coll.Layout{
		{Nodes: 3, PPN: 1}, {Nodes: 5, PPN: 1}, {Nodes: 2, PPN: 3}, {Nodes: 3, PPN: 2}, {Nodes: 1, PPN: 8}, {Nodes: 2, PPN: 4}, {Nodes: 4, PPN: 2}} {
		for k, size := range []int64{256, 4096, 16384} {
			p := coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: size}
			r := selection.Row{Point: p, Options: []selection.Option{{Algorithm: coll.Default, Seconds: 5}}}
			if (i+k)%5 == 4 {
				r.Options[0].Seconds = 1 // here the library's own choice is best
			}
			for n, e := range cat.Entries(c) {
				a := coll.Algorithm{Name: e.Name}
				if !composes(e) && len(e.Params) == 0 && cat.Check(coll.Candidate{Point: p, Algorithm: a}) == nil {
					r.Options = append(r.Options, selection.Option{Algorithm: a, Seconds: 1.5 + float64((n+i+k)%4)/4})
				}
			}
			less := r
			less.Point.MsgBytes = size / 4 * 3
			rows = append(rows, less, r)
		}
	}
	return rows
}

// TestLiveSelection checks that the library runs the algorithm that the tree selects. It provokes errors, whose
// stacks name the algorithm.
func TestLiveSelection(t *testing.T) {
	prog := testutil.BuildProgram(t, toolchain, testutil.CollectivesProgram)
	b := installed(t, prog)
	rows := layered(b.cat)
	sel, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{})
	tree := testutil.Must(parseTree(x.Loaded(coll.Layout{}, flatFile)))(t)
	env := mpilibrarytest.Sourced(t, b, sel)
	seen := map[string]bool{}
	for i, r := range rows {
		want := testutil.Must(reach(tree, signatureAt(r.Point)))(t)
		if i%2 == 0 || seen[want.Name] && !testutil.AllCases() { // two rows have the same choice
			continue
		}
		got, out := ran(t, env, r.Point, prog)
		if got != want.Name {
			t.Errorf("%v: %s ran, want %s:\n%s", r.Point, got, want.Name, out)
		}
		chosen, _ := sel.Select(r.Point)
		t.Logf("%v: %s, chosen %v", r.Point, got, chosen)
		seen[got] = true
	}
	if len(seen) < 4 {
		t.Errorf("%d different algorithms ran, want all 4 of bcast: %v", len(seen), seen)
	}
}

// TestLiveDevice runs bcast with and without the device's selection file. Without this file the device must split
// the call. With it, one algorithm must run on the whole communicator. The error stack of the installed library
// shows both cases.
func TestLiveDevice(t *testing.T) {
	prog := testutil.BuildProgram(t, toolchain, testutil.CollectivesProgram)
	sel := selection.Selection{Trees: []*selection.Tree{always(coll.Bcast, "scatter_ring_allgather")}}
	env := mpilibrarytest.Sourced(t, installed(t, prog), sel)
	env = slices.DeleteFunc(env, func(v string) bool { return !strings.Contains(v, "_JSON_FILE=") }) // without what a site may have set
	slices.Sort(env)
	if len(env) != 2 || !strings.Contains(env[0], "_CH4_") {
		t.Fatalf("settings %v, want a file for the device and one for the algorithms", env)
	}
	p := coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 2, MsgBytes: 4096}
	tests := []struct {
		name, composition, algorithm string
		env                          []string
	}{
		{"no file", "MPID_Bcast", "MPIR_Bcast_intra_binomial", nil}, // alpha leaves no trace of itself
		{"algorithms alone", "MPID_Bcast", "MPIR_Bcast_intra_binomial", env[1:]},
		{"both files", "MPIDI_Bcast_intra_composition_gamma", "MPIR_Bcast_intra_scatter_ring_allgather", env},
		{"device off", "", "MPIR_Bcast_intra_scatter_ring_allgather", []string{env[1], "MPIR_CVAR_DEVICE_COLLECTIVES=none"}},
	}
	composition := regexp.MustCompile(`MPIDI_Bcast_intra_composition_[a-z]+|MPID_Bcast`)
	for _, tc := range tests {
		algorithm, out := ran(t, tc.env, p, prog)
		if got := last(composition.FindAllString(firstStack(out), -1)); got != tc.composition || algorithm != tc.algorithm {
			t.Errorf("%s: %s of %s ran, want %s of %s:\n%s", tc.name, algorithm, got, tc.algorithm, tc.composition, out)
		}
	}
}

// firstStack returns the error stack of one rank. The lines of different ranks come in any order.
func firstStack(out string) string {
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "stack ") {
			return line
		}
	}
	return ""
}

func last(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[len(names)-1]
}

// TestLiveStock checks that the library without selection files is correct for every call, except for known
// faults. It also fails if a call with a known fault is correct. Such a fault can be removed from the program's
// list of faults, and perhaps from faults.csv.
func TestLiveStock(t *testing.T) {
	testutil.NeedAllCases(t)
	prog := testutil.BuildProgram(t, toolchain, testutil.CollectivesProgram)
	l := coll.Layout{Nodes: 2, PPN: 2}
	testutil.CheckAllRight(t, launch(t, nil, l, prog, "check", "600"))
	for _, c := range []coll.Collective{coll.Reduce, coll.ReduceScatter, coll.ReduceScatterBlock} {
		out := launch(t, nil, l, prog, "fault", "600", string(c))
		if !strings.Contains(out, "try "+string(c)+" ") || testutil.AllRight(out) {
			t.Errorf("%s: want a call that is wrong:\n%s", c, out)
		}
	}
}

// TestLiveEveryAlgorithm selects each algorithm of a collective in turn. A call that is correct without
// selection files must be correct with them, too.
func TestLiveEveryAlgorithm(t *testing.T) {
	testutil.NeedAllCases(t)
	prog := testutil.BuildProgram(t, toolchain, testutil.CollectivesProgram)
	b := installed(t, prog)
	l := coll.Layout{Nodes: 2, PPN: 2}
	for turn := 0; ; turn++ {
		rows, collectives := mpilibrarytest.Turn(b.cat, l, turn, 16, 64)
		if len(rows) == 0 {
			break
		}
		sel, _ := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{})
		args := append([]string{"check", "16"}, collectives...)
		testutil.CheckAllRight(t, launch(t, mpilibrarytest.Sourced(t, b, sel), l, prog, args...))
	}
}

// TestLiveResults checks random trees of every collective on several numbers of ranks. A call that is
// correct without selection files must be correct with them, too.
func TestLiveResults(t *testing.T) {
	prog := testutil.BuildProgram(t, toolchain, testutil.CollectivesProgram)
	b := installed(t, prog)
	tests := []struct {
		layout coll.Layout
		count  string
	}{
		{coll.Layout{Nodes: 1, PPN: 3}, "600"}, {coll.Layout{Nodes: 3, PPN: 1}, "600"},
		{coll.Layout{Nodes: 2, PPN: 3}, "16"}, {coll.Layout{Nodes: 2, PPN: 1}, "0"},
	}
	if !testutil.AllCases() {
		tests = tests[:1]
	}
	for i, tc := range tests {
		sel, _ := mpilibrarytest.FitAndExport(t, b, grids(b.cat, uint64(i)), mpi.MergeOptions{MaxLoss: 0.1})
		testutil.CheckAllRight(t, launch(t, mpilibrarytest.Sourced(t, b, sel), tc.layout, prog, "check", tc.count))
	}
}

// sent returns what each rank sent in calls with the given sizes, by size. The name of a call is iallreduce or, for the
// persistent one, allreduce_init.
func sent(t *testing.T, env []string, prog, call string, sizes ...int64) map[int64]string {
	t.Helper()
	args := []string{call}
	for _, size := range sizes {
		args = append(args, fmt.Sprint(size))
	}
	lines := strings.Split(strings.TrimSpace(launch(t, env, coll.Layout{Nodes: 1, PPN: 4}, prog, args...)), "\n")
	slices.Sort(lines)
	out := map[int64]string{}
	for _, size := range sizes {
		for _, line := range lines {
			if strings.HasPrefix(line, fmt.Sprintf("%d bytes ", size)) {
				out[size] += line + "\n"
			}
		}
	}
	return out
}

// TestLiveNonblocking checks that files select the algorithms of nonblocking collectives, also for persistent ones. No
// error names them, so the test compares the numbers of messages with those of the algorithm that a control variable forces.
func TestLiveNonblocking(t *testing.T) {
	testutil.NeedAllCases(t)
	prog := testutil.BuildProgram(t, toolchain, testutil.SendsProgram)
	b := installed(t, prog)
	for _, c := range coll.Collectives() {
		if !c.Nonblocking() {
			continue
		}
		var rows []selection.Row
		var sizes []int64
		forced, names := map[int64]string{}, []string{}
		for _, alg := range b.cat.Algorithms(c) {
			p := coll.Point{Collective: c, Nodes: 1, PPN: 4, MsgBytes: 64 << len(names)}
			cand := coll.Candidate{Point: p, Algorithm: alg}
			if slices.Contains(names, alg.Name) || b.cat.Check(cand) != nil {
				continue
			}
			names, sizes = append(names, alg.Name), append(sizes, p.MsgBytes)
			rows = append(rows, selection.Row{Point: p, Options: []selection.Option{{Algorithm: alg, Seconds: 1}, {Algorithm: coll.Default, Seconds: 2}}})
			forced[p.MsgBytes] = sent(t, mpilibrarytest.Vars(mpilibrarytest.Force(t, Library, b.cat, cand).Env), prog, string(c), p.MsgBytes)[p.MsgBytes]
		}
		sel, _ := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{})
		env := mpilibrarytest.Sourced(t, b, sel)
		got := sent(t, env, prog, string(c), sizes...)
		if d := cmp.Diff(forced, got); d != "" || strings.Contains(fmt.Sprint(got), "wrong") {
			t.Errorf("%s %v (-forced +selected by the file):\n%s", c, names, d)
		}
		if d := cmp.Diff(forced, sent(t, env, prog, string(c)[1:]+"_init", sizes...)); d != "" {
			t.Errorf("persistent %s %v (-forced nonblocking +selected by the file):\n%s", c, names, d)
		}
		if shipped := sent(t, nil, prog, string(c), sizes...); cmp.Equal(shipped, got) {
			t.Errorf("%s %v: the same messages as without files:\n%v", c, names, got)
		}
	}
}
