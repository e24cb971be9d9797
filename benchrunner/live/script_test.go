package live_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
)

type words struct {
	fakeProgram
	cmd benchrunner.Command
}

func (w words) Command(benchrunner.Launch) (benchrunner.Command, error) { return w.cmd, nil }

// nasty lists texts that a shell would interpret if they were not quoted.
var nasty = []string{
	"'", `"`, `\`, "$(touch pwned)", "`touch pwned`", "${HOME}", "$((1/0))", " ", "\t", "\n", ";", "&", "|", "<", ">", "(", ")", "{a,b}", "*", "?", "[a]",
	"~", "#", "!", "-n", "--", "=", "A=b", "ü", "\x80\xff", "\r", "\x1b[0m", "", "%s", `\n`, "EOF", "whole", "$'\\x41'", "a",
}

func nastyWord(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(5) {
		b.WriteString(nasty[rng.IntN(len(nasty))])
	}
	return strings.ToValidUTF8(b.String(), "") // the parser of these tests needs valid UTF-8, bash does not
}

// planOne plans a batch of one request and returns its only job.
func planOne(t *testing.T, o live.Options) live.Planned {
	t.Helper()
	planned, err := machine(t, o).Plan(context.Background(), batchOf(at(1, 1, "a")))
	if err != nil || len(planned) != 1 {
		t.Fatalf("%d jobs, %v", len(planned), err)
	}
	return planned[0]
}

func parse(t *testing.T, script string) *syntax.File {
	t.Helper()
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "job.sh")
	if err != nil {
		t.Fatalf("%v:\n%s", err, script)
	}
	return f
}

// calls returns the arguments of each top-level call of the command `name` in a script.
func calls(t *testing.T, f *syntax.File, name string) [][]string {
	t.Helper()
	var out [][]string
	for _, s := range f.Stmts {
		c, ok := s.Cmd.(*syntax.CallExpr)
		if b, binary := s.Cmd.(*syntax.BinaryCmd); binary {
			c, ok = b.X.Cmd.(*syntax.CallExpr)
		}
		if !ok || len(c.Args) == 0 || c.Args[0].Lit() != name {
			continue
		}
		fields := testutil.Must(expand.Fields(&expand.Config{NoUnset: true}, c.Args[1:]...))(t) // a substitution is an error
		out = append(out, fields)
	}
	return out
}

// TestScriptKeepsWords checks texts with special characters from the user, the program and the launcher.
// They must neither change nor add commands of the job script.
func TestScriptKeepsWords(t *testing.T) {
	testutil.SkipShort(t)
	rng := rand.New(rand.NewPCG(5, 6))
	plain := skeleton(parse(t, planOne(t, wordOptions(t, "/plain/folder", []string{"module"}, "value", []string{"program", "x", "y"})).Script))
	times := 60
	if testutil.AllCases() {
		times = 300
	}
	for range times {
		modules := []string{"m" + strings.ReplaceAll(nastyWord(rng), "\n", "")}
		args := []string{"/bin/" + nastyWord(rng), nastyWord(rng), nastyWord(rng)}
		value := nastyWord(rng)
		dir := "/tmp/" + strings.ReplaceAll(nastyWord(rng), "\n", "") + "x"
		p := planOne(t, wordOptions(t, dir, modules, value, args))
		f := parse(t, p.Script)
		want := append([]string{"1", "20.500"}, args...)
		if diff := cmp.Diff([][]string{want}, calls(t, f, "tutti_start")); diff != "" {
			t.Fatalf("start (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([][]string{{modules[0]}}, calls(t, f, "tutti_load")); diff != "" {
			t.Fatalf("modules (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([][]string{{"--", p.Submission.Dir}, {"--", p.Submission.Dir}}, calls(t, f, "cd")); diff != "" {
			t.Fatalf("cd (-want +got):\n%s", diff)
		}
		if got := skeleton(f); got != plain {
			t.Fatalf("words changed the script: %d commands, want %d:\n%s", got, plain, p.Script)
		}
	}
}

// wordOptions returns options whose launch and set-up contain the given words. `dir` is the folder of the
// jobs, which need not exist.
func wordOptions(t *testing.T, dir string, modules []string, value string, args []string) live.Options {
	o := options(t, t.TempDir(), localScheduler(t))
	o.Program = words{o.Program.(fakeProgram), benchrunner.Command{Args: args, Env: []mpi.Var{{Name: "FILE", File: []byte("x")}}}}
	o.Dir, o.Modules, o.Env = dir, modules, []mpi.Var{{Name: "SITE", Value: value}}
	return o
}

func skeleton(f *syntax.File) int {
	n := 0
	syntax.Walk(f, func(node syntax.Node) bool {
		switch node.(type) {
		case *syntax.CallExpr, *syntax.CmdSubst, *syntax.ParamExp, *syntax.Redirect:
			n++
		}
		return true
	})
	return n
}

// TestScriptGolden compares a script with its golden file. The paths in the script are the same on every
// machine.
func TestScriptGolden(t *testing.T) {
	o := options(t, t.TempDir(), localScheduler(t))
	o.Program = fakeProgram{path: "/opt/fake program.sh", ledger: "/opt/ledger", most: 2, allowance: 20 * time.Second}
	o.Dir, o.LaunchTime = "/scratch/night run", 10*time.Second
	o.Modules, o.Setup = []string{"mpich/4.0.2", "it's"}, []string{"ulimit -s unlimited"}
	o.Env = []mpi.Var{{Name: "UCX_TLS", Value: "self,sm,tcp"}}
	planned, err := machine(t, o).Plan(context.Background(), batchOf(at(2, 1, "a"), at(2, 2, "b"), at(2, 3, "a"), at(4, 4, "a")))
	if err != nil || len(planned) != 2 {
		t.Fatalf("%d jobs, %v", len(planned), err)
	}
	parse(t, planned[1].Script)
	testutil.CheckGolden(t, "job.sh", []byte(planned[1].Script))
	want := coll.Job{Name: "tutti-test-mpich-bcast-r1-2", State: coll.JobIntended, Requests: []int{0, 1, 2}, Nodes: 2, LimitSeconds: 10 + 2*(20+10+10)}
	if diff := cmp.Diff(want, planned[1].Job); diff != "" {
		t.Errorf("job (-want +got):\n%s", diff)
	}
	if got := planned[1].NodeSeconds; got != 180 {
		t.Errorf("%g node-seconds, want 180", got)
	}
	if want := "setsid timeout 90.000 bash '/scratch/night run/jobs/tutti-test-mpich-bcast-r1-2/job.sh'"; planned[1].Command != want {
		t.Errorf("command %q, want %q", planned[1].Command, want)
	}
	if _, err := os.Stat("/scratch/night run"); err == nil {
		t.Error("planning made a folder")
	}
}

// TestWordsArrive checks that arguments, variables and files reach the program unchanged, even
// in a folder whose name contains special characters.
func TestWordsArrive(t *testing.T) {
	testutil.SkipShort(t)
	dir := filepath.Join(t.TempDir(), `it's $(touch pwned) "so" a=b *`)
	testutil.NoError(t, os.MkdirAll(dir, 0o777))
	o := options(t, dir, localScheduler(t))
	program := filepath.Join(dir, "print words")
	text := "#!/bin/bash\nprintf '%s\\0' \"$@\" \"$SITE\" \"$SETUP\" \"$(cat \"$FILE\")\" \"$(pwd)\" >\"$TUTTI_LAUNCH/../../../words\"\necho case 1 " + itoa(microseconds(at(1, 1, "a"))) + " end\n"
	testutil.NoError(t, testutil.WriteExecutable(program, text))
	args := append([]string{program}, nasty...)
	site := strings.Join(nasty, "")
	o.Program = words{o.Program.(fakeProgram), benchrunner.Command{Args: args, Env: []mpi.Var{{Name: "FILE", File: []byte("in the file")}}}}
	o.Env = []mpi.Var{{Name: "SITE", Value: site}}
	o.Setup = []string{"export SETUP='of the site'", "set -eu; cd /; IFS=,", "false || true"}
	log := runBatch(t, machine(t, o), batchOf(at(1, 1, "a")))
	if checkTrials(t, log, 1) != 1 {
		t.Fatalf("trials %+v", log.trials)
	}
	got := testutil.Must(os.ReadFile(filepath.Join(dir, "words")))(t)
	launch := filepath.Join(dir, "jobs", log.jobs[0].Name, "1")
	want := slices.Concat(nasty, []string{site, "of the site", "in the file", launch, ""})
	if diff := cmp.Diff(want, strings.Split(string(got), "\x00")); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
	if found, err := filepath.Glob(filepath.Join(t.TempDir(), "..", "*", "pwned")); err != nil || len(found) > 0 {
		t.Errorf("a word was run: %v, %v", found, err)
	}
}

