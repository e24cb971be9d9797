package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/report"
)

// ruleFile returns rules of Open MPI for bcast: one algorithm, by its number, for all calls.
func ruleFile(t *testing.T, algorithm string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.rules")
	testutil.NoError(t, os.WriteFile(path, []byte("1\n7\n1\n0\n1\n0 "+algorithm+" 0 0\n"), 0o600))
	return path
}

// TestVerifyRules verifies selection files from elsewhere against the default. Slower points are reported, and the file
// stays as it is.
func TestVerifyRules(t *testing.T) {
	for _, tc := range []struct {
		name, algorithm string
		tree            float64 // factor of the time of the tree
		points          string
		code            exitCode
		verdict         string
	}{
		{"faster everywhere", "6", 0.1, "points=70", codeDone, "not slower by more than 5 %"},
		{"slower everywhere", "6", 10, "points=2", codeNotProved, "slower: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			m := campaigntest.MadeOpenMPI
			m.Factor = campaigntest.Slowed(m.Tree, tc.tree)
			file, rules := m.Put(t, dir), ruleFile(t, tc.algorithm)
			code, stdout, stderr := tutti("verify", "--rules", rules, "-c", file, "--format", "json", "--set", tc.points)
			var facts report.Facts
			if err := json.Unmarshal([]byte(stdout), &facts); err != nil || code != tc.code {
				t.Fatalf("exit code %d, %v, %s", code, err, stderr)
			}
			v := facts.Verification[0]
			if !strings.HasPrefix(v.Headline(), tc.verdict) || len(v.Reverted) > 0 || !v.Fixed {
				t.Errorf("headline %q, %d reverted, fixed %t", v.Headline(), len(v.Reverted), v.Fixed)
			}
			if facts.Libraries[0].Verified != (tc.code == codeDone) || facts.Libraries[0].Verdict == nil {
				t.Errorf("library %+v", facts.Libraries[0])
			}
			folder := filepath.Join(dir, "out-rules")
			if copied, given := readFile(t, filepath.Join(folder, "verified-rules.rules")), readFile(t, rules); string(copied) != string(given) {
				t.Errorf("the copy is %q, the file %q", copied, given)
			}
			if tc.code != codeDone {
				return // it would go on
			}
			if again, _ := mustTutti(t, codeDone, "verify", folder, "--format", "json"); again != stdout {
				t.Error("other results again")
			}
		})
	}
}

// TestVerifyRulesRefused checks the errors of verify --rules.
func TestVerifyRulesRefused(t *testing.T) {
	dir := t.TempDir()
	file := campaigntest.MadeOpenMPI.Put(t, dir)
	mpich := campaigntest.MadeMPICH.Put(t, t.TempDir())
	bad := filepath.Join(dir, "bad.rules")
	testutil.NoError(t, os.WriteFile(bad, []byte("1\n7\n9\n0\n1\n0 6 0 0\n"), 0o600))
	other := filepath.Join(dir, "gather.rules")
	testutil.NoError(t, os.WriteFile(other, []byte("1\n9\n1\n0\n1\n0 1 0 0\n"), 0o600))
	rules := ruleFile(t, "6")
	campaign := filepath.Join(dir, "campaign")
	mustTutti(t, codeDone, "tune", "-c", file, "--out", campaign)
	verified := filepath.Join(dir, "verified")
	tutti("verify", "--rules", rules, "-c", file, "--set", "points=1", verified)
	for _, tc := range []struct {
		args []string
		code exitCode
		text string
	}{
		{[]string{"verify"}, codeUsage, "want the folder of one campaign, or --rules FILE and -c FILE"},
		{[]string{"verify", "--rules", rules}, codeUsage, "want both"},
		{[]string{"verify", "--rules", rules, "-c", file, "--drift", "3"}, codeUsage, "--drift"},
		{[]string{"verify", "--rules", bad, "-c", file}, codeInput, "ignores the whole file"},
		{[]string{"verify", "--rules", file, "-c", file}, codeInput, "made.yaml"},
		{[]string{"verify", "--rules", rules, "-c", mpich}, codeInput, "add openmpi to libraries"},
		{[]string{"verify", "--rules", other, "-c", file}, codeInput, "it has rules for [gather]"},
		{[]string{"verify", "--rules", rules, "-c", file, campaign}, codeUsage, "has a campaign"},
		{[]string{"resume", verified}, codeInput, "has no campaign, but the verification of"},
		{[]string{"export", verified}, codeInput, "has no campaign, but the verification of"},
	} {
		if code, _, stderr := tutti(tc.args...); code != tc.code || !strings.Contains(stderr, tc.text) {
			t.Errorf("%v: exit code %d, want %d and %q, got %s", tc.args, code, tc.code, tc.text, stderr)
		}
	}
}

