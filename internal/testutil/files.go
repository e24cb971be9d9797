package testutil

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// CheckGolden compares `got` with the file `name` in testdata, and fails the test if they differ. With the flag
// -update it first writes `got` to this file.
func CheckGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, got, 0o666)))
	}
	want := Must(os.ReadFile(path))(t)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// temporary matches the folder that a call of t.TempDir returns.
var temporary = regexp.MustCompile(regexp.QuoteMeta(filepath.Clean(os.TempDir())) + `/[^/\s]+/\d{3}`)

// GoldenErrors returns a function that collects the error of each bad input of a test. The function fails the
// test if err is nil or does not match all kinds. At the end of the test, the messages, sorted by
// input, must equal the file testdata/NAME.errors, where NAME is the test's name; -update writes it. DIR stands
// for temporary folders.
func GoldenErrors(t *testing.T) func(input string, err error, kinds ...error) {
	t.Helper()
	var entries []string
	t.Cleanup(func() {
		slices.Sort(entries)
		CheckGolden(t, t.Name()+".errors", []byte(strings.Join(entries, "")))
	})
	return func(input string, err error, kinds ...error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s: want an error", input)
		}
		for _, kind := range kinds {
			if !errors.Is(err, kind) {
				t.Errorf("%s: error %v, want %v", input, err, kind)
			}
		}
		entries = append(entries, temporary.ReplaceAllString(fmt.Sprintf("%s: %v\n", input, err), "DIR"))
	}
}

// Root returns the folder of the repository. The working directory must be inside it.
func Root(t testing.TB) string {
	t.Helper()
	for dir := Must(os.Getwd())(t); dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("no go.mod above the working directory")
	return ""
}

// WriteExecutable creates or replaces an executable text file, and the folders above it.
//
// It prevents the error "text file busy": the system refuses to run a file that is open for writing. A child process
// that starts meanwhile would inherit the open file. So this process starts no other process during the write. A
// program that still runs the old file is not affected.
func WriteExecutable(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path+".new", []byte(text), 0o777); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Must returns the value of a call, and fails the test if the call returned an error:
//
//	table := testutil.Must(preprocess.ReadTable(path))(t)
func Must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		NoError(t, err)
		return value
	}
}

// NoError fails the test if err is not nil.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
