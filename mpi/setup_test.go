package mpi_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
)

func layout(nodes, ppn int) coll.Layout { return coll.Layout{Nodes: nodes, PPN: ppn} }

// hostile holds values that need careful quoting in shells and in Tcl.
var hostile = []string{
	"", "plain", "a b", "it's", `"quoted"`, "$HOME ${HOME}", "`id`", "$(id)", `back\slash\`, `[exec id]`, "{", "}", "}{", ";id", "*)", "#no comment",
	"esac", "a'\\''b", "~", "%s%n", `\n`, "-n", "&& id",
}

func withLayouts() mpi.Setup {
	return mpi.Setup{
		Remarks: []string{"rules of a test", "not tried"},
		Settings: []mpi.Setting{
			{Name: "TUTTI_FILE", Value: "/common"}, {Name: "TUTTI_ON", Value: "1"}},
		Layouts: []mpi.LayoutSettings{
			{Layout: layout(2, 4), Settings: []mpi.Setting{{Name: "TUTTI_FILE", Value: "/a b's $x/2x4"}, {Name: "TUTTI_ON", Value: "1"}}},
			{Layout: layout(1, 8), Settings: []mpi.Setting{{Name: "TUTTI_FILE", Value: "/1x8"}}},
		},
	}
}

func TestSetupGolden(t *testing.T) {
	s := withLayouts()
	shell := testutil.Must(s.Shell())(t)
	testutil.CheckGolden(t, "layouts.env", shell)
	module := testutil.Must(s.Module("settings of a test"))(t)
	testutil.CheckGolden(t, "layouts.module", module)
}

// TestSetupWarns checks that a job with another order of ranks than the tuned one prints one warning and still gets
// its settings. Other jobs must print no warning.
func TestSetupWarns(t *testing.T) {
	s := mpi.Setup{Settings: []mpi.Setting{{Name: "TUTTI_FILE", Value: "/common"}}, Order: coll.Block}
	shell := testutil.Must(s.Shell())(t)
	module := testutil.Must(s.Module("test"))(t)
	path := write(t, shell)
	for _, tc := range []struct {
		order string // SLURM_DISTRIBUTION of the job
		warns int
	}{{"", 0}, {"block", 0}, {"block:cyclic,Pack", 0}, {"cyclic", 1}, {"plane=4", 1}, {"'; id; '", 1}} {
		var env []string
		if tc.order != "" {
			env = []string{"SLURM_DISTRIBUTION=" + tc.order}
		}
		for _, name := range interpreters(t) {
			cmd := exec.Command(name, "-c", `set -eu; . "$1"; echo "$TUTTI_FILE"`, "sh", path)
			checkWarning(t, cmd, env, tc.warns)
		}
		tcl, err := exec.LookPath("tclsh")
		if err != nil {
			continue // tests of modules report the missing tclsh
		}
		script := "proc setenv {name value} { puts $value }\nproc module-whatis {args} {}\nproc module-info {args} { return 1 }\nsource [lindex $argv 0]"
		checkWarning(t, exec.Command(tcl, write(t, []byte(script)), write(t, module)), env, tc.warns)
	}
}

// TestSetupFiles checks settings whose files were moved, deleted or emptied. Snippets and modules must then set
// nothing and print a warning. A module that is unloaded must remove what it set.
func TestSetupFiles(t *testing.T) {
	dir := t.TempDir()
	gone := filepath.Join(dir, hostile[3]+"$x` [id] {")
	s := mpi.Setup{Settings: []mpi.Setting{{Name: "TUTTI_ON", Value: "1"}, {Name: "TUTTI_A", Value: dir}, {Name: "TUTTI_B", Value: gone}}, Files: []string{"TUTTI_A", "TUTTI_B"}}
	snippet := write(t, testutil.Must(s.Shell())(t))
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "tutti"), testutil.Must(s.Module("test"))(t), 0o666))
	commands := map[string]string{}
	for _, name := range interpreters(t) {
		commands[name] = `exec "` + name + `" -euc '. "$0"; echo "${TUTTI_ON-} ${TUTTI_B-}"' "$SNIPPET"`
	}
	for name, command := range moduleCommands(t) {
		run := strings.Join(command, " ")
		commands[name] = `eval "$(` + run + ` load tutti)"; echo "${TUTTI_ON-} ${TUTTI_B-}"; rm -f "$TUTTI_B"; eval "$(` + run + ` unload tutti)"; [ -z "${TUTTI_ON-}" ]`
	}
	for name, command := range commands {
		for content, usable := range map[string]bool{"rules": true, "": false, "none": false} {
			want := " \n"
			if usable {
				want = "1 " + gone + "\n"
			}
			testutil.NoError(t, os.WriteFile(gone, []byte(content), 0o666))
			if content == "none" {
				testutil.NoError(t, os.Remove(gone))
			}
			cmd := exec.Command("sh", "-c", command)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8", "MODULEPATH=" + dir, "SNIPPET=" + snippet, "TUTTI_B="}
			var said bytes.Buffer
			cmd.Stderr = &said
			out, err := cmd.Output()
			if err != nil || string(out) != want || strings.Contains(said.String(), "a file is missing, empty or not readable:\n"+dir+"\n"+gone+"\n") == usable {
				t.Errorf("%s, content %q: %v, %q, warning %q, want %q", name, content, err, out, &said, want)
			}
		}
	}
}

