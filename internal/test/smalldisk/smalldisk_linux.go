// Package smalldisk gives a test a small file system of its own, to fill it or to
// make it read-only. It is imported by tests alone.
//
//	func TestFullDisk(t *testing.T) {
//		disk := smalldisk.Mount(t, "64k")
//		if disk == "" {
//			return // the test ran in a namespace of its own
//		}
//		...
//	}
package smalldisk

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"tutti/internal/test/need"
)

// inside is set for a test that runs again where it may mount.
const inside = "TUTTI_SMALLDISK"

// Mount returns the folder of a file system of the given size, as tmpfs takes it;
// it goes with the test. Where the user may not mount, the whole test runs once more
// in a user and mount namespace of its own, its outcome becomes that of this test,
// and Mount returns "": the caller returns. Where that is forbidden, too, the test is
// skipped.
func Mount(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size)
	if err == nil {
		t.Cleanup(func() {
			// What another test starts meanwhile may hold it for an instant longer.
			if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		return dir
	}
	if os.Getenv(inside) == "" {
		var out []byte
		if out, err = again(t); err == nil {
			t.Logf("in a namespace of its own:\n%s", out)
			return ""
		}
		if _, ran := err.(*exec.ExitError); ran {
			t.Fatalf("in a namespace of its own: %v\n%s", err, out)
		}
	}
	need.Disk.Missing(t, "cannot mount a small file system: %v", err)
	return ""
}

// again runs the test as root of new namespaces.
func again(t *testing.T) ([]byte, error) {
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	return cmd.CombinedOutput()
}

// Remount changes the flags and options of the file system in a folder that Mount
// returned.
func Remount(t *testing.T, dir string, flags uintptr, options string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, options); err != nil {
		t.Fatal(err)
	}
}
