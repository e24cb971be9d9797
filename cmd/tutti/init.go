package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"

	"tutti/campaign/assembly"
	"tutti/doctor"
	"tutti/internal/config"
)

// initOptions are the flags of tutti init.
type initOptions struct {
	*app
	kind *string
}

func initCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented campaign file",
		Long: `init writes a campaign file with all keys that the runner uses, their meaning and their
defaults. Campaign and output folder are named after the file. For a campaign that
measures, init fills in what it finds on this machine: MPI library, launcher, nodes and
cores. It does not overwrite a file. - writes to standard output.`,
		Example:           indent("tutti init night.yaml", "tutti init night.yaml --runner slurm", "tutti init -"),
		Args:              arguments(0, 1, "one file"),
		ValidArgsFunction: completeFiles,
	}
	o := initOptions{app: a}
	o.kind = choiceFlag(cmd, "runner", config.Replay, config.Kinds(), "`KIND` of runner")
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
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return withCode(codeOutput, err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return withCode(codeOutput, err)
	}
	fmt.Fprintf(o.stdout, "%s written; edit it, then: tutti tune -c %s\n", path, shellWord(path))
	return nil
}

// template returns the campaign file of a name. A campaign that measures has the first
// library and launcher that work, and the nodes and cores of this machine or allocation.
func (o *initOptions) template(ctx context.Context, name, dir string) (string, error) {
	m := config.Machine{Campaign: name}
	if *o.kind == config.Replay {
		return config.Template(*o.kind, m), nil
	}
	fmt.Fprintln(o.stderr, "looking for MPI libraries and launchers")
	found, err := doctor.Launchables(ctx, doctor.Options{Environ: o.environ, Dir: nearestFolder(dir)})
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		fmt.Fprintln(o.stderr, "warning: no MPI library with a working launcher: run tutti doctor to see what is missing")
	} else {
		l := found[0]
		fmt.Fprintf(o.stderr, "%s, started by %s\n", l.Library.Name, cmp.Or(l.Path, l.Launcher))
		m.Library = config.Library{Name: l.Library.Family, Version: l.Library.Catalogue, Path: l.Library.File.Path, Benchmark: "tutti-native-" + l.Library.Family}
		if *o.kind != config.SlurmJobs { // jobs use srun
			m.Library.Launcher, m.Library.LauncherPath, m.Library.PMI, m.Library.Env = l.Launcher, l.Path, l.PMI, l.Env
		}
	}
	if *o.kind == config.SlurmJobs {
		return config.Template(*o.kind, m), nil
	}
	at, err := assembly.Here(ctx, o.environ)
	if err != nil {
		return "", err
	}
	m.Nodes, m.PPN = nodeCounts(at.Nodes), rankCounts(at.Cores)
	if *o.kind == config.Local {
		m.Nodes = []int{1}
	}
	return config.Template(*o.kind, m), nil
}

// shellWord quotes a word for a shell if necessary.
func shellWord(s string) string { return shellescape.Quote(s) }
