package assembly_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"testing"

	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
)

// fake returns a campaign that can run jobs with fake programs. The function `change` changes its
// configuration, unless it is nil.
func fake(t testing.TB, scheduler string, change func(*config.Campaign), set ...string) *assembly.Campaign {
	t.Helper()
	cfg := campaigntest.Load(t, campaigntest.Fake(t, t.TempDir(), scheduler), set...)
	if change != nil {
		change(cfg)
	}
	c := assemble(t, cfg)
	return c
}

// connected returns a campaign that can run jobs with fake programs, after a call of its method Connect.
func connected(t testing.TB, set ...string) *assembly.Campaign {
	t.Helper()
	c := fake(t, "local", nil, set...)
	testutil.NoError(t, c.Connect("k7x2m4qa", nil))
	return c
}

// commands returns a folder of fake Slurm commands. Each command appends its name to the file `log`.
func commands(t *testing.T) (dir, log string) {
	t.Helper()
	dir, log = t.TempDir(), filepath.Join(t.TempDir(), "log")
	for _, name := range []string{"sbatch", "squeue", "scancel", "sacct", "scontrol", "sinfo", "srun"} {
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho "+name+" >>"+log+"\nexit 1\n"), 0o777))
	}
	return dir, log
}

// TestConnect checks that one machine measures all collectives (problems) of a library. Connect must neither
// run a Slurm command nor create the campaign's folder.
func TestConnect(t *testing.T) {
	slurm, log := commands(t)
	for _, tc := range []struct {
		name, scheduler string
		set             []string
		environ         []string
	}{
		{name: "local", scheduler: "local"},
		{name: "allocation", scheduler: "local", set: []string{"runner.kind=allocation"}, environ: []string{"SLURM_JOB_ID=7", "SLURM_JOB_NUM_NODES=2"}},
		{name: "slurm", scheduler: "slurm", set: []string{"slurm.bin=" + slurm}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := fake(t, tc.scheduler, nil, tc.set...)
			testutil.NoError(t, c.Connect("k7x2m4qa", tc.environ))
			for _, p := range c.Problems {
				if _, ok := p.Runner.(*live.Machine); !ok || p.Runner != c.Problems[0].Runner {
					t.Errorf("%s is measured by %T %[2]v, want the machine of the library", p.Problem, p.Runner)
				}
			}
			if _, err := os.Stat(c.Config.Output); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder is there: %v", err)
			}
		})
	}
	if names, err := os.ReadFile(log); err == nil {
		t.Errorf("commands were run: %s", names)
	}
}

// TestConnectWithoutSlurm checks that Connect returns an error that names sbatch if this command is missing.
func TestConnectWithoutSlurm(t *testing.T) {
	c := fake(t, "slurm", nil, "slurm.bin="+t.TempDir())
	testutil.GoldenErrors(t)("no sbatch", c.Connect("k7x2m4qa", nil), benchrunner.ErrNoStart)
}

// TestConnectRecorded checks that Connect and Cancel do nothing for recorded data.
func TestConnectRecorded(t *testing.T) {
	c := campaigntest.New(t, campaigntest.Small(t, t.TempDir()))
	before := c.Problems[0].Runner
	if err := c.Connect("k7x2m4qa", nil); err != nil || c.Problems[0].Runner != before {
		t.Errorf("Connect = %v, another runner: %t", err, c.Problems[0].Runner != before)
	}
	if err := c.Cancel(t.Context(), []coll.Job{{Name: "a", State: coll.JobSubmitted}}); err != nil {
		t.Errorf("Cancel = %v", err)
	}
}

