package openmpi

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
)

// TestLiveNumbers compares two ways of forcing an algorithm: environment variables at the start, and control
// variables in the running program. Both must have the same effect.
func TestLiveNumbers(t *testing.T) {
	prog := testutil.BuildProgram(t, toolchain, testutil.ForcedProgram)
	cat := release(t, "4.1.4")
	for _, c := range mpilibrarytest.Everything(t, cat, coll.Layout{Nodes: 2, PPN: 1}) {
		if c.Algorithm.IsDefault() {
			continue
		}
		f := mpilibrarytest.Force(t, Library, cat, c)
		e := testutil.Must(cat.Lookup(c.Collective, c.Algorithm))(t)
		if e.ID%4 != 2 || e.ID > 2 && !testutil.AllCases() { // some are enough: each start takes half a second
			continue
		}
		args := []string{prog, "read"}
		for _, s := range f.Switches {
			args = append(args, s.Name)
		}
		var got []string
		for line := range strings.Lines(launch(t, mpilibrarytest.Vars(f.Env), 1, args...)) {
			if strings.HasPrefix(line, "coll_tuned_") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		if d := cmp.Diff(mpilibrarytest.Switches(f.Switches), got); d != "" {
			t.Errorf("%v (-switches +library):\n%s", c, d)
		}
	}
}

// TestLiveSwitch checks that each group of control variables makes the library call its algorithm on a new
// communicator within one run of the program.
func TestLiveSwitch(t *testing.T) {
	prog := testutil.BuildProgram(t, toolchain, testutil.ForcedProgram)
	cat := release(t, "4.1.4")
	tests := []struct {
		collective coll.Collective
		names      []string // in the order of the calls
		functions  []string
	}{
		{coll.Bcast, []string{"knomial", "basic_linear", "chain(faninout=2,segsize=1024)", "binomial(segsize=1024)", "scatter_allgather_ring", "pipeline(segsize=1024)", "split_binary_tree", "binary_tree", "scatter_allgather"},
			[]string{"knomial", "basic_linear", "chain", "binomial", "scatter_allgather_ring", "pipeline", "split_bintree", "bintree", "scatter_allgather"}},
		{coll.Allreduce, []string{"rabenseifner", "segmented_ring(segsize=1024)", "recursive_doubling", "nonoverlapping", "ring"},
			[]string{"redscat_allgather", "ring_segmented", "recursivedoubling", "nonoverlapping", "ring"}},
		{coll.Allgather, []string{"neighbor", "ring", "bruck", "recursive_doubling"}, []string{"neighborexchange", "ring", "bruck", "recursivedoubling"}},
	}
	for _, tc := range tests {
		t.Run(string(tc.collective), func(t *testing.T) {
			var candidates []coll.Candidate
			for _, name := range tc.names {
				candidates = append(candidates, mpilibrarytest.Candidate(t, tc.collective, coll.Layout{Nodes: 1, PPN: 4}, 4096, name))
			}
			args := append([]string{prog, "call", string(tc.collective), "4096"}, mpilibrarytest.Groups(t, Library, cat, candidates)...)
			out, called := traced(t, mpilibrarytest.Vars(mpilibrarytest.Force(t, Library, cat, candidates[0]).Base), candidates[0].Point, args...)
			if got := strings.Count(out, "called "+string(tc.collective)); got != len(tc.names) {
				t.Errorf("%d of %d calls:\n%s", got, len(tc.names), out)
			}
			if d := cmp.Diff(tc.functions, called); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
