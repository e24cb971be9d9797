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
	"tutti/internal/testutil/campaigntest"
	"tutti/verify"
)

// fewLooks are rules for jobs that take a moment each.
func fewLooks() verify.Rules {
	r := verify.DefaultRules()
	r.Points, r.Between, r.MinBlocks, r.MaxBlocks = 2, 0, 2, 2
	return r
}

// A campaign that measures is proved with jobs of its own, one benchmark at a time, whose
// tuned ones load the files. Without a compiler there is no probe, and that is told.
func TestLive(t *testing.T) {
	if testing.Short() {
		t.Skip("runs jobs")
	}
	dir := campaigntest.Run(t, campaigntest.Load(t, campaigntest.Fake(t, t.TempDir(), "local"), "collectives=allreduce", "grid.ppn=2"))
	hideCompilers(t)
	o := opened(t, dir)
	if err := o.campaign.Connect("k7x2m4qa", os.Environ()); err != nil {
		t.Fatal(err)
	}
	var warnings []string
	_, result, err := o.prove(t.Context(), verification.Options{Rules: fewLooks(), Warn: func(text string) { warnings = append(warnings, text) }})
	if err != nil {
		t.Fatal(err)
	}
	if !result.Ended || result.Trials == 0 || result.Failed > 0 || len(result.ForcingChecks) > 0 {
		t.Errorf("ended %t after %d trials, %d failed, sights %v", result.Ended, result.Trials, result.Failed, result.ForcingChecks)
	}
	if want := "openmpi: no compiler for the probe of obedience: give --mpicc openmpi=COMMAND"; len(warnings) != 1 || warnings[0] != want {
		t.Errorf("warnings %q, want %q", warnings, want)
	}
	checkForced(t, filepath.Join(dir, "jobs"), filepath.Join(dir, "openmpi.rules"))
	for _, j := range o.state.Verification("openmpi").Jobs(1) {
		if j.State != coll.JobEnded {
			t.Errorf("job %s is %s", j.Name, j.State)
		}
	}
}

// hideCompilers leaves everything on the PATH but the compilers of MPI libraries.
func hideCompilers(t *testing.T) {
	t.Helper()
	bare := t.TempDir()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // as a shell does
		}
		for _, e := range entries {
			if err := os.Symlink(filepath.Join(dir, e.Name()), filepath.Join(bare, e.Name())); err != nil && !errors.Is(err, fs.ErrExist) {
				t.Fatal(err)
			}
		}
	}
	compilers, err := filepath.Glob(filepath.Join(bare, "*mpicc*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range compilers {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bare)
}

// checkForced wants starts that load the rules and starts that set nothing.
func checkForced(t *testing.T, jobs, rules string) {
	t.Helper()
	scripts, err := filepath.Glob(filepath.Join(jobs, "*verify*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	tuned := 0
	for _, path := range scripts {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), rules) {
			tuned++
		}
	}
	if tuned == 0 {
		t.Errorf("no start of %d files loads %s", len(scripts), rules)
	}
}

// A compiler that is given and builds nothing ends the verification.
func TestBadCompiler(t *testing.T) {
	if testing.Short() {
		t.Skip("runs jobs")
	}
	dir := campaigntest.Run(t, campaigntest.Load(t, campaigntest.Fake(t, t.TempDir(), "local"), "collectives=allreduce", "grid.ppn=2"))
	o := opened(t, dir)
	if err := o.campaign.Connect("k7x2m4qa", os.Environ()); err != nil {
		t.Fatal(err)
	}
	_, _, err := o.prove(t.Context(), verification.Options{Rules: fewLooks(), Compilers: map[string]string{"openmpi": "/none/mpicc"}})
	if err == nil || !strings.HasPrefix(err.Error(), "probe of obedience: ") || !strings.Contains(err.Error(), "/none/mpicc") {
		t.Errorf("error %v, want one about the compiler", err)
	}
}
