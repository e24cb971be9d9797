package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner/runners"
	"tutti/benchrunner/slurm"
	"tutti/coll"
	"tutti/csource"
	"tutti/internal/config"
)

// ready creates a fake machine on which a campaign with MPICH and tutti's benchmark program can run. It
// returns the machine and the needs of the campaign.
func ready(t *testing.T, environ ...string) (*machine, *config.Campaign) {
	m := newMachine(t, environ...)
	m.cluster()
	m.compiler("mpicc.mpich", mpichMark)
	m.launcher("mpiexec.hydra", hydra, `case "$*" in */bench|*"/bench "*) `+measured+";; *) "+goodWorld+";; esac")
	m.put("bench", "echo tutti-native 1 "+csource.Bench.Checksum())
	n := &config.Campaign{
		Grid:      config.Grid{Grid: coll.Grid{Nodes: []int{2, 4, 1}, PPN: []int{4, 1}}},
		Runner:    config.Runner{Kind: "slurm", JobTime: time.Hour},
		Benchmark: config.Benchmark{Program: "native"},
		Sections:  runners.Sections{Slurm: slurm.Options{Partition: "main", Account: "me", QOS: "low", Directives: []string{"--mem=0"}}},
		Libraries: []config.Library{{Name: "mpich", Version: "4.0.2", Benchmark: filepath.Join(m.bin, "bench"), Launcher: "hydra"}},
	}
	m.x.options.Campaign = n
	return m, n
}

func TestNeedsAreMet(t *testing.T) {
	m, _ := ready(t)
	r := m.examine()
	for _, name := range []string{"mpich 4.0.2", "mpich launcher", "mpich benchmark", "partition", "largest job"} {
		if c := m.find(r, Campaign, name); c.State != OK {
			t.Errorf("%+v, want ok", c)
		}
	}
	if !r.Ready() || len(r.MissingParts) > 0 {
		t.Errorf("ready %v, lacks %v", r.Ready(), r.MissingParts)
	}
}

// asRoot installs Open MPI, whose launcher refuses to run as root by default, on the machine.
func asRoot(m *machine) config.Library {
	m.compiler("mpicc.openmpi", openMark)
	m.launcher("mpirun.openmpi", orte, goodWorld)
	return config.Library{Name: "openmpi", Version: "4.1.4", Benchmark: filepath.Join(m.bin, "bench"), Launcher: "mpirun"}
}

