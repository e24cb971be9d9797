package preflight_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/benchrunner/preflight"
	"tutti/internal/testutil"
	"tutti/mpi"
	"tutti/mpi/libraries"
)

func TestRead(t *testing.T) {
	const whole = "tutti-preflight begin\nenv OMPI_MCA_coll=^hcoll\nenv OMPI_TUTTI_PREFLIGHT=1\nmodule OMPI_MCA_coll site/2\nmodule SECRET_TOKEN site/2\nlibrary /lib/libmpi.so.40\nlist mca:coll:a\ntutti-preflight end\n"
	port, _ := libraries.Named("openmpi")
	s := benchrunner.Launch{Cases: make([]benchrunner.Case, 1), Dir: "/job/1"}
	for text, want := range map[string]bool{whole: true, "[0] " + whole: true, whole[:len(whole)-8]: false, "": false} {
		p := &preflight.Program{Library: port.(mpi.Measurable), Variables: []string{"OMPI_MCA_coll", "OMPI_MCA_none"}}
		r := p.Read(s, benchrunner.Output{Stdout: []byte(text), Ended: true})
		if done := r.Outcomes[0].State == benchrunner.OutcomeDone; done != want {
			t.Errorf("%q: %+v, want done %t", text, r.Outcomes[0], want)
		}
		if !want {
			continue
		}
		got := testutil.Must(preflight.Decode(r.Outcomes[0].Answer))(t)
		setting := mpi.SiteSetting{Name: "OMPI_MCA_coll", Value: "^hcoll", Source: "environment", Effect: mpi.ShapesDefault}
		full := preflight.Findings{Settings: []mpi.SiteSetting{setting}, File: "/lib/libmpi.so.40", Dir: "/job/1", Variables: map[string]string{"OMPI_MCA_coll": "^hcoll"}, Modules: map[string]string{"OMPI_MCA_coll": "site/2"}}
		if d := cmp.Diff(full, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

// TestScriptPrintsSettings runs the script with variables of every kind that select collectives, and with one that may be
// secret. Tools of modules print what two modules set as Lmod and Environment Modules do.
func TestScriptPrintsSettings(t *testing.T) {
	settings := []string{
		"MPIR_CVAR_BCAST_INTRA_ALGORITHM=smp", "MPICH_COLL_OPT_OFF=1", "OMPI_MCA_coll=^hcoll", "I_MPI_ADJUST_BCAST=1", "MV2_INTER_BCAST_TUNING=4", "MVP_BCAST_INTRA_ALGORITHM=auto",
		"UCC_TLS=ucp", "OMPI_UCC_TLS=ucp", "HCOLL_MAIN_IB=mlx5_0:1", "SHARP_COLL_ENABLE_SAT=1", "UCX_BUILTIN_BCAST_ALGORITHM=4", "UCG_PLANC=ucx", "FI_CXI_COLL_RETRY_CNT=4", "PRTE_MCA_mapby=core", "OMPI_TUTTI_PREFLIGHT=1",
	}
	port, _ := libraries.Named("openmpi")
	path := filepath.Join(t.TempDir(), "preflight.sh")
	cmd := testutil.Must((&preflight.Program{Benchmark: "/bin/true", Library: port.(mpi.Measurable)}).Command(benchrunner.Launch{Cases: make([]benchrunner.Case, 1)}))(t)
	testutil.NoError(t, os.WriteFile(path, cmd.Files["preflight.sh"], 0o666))
	sh := exec.Command("/bin/sh", path, "/bin/true", "")
	tool := filepath.Join(t.TempDir(), "modulecmd")
	testutil.NoError(t, testutil.WriteExecutable(tool, `#!/bin/sh
case $* in "bash show a b/1") printf 'setenv\t\tUCC_TLS ucp\nprepend-path PATH /x\n' ;; "bash show site/2") printf '   setenv("I_MPI_ADJUST_BCAST","1")\npushenv("SECRET_TOKEN", "x")\n' ;; esac >&2
`))
	sh.Env = append(slices.Clone(settings), "PATH="+os.Getenv("PATH"), "SECRET_TOKEN=x", "LOADEDMODULES=a b/1:none:site/2", "MODULES_CMD="+tool)
	out := testutil.Must(sh.Output())(t)
	const modules = "module UCC_TLS a b/1\nmodule I_MPI_ADJUST_BCAST site/2\nmodule SECRET_TOKEN site/2\n"
	if !strings.Contains(string(out), modules) {
		t.Errorf("printed %s, want %s", out, modules)
	}
	var printed []string
	for line := range strings.Lines(string(out)) {
		if setting, ok := strings.CutPrefix(strings.TrimSpace(line), "env "); ok {
			printed = append(printed, setting)
		}
	}
	slices.Sort(settings)
	slices.Sort(printed)
	if d := cmp.Diff(settings, printed); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