// TestVerifyRulesSame checks that a folder goes on only with the selection file and the campaign file that it began with.
func TestVerifyRulesSame(t *testing.T) {
	dir := t.TempDir()
	file, rules := campaigntest.MadeOpenMPI.Put(t, dir), ruleFile(t, "6")
	first, campaign := readFile(t, rules), readFile(t, file)
	folder := filepath.Join(dir, "folder")
	tutti("verify", "--rules", rules, "-c", file, "--set", "points=1", folder)
	copied := filepath.Join(folder, "verified-rules.rules")
	twin := filepath.Join(dir, "twin.rules")
	testutil.NoError(t, os.WriteFile(twin, first, 0o600))
	moved := filepath.Join(dir, "moved.yaml")
	testutil.NoError(t, os.WriteFile(moved, campaign, 0o600))
	comment := append([]byte("# the same choices\n"), first...)
	edited := append([]byte("seed: 77\n"), campaign...)
	for _, tc := range []struct {
		name        string
		path        string // of a file with another content; "": none
		content     []byte
		rules, file string
		code        exitCode
		texts       []string
	}{
		{"changed rules", rules, []byte("1\n7\n1\n0\n1\n0 1 0 0\n"), rules, file, codeUsage, []string{"name another folder", "SHA-256"}},
		{"equal choices", rules, comment, rules, file, codeUsage, []string{"name another folder"}},
		{"another path", "", nil, twin, file, codeUsage, []string{"site.rules", "twin.rules", "name another folder"}},
		{"edited campaign file", file, edited, rules, file, codeUsage, []string{"seed: default -> 77", "To go on with it: tutti verify", "name another folder"}},
		{"another campaign file", "", nil, rules, moved, codeUsage, []string{"made.yaml", "moved.yaml"}},
		{"changed copy", copied, comment, rules, file, codeInput, []string{"is not the copy of"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.path != "" {
				before := readFile(t, tc.path)
				testutil.NoError(t, os.WriteFile(tc.path, tc.content, 0o600))
				defer func() { testutil.NoError(t, os.WriteFile(tc.path, before, 0o600)) }()
			}
			past := readFile(t, filepath.Join(folder, "journal.jsonl"))
			code, _, stderr := tutti("verify", "--rules", tc.rules, "-c", tc.file, folder)
			for _, text := range tc.texts {
				if code != tc.code || !strings.Contains(stderr, text) {
					t.Errorf("exit code %d, want %d and %q, got %s", code, tc.code, text, stderr)
				}
			}
			if string(readFile(t, filepath.Join(folder, "journal.jsonl"))) != string(past) {
				t.Error("the journal has changed")
			}
		})
	}
	testutil.NoError(t, os.WriteFile(rules, comment, 0o600))
	if code, _, stderr := tutti("verify", folder, "--set", "points=1"); code == codeInput || code == codeUsage {
		t.Errorf("verify reads another file than the copy: %s", stderr)
	}
}

// TestVerifyRulesWritesNothing checks that a dry run, and a command with wrong options, create no folder.
func TestVerifyRulesWritesNothing(t *testing.T) {
	dir := t.TempDir()
	file, rules := campaigntest.MadeOpenMPI.Put(t, dir), ruleFile(t, "6")
	for _, tc := range []struct {
		args []string
		code exitCode
	}{
		{[]string{"--dry-run"}, codeDone},
		{[]string{"--mpicc", "nothing"}, codeUsage},
		{[]string{"--mpicc", "mpich=mpicc"}, codeUsage},
		{[]string{"--library", "nothing"}, codeInput},
	} {
		folder := filepath.Join(dir, "folder")
		code, stdout, stderr := tutti(append([]string{"verify", "--rules", rules, "-c", file, folder}, tc.args...)...)
		if _, err := os.Stat(folder); code != tc.code || !os.IsNotExist(err) {
			t.Errorf("%v: exit code %d, want %d, %v: %s %s", tc.args, code, tc.code, err, stdout, stderr)
		}
	}

	// A limit below the time of the benchmarks is refused before anything is measured.
	live := filepath.Join(dir, "live.yaml")
	testutil.NoError(t, os.WriteFile(live, []byte(`name: live
output: out
libraries: [{name: openmpi, version: "4.1.4", launcher: mpirun, benchmark: tutti-native}]
collectives: [bcast]
grid: {nodes: [1], ppn: [2], sizes: [8]}
runner: {kind: local}
`), 0o600))
	for _, limit := range []string{"--machine-time=1ns", "--wall-time=1ms"} {
		code, _, stderr := tutti("verify", "--rules", rules, "-c", live, limit)
		if _, err := os.Stat(filepath.Join(dir, "out-rules")); code != codeUsage || !os.IsNotExist(err) || !strings.Contains(stderr, "can show nothing") {
			t.Errorf("%s: exit code %d, want %d, %v: %s", limit, code, codeUsage, err, stderr)
		}
	}
}
