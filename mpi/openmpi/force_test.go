package openmpi

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
)

// forcing returns the variables that every measurement needs, followed by the given ones.
func forcing(more ...string) []string {
	out := []string{mcaPrefix + "coll_tuned_use_dynamic_rules=1", mcaPrefix + "coll_hcoll_enable=0", mcaPrefix + "coll_ucc_enable=0"}
	for _, component := range []string{"acoll", "adapt", "han", "sm", "xhc"} {
		out = append(out, mcaPrefix+"coll_"+component+"_priority=0")
	}
	return append(out, more...)
}

func TestForce(t *testing.T) {
	mpilibrarytest.CheckForced(t, Library, []mpilibrarytest.Forced{
		{
			Name: "number", Release: "4.1.4", Collective: coll.Allgather, Algorithm: "ring",
			Env:      forcing(mcaPrefix + "coll_tuned_allgather_algorithm=4"),
			Base:     forcing(),
			Switches: []string{"coll_tuned_allgather_algorithm=4"},
			NewComm:  true,
		},
		{
			Name: "parameters", Release: "5.0.9", Collective: coll.Bcast, Algorithm: "chain(faninout=2,segsize=8192)",
			Env:      forcing(mcaPrefix+"coll_tuned_bcast_algorithm=2", mcaPrefix+"coll_tuned_bcast_algorithm_segmentsize=8192", mcaPrefix+"coll_tuned_bcast_algorithm_chain_fanout=2"),
			Base:     forcing(),
			Switches: []string{"coll_tuned_bcast_algorithm=2", "coll_tuned_bcast_algorithm_segmentsize=8192", "coll_tuned_bcast_algorithm_chain_fanout=2"},
			NewComm:  true,
		},
		{
			Name: "parameters not named are 0", Release: "4.1.4", Collective: coll.Reduce, Algorithm: "linear",
			Env:      forcing(mcaPrefix+"coll_tuned_reduce_algorithm=1", mcaPrefix+"coll_tuned_reduce_algorithm_segmentsize=0", mcaPrefix+"coll_tuned_reduce_algorithm_chain_fanout=0"),
			Base:     forcing(),
			Switches: []string{"coll_tuned_reduce_algorithm=1", "coll_tuned_reduce_algorithm_segmentsize=0", "coll_tuned_reduce_algorithm_chain_fanout=0"},
			NewComm:  true,
		},
		{
			Name: "radix of an allgather", Release: "6.0.x", Collective: coll.Allgather, Algorithm: "bruck-k-fanout(faninout=8)",
			Env:      forcing(mcaPrefix+"coll_tuned_allgather_algorithm=2", mcaPrefix+"coll_tuned_allgather_algorithm_tree_fanout=8"),
			Base:     forcing(),
			Switches: []string{"coll_tuned_allgather_algorithm=2", "coll_tuned_allgather_algorithm_tree_fanout=8"},
			NewComm:  true,
		},
		{
			Name: "radix of a reduce", Release: "6.0.x", Collective: coll.Reduce, Algorithm: "knomial(faninout=4)",
			Env:      forcing(mcaPrefix+"coll_tuned_reduce_algorithm=8", mcaPrefix+"coll_tuned_reduce_algorithm_segmentsize=0", mcaPrefix+"coll_tuned_reduce_algorithm_chain_fanout=4", mcaPrefix+"coll_tuned_reduce_algorithm_max_requests=0"),
			Base:     forcing(),
			Switches: []string{"coll_tuned_reduce_algorithm=8", "coll_tuned_reduce_algorithm_segmentsize=0", "coll_tuned_reduce_algorithm_chain_fanout=4", "coll_tuned_reduce_algorithm_max_requests=0"},
			NewComm:  true,
		},
		{
			Name: "default", Release: "5.0.9", Collective: coll.Bcast, Algorithm: "library_default",
			NewComm: true,
		},
	})
}

func TestForceRefuses(t *testing.T) {
	mpilibrarytest.CheckRefused(t, Library, `
4.1.4 bcast 2x1 8 pipeline(segsize=8k) cannot parameter segsize=8k: want a whole number
4.1.4 bcast 2x1 8 pipeline(segsize=-1) cannot segsize=-1
`)
}

func TestObeyed(t *testing.T) {
	tests := []struct {
		release    string
		collective coll.Collective
		algorithm  string
		stacks     [][]string
		ran        bool
		ignored    bool
	}{
		{"4.1.4", coll.Bcast, "knomial", [][]string{{"ompi_coll_base_bcast_intra_knomial"}}, true, false},
		{"4.1.4", coll.Bcast, "knomial", [][]string{{"ompi_coll_base_bcast_intra_binomial"}}, false, true},
		{"4.1.4", coll.Bcast, "knomial", [][]string{{"coll/adapt"}}, false, true},
		{"4.1.4", coll.Bcast, "knomial", [][]string{{"MPI_Bcast"}}, false, false},
		{"6.0.x", coll.Allgather, "bruck-k-fanout(faninout=4)", [][]string{{"ompi_coll_base_allgather_intra_k_bruck"}}, true, false},
		{"6.0.x", coll.Allgather, "direct-messaging", [][]string{{"ompi_coll_base_allgather_direct_messaging"}}, true, false},
		{"6.0.x", coll.Reduce, "knomial(faninout=2)", [][]string{{"ompi_coll_base_reduce_intra_knomial"}}, true, false},
	}
	for _, tc := range tests {
		c := mpilibrarytest.Candidate(t, tc.collective, coll.Layout{Nodes: 1, PPN: 4}, 64, tc.algorithm)
		err := Library.CheckAlgorithm(release(t, tc.release), c, tc.stacks)
		if (err == nil) != tc.ran || errors.Is(err, mpi.ErrOtherAlgorithm) != tc.ignored {
			t.Errorf("%v, %v: %v, want ran %t, ignored %t", c, tc.stacks, err, tc.ran, tc.ignored)
		}
	}
}

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
		if e.ID%4 != 2 || !testutil.AllCases() && (e.ID > 2 || c.Collective.Nonblocking()) { // some are enough: each start takes half a second
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
