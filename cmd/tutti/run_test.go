package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/csource"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/mpi/libtutti"
)

// runInside runs a command line inside the test process. The command gets the environment variables of this
// process, and those in env.
func runInside(t *testing.T, env []string, args ...string) (code exitCode, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = exitCode(Main(t.Context(), args, append(os.Environ(), env...), &out, &errs))
	return code, out.String(), errs.String()
}

// TestRun checks the environment of the started program and the exit code of tutti.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	library := filepath.Join(dir, "libtutti.so")
	testutil.NoError(t, os.WriteFile(library, nil, 0o666))
	blank := filepath.Join(dir, "lib tutti.so")
	testutil.NoError(t, os.WriteFile(blank, nil, 0o666))
	for name, text := range map[string][]byte{"good": libtutti.Table{}.Bytes(), "bad": []byte("tutti-table 1\n")} {
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o666))
	}
	t.Chdir(dir)
	t.Setenv("LD_PRELOAD", "site.so")
	// The dynamic loader ignores a preloaded file that is not a library, so any file can stand for the library.
	script := `echo "$LD_PRELOAD $TUTTI_TRACE"; exit 7`
	tests := []struct {
		name string
		args []string
		code exitCode
		want string // in the output
	}{
		{"ends with 7", []string{"--trace", "t.csv", "--", "sh", "-c", script}, 7, library + ":site.so " + dir + "/t.csv"},
		{"options of the program", []string{"--trace", "t.csv", "sh", "-c", "exit 0"}, codeDone, ""},
		{"trace in no folder", []string{"--trace", "none/t.csv", "--", "true"}, codeInput, "--trace none/t.csv: stat none: no such file or directory: want a file in a folder that exists"},
		{"trace to a folder", []string{"--trace", ".", "--", "true"}, codeInput, "--trace .: a folder: want a file"},
		{"killed", []string{"--trace", "t.csv", "--", "sh", "-c", "kill -9 $$"}, 128 + 9, ""},
		{"no program", []string{"--trace", "t.csv"}, codeUsage, "want a program"},
		{"no such program", []string{"--trace", "t.csv", "--", "./none"}, 127, "./none"},
		{"no such program on the PATH", []string{"--trace", "t.csv", "--", "no-such-program"}, 127, "no-such-program"},
		{"not a program", []string{"--trace", "t.csv", "--", "./good"}, 126, "./good"},
		{"learn", []string{"--learn", "learned", "--explore", "0.02", "--table", "good", "--", "sh", "-c", `echo "$TUTTI_SAMPLES $TUTTI_EXPLORE_SHARE $TUTTI_TABLE"`}, codeDone, dir + "/learned 0.02 " + dir + "/good"},
		{"learn without a table", []string{"--learn", "learned", "--", "true"}, codeInput, "learned/tutti.table: no such file or directory: make it with tutti online update learned"},
		{"share", []string{"--learn", "learned", "--explore", "2", "--", "true"}, codeUsage, "--explore 2: want a share from 0 to 1"},
		{"within", []string{"--within", "--budget", "0.1", "--table", "good", "--", "sh", "-c", `echo "$TUTTI_MODE $TUTTI_BUDGET $TUTTI_SAMPLES."`}, codeDone, "learn 0.1 ."},
		{"within nothing", []string{"--within", "--", "true"}, codeUsage, "--within: want --table FILE or --learn FOLDER"},
		{"budget", []string{"--learn", "learned", "--budget", "-1", "--", "true"}, codeUsage, "--budget -1: want a share from 0 to 1e+09"},
		{"nothing to do", []string{"--", "true"}, codeUsage, "want --trace"},
		{"table", []string{"--table", "good", "--", "sh", "-c", `echo "$TUTTI_TABLE"`}, codeDone, dir + "/good"},
		{"no table", []string{"--table", "none", "--", "true"}, codeInput, "none"},
		{"bad table", []string{"--table", "bad", "--", "true"}, codeInput, "checksum"},
		{"no library", []string{"--trace", "t.csv", "--library", "none.so", "--", "true"}, codeInput, "tutti build runtime"},
		{"blank", []string{"--trace", "t.csv", "--library", blank, "--", "true"}, codeInput, "blank"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := runInside(t, nil, append([]string{"run"}, tc.args...)...)
			if code != tc.code || !strings.Contains(stdout+stderr, tc.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", code, tc.code, tc.want, stdout, stderr)
			}
		})
	}
}

// TestTraceLibrary checks that a library without a campaign is refused.
func TestTraceLibrary(t *testing.T) {
	_, stderr := mustTutti(t, codeUsage, "trace", "t.csv", "--library", "mpich")
	if want := "--library mpich: want --campaign FOLDER, too"; !strings.Contains(stderr, want) {
		t.Errorf("%s, want %q", stderr, want)
	}
}

