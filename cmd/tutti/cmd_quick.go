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
	"time"

	"github.com/spf13/cobra"

	"tutti/campaign/assembly"
	"tutti/csource"
	"tutti/doctor"
	"tutti/internal/config"
	"tutti/journal"
)

// quickName is the campaign file that quick keeps in the folder of the results.
const quickName = "quick.yaml"

// quickOptions are the flags of tutti quick.
type quickOptions struct {
	library     string
	collectives []string
	wallTime    time.Duration
	dry, yes    bool
	output      string
}

func (a *app) quickCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "quick FOLDER",
		Short: "Tune the MPI library that is here, without a campaign file",
		Long: `quick tunes on the nodes of the Slurm allocation that it is started in, or on this
machine. It finds an MPI library and a launcher that starts its programs, builds the
benchmark, and measures a grid up to all nodes and cores until it is good enough or
its time is up. FOLDER, which every node must see, holds the benchmark, the campaign
file quick.yaml and what tutti tune writes: resume, verify and report work as ever.`,
		Example: indent(
			"tutti quick results/quick",
			"tutti quick results/quick --library openmpi --collectives bcast,allreduce --time 5m",
			"tutti quick results/quick --dry-run"),
		Args: oneFolder,
	}
	var o quickOptions
	flags := cmd.Flags()
	flags.StringVar(&o.library, "library", "", "`NAME` of the library; empty: the first that works")
	flags.StringSliceVar(&o.collectives, "collectives", []string{"allreduce", "bcast", "reduce", "allgather", "alltoall"}, "collectives to tune")
	flags.DurationVar(&o.wallTime, "time", 15*time.Minute, "measure no longer than this")
	flags.BoolVar(&o.dry, "dry-run", false, "print the campaign file; build and tune nothing")
	flags.BoolVar(&o.yes, "yes", false, "do not ask, whatever the campaign may cost")
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		if o.wallTime <= 0 {
			return usageError(cmd, fmt.Errorf("--time %v: want more than none", o.wallTime))
		}
		o.output = *output
		return a.quick(cmd.Context(), args[0], o)
	}
	return cmd
}

// quick finds what is needed, and tunes.
func (a *app) quick(ctx context.Context, dir string, o quickOptions) error {
	if _, err := os.Stat(filepath.Join(dir, journal.FileName)); err == nil {
		return withCode(codeOutput, fmt.Errorf("%s holds a campaign: go on with `tutti resume %s`, or choose another folder", dir, shellWord(dir)))
	}
	at, err := assembly.Here(ctx, a.environ)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.stderr, "looking for MPI libraries and launchers")
	found, err := doctor.Launchables(ctx, doctor.Options{Environ: a.environ, Dir: nearestFolder(dir)})
	if err != nil {
		return err
	}
	with, err := choose(found, o.library)
	if err != nil {
		return withCode(codeNotReady, err)
	}
	fmt.Fprintf(a.stderr, "%s, started by %s, on %s of %d cores\n", with.Library.Name, cmp.Or(with.Path, with.Launcher), plural(at.Nodes, "node"), at.Cores)
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	text, err := newQuickFile(host, at, with, o).text()
	if err != nil || o.dry {
		fmt.Fprint(a.stdout, text)
		return err
	}
	c, err := a.prepareQuick(ctx, dir, text, with)
	if err != nil {
		return err
	}
	err = a.tune(ctx, c, o.yes, o.output)
	if (err == nil || errors.Is(err, errNotConverged)) && o.output == "text" {
		fmt.Fprintf(a.stdout, "in jobs: . %s/%s.env, or: module use %[1]s/modulefiles\n", shellWord(nearPath(c.Output)), with.Library.Family)
	}
	return err
}

// choose returns the first library that works, or the one called name.
func choose(found []doctor.Launchable, name string) (doctor.Launchable, error) {
	var names []string
	for _, l := range found {
		if name == "" || l.Library.Family == name {
			return l, nil
		}
		names = append(names, l.Library.Family)
	}
	if len(names) > 0 {
		return doctor.Launchable{}, fmt.Errorf("--library %q: what works here is %s", name, strings.Join(slices.Compact(names), ", "))
	}
	return doctor.Launchable{}, errors.New("no MPI library with a launcher that starts its programs was found: tutti doctor says what is missing")
}

// prepareQuick puts the benchmark and the campaign file into the folder.
func (a *app) prepareQuick(ctx context.Context, dir, text string, with doctor.Launchable) (*config.Campaign, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, withOutputCode(err)
	}
	file := filepath.Join(dir, quickName)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		return nil, withOutputCode(err)
	}
	c, err := config.Load(file, config.Layers{})
	if err != nil {
		return nil, withCode(codeInput, err)
	}
	if _, err := csource.Build(ctx, csource.Bench, with.Library.Compilers[0], c.Libraries[0].Benchmark); err != nil {
		return nil, withBuildCode(err)
	}
	return c, nil
}

// plural is for example "1 node" or "4 nodes".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
