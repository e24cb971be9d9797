package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/journal"
	"tutti/mpi"
)

// siteParams is a parameter file of a site with rules of its own, and these rules: nonoverlapping for every allreduce.
const (
	siteParams = "coll_tuned_use_dynamic_rules = 1\ncoll_tuned_dynamic_rules_filename = DIR/site.rules\n"
	siteRules  = "1 2 1 2 1 0 2 0 0 # allreduce: nonoverlapping\n"
)

// TestSiteRefused checks that settings with which no algorithm can be forced end a campaign before it measures.
func TestSiteRefused(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, params, launcher, want string }{
		{"coll/tuned is left out", "coll = ^tuned,hcoll\n", "", "coll/tuned cannot run the algorithms that tutti selects: OMPI_MCA_coll=^tuned,hcoll (DIR/params.conf:1)"},
		{"a pin among the launcher's arguments", "", "\n    launcher_args: [--mca, coll_tuned_bcast_algorithm, '3']", "OMPI_MCA_coll_tuned_bcast_algorithm=0 does not turn it off"},
	}
	for _, tc := range tests {
		dir := t.TempDir()
		siteCampaign(t, testutil.OpenMPI, dir, "openmpi.yaml", "launcher_path: mpirun", "launcher_path: mpirun"+tc.launcher)
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, "params.conf"), []byte(tc.params), 0o600))
		args := []string{"tune", "-c", "c.yaml", "--yes", "--set", "runner.env=OMPI_MCA_mca_base_param_files=" + dir + "/params.conf"}
		_, out := mustEnd(t, dir, []exitCode{codeNotReady}, args...)
		if want := strings.ReplaceAll(tc.want, "DIR", dir); !strings.Contains(out, want) {
			t.Errorf("%s: output\n%s\nwant %s", tc.name, out, want)
		}
		if _, err := os.Stat(filepath.Join(dir, "out", journal.FileName)); err == nil {
			t.Errorf("%s: a journal remains", tc.name)
		}
	}
}

// TestSiteRules tunes Open MPI on a machine with a rules file. The journal and the screen must name the file, and the
// exported rules must have its rules for what was not tuned. Open MPI applies the site's block also to smaller communicators.
func TestSiteRules(t *testing.T) {
	testutil.NeedAllCases(t)
	t.Parallel()
	dir := t.TempDir()
	siteCampaign(t, testutil.OpenMPI, dir, "openmpi.yaml")
	for name, text := range map[string]string{"params.conf": siteParams, "site.rules": siteRules} {
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "DIR", dir)), 0o600))
	}
	args := []string{"tune", "-c", "c.yaml", "--yes", "--set", "collectives=bcast", "--set", "runner.env=OMPI_MCA_mca_base_param_files=" + dir + "/params.conf"}
	_, out := mustEnd(t, dir, finished, append(args, fewCases()...)...)
	if want := "site.rules (" + dir + "/params.conf:2) selects algorithms: library_default is its choice"; !strings.Contains(out, want) {
		t.Errorf("output\n%s\nwant %s", out, want)
	}
	contents := testutil.Must(journal.Read(filepath.Join(dir, "out")))(t)
	if s := contents.State().Site("openmpi").On(mpi.SelectsByFile); len(s) != 1 || string(s[0].Content) != siteRules {
		t.Errorf("recorded settings %v, want the site's rules", s)
	}
	rules := testutil.Must(os.ReadFile(filepath.Join(dir, "out", "openmpi.rules")))(t)
	if !strings.Contains(string(rules), "2 # allreduce\n1 # communicator sizes\n 1 # processes\n 1 # message sizes\n  0 2 0 0\n") {
		t.Errorf("exported rules\n%s\nwant those of the site for allreduce", rules)
	}
}

// TestSiteOfShell tunes MPICH in a shell that pins an algorithm. Users of this shell get it, so it must be named, and
// other commands must refuse to measure without it.
func TestSiteOfShell(t *testing.T) {
	testutil.NeedAllCases(t)
	t.Parallel()
	dir := t.TempDir()
	launcher := testutil.Must(exec.LookPath(testutil.MPICH.Launcher))(t) // it looks for its proxy in its own folder
	siteCampaign(t, testutil.MPICH, dir, "openmpi.yaml", "launcher_path: mpirun", "launcher_path: "+launcher,
		"name: openmpi", "name: mpich", `"4.1.4"`, `"4.0.2"`, "ppn: [2, 3]", "ppn: [2]")
	pinned := append(os.Environ(), "MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial")
	_, out := mustEndWith(t, pinned, dir, finished, append([]string{"tune", "-c", "c.yaml", "--yes"}, fewCases()...)...)
	if want := "mpich: MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial (environment of the shell) pins algorithms"; !strings.Contains(out, want) {
		t.Errorf("output\n%s\nwant %s", out, want)
	}
	_, out = mustEnd(t, dir, []exitCode{codeNotReady}, "verify", "out", "--machine-time", "1h")
	if want := "the campaign began with MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial (environment of the shell), here it is no MPIR_CVAR_BCAST_INTRA_ALGORITHM"; !strings.Contains(out, want) {
		t.Errorf("output\n%s\nwant %s", out, want)
	}
}
