package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/benchrunner/local"
	"tutti/coll"
	"tutti/internal/testutil"
)

func hostsFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hosts")
	testutil.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// TestHosts checks the files of nodes of PBS, LSF, Flux, MPICH and Open MPI.
func TestHosts(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for _, tc := range []struct {
		name, text string
		nodes      []string
		ppn        int
	}{
		{"PBS", "n2.site\nn2.site\nn1.site\nn1.site\n", []string{"n2.site", "n1.site"}, 2},
		{"LSF, uneven", "a\na\na\nb\nb\n", []string{"a", "b"}, 2},
		{"Flux", "corona[7-9,11]\n", []string{"corona7", "corona8", "corona9", "corona11"}, 0},
		{"MPICH", "# nodes\nn1:8\nn2:8\n\n", []string{"n1", "n2"}, 0},
		{"Open MPI", "n1 slots=8 # first\nn2 slots=8\r\n", []string{"n1", "n2"}, 0},
		{"MPICH, with settings", "n[01-02,07]-ib:8 binding=user:0 ifname = ib0\n10.0.0.1\n", []string{"n01-ib", "n02-ib", "n07-ib", "10.0.0.1"}, 0},
		{"domains, case, numbers", "N1.a\nN1.b\n17\nn_1\nx3000c0s[9-10]b0n[0-1]\n", []string{"N1.a", "N1.b", "17", "n_1", "x3000c0s9b0n0", "x3000c0s9b0n1", "x3000c0s10b0n0", "x3000c0s10b0n1"}, 0},
		{"one node in two cases", "N1\nn1\n", []string{"N1"}, 2},
		{"no node", "# none\n", nil, 0},
		{"several nodes in a line", "n1\nn2 n3 n4\n", nil, 0},
		{"rank count without a sign", "n1 8\n", nil, 0},
		{"address of IPv6", "fe80::1\n", nil, 0},
		{"address of IPv6 in brackets", "[fe80::1]:8\n", nil, 0},
		{"user", "me@n1\n", nil, 0},
		{"option", "-n1\n", nil, 0},
		{"long", "n" + strings.Repeat("1", 253) + "\n", nil, 0},
		{"not a name", "n1\nn2;reboot\n", nil, 0},
	} {
		path := hostsFile(t, tc.text)
		s, err := local.NewHosts([]string{"PATH=" + os.Getenv("PATH")}, "7", path)
		if tc.nodes == nil {
			golden(tc.name, errors.New(strings.ReplaceAll(err.Error(), path, "hosts")))
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		c := testutil.Must(s.Capacity(ctx))(t)
		if want := (benchrunner.Capacity{Nodes: len(tc.nodes), PPN: tc.ppn, Jobs: 1, SeparateNodes: true, Attached: true}); c != want {
			t.Errorf("%s: capacity %+v, want %+v", tc.name, c, want)
		}
		sub := submission(t, `cat "$TUTTI_NODEFILE" >seen; [ "$HYDRA_HOST_FILE" = "$TUTTI_NODEFILE" ]`)
		if st := over(t, s, submit(t, s, sub), sub); st.Outcome != coll.JobCompleted {
			t.Errorf("%s: status %+v", tc.name, st)
		}
		seen := string(testutil.Must(os.ReadFile(filepath.Join(sub.Dir, "seen")))(t))
		want := ""
		for _, n := range tc.nodes {
			want += n + "\n"
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("%s: nodes of the job (-want +got):\n%s", tc.name, diff)
		}
	}
	if _, err := local.NewHosts(nil, "7", "/none"); err == nil {
		t.Error("a missing file is accepted")
	}
}

// TestAllocationOfManagers checks that jobs of PBS and LSF are recognised, and that Slurm comes first.
func TestAllocationOfManagers(t *testing.T) {
	file := hostsFile(t, "n1\nn1\nn2\nn2\n")
	for _, environ := range [][]string{
		{"PBS_JOBID=5.pbs", "PBS_NODEFILE=" + file},
		{"LSB_JOBID=5", "LSB_DJOB_HOSTFILE=" + file},
		{"SLURM_JOB_ID=5", "SLURM_JOB_NUM_NODES=2", "SLURM_JOB_CPUS_PER_NODE=2(x2)", "SLURM_JOB_END_TIME=2000000000", "PBS_NODEFILE=/none"},
	} {
		s := testutil.Must(local.NewAllocation(environ))(t)
		if c := testutil.Must(s.Capacity(ctx))(t); c.Nodes != 2 || !c.SeparateNodes || !c.Attached {
			t.Errorf("%v: capacity %+v", environ, c)
		}
		if s.Name() != "allocation" {
			t.Errorf("%v: scheduler %s", environ, s.Name())
		}
	}
}
