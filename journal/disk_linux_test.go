package journal

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tutti/internal/testutil"
)

func TestFullDisk(t *testing.T) {
	dir := testutil.MountSmallDisk(t, "64k")
	if dir == "" {
		return
	}
	j, err := Create(dir, Header{})
	if err != nil {
		t.Fatal(err)
	}
	long := stopRecord
	long.Note = strings.Repeat("x", 1000)
	written := 0
	for err == nil {
		if err = j.Append(long); err == nil {
			written++
		}
		if written > 1000 {
			t.Fatal("the disk never fills")
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("Append on a full disk = %v, want %v", err, syscall.ENOSPC)
	}
	contents, err := Read(dir)
	if err != nil || contents.Records != written || len(contents.Warnings) != 0 {
		t.Errorf("Read: %d records (error %v), want %d and no warnings", contents.Records, err, written)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	filler := bytes.Repeat([]byte("x"), 64<<10)
	_ = os.WriteFile(filepath.Join(dir, "filler"), filler, 0o600) // fills the rest of the disk
	if _, _, err := Open(dir); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Open on a full disk = %v, want %v", err, syscall.ENOSPC)
	}
	if _, err := Create(filepath.Join(dir, "b"), Header{}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Create on a full disk = %v, want %v", err, syscall.ENOSPC)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	dir := newJournal(t)
	testutil.NoError(t, os.Chmod(dir, 0o555))
	defer os.Chmod(dir, 0o755)
	if os.Geteuid() != 0 {
		if _, _, err := Open(dir); !errors.Is(err, os.ErrPermission) {
			t.Errorf("Open = %v, want %v", err, os.ErrPermission)
		}
		if _, err := Read(dir); err != nil {
			t.Errorf("Read = %v, want the contents", err)
		}
		return
	}
	// File modes do not restrict the user root, so the test runs as another user.
	for parent := dir; len(parent) > len(os.TempDir()); parent = filepath.Dir(parent) {
		if parent != dir {
			testutil.NoError(t, os.Chmod(parent, 0o755))
		}
	}
	binary := filepath.Join(filepath.Dir(dir), "store.test")
	contents, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(binary, contents, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	const nobody = 65534 // the customary number of the user without permissions
	cmd := exec.Command(binary)
	cmd.Env = []string{holdEnv + "=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "permission denied") || !strings.Contains(string(out), dir) {
		t.Errorf("Open as another user says %q (%v), want permission denied and the folder", out, err)
	}
}
