package verification_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/campaign/verification"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/verify"
)

// fewBlocks returns rules for a verification with few test points and blocks, so that it takes little time.
func fewBlocks() verify.Rules {
	r := verify.DefaultRules()
	r.Points, r.Between, r.MinBlocks, r.MaxBlocks = 2, 0, 2, 2
	return r
}

// TestLive verifies a campaign by running jobs. Launches that measure the tuned library must load its files.
// Without a compiler for the probe program there must be a warning, and no selection may count as proved.
func TestLive(t *testing.T) {
	testutil.SkipShort(t)
	dir := campaigntest.Run(t, campaigntest.Load(t, campaigntest.Fake(t, t.TempDir(), "local"), "collectives=allreduce", "grid.ppn=2"))
	hideCompilers(t)
	o := open(t, dir)
	testutil.NoError(t, o.campaign.Connect("k7x2m4qa", os.Environ()))
	var warnings []string
	_, result, err := o.verify(t.Context(), verification.Options{Rules: fewBlocks(), Warn: func(text string) { warnings = append(warnings, text) }})
	testutil.NoError(t, err)
	checks := result.Unforced()
	if !result.Ended || result.Proved() || result.Trials == 0 || result.Failed > 0 || len(checks) == 0 || len(checks) < len(result.ForcingChecks) {
		t.Fatalf("ended %t after %d trials, %d failed, forcing checks %v", result.Ended, result.Trials, result.Failed, result.ForcingChecks)
	}
	const want = "openmpi: no compiler for the probe that checks whether the library obeys its files: give --mpicc openmpi=COMMAND, then verify again with --restart"
	if len(warnings) != 1 || warnings[0] != want || checks[0].State != verify.NotChecked || "openmpi: "+checks[0].Note != want {
		t.Errorf("warnings %q, want %q", warnings, want)
	}
	checkForced(t, filepath.Join(dir, "jobs"), filepath.Join(dir, "openmpi.rules"))
	for _, j := range o.state.Verification("openmpi").Jobs(1) {
		if j.State != coll.JobEnded {
			t.Errorf("job %s is %s", j.Name, j.State)
		}
	}
}

// hideCompilers sets a PATH that does not contain the compilers of MPI libraries.
func hideCompilers(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // shells ignore folders without permission, too
		}
		for _, e := range entries {
			if err := os.Symlink(filepath.Join(dir, e.Name()), filepath.Join(folder, e.Name())); err != nil && !errors.Is(err, fs.ErrExist) {
				t.Fatal(err)
			}
		}
	}
	compilers := testutil.Must(filepath.Glob(filepath.Join(folder, "*mpicc*")))(t)
	for _, path := range compilers {
		testutil.NoError(t, os.Remove(path))
	}
	t.Setenv("PATH", folder)
}

// checkForced checks that at least one launch script loads the rules.
func checkForced(t *testing.T, jobs, rules string) {
	t.Helper()
	scripts := testutil.Must(filepath.Glob(filepath.Join(jobs, "*verify*", "*")))(t)
	tuned := 0
	for _, path := range scripts {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), rules) {
			tuned++
		}
	}
	if tuned == 0 {
		t.Errorf("none of %d scripts loads %s", len(scripts), rules)
	}
}

// TestBadCompiler checks that a configured compiler that does not work leads to an error.
func TestBadCompiler(t *testing.T) {
	testutil.NeedAllCases(t)
	dir := campaigntest.Run(t, campaigntest.Load(t, campaigntest.Fake(t, t.TempDir(), "local"), "collectives=allreduce", "grid.ppn=2"))
	o := open(t, dir)
	testutil.NoError(t, o.campaign.Connect("k7x2m4qa", os.Environ()))
	_, _, err := o.verify(t.Context(), verification.Options{Rules: fewBlocks(), Compilers: map[string]string{"openmpi": "/none/mpicc"}})
	if err == nil || !strings.HasPrefix(err.Error(), "probe that checks whether the library obeys its files: ") || !strings.Contains(err.Error(), "/none/mpicc") {
		t.Errorf("error %v, want one about the compiler", err)
	}
}

// TestNotObserved measures a library of environment variables by running jobs, with an algorithm in each launch, and
// verifies it. Nothing shows which algorithm ran, so nothing may count as proved.
func TestNotObserved(t *testing.T) {
	testutil.NeedAllCases(t)
	file := campaigntest.Fake(t, t.TempDir(), "local")
	text := string(testutil.Must(os.ReadFile(file))(t))
	text = strings.Replace(text, `name: openmpi, version: "4.1.4"`, `name: intel, version: "2021.6"`, 1)
	testutil.NoError(t, os.WriteFile(file, []byte(text), 0o666))
	osu := filepath.Join(filepath.Dir(file), "osu", "osu_allreduce")
	program := string(testutil.Must(os.ReadFile(osu))(t))
	program = strings.Replace(program, "algorithm=\\${OMPI_MCA_coll_tuned_${name}_algorithm:-0}", "adjust=\\${I_MPI_ADJUST_ALLREDUCE:-0}; algorithm=\\${adjust%%:*}", 1)
	testutil.NoError(t, os.WriteFile(osu, []byte(program), 0o777))
	dir := campaigntest.Run(t, campaigntest.Load(t, file, "collectives=allreduce", "grid.sizes=512", "export.guard=false"))
	o := open(t, dir)
	testutil.NoError(t, o.campaign.Connect("k7x2m4qa", os.Environ()))
	var warnings []string
	_, result, err := o.verify(t.Context(), verification.Options{Rules: fewBlocks(), Warn: func(text string) { warnings = append(warnings, text) }})
	testutil.NoError(t, err)
	const want = "not observed: Intel MPI does not show which algorithm runs"
	checks := result.Unforced()
	if !result.Ended || result.Proved() || len(checks) == 0 || checks[0].State != verify.NotChecked || checks[0].Note != want || len(warnings) != 1 || warnings[0] != "intel: "+want {
		t.Errorf("ended %t, checks %v, warnings %q: want %q", result.Ended, result.ForcingChecks, warnings, want)
	}
}