func checkWarning(t *testing.T, cmd *exec.Cmd, env []string, warns int) {
	t.Helper()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	want := strings.Repeat("tutti: these settings hold for ranks in block order, this job has another one (SLURM_DISTRIBUTION)\n", warns)
	if err != nil || string(out) != "/common\n" || stderr.String() != want {
		t.Errorf("%v %q: %v, settings %q, warning %q; want %q", cmd.Args[0], env, err, out, &stderr, want)
	}
}

// interpreters returns the POSIX shells on this machine.
func interpreters(t *testing.T) []string {
	var out []string
	for _, name := range []string{"sh", "bash", "dash", "ksh", "zsh"} {
		if path, err := exec.LookPath(name); err == nil {
			out = append(out, path)
		}
	}
	if len(out) == 0 {
		t.Fatal("no shell")
	}
	return out
}

// source runs a snippet in a shell and returns the values of some variables afterwards. For an unset
// variable it returns "-".
func source(t *testing.T, shell, file string, env []string, names ...string) []string {
	t.Helper()
	script := `set -eu; . "$1"; shift; for n in "$@"; do eval "printf '%s\0' \"\${$n--}\""; done`
	cmd := exec.Command(shell, append([]string{"-c", script, "sh", file}, names...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", shell, err, &stderr)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

func write(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a b's $HOME")
	testutil.NoError(t, os.WriteFile(path, text, 0o666))
	return path
}

func TestShellSurvivesHostileValues(t *testing.T) {
	var s mpi.Setup
	var names []string
	values := append([]string{"two\nlines\n", "tab\there", "\xff\xfe", "é ü 漢"}, hostile...)
	for i, v := range values {
		names = append(names, fmt.Sprintf("TUTTI_%d", i))
		s.Settings = append(s.Settings, mpi.Setting{Name: names[i], Value: v})
	}
	text := testutil.Must(s.Shell())(t)
	path := write(t, text)
	for _, shell := range interpreters(t) {
		if d := cmp.Diff(values, source(t, shell, path, nil, names...)); d != "" {
			t.Errorf("%s: %s", shell, d)
		}
	}
}

// slurm lists environments of Slurm jobs, with the settings that must apply in each of them.
var slurm = []struct {
	name string
	env  []string
	want []string // TUTTI_FILE, TUTTI_ON
}{
	{"no job", nil, []string{"/common", "1"}},
	{"asked for", []string{"SLURM_JOB_NUM_NODES=2", "SLURM_NTASKS_PER_NODE=4", "SLURM_TASKS_PER_NODE=4(x2)"}, []string{"/a b's $x/2x4", "1"}},
	{"found out", []string{"SLURM_JOB_NUM_NODES=2", "SLURM_TASKS_PER_NODE=4(x2)"}, []string{"/a b's $x/2x4", "1"}},
	{"one node", []string{"SLURM_JOB_NUM_NODES=1", "SLURM_TASKS_PER_NODE=8"}, []string{"/1x8", "-"}},
	{"one node again", []string{"SLURM_JOB_NUM_NODES=1", "SLURM_TASKS_PER_NODE=8", "TUTTI_ON=stale"}, []string{"/1x8", "-"}},
	{"nodes differ", []string{"SLURM_JOB_NUM_NODES=2", "SLURM_TASKS_PER_NODE=4,3"}, []string{"/common", "1"}},
	{"another layout", []string{"SLURM_JOB_NUM_NODES=4", "SLURM_NTASKS_PER_NODE=4"}, []string{"/common", "1"}},
	{"hostile", []string{"SLURM_JOB_NUM_NODES=2x4", "SLURM_NTASKS_PER_NODE=*) $(id >&2)"}, []string{"/common", "1"}},
	{"half", []string{"SLURM_JOB_NUM_NODES=2"}, []string{"/common", "1"}},
}

func TestShellFindsTheLayout(t *testing.T) {
	text := testutil.Must(withLayouts().Shell())(t)
	path := write(t, text)
	for _, tc := range slurm {
		for _, shell := range interpreters(t) {
			if d := cmp.Diff(tc.want, source(t, shell, path, tc.env, "TUTTI_FILE", "TUTTI_ON")); d != "" {
				t.Errorf("%s, %s: %s", tc.name, shell, d)
			}
		}
	}
}

// tclsh runs a module file in plain Tcl, with a definition of the command setenv. It returns the values of the
// named variables afterwards.
func tclsh(t *testing.T, module []byte, env []string, names ...string) []string {
	t.Helper()
	shell, err := exec.LookPath("tclsh")
	if err != nil {
		testutil.NeedModules.Missing(t, "%v: needs apt-get install tcl", err)
	}
	script := `proc setenv {name value} { set ::env($name) $value }
proc module-whatis {args} {}
source [lindex $argv 0]
foreach n [lrange $argv 1 end] { puts -nonewline "[expr {[info exists ::env($n)] ? $::env($n) : "-"}]\0" }`
	cmd := exec.Command(shell, append([]string{write(t, []byte(script)), write(t, module)}, names...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}, env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tclsh: %v: %s", err, &stderr)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

func TestModuleSurvivesHostileValues(t *testing.T) {
	var s, blocks mpi.Setup
	var names []string
	for i, v := range hostile {
		names = append(names, fmt.Sprintf("TUTTI_%d", i))
		s.Settings = append(s.Settings, mpi.Setting{Name: names[i], Value: v})
		s.Remarks = append(s.Remarks, v)
	}
	blocks = s
	blocks.Layouts = []mpi.LayoutSettings{{Layout: layout(2, 2), Settings: s.Settings}}
	for _, setup := range []mpi.Setup{s, blocks} {
		module := testutil.Must(setup.Module(`it's "a" [test] $x {`))(t)
		if d := cmp.Diff(hostile, tclsh(t, module, nil, names...)); d != "" {
			t.Error(d)
		}
	}
}

func TestModuleFindsTheLayout(t *testing.T) {
	module := testutil.Must(withLayouts().Module("test"))(t)
	for _, tc := range slurm {
		if strings.HasSuffix(tc.name, "again") {
			continue // unloading a module removes its variables
		}
		if d := cmp.Diff(tc.want, tclsh(t, module, tc.env, "TUTTI_FILE", "TUTTI_ON")); d != "" {
			t.Errorf("%s: %s", tc.name, d)
		}
	}
}

func TestSetupErrors(t *testing.T) {
	one := func(name, value string) mpi.Setup {
		return mpi.Setup{Settings: []mpi.Setting{{Name: name, Value: value}}}
	}
	twice := mpi.Setup{Layouts: []mpi.LayoutSettings{{Layout: layout(1, 2)}, {Layout: layout(1, 2)}}}
	tests := []struct {
		name          string
		setup         mpi.Setup
		shell, module bool // whether Shell and Module must return an error
	}{
		{"fine", one("A", "b"), false, false},
		{"name", one("A B", "c"), true, true},
		{"no name", one("", "c"), true, true},
		{"command as name", one("A;id", "c"), true, true},
		{"NUL", one("A", "a\x00b"), true, true},
		{"line break", one("A", "a\nb"), false, true},
		{"not text", one("A", "\xff"), false, true},
		{"not ASCII", one("A", "é"), false, true},
		{"remark", mpi.Setup{Remarks: []string{"a\nid"}}, true, true},
		{"layout twice", twice, true, true},
		{"variable twice", mpi.Setup{Settings: []mpi.Setting{{Name: "A"}, {Name: "A"}}}, true, true},
	}
	for _, tc := range tests {
		_, err := tc.setup.Shell()
		if errors.Is(err, mpi.ErrSetup) != tc.shell {
			t.Errorf("%s: Shell: %v", tc.name, err)
		}
		_, err = tc.setup.Module("test")
		if errors.Is(err, mpi.ErrSetup) != tc.module {
			t.Errorf("%s: Module: %v", tc.name, err)
		}
	}
	if _, err := one("A", "b").Module("two\nlines"); !errors.Is(err, mpi.ErrSetup) {
		t.Errorf("about of two lines: %v", err)
	}
}

func ExampleSetup_Shell() {
	s := mpi.Setup{
		Remarks:  []string{"settings of MPICH"},
		Settings: []mpi.Setting{{Name: "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", Value: "/my files/mpich.json"}},
	}
	text, err := s.Shell()
	fmt.Printf("%s%v", text, err)
	// Output:
	// # settings of MPICH
	// export MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE='/my files/mpich.json'
	// <nil>
}

// moduleCommands returns the module systems that this machine has. Each is a command that prints shell text
// for "load NAME".
func moduleCommands(t *testing.T) map[string][]string {
	out := map[string][]string{}
	lmod := "/usr/share/lmod/lmod/libexec/lmod"
	if _, err := os.Stat(lmod); err == nil {
		out["Lmod"] = []string{lmod, "sh"}
	}
	for _, pattern := range []string{"/usr/lib/*/modulecmd.tcl", "/usr/share/Modules/libexec/modulecmd.tcl"} {
		if paths, err := filepath.Glob(pattern); err == nil && len(paths) > 0 {
			out["Environment Modules"] = []string{"tclsh", paths[0], "sh"}
		}
	}
	if len(out) == 0 {
		testutil.NeedModules.Missing(t, "no module system: needs apt-get install environment-modules")
	}
	return out
}

// TestRealModules checks that the installed module systems can load values with special characters, and the
// settings of a layout.
func TestRealModules(t *testing.T) {
	s := mpi.Setup{Settings: []mpi.Setting{{Name: "TUTTI_0", Value: "everybody"}}, Order: coll.Block}
	own := mpi.LayoutSettings{Layout: layout(2, 4)}
	var names []string
	for i, v := range hostile {
		names = append(names, fmt.Sprintf("TUTTI_%d", i))
		own.Settings = append(own.Settings, mpi.Setting{Name: names[i], Value: v})
	}
	s.Layouts = append(s.Layouts, own)
	module := testutil.Must(s.Module("test"))(t)
	dir := t.TempDir()
	testutil.NoError(t, os.MkdirAll(filepath.Join(dir, "tutti-test"), 0o777))
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "tutti-test", "1"), module, 0o666))
	for name, command := range moduleCommands(t) {
		for _, job := range []bool{true, false} {
			cmd := exec.Command(command[0], append(command[1:], "load", "tutti-test/1")...)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8", "MODULEPATH=" + dir}
			want := append([]string{"everybody"}, strings.Split(strings.Repeat("-", len(hostile)-1), "")...)
			var said bytes.Buffer
			cmd.Stderr = &said
			if job {
				cmd.Env = append(cmd.Env, "SLURM_DISTRIBUTION=cyclic", "SLURM_JOB_NUM_NODES=2", "SLURM_TASKS_PER_NODE=4(x2)")
				want = hostile
			}
			text, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if warned := strings.Contains(said.String(), "ranks in block order"); warned != job {
				t.Errorf("%s, in a job of another order %t: it says %q", name, job, &said)
			}
			// Values that contain shell syntax must not change on their way through the shell.
			got := source(t, "/bin/sh", write(t, text), []string{"LC_ALL=C.UTF-8"}, names...)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, in a job %t: %s", name, job, d)
			}
		}
	}
}
