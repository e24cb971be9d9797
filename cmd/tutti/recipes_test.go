package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"tutti/internal/testutil"
)

// documents returns the files that tell users what to type.
func documents(t *testing.T) []string {
	t.Helper()
	out := []string{"../../README.md", "../../docs/tutorial.md"}
	return append(out, testutil.Must(filepath.Glob("../../docs/how-to/*.md"))(t)...)
}

// commandsIn returns the arguments of each call of tutti in the indented and fenced blocks of a document.
func commandsIn(t *testing.T, path string) [][]string {
	t.Helper()
	var out [][]string
	fenced := false
	for line := range strings.Lines(string(testutil.Must(os.ReadFile(path))(t))) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		text, indented := strings.CutPrefix(line, "    ")
		text = strings.TrimPrefix(strings.TrimSpace(text), "$ ")
		if !fenced && !indented || !strings.HasPrefix(text, "tutti ") {
			continue
		}
		f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), path)
		if err != nil {
			t.Errorf("%s: %q: %v", path, text, err)
			continue
		}
		syntax.Walk(f, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 1 && c.Args[0].Lit() == "tutti" {
				out = append(out, testutil.Must(expand.Fields(&expand.Config{CmdSubst: func(io.Writer, *syntax.CmdSubst) error { return nil }}, c.Args[1:]...))(t))
			}
			return true
		})
	}
	return out
}

// TestDocumentedCommands checks that every command in README, tutorial and how-tos is one that tutti accepts: its name, its
// flags, the number of its arguments.
func TestDocumentedCommands(t *testing.T) {
	all := 0
	for _, path := range documents(t) {
		for _, args := range commandsIn(t, path) {
			if all++; strings.HasPrefix(args[0], "/") {
				continue // the shell function of the service's manual
			}
			root := rootCommand(&app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}})
			cmd, rest, err := root.Find(args)
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err == nil {
				err = cmd.ValidateArgs(cmd.Flags().Args())
			}
			if err != nil || !cmd.Runnable() {
				t.Errorf("%s: tutti %s: %v", path, strings.Join(args, " "), err)
			}
		}
	}
	if all < 50 {
		t.Errorf("%d commands in the documents, want more", all)
	}
}

// TestLiveRecipe types the recipes of README on a machine with two MPI libraries, each time with the compiler of another
// one as mpicc. The campaign must be for the library of the benchmark program, and must measure.
func TestLiveRecipe(t *testing.T) {
	testutil.NeedAllCases(t)
	t.Parallel()
	readme := string(testutil.Must(os.ReadFile("../../README.md"))(t))
	recipe := regexp.MustCompile(`(?s)On a cluster, with a campaign file:\n\n(.*?)\n\n`).FindStringSubmatch(readme)
	quick := regexp.MustCompile(`(?s)or on one machine:\n\n(.*?)\n\n`).FindStringSubmatch(readme)
	if recipe == nil || quick == nil {
		t.Fatal("README has no recipe")
	}
	const small = " --yes --set collectives=bcast --set stop.wall_time=5s"
	here := strings.NewReplacer("--runner slurm", "--runner local", "tutti tune -c cluster.yaml", "tutti tune -c cluster.yaml"+small,
		"tutti verify results/cluster", "tutti verify results/cluster --dry-run", "tutti quick results/quick", "tutti quick results/quick --collectives bcast --wall-time 5s")
	for _, name := range []string{"mpich", "openmpi"} {
		t.Run(name, func(t *testing.T) {
			wrapper, err := exec.LookPath("mpicc." + name)
			if err != nil {
				testutil.NeedMPI.Missing(t, "%v: needs apt-get install mpich libmpich-dev openmpi-bin libopenmpi-dev", err)
			}
			dir := t.TempDir()
			bin := filepath.Join(dir, "bin")
			testutil.NoError(t, os.Mkdir(bin, 0o777))
			testutil.NoError(t, os.Symlink(wrapper, filepath.Join(bin, "mpicc")))
			for i, text := range []string{recipe[1], quick[1]} {
				script := "export PATH=" + bin + ":$PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\nset -x\n" + here.Replace(text)
				script = regexp.MustCompile(`(?m)^( *tutti (tune|quick|doctor).*)$`).ReplaceAllString(script, "{ $1\n} || [ $$? = 4 -o $$? = 8 ] || exit\n")
				cmd := exec.Command("bash", "-ec", script)
				cmd.Dir = dir
				cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TUTTI_") }) // no keys of campaign files
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				file := filepath.Join(dir, []string{"cluster.yaml", "results/quick/quick.yaml"}[i])
				if written := string(testutil.Must(os.ReadFile(file))(t)); !strings.Contains(written, "\n  - name: "+name+"\n") {
					t.Errorf("%s is not for %s:\n%s\n%s", file, name, written, out)
				}
			}
		})
	}
}
