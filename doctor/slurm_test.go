package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

// cluster adds a working Slurm to a fake machine.
func (m *machine) cluster() {
	m.t.Helper()
	here, err := filepath.Abs("testdata")
	if err != nil {
		m.t.Fatal(err)
	}
	print := func(name string) string { return "/bin/cat " + filepath.Join(here, name) }
	m.put("scontrol", `case "$*" in
ping) echo 'Slurmctld(primary) at head is UP';;
*partition) `+print("scontrol-partition.txt")+`;;
esac`)
	m.put("sbatch", `case $1 in
--version) echo 'slurm-wlm 22.05.8';;
--test-only) echo 'sbatch: Job 1 to start at 2020-01-01T00:00:00 using 1 processors on nodes n1 in partition main' >&2;;
esac`)
	m.put("sinfo", `printf 'main|4|idle\nsmall|2|idle\nexcl|4|idle\n'`)
	m.put("srun", `case "$*" in --mpi=list) `+print("srun-mpi-list.txt")+`;; *) `+goodWorld+`;; esac`)
	m.put("sacct", "")
	m.put("squeue", "")
	m.put("scancel", "")
}

func TestSlurm(t *testing.T) {
	m := newMachine(t)
	m.cluster()
	m.compiler("mpicc.mpich", mpichMark)
	r := m.examine()
	wantCheck(t, m.find(r, Slurm, "Slurm"), OK, "22.05.8, controller on head answers", "")
	wantCheck(t, m.find(r, Slurm, "partitions"), OK, "3 of 3 are up", "")
	wantCheck(t, m.find(r, Slurm, "partitions"), OK, "small: 2 nodes, 2 idle, 4 CPUs each, limit 00:05:00, 2 nodes a job", "")
	wantCheck(t, m.find(r, Slurm, "accounting"), OK, "sacct answers", "")
	wantCheck(t, m.find(r, Slurm, "allocation"), Found, "outside of a job", "")
	wantCheck(t, m.find(r, Slurm, "submitting"), OK, "to start now", "")
	wantCheck(t, m.find(r, Launchers, "srun --mpi=pmi2"), OK, "two processes, one world", "")
}

// TestSlurmTroubles checks that faults of a cluster, such as commands that hang, appear in the report.
func TestSlurmTroubles(t *testing.T) {
	tests := []struct {
		name    string
		environ []string
		change  func(*machine)
		check   string
		state   State
		details string
		fix     string
	}{
		{"controller down", nil, func(m *machine) {
			m.put("scontrol", "echo 'Slurmctld(primary) at head is DOWN'; exit 1")
		}, "Slurm", Missing, "the controller on head is DOWN", "operators"},
		{"controller frozen", nil, func(m *machine) { m.put("scontrol", hang) }, "Slurm", Missing, "does not answer within 4s", "slurmctld"},
		{"no configuration", nil, func(m *machine) {
			m.put("scontrol", "echo 'scontrol: fatal: Could not establish a configuration source' >&2; exit 1")
		}, "Slurm", Missing, "configuration is missing", "SLURM_CONF"},
		{"munge down", nil, func(m *machine) {
			m.put("scontrol", "echo 'scontrol: error: If munged is up, restart with --num-threads=10' >&2; exit 1")
		}, "Slurm", Missing, "munged", "operators"},
		{"garbage", nil, func(m *machine) { m.put("scontrol", `printf '\377\000\001'`) }, "Slurm", Missing, "scontrol ping", "operators"},
		{"half installed", nil, func(m *machine) { mustRemove(m, "scancel") }, "commands", Missing, "not on the PATH: scancel", "slurm-client"},
		{"all drained", nil, func(m *machine) { m.put("sinfo", `printf 'main|4|drain\nsmall|2|drain\nexcl|4|down*\n'`) },
			"partitions", Missing, "0 of 3", "sinfo -R"},
		{"refuses jobs", nil, func(m *machine) {
			m.put("sbatch", "[ $1 = --version ] && exit; echo 'allocation failure: Invalid account or account/partition combination specified' >&2; exit 1")
		}, "submitting", Warning, "Invalid account", "account"},
		{"no accounting", nil, func(m *machine) {
			m.put("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1")
		}, "accounting", Found, "off", ""},
		{"database hangs", nil, func(m *machine) { m.put("sacct", hang) }, "accounting", Warning, "does not answer", "slurmdbd"},
		{"database down", nil, func(m *machine) {
			m.put("sacct", "echo 'sacct: error: slurm_persist_conn_open: Connection refused' >&2; exit 1")
		}, "accounting", Warning, "Connection refused", "slurmdbd"},
		{"inside a job", []string{"SLURM_JOB_ID=7", "SLURM_JOB_NUM_NODES=2", "SLURM_TASKS_PER_NODE=4(x2)"}, func(*machine) {},
			"allocation", OK, "inside job 7: 2 nodes, processes on them: 4(x2)", ""},
		{"inside a job of one node", []string{"SLURM_JOB_ID=7", "SLURM_JOB_NUM_NODES=1"}, func(*machine) {},
			"allocation", OK, "only collectives within a node", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, tc.environ...)
			m.cluster()
			tc.change(m)
			wantCheck(t, m.find(m.examine(), Slurm, tc.check), tc.state, tc.details, tc.fix)
		})
	}
}

