package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"tutti/campaign/export"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/report"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary run as the command tutti if a script or a test starts it under the name
// tutti.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tutti": main})
}

// cases returns the first number in normal test runs, and the second one in full test runs (see
// testutil.AllCases).
func cases(few, all int) int {
	if testutil.AllCases() {
		return all
	}
	return few
}

// tutti runs a command line inside the test process. The command gets no environment variables.
func tutti(args ...string) (code exitCode, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = exitCode(Main(context.Background(), args, nil, &out, &errs))
	return code, out.String(), errs.String()
}

// mustTutti runs a command line that must end with the given exit code.
func mustTutti(t *testing.T, want exitCode, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := tutti(args...)
	if code != want {
		t.Fatalf("tutti %q: exit code %d, want %d\n%s%s", args, code, want, stdout, stderr)
	}
	return stdout, stderr
}

// reportOf reads report.json in the folder of a campaign.
func reportOf(t testing.TB, out string) report.Facts {
	t.Helper()
	var f report.Facts
	testutil.NoError(t, json.Unmarshal(readFile(t, filepath.Join(out, export.ReportJSON)), &f))
	return f
}

// codeOfProcess returns the exit code of an ended process, or -1 if a signal killed it.
func codeOfProcess(t testing.TB, err error) exitCode {
	t.Helper()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return codeDone
	case errors.As(err, &ended):
		return exitCode(ended.ExitCode())
	}
	t.Fatal(err)
	return codeFailed
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			campaigntest.Small(t, env.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code},
	})
}

// code is the command "code N PROGRAM" in test scripts. It checks that the program ends with exit code N.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N PROGRAM [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		got = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