// TestLiveRun traces a program and tunes for the calls that the program makes.
func TestLiveRun(t *testing.T) {
	t.Parallel()
	tc := testutil.MPICH
	program := testutil.BuildProgram(t, tc, testutil.CallsProgram)
	dir := t.TempDir()
	env := []string{"LD_PRELOAD=" + testutil.BuildProgram(t, tc, testutil.YieldLibrary)}
	campaigntest.Small(t, dir)
	library, trace := filepath.Join(dir, csource.Runtime.Name), filepath.Join(dir, "app.csv")
	if testutil.AllCases() {
		if code, _, stderr := runInside(t, nil, "build", "runtime", "--mpicc", tc.Compiler, "-o", library); code != codeDone {
			t.Fatalf("runtime build: exit code %d: %s", code, stderr)
		}
	} else {
		library = testutil.BuildProgram(t, tc, csource.Runtime) // other tests use it, too
	}
	code, stdout, stderr := runInside(t, env, "run", "--trace", trace, "--library", library, "--", tc.Launcher, "-n", "4", program, "3")
	if code != 3 {
		t.Fatalf("run: exit code %d, want the program's 3\n%s%s", code, stdout, stderr)
	}
	mustTutti(t, codeDone, "tune", "-c", filepath.Join(dir, "small.yaml"), "--set", "grid.trace=app.csv", "--set", "hpo.trials=0")
	for _, p := range reportOf(t, filepath.Join(dir, "out")).Problems {
		if p.Weights == nil || p.Weights.Points == 0 {
			t.Errorf("%s %s: weights %+v, want those of the trace", p.Library, p.Collective, p.Weights)
		}
	}
}

func TestRuntimeShow(t *testing.T) {
	table := libtutti.Table{Rules: []libtutti.Rule{
		{Scope: libtutti.Scope{Collective: coll.Allgather, Ranks: libtutti.Range{Low: 2, High: 16}, PPN: libtutti.Range{Low: 1, High: 1}, Bytes: libtutti.Range{High: 1024}}, Algorithm: coll.Algorithm{Name: "bruck"}},
		{Scope: libtutti.Scope{Collective: coll.Barrier, Ranks: libtutti.Range{Low: 8, High: 8}, PPN: libtutti.Range{Low: 1, High: 4}}, Algorithm: coll.Algorithm{Name: "linear"}},
	}}
	path := filepath.Join(t.TempDir(), "tutti.table")
	testutil.NoError(t, os.WriteFile(path, table.Bytes(), 0o666))
	want := path + `: table of libtutti; libtutti follows 2 rules
line  collective  algorithm  serves
────  ──────────  ─────────  ──────────────────────────────────────
   2  allgather   bruck      2 to 16 ranks, 1 per node, 0 to 1024 B
   3  barrier     linear     8 ranks, 1 to 4 per node, 0 B
`
	if stdout, _ := mustTutti(t, codeDone, "rules", "show", path); stdout != want {
		t.Errorf("shown\n%swant\n%s", stdout, want)
	}
	mustTutti(t, codeInput, "rules", "show", filepath.Join(path, "below a file"))
	testutil.NoError(t, os.WriteFile(path, nil, 0o666))
	if _, stderr := mustTutti(t, codeInput, "rules", "show", path); !strings.Contains(stderr, "it is empty") {
		t.Errorf("of no table: %s", stderr)
	}
}

// TestRuntimeJoin checks that a table that joins two tables, tuned for different orders of ranks, selects
// algorithms by the order of ranks.
func TestRuntimeJoin(t *testing.T) {
	dir := t.TempDir()
	all := libtutti.Range{Low: 1, High: 99}
	arg := func(order, algorithm string) string {
		table := libtutti.Table{Rules: []libtutti.Rule{{Scope: libtutti.Scope{Collective: coll.Bcast, Ranks: all, PPN: all, Bytes: all}, Algorithm: coll.Algorithm{Name: algorithm}}}}
		path := filepath.Join(dir, order+".table")
		testutil.NoError(t, os.WriteFile(path, table.Bytes(), 0o666))
		return order + "=" + path
	}
	block, cyclic, both := arg("block", "binomial"), arg("cyclic", "magpie"), filepath.Join(dir, "both.table")
	mustTutti(t, codeDone, "rules", "join", block, cyclic, "-o", both)
	table := testutil.Must(libtutti.Parse(readFile(t, both)))(t)
	for order, want := range map[coll.Order]string{coll.Block: "binomial", coll.Cyclic: "magpie"} {
		if got := table.Select(coll.Bcast, 8, 4, 64, order); got.Name != want {
			t.Errorf("%s ranks: %v, want %s", order, got, want)
		}
	}
	if stdout, _ := mustTutti(t, codeDone, "rules", "show", both); !strings.Contains(stdout, "cyclic") {
		t.Errorf("shown without the order:\n%s", stdout)
	}
	for want, args := range map[string][]string{
		"want one or two tables": {}, "want ORDER=TABLE": {block, "cyclic="}, `order "dealt": want block or cyclic`: {block, "dealt=x"},
	} {
		if _, stderr := mustTutti(t, codeUsage, append([]string{"rules", "join"}, args...)...); !strings.Contains(stderr, want) {
			t.Errorf("%q: %s, want %q", args, stderr, want)
		}
	}
	if _, stderr := mustTutti(t, codeInput, "rules", "join", block, "cyclic="+both); !strings.Contains(stderr, "has rules for an order") {
		t.Errorf("joined again: %s", stderr)
	}
	if _, stderr := mustTutti(t, codeInput, "online", "update", dir, "--base", both); !strings.Contains(stderr, "rules for orders of ranks") {
		t.Errorf("learning on top of it: %s", stderr)
	}
}