func mustRemove(m *machine, name string) {
	if err := os.Remove(filepath.Join(m.bin, name)); err != nil {
		m.t.Fatal(err)
	}
}

// TestSrunPlugins checks a PMI plugin with which srun starts two MPI worlds of one rank each, instead of one
// world of two ranks. The doctor must try the next plugin, and the report must name the failed ones.
func TestSrunPlugins(t *testing.T) {
	const listing = "case \"$*\" in *--mpi=list*) printf 'MPI plugin types are...\\n\\tpmix\\n\\tnone\\n\\tpmi2\\n'; exit;; "
	tests := []struct {
		name, mark, srun, check string
		state                   State
		details, fix            string
	}{
		{"the second works", openMark, listing + "*--mpi=pmix*) " + oneRankWorlds + ";; *) " + goodWorld + ";; esac", "srun --mpi=pmi2", OK, "--mpi=pmix starts 2 worlds of one process", ""},
		{"none works", mpichMark, listing + "esac\n" + oneRankWorlds, "srun --mpi=pmix", Missing, "2 worlds of one process", "mpiexec.hydra"},
		{"no plugin", mpichMark, "echo none", "srun", Missing, "srun has none only", "launcher"},
		{"no node is free", mpichMark, listing + "esac\necho 'srun: error: Unable to allocate resources: Requested nodes are busy' >&2; exit 1", "srun --mpi=pmix", Warning, "Requested nodes are busy", "inside the job"},
		{"hidden folder", mpichMark, listing + "esac\necho 'slurmstepd: error: execve(): /x/probe: No such file or directory' >&2; exit 2", "srun --mpi=pmix", Warning, "No such file", "folder that the nodes see"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.cluster()
			m.compiler("mpicc", tc.mark)
			m.put("srun", tc.srun)
			wantCheck(t, m.find(m.examine(), Launchers, tc.check), tc.state, tc.details, tc.fix)
		})
	}
}

// TestSrunArgs checks the arguments of srun for two processes, which are those of a campaign. Outside of a job, srun
// must not wait for nodes.
func TestSrunArgs(t *testing.T) {
	m := newMachine(t)
	launcher := testutil.Must(benchrunner.NewLauncher(benchrunner.Srun, benchrunner.LauncherOptions{Path: "srun", MPI: "pmi2"}))(t)
	want := launcher.Args(coll.Layout{Nodes: 1, PPN: 2}, benchrunner.Command{}, "")
	m.x.slurm.job = "7"
	if got := m.x.launchers.srunArgs("srun", "pmi2"); !slices.Equal(got, want) {
		t.Errorf("in a job: %q, want %q", got, want)
	}
	m.x.slurm.job = ""
	if got := strings.Join(m.x.launchers.srunArgs("srun", "pmi2"), " "); !strings.Contains(got, "--immediate=10") {
		t.Errorf("outside of a job: %s", got)
	}
}

// TestSchedulers checks which schedulers the doctor suggests: "allocation" inside a Slurm job and "slurm"
// outside. Where srun is not necessary, it must also suggest "local".
func TestSchedulers(t *testing.T) {
	m := newMachine(t)
	m.compiler("mpicc", mpichMark)
	m.cluster()
	m.x.programs.found = []program{}
	r := m.examine()
	if r.Ready() {
		t.Errorf("ready without a program: %v", r.Sets)
	}
	for _, tc := range []struct {
		job       string
		slurmOnly bool
		want      string
	}{{"", true, "slurm"}, {"", false, "slurm local"}, {"7", true, "allocation"}, {"7", false, "allocation local"}} {
		m.x.slurm.job = tc.job
		if got := strings.Join(m.x.schedulers(trial{slurm: tc.slurmOnly}), " "); got != tc.want {
			t.Errorf("job %q, srun %v: %s, want %s", tc.job, tc.slurmOnly, got, tc.want)
		}
	}
}

// TestEverythingHangs checks that an examination ends even if all commands hang.
func TestEverythingHangs(t *testing.T) {
	m := newMachine(t)
	if !testutil.AllCases() {
		m.x.limits = limits{ask: time.Second, compile: time.Second, launch: time.Second, ping: time.Second}
	}
	m.cluster()
	for _, name := range []string{"mpicc", "mpicc.mpich", "mpiexec", "mpirun", "srun", "sacct", "sinfo", "osu_bcast", "IMB-MPI1", "mpibenchmark", "ompi_info"} {
		m.put(name, hang)
	}
	began := time.Now()
	if r := m.examine(); r.Ready() {
		t.Errorf("ready with %v", r.Sets)
	}
	t.Logf("took %v", time.Since(began))
}
