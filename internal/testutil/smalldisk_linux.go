package testutil

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// insideNamespace is an environment variable. It marks a test process that runs again in a namespace, in
// which it may mount file systems.
const insideNamespace = "TUTTI_SMALLDISK"

// MountSmallDisk mounts a tmpfs of the given size (as tmpfs writes sizes) and returns its
// folder. The file system is unmounted when the test ends.
//
// If the user may not mount, the whole test runs again in its own user and mount
// namespace, and MountSmallDisk returns "": the caller must return at once, and the test
// has the outcome of that run. If namespaces are forbidden as well, the test is skipped.
//
//	disk := testutil.MountSmallDisk(t, "64k")
//	if disk == "" {
//		return
//	}
func MountSmallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size)
	if err == nil {
		t.Cleanup(func() {
			// A process that another test started may still use the mount, and a normal unmount would then
			// fail. A detached mount ends when that process closes it.
			if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		return dir
	}
	if os.Getenv(insideNamespace) == "" {
		var out []byte
		if out, err = runInNamespace(t); err == nil {
			t.Logf("in a new namespace:\n%s", out)
			return ""
		}
		if _, ran := err.(*exec.ExitError); ran {
			t.Fatalf("in a new namespace: %v\n%s", err, out)
		}
	}
	NeedDisk.Missing(t, "cannot mount a small file system: %v: needs root", err)
	return ""
}

// runInNamespace runs the test as root of new namespaces and returns its output.
func runInNamespace(t *testing.T) ([]byte, error) {
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), insideNamespace+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	return cmd.CombinedOutput()
}