// TestConnectFaults checks that each wrong setting leads to an error that matches ErrInput and names the
// setting.
func TestConnectFaults(t *testing.T) {
	for _, tc := range []struct {
		name   string
		set    []string
		change func(*config.Campaign)
		want   string
	}{
		{"outside an allocation", []string{"runner.kind=allocation"}, nil, `SLURM_JOB_ID, PBS_NODEFILE and LSB_DJOB_HOSTFILE are not set: run tutti in a batch job`},
		{"argument of the layout", nil, func(c *config.Campaign) { c.Libraries[0].LauncherArgs = []string{"-np"} }, `^library openmpi: .*-np`},
		{"PMI of mpirun", nil, func(c *config.Campaign) { c.Libraries[0].PMI = "pmi2" }, `^library openmpi: `},
		{"no launcher", nil, func(c *config.Campaign) { c.Libraries[0].Launcher = "aprun" }, `^library openmpi: launcher "aprun": want one of srun, hydra, mpirun, pals$`},
		{"switches", nil, func(c *config.Campaign) { c.Runner.Switches = []string{"n[1-2]", "n[3-"} }, `^runner.switches\[1\]: `},
		{"old OSU", nil, func(c *config.Campaign) { c.Benchmark.Version = "4.1" }, `^library openmpi: osu: version 4.1: want 5.0 or newer$`},
		{"environment", nil, func(c *config.Campaign) { c.Runner.Env = []string{"A B=1"} }, `"A B"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := campaigntest.Load(t, campaigntest.Fake(t, t.TempDir(), "local"), tc.set...)
			c := assemble(t, cfg)
			if tc.change != nil {
				tc.change(cfg)
			}
			if err := c.Connect("k7x2m4qa", nil); !errors.Is(err, assembly.ErrInput) || !regexp.MustCompile(tc.want).MatchString(err.Error()) {
				t.Errorf("error %v, want bad input like %q", err, tc.want)
			}
		})
	}
}

// TestMeasuredProblems checks what a campaign on a real machine tunes: each problem must have several
// algorithms at each point, and no recorded times.
func TestMeasuredProblems(t *testing.T) {
	c := fake(t, "local", nil)
	for _, p := range c.Problems {
		if p.Truth != nil || p.Runner != nil || p.ExhaustiveSeconds != nil {
			t.Errorf("%s has times before any measurement: %+v", p.Problem, p)
		}
		for i, point := range p.Space.Points() {
			if n := len(p.Space.Feasible(i)); n < 4 {
				t.Errorf("%v: %d algorithms", point, n)
			}
		}
	}
	if len(c.Problems) != 2 || len(c.Problems[0].Space.Points()) != 3 {
		t.Errorf("%d problems, %d points", len(c.Problems), len(c.Problems[0].Space.Points()))
	}
}

func TestHere(t *testing.T) {
	inside := []string{"SLURM_JOB_ID=7", "SLURM_JOB_NUM_NODES=3", "SLURM_JOB_END_TIME=1800000000"}
	for _, tc := range []struct {
		name    string
		environ []string
		want    assembly.Place
	}{
		{"this machine", nil, assembly.Place{Kind: "local", Nodes: 1, Cores: runtime.NumCPU()}},
		{"an allocation of different nodes", append(inside, "SLURM_JOB_CPUS_PER_NODE=32(x2),16"), assembly.Place{Kind: "allocation", Nodes: 3, Cores: 16}},
		{"an allocation without its number of cores", inside, assembly.Place{Kind: "allocation", Nodes: 3, Cores: runtime.NumCPU()}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := assembly.Here(t.Context(), tc.environ, ""); err != nil || got != tc.want {
				t.Errorf("%+v, %v, want %+v", got, err, tc.want)
			}
		})
	}
	if _, err := assembly.Here(t.Context(), []string{"SLURM_JOB_ID=7"}, ""); !errors.Is(err, assembly.ErrInput) {
		t.Errorf("%v, want an error matching %v", err, assembly.ErrInput)
	}
}

// TestHiddenSettings checks that each setting of the shell that launches do not get is named, once.
func TestHiddenSettings(t *testing.T) {
	slurm, _ := commands(t)
	environ := []string{"OMPI_MCA_coll=^hcoll", "OMPI_MCA_orte_xml_output=1", "PMIX_MCA_gds=hash", "HYDRA_DEBUG=1", "PATH=/bin"}
	for kind, want := range map[string]string{
		"local": "openmpi: OMPI_MCA_orte_xml_output=1 (environment of the shell) is off in launches, since mpirun would end them or print other text",
		"slurm": "openmpi: OMPI_MCA_coll=^hcoll (environment) of this shell does not reach the jobs: if users of the machine have it, add OMPI_MCA_coll=^hcoll to runner.env",
	} {
		if got := fake(t, kind, nil, "slurm.bin="+slurm).HiddenSettings(environ); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}
