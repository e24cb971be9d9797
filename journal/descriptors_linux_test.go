package journal

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"tutti/internal/testutil"
)

// useDescriptors opens files until the process has no free file descriptor. The returned function closes them.
func useDescriptors(t *testing.T) (release func()) {
	t.Helper()
	var before syscall.Rlimit
	testutil.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
	few := before
	few.Cur = 100
	testutil.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
	var files []*os.File
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		files = append(files, f)
	}
	release = sync.OnceFunc(func() {
		for _, f := range files {
			_ = f.Close()
		}
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before)
	})
	t.Cleanup(release)
	return release
}

// TestNoDescriptors checks that appending to a journal and closing it wait while the process has no free file
// descriptor.
func TestNoDescriptors(t *testing.T) {
	dir := t.TempDir()
	j := testutil.Must(Create(dir, Header{}))(t)
	for _, step := range []func() error{func() error { return j.Append(stopRecord) }, j.Close} {
		time.AfterFunc(100*time.Millisecond, useDescriptors(t))
		testutil.NoError(t, step())
	}
	if _, err := os.Lstat(filepath.Join(dir, LockName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock remains: %v", err)
	}
}

// TestPrivate checks that other users cannot read a private journal.
func TestPrivate(t *testing.T) {
	for private, want := range map[bool]os.FileMode{true: 0o600, false: 0o644} {
		dir := t.TempDir()
		testutil.NoError(t, testutil.Must(Create(dir, Header{Private: private}))(t).Close())
		about := testutil.Must(os.Stat(filepath.Join(dir, FileName)))(t)
		if got := about.Mode().Perm(); got&^want != 0 {
			t.Errorf("private %v: mode %04o, want %04o", private, got, want)
		}
	}
}
