package benchrunner_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/internal/testutil"
)

// loadedSystem is a module system that works: it lists the full names of the loaded modules, and returns an exit code.
const loadedSystem = `module() {
	case "$1 $2" in
	"load missing") return 1 ;;
	"load mpi") LOADEDMODULES=${LOADEDMODULES:+$LOADEDMODULES:}mpich/4.0.2 ;; # an alias
	load*/*) LOADEDMODULES=${LOADEDMODULES:+$LOADEDMODULES:}$2 ;;
	load*) LOADEDMODULES=${LOADEDMODULES:+$LOADEDMODULES:}$2/1.0 ;;
	*) return 1 ;;
	esac
}`

// TestLoadModules checks that LoadModules finds the shell function "module" by MODULESHOME, LMOD_PKG or
// BASH_ENV. A missing module must end the shell.
func TestLoadModules(t *testing.T) {
	dir := t.TempDir()
	testutil.NoError(t, os.Mkdir(filepath.Join(dir, "init"), 0o777))
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "init", "bash"), []byte(loadedSystem), 0o666))
	for _, env := range []string{"MODULESHOME=" + dir, "LMOD_PKG=" + dir, "BASH_ENV=" + dir + "/init/bash"} {
		out, err := runModules(benchrunner.LoadModules([]string{"a b", "missing", "c"}), env)
		if want := "module load missing did not work\n"; out != want || err == nil {
			t.Errorf("%s: %q, %v, want %q and an error", env, out, err, want)
		}
	}
}

func runModules(script string, environ ...string) (string, error) {
	cmd := exec.Command("bash", "-c", script+"\necho loaded")
	cmd.Env = environ
	out, err := cmd.Output()
	return string(out), err
}

// TestLoadModulesWithoutStatus checks module systems whose exit code says nothing, as that of Modules 3.2: the shell
// must end unless LOADEDMODULES lists the module.
func TestLoadModulesWithoutStatus(t *testing.T) {
	const always0 = `module() { if [ "$1" = load ]; then LOADEDMODULES=$LIST; fi; echo "ERROR:105: Unable to locate a modulefile for '$2'" >&2; }`
	const list = `module() { case $1 in load) LOADEDMODULES=$LIST ;; is-loaded) [ "$2" = "$IS" ] ;; *) false ;; esac; }`
	tests := []struct {
		name, system, module, loaded, isLoaded string
		want                                   bool
	}{
		{"no such module", always0, "mpich/9.9-site", "", "", false},
		{"another version is loaded", always0, "mpich/9.9", "gcc/12:mpich/4.0.2", "", false},
		{"a name that begins alike", always0, "mpich", "mpich-ofi/4.0.2", "", false},
		{"a version that begins alike", always0, "gcc/1", "gcc/12", "", false},
		{"only a module that it needs", always0, "mpich", "gcc/12", "", false},
		{"the full name", always0, "mpich/4.0.2", "gcc/12:mpich/4.0.2", "", true},
		{"the default version", always0, "mpich", "mpich/4.0.2:ucx/1.13", "", true},
		{"a name with folders", always0, "mpi/mpich", "mpi/mpich/4.0.2", "", true},
		{"a final slash", always0, "mpich/", "mpich/4.0.2", "", true},
		{"an alias that is-loaded knows", list, "mpi", "mpich/4.0.2", "mpi", true},
		{"an alias, without an answer of is-loaded", list, "mpi", "mpich/4.0.2", "", true},
		{"not loaded, as is-loaded says", list, "mpich/9.9", "", "", false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			out, err := runModules(tc.system+"\n"+benchrunner.LoadModules([]string{tc.module}), "LIST="+tc.loaded, "IS="+tc.isLoaded)
			if got := err == nil && strings.HasSuffix(out, "loaded\n"); got != tc.want {
				t.Errorf("loaded %t, want %t: %v\n%s", got, tc.want, err, out)
			}
			if !tc.want && !strings.Contains(out, "module load "+tc.module+" reported no error, but the module is not loaded") {
				t.Errorf("output %q, want one that names the module", out)
			}
		})
	}
}
