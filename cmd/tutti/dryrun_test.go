package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"mvdan.cc/sh/v3/syntax"

	"tutti/campaign/assembly"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
)

// TestLiveScripts runs the scripts in testdata/live, which run campaigns with fake benchmarks.
func TestLiveScripts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs jobs")
	}
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

// withoutScriptBodies removes most lines of job scripts: only the first line and the launches
// remain.
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
	sum, problems := 0.0, map[string]bool{}
	for _, j := range d.Jobs {
		sum += j.NodeHours
		problems[j.Problem] = true
		if j.Nodes != 1 || j.PPN < 2 || j.PPN > 3 || j.Candidates != len(j.Carries) || j.Starts < 1 || math.Abs(j.NodeHours-j.Limit/3600) > 1e-9 {
			t.Errorf("%s: %d nodes, %d processes each, %d candidates, carries %d, %d starts, %g s, %g node-hours",
				j.Name, j.Nodes, j.PPN, j.Candidates, len(j.Carries), j.Starts, j.Limit, j.NodeHours)
		}
		if !strings.Contains(j.Command, j.Name) || !strings.Contains(text, j.Command+"\n\n    "+strings.ReplaceAll(strings.TrimSuffix(j.Script, "\n"), "\n", "\n    ")) {
			t.Errorf("%s: the text has another command than %s, or another script", j.Name, j.Command)
		}
		if _, err := syntax.NewParser().Parse(strings.NewReader(j.Script), j.Name); err != nil {
			t.Errorf("%s: %v", j.Name, err)
		}
	}
	if len(problems) != 2 || math.Abs(sum-d.RoundNodeHours) > 1e-9 || d.NodeHours <= d.RoundNodeHours {
		t.Errorf("%v, %g node-hours of jobs, %g of the round, %g of all", problems, sum, d.RoundNodeHours, d.NodeHours)
	}
	// A budget limits the node-hours, but not below those of the first round.
	stdout, _ = mustTutti(t, codeDone, "tune", "-c", file, "--dry-run", "--format", "json", "--set", "stop.node_hours=0.25")
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || d.NodeHours != d.RoundNodeHours {
		t.Errorf("%g node-hours, %v, want those of the first round, %g", d.NodeHours, err, d.RoundNodeHours)
	}
}

func TestDryRunRefuses(t *testing.T) {
	dir := t.TempDir()
	campaigntest.Small(t, dir)
	_, stderr := mustTutti(t, codeUsage, "tune", "-c", filepath.Join(dir, "small.yaml"), "--dry-run")
	if !strings.Contains(stderr, "runner.kind replay submits nothing") {
		t.Errorf("stderr %q", stderr)
	}
}