func TestNeeds(t *testing.T) {
	tests := []struct {
		name    string
		environ []string
		change  func(*machine, *config.Campaign)
		check   string
		state   State
		details string
		fix     string
	}{
		{"no such library", nil, func(_ *machine, n *config.Campaign) { n.Libraries[0].Name = "openmpi" }, "openmpi 4.0.2", Missing, "no such library", "--mpi PREFIX"},
		{"in a module", nil, func(_ *machine, n *config.Campaign) {
			n.Libraries[0].Name, n.Runner.Modules = "openmpi", []string{"ompi/4"}
		}, "openmpi 4.0.2", Missing, "no such library", "module load ompi/4"},
		{"no such file", nil, func(_ *machine, n *config.Campaign) { n.Libraries[0].Path = "/none/libmpich.so" }, "mpich 4.0.2", Missing, "no file /none/libmpich.so", "path"},
		{"another version", nil, func(_ *machine, n *config.Campaign) { n.Libraries[0].Version = "4.3.2" }, "mpich 4.3.2", Missing, "here is MPICH 4.0.2", "4.0.2 in the campaign file"},
		{"no such launcher", nil, func(_ *machine, n *config.Campaign) { n.Libraries[0].LauncherPath = "/none/mpiexec" }, "mpich launcher", Warning, "/none/mpiexec is not a program", "nodes"},
		{"Slurm elsewhere", nil, func(m *machine, n *config.Campaign) {
			n.Slurm.Bin = filepath.Join(m.bin, "elsewhere")
			m.put("elsewhere/scontrol", "echo 'Slurmctld(primary) at elsewhere is DOWN'; exit 1")
		}, "Slurm", Missing, "does not answer", "see Slurm above"},
		{"another PMI", nil, func(_ *machine, n *config.Campaign) { n.Libraries[0].Launcher, n.Libraries[0].PMI = "srun", "pmix" }, "mpich launcher", Missing, "no srun was found", "another launcher"},
		{"srun", nil, func(_ *machine, n *config.Campaign) { n.Libraries[0].Launcher, n.Libraries[0].PMI = "srun", "pmi2" }, "mpich launcher", OK, "srun --mpi=pmi2: ok", ""},
		{"PALS", nil, func(_ *machine, n *config.Campaign) { n.Libraries[0].Launcher = "pals" }, "mpich launcher", Found, "pals: not tried", ""},
		{"the default launcher", nil, func(_ *machine, n *config.Campaign) { n.Libraries[0].Launcher, n.Libraries[0].PMI = "", "pmi2" }, "mpich launcher", OK, "srun --mpi=pmi2: ok", ""},
		{"mpirun of another library", nil, func(_ *machine, n *config.Campaign) { n.Libraries[0].Launcher = "mpirun" }, "mpich launcher", Missing, "no mpirun was found", "another launcher"},
		{"no benchmark", nil, func(_ *machine, n *config.Campaign) { n.Libraries[0].Benchmark = "/none/bench" }, "mpich benchmark", Missing, "no file /none/bench", "tutti build benchmark --mpicc mpicc.mpich -o /none/bench"},
		{"benchmark of another kind", nil, func(_ *machine, n *config.Campaign) { n.Benchmark.Program = "osu" }, "mpich benchmark", Missing, "no osu program", "fix benchmark"},
		{"stale benchmark", nil, func(m *machine, _ *config.Campaign) { m.put("bench", "echo tutti-native 1 00") }, "mpich benchmark", Missing, "does not measure", "see Benchmark programs"},
		{"no such partition", nil, func(_ *machine, n *config.Campaign) { n.Slurm.Partition = "nosuch" }, "partition", Missing, "no partition nosuch", "main, small, excl"},
		{"too many nodes", nil, func(_ *machine, n *config.Campaign) { n.Grid.Nodes = []int{5} }, "partition", Missing, "jobs of 5 nodes", "smaller grid"},
		{"more nodes than a job may have", nil, func(_ *machine, n *config.Campaign) { n.Slurm.Partition, n.Grid.Nodes = "small", []int{3} }, "partition", Missing, "jobs of 3 nodes", "smaller grid"},
		{"too many processes", nil, func(_ *machine, n *config.Campaign) { n.Grid.PPN = []int{5} }, "partition", Missing, "5 processes on a node", "smaller grid"},
		{"the default partition", nil, func(_ *machine, n *config.Campaign) { n.Slurm.Partition = "" }, "partition", OK, "main: 4 nodes", ""},
		{"refused", nil, func(m *machine, _ *config.Campaign) {
			m.put("sbatch", `case "$*" in *--nodes=4*--time=60*--partition=main*--account=me*--qos=low*--mem=0*) echo 'error: Invalid qos' >&2; exit 1;; esac`)
		}, "largest job", Missing, "Invalid qos", "QOS"},
		{"Slurm is down", nil, func(m *machine, _ *config.Campaign) {
			m.put("scontrol", "echo 'Slurmctld(primary) at head is DOWN'; exit 1")
		}, "Slurm", Missing, "does not answer", "see Slurm above"},
		{"no job", nil, func(_ *machine, n *config.Campaign) { n.Runner.Kind = "allocation" }, "allocation", Missing, "not inside", "salloc --nodes=4"},
		{"small job", []string{"SLURM_JOB_ID=7", "SLURM_JOB_NUM_NODES=2"}, func(_ *machine, n *config.Campaign) { n.Runner.Kind = "allocation" }, "allocation", Missing, "2 nodes, the grid 4", "smaller grid"},
		{"large job", []string{"SLURM_JOB_ID=7", "SLURM_JOB_NUM_NODES=8"}, func(_ *machine, n *config.Campaign) { n.Runner.Kind = "allocation" }, "allocation", OK, "8 nodes", ""},
		{"more processes than cores", nil, func(_ *machine, n *config.Campaign) { n.Runner.Kind, n.Grid.PPN = "local", []int{1 << 20} }, "processors", Warning, "1048576 processes", "fewer"},
		{"Open MPI as root", nil, func(m *machine, n *config.Campaign) { n.Libraries[0] = asRoot(m) }, "openmpi as root", Warning, "refuses to start programs for root", "env: [OMPI_ALLOW_RUN_AS_ROOT=1, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1]"},
		{"below Open MPI as root", nil, func(m *machine, n *config.Campaign) {
			n.Libraries[0] = asRoot(m)
			n.Libraries[0].Name, n.Libraries[0].Version = "ucc", "1.9"
		}, "ucc as root", Warning, "refuses to start programs for root", "env: [OMPI_ALLOW_RUN_AS_ROOT=1, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1]"},
		{"half allowed", nil, func(m *machine, n *config.Campaign) {
			n.Libraries[0] = asRoot(m)
			n.Libraries[0].Env = []string{"OMPI_ALLOW_RUN_AS_ROOT=1"}
		}, "openmpi as root", Warning, "refuses to start programs for root", "env: [OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1]"},
		{"one process", nil, func(_ *machine, n *config.Campaign) { n.Runner.Kind, n.Grid.PPN = "local", []int{1} }, "processors", OK, "1 process on a node", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if strings.HasSuffix(tc.check, " as root") && os.Geteuid() != 0 {
				t.Skip("needs root")
			}
			m, n := ready(t, tc.environ...)
			tc.change(m, n)
			r := m.examine()
			wantCheck(t, m.find(r, Campaign, tc.check), tc.state, tc.details, tc.fix)
			if !strings.HasSuffix(tc.check, " as root") && r.Ready() == (tc.state == Missing) {
				t.Errorf("ready %v with a check that is %s", r.Ready(), tc.state)
			}
		})
	}
}

