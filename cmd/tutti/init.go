package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"tutti/benchrunner/runners"
	"tutti/campaign/assembly"
	"tutti/internal/config"
)

type initOptions struct {
	*app
	kind string
}

func initCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented campaign file",
		Long: `init writes a campaign file with all keys that the runner uses, their meaning and their
defaults. Campaign and output folder are named after the file. For a campaign that
measures, init fills in what it finds on this machine: MPI library, launcher, nodes and
cores. It does not overwrite a file, and two files of a folder do not get the same
output folder. - writes to standard output.

Without --runner the campaign runs in the job around the shell, in jobs of Slurm or PBS,
or else on this machine. A library and a launcher must work here. If there are several
libraries, init takes that of a benchmark program in the folder of the file, or else that
of mpicc. --runner replay writes a campaign that reads recorded measurements (runner.data).`,
		Example:           examples("tutti init night.yaml", "tutti init night.yaml --runner slurm", "tutti init -"),
		Args:              arguments(0, 1, "one file"),
		ValidArgsFunction: completeFiles,
	}
	o := initOptions{app: a}
	choiceFlag(cmd, "runner", &o.kind, "", runners.Names(), "`KIND` of runner, default: the one that this machine has")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path := "campaign.yaml"
		if len(args) == 1 {
			path = args[0]
		}
		return o.run(cmd.Context(), path)
	}
	return cmd
}

func (o *initOptions) run(ctx context.Context, path string) error {
	if path == "-" {
		text, err := o.template(ctx, "campaign", ".")
		if err == nil {
			_, err = fmt.Fprint(o.stdout, text)
		}
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return withCode(codeOutput, fmt.Errorf("%s exists and is not overwritten", path))
	}
	text, err := o.template(ctx, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), filepath.Dir(path))
	if err != nil {
		return err
	}
	other, err := sameOutput(filepath.Dir(path), text)
	if err == nil && other != "" {
		err = fmt.Errorf("%s is not written: the output folder of %s is the same; choose another file name", path, other)
	}
	if err != nil {
		return withCode(codeOutput, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return withCode(codeOutput, err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return withCode(codeOutput, errors.Join(err, os.Remove(path)))
	}
	fmt.Fprintf(o.stdout, "%s written; edit it, then: tutti tune -c %s\n", path, shellWord(path))
	return nil
}

// sameOutput returns the name of a campaign file in the folder dir that has the same output folder as the
// campaign file with the given text. It returns "" if there is none.
func sameOutput(dir, text string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	output := func(text []byte) string {
		var c struct{ Output string }
		if yaml.Unmarshal(text, &c) != nil || filepath.IsAbs(c.Output) {
			return filepath.Clean(c.Output)
		}
		return filepath.Join(dir, c.Output)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.Type().IsRegular() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		if other, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil && output(other) == output([]byte(text)) {
			return e.Name(), nil
		}
	}
	return "", nil
}

// template returns a campaign file for a campaign with the given name. If the campaign runs benchmarks, the
// file contains the nodes and cores of the machine, and a pair of library and launcher that works; see findLaunchables.
func (o *initOptions) template(ctx context.Context, name, dir string) (string, error) {
	m := config.Machine{Campaign: name}
	kind := o.kind
	if runners.Facts(kind).Recorded {
		return config.Template(kind, m), nil
	}
	found, unusable, err := o.findLaunchables(ctx, dir)
	if err != nil {
		return "", err
	}
	o.warn(unusable)
	if len(found) == 0 {
		text := "no MPI library with a working launcher: run tutti doctor to see what is missing"
		if kind == "" {
			return "", withCode(codeNotReady, errors.New(text+"; --runner KIND writes a campaign file without them"))
		}
		o.warn([]string{text})
	}
	at, err := assembly.FindPlace(ctx, o.environ, kind)
	if err != nil {
		return "", err
	}
	if at.Nodes > 0 {
		m.Nodes, m.PPN = nodeCounts(at.Nodes), rankCounts(at)
		o.printLine(fmt.Sprintf("runner %s: %s of %s", at.Kind, plural(at.Nodes, "node"), plural(at.Cores, "core")))
	}
	if len(found) > 0 {
		l := found[0]
		m.Library = libraryOf(l)
		launcher := cmp.Or(l.Path, l.Launcher)
		if runners.Facts(at.Kind).Queue() { // the nodes may have other launchers than this machine
			m.Library.Launcher, m.Library.LauncherPath, m.Library.PMI, m.Library.Env = "", "", "", nil
			launcher = config.Runner{Kind: at.Kind}.DefaultLauncher(config.Library{Name: l.Library.Family})
		}
		o.printLine(fmt.Sprintf("%s, started by %s", l.Library.Name, launcher))
		if l.program == "" {
			fmt.Fprintf(o.stderr, "its benchmark program is missing: tutti build benchmark --mpicc %s --out %s\n",
				shellWord(l.Library.Compilers[0]), shellWord(filepath.Join(dir, m.Library.Benchmark)))
		}
	}
	return config.Template(at.Kind, m), nil
}

// nodeCounts returns the numbers of nodes to tune for: the powers of two below the maximum, and the maximum.
func nodeCounts(most int) []int {
	var out []int
	for n := 1; n < most; n *= 2 {
		out = append(out, n)
	}
	return append(out, most)
}

// rankCounts returns the numbers of ranks on a node to tune for: a quarter, half and all of the cores and, on several
// nodes, one. On one node they are at least 2, because a single rank sends no messages.
func rankCounts(at assembly.Place) []int {
	counts := []int{max(2, at.Cores/4), max(2, at.Cores/2), max(2, at.Cores)}
	if at.Nodes > 1 {
		counts = slices.DeleteFunc(append([]int{1}, counts...), func(n int) bool { return n > max(1, at.Cores) })
	}
	return slices.Compact(counts)
}

// shellWord quotes a path for a command line. A path that begins like an option gets a folder.
func shellWord(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return shellescape.Quote(path)
}
