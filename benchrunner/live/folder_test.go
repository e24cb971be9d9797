package live

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/internal/testutil"
)

func TestParseFields(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		complete   bool
		since      float64
	}{
		{name: "as written", text: "exit 0\nbegin 100.00\nend 100.25\nwhole\n", complete: true, since: 0.25},
		{name: "no end", text: "begin 100.00\nwhole\n", complete: true},
		{name: "no beginning", text: "end 100.25\nwhole\n", complete: true},
		{name: "the machine booted in between", text: "begin 1000\nend 3\nwhole\n", complete: true},
		{name: "nothing", text: ""},
		{name: "cut short", text: "exit 0\nbegin 100.00\n"},
		{name: "cut in a word", text: "exit 0\nbegin 100.00\nwhol"},
		{name: "a word that ends like one", text: "exit 0 unwhole\n"},
		{name: "no numbers", text: "begin soon\nend NaN Inf\nwhole\n", complete: true},
	} {
		f, complete := parseFields([]byte(tc.text))
		if complete != tc.complete || math.Abs(f.since()-tc.since) > 1e-9 {
			t.Errorf("%s: whole %t, %g s; want %t, %g s", tc.name, complete, f.since(), tc.complete, tc.since)
		}
	}
}

func FuzzParseFields(f *testing.F) {
	f.Add([]byte("exit 0\nbegin 100.00\nend 100.25\nstdout 3\nwhole\n"))
	f.Add([]byte("node a\nnode b\ncpu \xff\nwhole\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		fields, ok := parseFields(text)
		if d := fields.since(); !(d >= 0) || math.IsInf(d, 0) {
			t.Errorf("%q lasts %g s", text, d)
		}
		if ok && !strings.HasSuffix(string(text), "whole\n") {
			t.Errorf("%q is whole", text)
		}
		if len(text) > 0 {
			if _, ok := parseFields(text[:len(text)-1]); ok && text[len(text)-1] == '\n' {
				t.Errorf("%q without its last byte is whole", text)
			}
		}
	})
}

// TestCompleteOutput checks that output counts as complete only when all bytes that the script reports are
// visible.
func TestCompleteOutput(t *testing.T) {
	dir := t.TempDir()
	launches := []launch{{}}
	put := func(name, text string) {
		t.Helper()
		testutil.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
		if name != "1/stdout" && completeOutput(dir, launches) {
			t.Errorf("complete after %s", name)
		}
	}
	put("1/stderr", "")
	put("1/end", "stdout 5\nstderr 0\nwhole\n")
	put("end", "begin 1\nend")
	put("end", "begin 1\nend 2\nwhole\n")
	put("1/stdout", "abc")
	if completeOutput(dir, launches) {
		t.Error("complete with output that is short of what was written")
	}
	put("1/stdout", "abcde")
	if !completeOutput(dir, launches) {
		t.Error("not complete with everything there")
	}
}

// TestReadLaunch checks which launches (runs of the program) count as timed out. A launch counts only if it
// also ran for its time limit, because a program may itself return the exit codes of timeout(1).
func TestReadLaunch(t *testing.T) {
	for _, tc := range []struct {
		end      string
		timedOut bool
	}{
		{"exit 124\nbegin 10\nend 12\nwhole\n", true},
		{"exit 137\nbegin 10\nend 22\nwhole\n", true},
		{"exit 124\nbegin 10\nend 11\nwhole\n", false},
		{"exit 0\nbegin 10\nend 12\nwhole\n", false},
	} {
		dir := t.TempDir()
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, "end"), []byte(tc.end), 0o666))
		if s := (&folder{dir: dir}).launch(".", 2*time.Second); !s.Ended || !s.begun || s.TimedOut != tc.timedOut {
			t.Errorf("%q: %+v, want timed out %t", tc.end, s, tc.timedOut)
		}
	}
	// Without an end file, a launch counts as running until its last write, but no longer than its time
	// limit.
	dir := t.TempDir()
	began := time.Now().Add(-time.Hour)
	for name, at := range map[string]time.Time{"begin": began, "stdout": began.Add(3 * time.Second)} {
		path := filepath.Join(dir, name)
		testutil.NoError(t, errors.Join(os.WriteFile(path, nil, 0o666), os.Chtimes(path, at, at)))
	}
	for limit, want := range map[time.Duration]time.Duration{time.Minute: 3 * time.Second, time.Second: time.Second} {
		if s := (&folder{dir: dir}).launch(".", limit); s.Ended || !s.begun || s.Wall != want {
			t.Errorf("cut off: %+v, want %v", s, want)
		}
	}
}

// TestFolderWithPipes checks that pipes and folders that a benchmark creates instead of a launch's files are not read: reading
// a pipe might never end.
func TestFolderWithPipes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"end", "begin", "stdout", "stdout.last", planFile} {
		testutil.NoError(t, syscall.Mkfifo(filepath.Join(dir, name), 0o666))
	}
	testutil.NoError(t, os.Mkdir(filepath.Join(dir, "stderr"), 0o777))
	f := &folder{dir: dir}
	if s := f.launch(".", time.Second); s.Ended || len(s.Stdout)+len(s.Stderr) > 0 || f.err != nil {
		t.Errorf("%+v, %v: want a launch without results", s, f.err)
	}
	if got := f.plan(); got != nil {
		t.Errorf("plan %v of a named pipe", got)
	}
}

// TestMakeFolder checks that a folder is created with all its files or not at all, and that
// its plan can be read back.
func TestMakeFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "jobs", "name")
	a := caseAt(3, 2, 8, "a")
	j := job{files: map[string][]byte{"job.sh": []byte("x"), "1/input": []byte("y")}, launches: []launch{{
		Launch: benchrunner.Launch{Layout: a.Layout(), Dir: dir + "/1", Cases: []benchrunner.Case{a.Case}}, Requests: []int{3}, Limit: time.Second,
	}}}
	testutil.NoError(t, makeFolder(dir, j))
	if got := (&folder{dir: dir}).plan(); len(got) != 1 || got[0].Cases[0].Candidate != a.Candidate || !slices.Equal(got[0].Requests, []int{3}) || got[0].Limit != time.Second || got[0].Layout != a.Layout() {
		t.Errorf("plan %+v, want what was written", got)
	}
	if err := makeFolder(dir, j); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
	j.files = map[string][]byte{"no/such/folder": nil}
	if err := makeFolder(dir+"2", j); err == nil {
		t.Error("no error for a file without its folder")
	}
	left, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v are left, want one folder", left, err)
	}
}
