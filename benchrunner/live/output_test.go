package live_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/mpi"
)

// noisy makes the fake program print 20 MiB to each output before or after its results.
func noisy(t *testing.T, p fakeProgram, after bool) {
	t.Helper()
	const line = "$(printf %1023s)"
	noise := "yes \"" + line + "\" | head -c 20971520; echo\nyes \"" + line + "\" | head -c 20971520 >&2\n"
	text := strings.Replace(fakeText, "shift\n", "shift\n"+noise, 1)
	if after {
		text = strings.Replace(fakeText, "\tcrash)", "\tnoise) echo case $number; "+strings.ReplaceAll(noise, "\n", "; ")+"exit 0 ;;\n\tcrash)", 1)
	}
	testutil.NoError(t, testutil.WriteExecutable(p.path, text))
}

// TestLongOutputs checks that only the beginning and the end of long outputs are kept, that results at the end of an
// output count, and that a failed trial says that its output is not whole.
func TestLongOutputs(t *testing.T) {
	testutil.SkipShort(t)
	dir := t.TempDir()
	o := options(t, dir, localScheduler(t))
	p := oneCaseProgram(o)
	o.Program = p
	noisy(t, p, false)
	log := runBatch(t, machine(t, o), batchOf(at(1, 1, "a"), at(1, 2, "b")))
	checkDone(t, log, 2, 2)
	files := testutil.Must(filepath.Glob(filepath.Join(dir, "jobs", "*", "[12]", "std*")))(t)
	if len(files) != 8 {
		t.Errorf("%d files of outputs, want 8: %q", len(files), files)
	}
	for _, path := range files {
		want := map[string]int64{"stdout": 16 << 20, "stderr": 4 << 20, "stdout.last": 64 << 10, "stderr.last": 64 << 10}[filepath.Base(path)]
		if size := testutil.Must(os.Stat(path))(t).Size(); size != want {
			t.Errorf("%s has %d bytes, want %d", path, size, want)
		}
	}
	noisy(t, p, true)
	log = runBatch(t, machine(t, o), batchOf(at(1, 1, "noise")))
	checkDone(t, log, 1, 0)
	for _, trial := range log.trials {
		if want := "of its standard output only the first 16 MiB and the last 64 KiB are kept; of its standard error"; !strings.Contains(trial.Error, want) {
			t.Errorf("%+v, want %q", trial, want)
		}
	}
}

// TestVariablesAreHidden checks that other users of a node cannot read the values of environment variables.
func TestVariablesAreHidden(t *testing.T) {
	testutil.SkipShort(t)
	const secret = "s3cr3t of $(the) 'site'"
	dir := t.TempDir()
	o := options(t, dir, localScheduler(t))
	o.Env = []mpi.Var{{Name: "SITE_TOKEN", Value: secret}, {Name: "IFS", Value: ":"}}
	p := oneCaseProgram(o)
	o.Program = p
	seen := filepath.Join(dir, "seen")
	look := "shift\nprintf '%s' \"$SITE_TOKEN\" >'" + seen + "'\ncat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' >'" + seen + ".commands'\n"
	testutil.NoError(t, testutil.WriteExecutable(p.path, strings.Replace(fakeText, "shift\n", look, 1)))
	checkDone(t, runBatch(t, machine(t, o), batchOf(at(1, 1, "a"))), 1, 1)
	if got := string(testutil.Must(os.ReadFile(seen))(t)); got != secret {
		t.Errorf("the program sees %q, want %q", got, secret)
	}
	if commands := string(testutil.Must(os.ReadFile(seen + ".commands"))(t)); !strings.Contains(commands, p.path) || strings.Contains(commands, "s3cr3t") {
		t.Errorf("arguments of commands have the value, or not the program:\n%.2000s", commands)
	}
	for _, path := range testutil.Must(filepath.Glob(filepath.Join(dir, "jobs", "*", "1", "variables")))(t) {
		if mode := testutil.Must(os.Stat(path))(t).Mode(); mode != 0o600 {
			t.Errorf("%s has the mode %v", path, mode)
		}
	}
}
