package settings

import (
	"os"
	"path/filepath"
	"regexp"
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

// TestLiveLibnbc checks that Open MPI's coll/libnbc runs what the exported variables select, in nonblocking and in
// persistent calls. Open MPI's monitoring tells which rank sends messages to which.
func TestLiveLibnbc(t *testing.T) {
	testutil.NeedAllCases(t)
	prog := testutil.BuildProgram(t, testutil.OpenMPI, testutil.SendsProgram)
	const all, neighbours = "0>1 0>2 0>3 1>0 1>2 1>3 2>0 2>1 2>3 3>0 3>1 3>2", "0>1 0>2 1>0 1>3 2>0 2>3 3>1 3>2"
	want := map[string]string{ // pairs of ranks, in a call among four
		"iallgather linear": all, "iallgather recursive_doubling": neighbours,
		"iallreduce binomial": "0>1 0>2 1>0 1>3 2>0 3>2", "iallreduce rabenseifner": neighbours, "iallreduce recursive_doubling": neighbours, "iallreduce ring": "0>1 1>2 2>3 3>0",
		"ibcast binomial": "0>1 0>2 1>3", "ibcast chain": "0>1 1>2 2>3", "ibcast linear": "0>1 0>2 0>3",
		"ibcast knomial(radix=2)": "0>1 0>2 2>3", "ibcast knomial(radix=4)": "0>1 0>2 0>3", "ibcast knomial(radix=8)": "0>1 0>2 0>3",
		"ireduce binomial": "1>0 2>0 3>2", "ireduce chain": "1>0 2>1 3>2", "ireduce rabenseifner": neighbours,
	}
	lib := named(t, "libnbc")
	cat := mpilibrarytest.Release(t, lib, "4.1")
	got := map[string]string{}
	for _, c := range coll.Collectives() {
		for _, alg := range cat.Algorithms(c) {
			p := coll.Point{Collective: c, Nodes: 1, PPN: 4, MsgBytes: 4096}
			rows := []selection.Row{{Point: p, Options: []selection.Option{{Algorithm: alg, Seconds: 1}, {Algorithm: coll.Default, Seconds: 2}}}}
			_, x := mpilibrarytest.FitAndExport(t, build{lib, cat}, rows, mpi.MergeOptions{})
			dir := t.TempDir()
			testutil.NoError(t, x.Write(dir))
			env := mpilibrarytest.Source(t, filepath.Join(dir, x.Snippet), "SLURM_JOB_NUM_NODES=1", "SLURM_NTASKS_PER_NODE=4")
			nonblocking, persistent := exchanged(t, env, prog, string(c)), exchanged(t, env, prog, string(c)[1:]+"_init")
			got[string(c)+" "+alg.String()] = nonblocking
			if nonblocking != persistent {
				t.Errorf("%s %s: %s, persistent %s", c, alg, nonblocking, persistent)
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

var sentMessages = regexp.MustCompile(`(?m)^I\t(\d+)\t(\d+)\t\d+ bytes\t[1-9]`)

// exchanged returns pairs FROM>TO of the ranks that exchanged messages in a call of 4 KiB among four ranks.
func exchanged(t *testing.T, env []string, prog, call string) string {
	t.Helper()
	dir := t.TempDir()
	out := testutil.RunProgram(t, env, testutil.OpenMPI.Launcher, "-n", "4", "--mca", "pml_monitoring_enable", "2", "--mca", "pml_monitoring_enable_output", "3",
		"--mca", "pml_monitoring_filename", filepath.Join(dir, "sent"), prog, call, "4096")
	if strings.Contains(out, "wrong") {
		t.Errorf("%s %v:\n%s", call, env, out)
	}
	var pairs []string
	for _, file := range testutil.Must(filepath.Glob(filepath.Join(dir, "sent.*")))(t) {
		for _, m := range sentMessages.FindAllStringSubmatch(string(testutil.Must(os.ReadFile(file))(t)), -1) {
			pairs = append(pairs, m[1]+">"+m[2])
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, " ")
}
