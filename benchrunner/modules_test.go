package benchrunner_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tutti/benchrunner"
	"tutti/internal/testutil"
)

// TestLoadModules checks that LoadModules finds the shell function "module" by MODULESHOME, LMOD_PKG or
// BASH_ENV. A missing module must end the shell.
func TestLoadModules(t *testing.T) {
	dir := t.TempDir()
	testutil.NoError(t, os.Mkdir(filepath.Join(dir, "init"), 0o777))
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "init", "bash"), []byte(`module() { echo "$*"; [ "$2" != missing ]; }`), 0o666))
	for _, env := range []string{"MODULESHOME=" + dir, "LMOD_PKG=" + dir, "BASH_ENV=" + dir + "/init/bash"} {
		cmd := exec.Command("bash", "-c", benchrunner.LoadModules([]string{"a b", "missing", "c"}))
		cmd.Env = []string{env}
		out, err := cmd.Output()
		want := "load a b\nload missing\nmodule load missing did not work\n"
		if string(out) != want || err == nil {
			t.Errorf("%s: %q, %v, want %q and an error", env, out, err, want)
		}
	}
}
