package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"tutti/campaign/assembly"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
)

// TestLiveScripts runs the test scripts in testdata/live. The scripts check campaigns with fake benchmarks.
func TestLiveScripts(t *testing.T) {
	t.Parallel()
	testutil.SkipShort(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/live",
		Setup: func(env *testscript.Env) error {
			campaigntest.Fake(t, env.WorkDir, "local")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code},
	})
}

// listTree returns all paths below a folder.
func listTree(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		out = append(out, path)
		return err
	})
	testutil.NoError(t, err)
	return out
}

// withoutScriptBodies removes the lines of job scripts, except for the first line and the lines that launch
// programs.
func withoutScriptBodies(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		script := strings.HasPrefix(line, "    ")
		if !script || strings.HasPrefix(line, "    #!") || strings.HasPrefix(line, "    tutti_start ") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// TestDryRun checks that a dry run prints all jobs and scripts, writes no files and is repeatable.
func TestDryRun(t *testing.T) {
	dir := t.TempDir()
	campaigntest.Fake(t, dir, "local")
	file := filepath.Join(dir, "small.yaml")
	before := listTree(t, dir)
	stdout, stderr := mustTutti(t, codeDone, "tune", "-c", file, "--dry-run", "--scripts")
	testutil.CheckGolden(t, filepath.Join("live", "dry-run.golden"), []byte(withoutScriptBodies(strings.ReplaceAll(stdout, dir, "/DIR"))))
	if stderr != "" {
		t.Errorf("stderr %q", stderr)
	}
	if after := listTree(t, dir); !slices.Equal(before, after) {
		t.Errorf("before: %q\nafter: %q", before, after)
	}
	if again, _ := mustTutti(t, codeDone, "tune", "-c", file, "--dry-run", "--scripts", "--yes"); again != stdout {
		t.Error("the second dry run differs")
	}
}

// TestDryRunJSON checks that the dry run prints the same jobs as text and as JSON.
func TestDryRunJSON(t *testing.T) {
	dir := t.TempDir()
	campaigntest.Fake(t, dir, "local")
	file := filepath.Join(dir, "small.yaml")
	stdout, _ := mustTutti(t, codeDone, "tune", "-c", file, "--dry-run", "--format", "json")
	var d assembly.Forecast
	decoder := json.NewDecoder(strings.NewReader(stdout))
	decoder.DisallowUnknownFields()
	testutil.NoError(t, decoder.Decode(&d))
	text, _ := mustTutti(t, codeDone, "tune", "-c", file, "--dry-run", "--scripts")
	for _, j := range d.Jobs {
		script := "    " + strings.ReplaceAll(strings.TrimSuffix(j.Script, "\n"), "\n", "\n    ")
		if !strings.Contains(text, j.Command+"\n\n# launch 1: ") || !strings.Contains(text, script) {
			t.Errorf("%s: the text has another command than %s, or another script", j.Name, j.Command)
		}
	}
	if len(d.Jobs) == 0 || d.RoundNodeHours <= 0 {
		t.Errorf("%d jobs of %g node-hours", len(d.Jobs), d.RoundNodeHours)
	}
}