// TestBelow checks that a library below Open MPI needs an Open MPI of any release.
func TestBelow(t *testing.T) {
	m, n := ready(t)
	n.Libraries[0] = asRoot(m)
	n.Libraries[0].Name, n.Libraries[0].Version = "ucc", "1.9"
	wantCheck(t, m.find(m.examine(), Campaign, "ucc 1.9"), OK, "Open MPI 4.1.4", "")
}

// TestPrepare checks that the commands that the doctor runs get the environment of the campaign: modules,
// set-up and variables. No argument of a process has a line of the set-up.
func TestPrepare(t *testing.T) {
	m, n := ready(t, "SITE=before")
	n.Runner.Env = []string{"OF_RUNNER=1"}
	n.Libraries[0].Env = []string{"OF_LIBRARY=1"}
	n.Runner.Setup = []string{"echo noise", "export SITE=after; export 'LINES=a", "b'", `case $(</proc/$$/cmdline) in *SITE*) exit 1 ;; esac`}
	m.launcher("mpiexec.hydra", hydra, `case $OF_RUNNER$OF_LIBRARY$SITE$LINES in "11aftera
b") ;; *) echo "sees $OF_RUNNER$OF_LIBRARY$SITE" >&2; exit 1;; esac
`+goodWorld)
	r := m.examine()
	wantCheck(t, m.find(r, Campaign, "mpich launcher"), OK, "ok", "")
	wantCheck(t, m.find(r, Campaign, "set-up"), OK, "work here", "")
	if got := m.x.envFor(filepath.Join(m.bin, "bench")); !slices.Equal(got, n.Libraries[0].Env) {
		t.Errorf("the benchmark is looked into with %q", got)
	}
}

func TestPrepareFails(t *testing.T) {
	for text, want := range map[string]string{
		"no_such_command; exit 3": "no_such_command",
		"/bin/sleep 600":          "do not end here within 4s",
	} {
		for kind, state := range map[string]State{"slurm": Warning, "local": Missing} { // jobs of local run here
			m, n := ready(t)
			n.Runner.Kind, n.Runner.Setup = kind, []string{text}
			wantCheck(t, m.find(m.examine(), Campaign, "set-up"), state, want, "by hand")
		}
	}
}