// TestLauncherByLink checks launchers that are symbolic links, named by path or found in PATH: they must start by the
// path in the folder of their helper, without variables of the shell that limit their time.
func TestLauncherByLink(t *testing.T) {
	testutil.SkipShort(t)
	dir := t.TempDir()
	bin, links := filepath.Join(dir, "opt", "bin"), filepath.Join(dir, "home bin")
	for _, d := range []string{bin, links} {
		testutil.NoError(t, os.MkdirAll(d, 0o777))
	}
	t.Setenv("MPIEXEC_TIMEOUT", "1")
	const launcher = "#!/bin/bash\n[ -z \"$MPIEXEC_TIMEOUT\" ] || exit 110\n[ -e \"${0%/*}/hydra_pmi_proxy\" ] || exit 255\nexec \"${@:6}\"\n" // after the options of hydra
	testutil.NoError(t, testutil.WriteExecutable(filepath.Join(bin, "mpiexec.hydra"), launcher))
	testutil.NoError(t, os.WriteFile(filepath.Join(bin, "hydra_pmi_proxy"), nil, 0o666))
	testutil.NoError(t, os.Symlink("../opt/bin/mpiexec.hydra", filepath.Join(links, "second")))
	testutil.NoError(t, os.Symlink("second", filepath.Join(links, "mpiexec")))
	if got, want := benchrunner.FollowLauncher(benchrunner.Hydra, filepath.Join(links, "mpiexec")), filepath.Join(bin, "mpiexec.hydra"); got != want {
		t.Errorf("followed to %s, want %s", got, want)
	}
	for name, path := range map[string]string{"path": filepath.Join(links, "mpiexec"), "PATH": "mpiexec", "target": filepath.Join(bin, "mpiexec.hydra")} {
		t.Run(name, func(t *testing.T) {
			o := options(t, t.TempDir(), localScheduler(t))
			o.Launcher = testutil.Must(benchrunner.NewLauncher(benchrunner.Hydra, benchrunner.LauncherOptions{Path: path}))(t)
			o.Env = []mpi.Var{{Name: "PATH", Value: links + ":" + os.Getenv("PATH")}}
			if log := runBatch(t, machine(t, o), batchOf(at(1, 1, "a"))); checkTrials(t, log, 1) != 1 {
				t.Errorf("trials %+v", log.trials)
			}
		})
	}
}

func TestNewRejects(t *testing.T) {
	for _, tc := range []struct {
		change func(*live.Options)
		want   string
	}{
		{func(o *live.Options) { o.Campaign = "a b" }, `campaign "a b"`},
		{func(o *live.Options) { o.Dir = "here" }, `folder "here": want an absolute path`},
		{func(o *live.Options) { o.Setup = []string{"export A=1", "if true; then"} }, "setup: bash cannot read it: bash: line 3: syntax error"},
		{func(o *live.Options) { o.Env = []mpi.Var{{Name: "A-B"}} }, `variable "A-B"`},
		{func(o *live.Options) { o.Env = []mpi.Var{{Name: "A", Value: "\x00"}} }, `variable A: its value "\x00"`},
		{func(o *live.Options) { o.Switches = [][]string{{"n1"}, {"n2", "n1"}} }, `node "n1": want letters, digits and ._-, and each node once`},
	} {
		o := options(t, t.TempDir(), localScheduler(t))
		tc.change(&o)
		if _, err := live.New(o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %q", err, tc.want)
		}
	}
}
