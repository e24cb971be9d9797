package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tutti/benchrunner"
	"tutti/campaign/assembly"
	"tutti/csource"
	"tutti/doctor"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/report"
)

// quickName is the name of the campaign file that tutti quick writes into the folder of the results.
const quickName = "quick.yaml"

type quickOptions struct {
	*app
	library     string
	hosts       string
	collectives []string
	wallTime    time.Duration
	dry, yes    bool
}

func quickCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "quick FOLDER",
		Short: "Tune the MPI library of this machine without a campaign file",
		Long: `quick tunes on the nodes of the job of Slurm, PBS or LSF in which it runs, on the nodes of a
file, or on this machine.
It finds an MPI library and a launcher that works, builds the benchmark program, and
measures a grid up to all nodes and cores until the criteria hold or its time is up.
FOLDER, which every node must see, contains the benchmark program, the campaign file
quick.yaml and all that tutti tune writes: resume, verify and report work as usual.`,
		Example: examples(
			"tutti quick results/quick",
			"tutti quick results/quick --library openmpi --collectives bcast,allreduce --wall-time 5m",
			"tutti quick results/quick --hosts nodes.txt",
			"tutti quick results/quick --dry-run"),
		Args:              oneFolder,
		ValidArgsFunction: completeFolders,
	}
	o := quickOptions{app: a}
	flags := cmd.Flags()
	flags.StringVar(&o.library, "library", "", "`NAME` of the library; default: that of mpicc, or the first that works")
	completeLibraries(cmd, "library")
	flags.StringVar(&o.hosts, "hosts", "", "`FILE` of the nodes, a name on each line; default: those of the job around tutti")
	flags.StringSliceVar(&o.collectives, "collectives", []string{"allreduce", "bcast", "reduce", "allgather", "alltoall"}, "collectives to tune")
	flags.DurationVar(&o.wallTime, "wall-time", 15*time.Minute, "stop measuring after this time, all collectives together")
	flags.BoolVar(&o.dry, "dry-run", false, "print the campaign file; build and tune nothing")
	flags.BoolVar(&o.yes, "yes", false, "do not ask for confirmation, whatever the campaign costs")
	a.formatFlag(cmd)
	mustComplete(cmd.RegisterFlagCompletionFunc("collectives", cobra.FixedCompletions(config.Collectives(), cobra.ShellCompDirectiveNoFileComp)))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch unknown := slices.DeleteFunc(slices.Clone(o.collectives), func(name string) bool { return slices.Contains(config.Collectives(), name) }); {
		case o.wallTime <= 0:
			return usageError(cmd, fmt.Errorf("--wall-time %v: want more than 0", o.wallTime))
		case len(unknown) > 0:
			return usageError(cmd, fmt.Errorf("--collectives %w", config.NotOneOf(unknown[0], config.Collectives())))
		case o.dry && o.format == formatJSON:
			return usageError(cmd, errors.New("--dry-run prints a campaign file, which is YAML: leave out --format"))
		}
		return o.run(cmd.Context(), args[0])
	}
	return cmd
}

func (o *quickOptions) run(ctx context.Context, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, journal.FileName)); err == nil {
		return withCode(codeBusy, fmt.Errorf("%s contains a campaign: resume it with tutti resume %s, or choose another folder", dir, shellWord(dir)))
	}
	var err error
	if o.hosts != "" {
		if o.hosts, err = filepath.Abs(o.hosts); err != nil {
			return err
		}
	}
	at, err := assembly.Here(ctx, o.environ, o.hosts)
	if err != nil {
		return err
	}
	if at.Nodes < 2 && at.Cores < 2 {
		text := "one core on one node: a collective needs two ranks, each with a core of its own; take a larger machine, or two nodes"
		if quota := doctor.Quota(); quota != "" {
			text += ", or a larger quota (" + quota + ")"
		}
		return withCode(codeNotReady, errors.New(text))
	}
	found, unusable, err := o.findLaunchables(ctx, dir)
	if err != nil {
		return err
	}
	if o.hosts != "" { // srun starts programs in Slurm's jobs only
		found = slices.DeleteFunc(found, func(l launchable) bool { return l.Launcher == benchrunner.Srun })
	}
	with, err := chooseLaunchable(found, o.library)
	if err != nil || o.library == "" {
		o.warn(unusable)
	}
	if err != nil {
		return withCode(codeNotReady, err)
	}
	o.printLine(fmt.Sprintf("%s, started by %s, on %s of %s", with.Library.Name, cmp.Or(with.Path, with.Launcher), plural(at.Nodes, "node"), plural(at.Cores, "core")))
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	text := quickFile(host, at, with, *o)
	if o.dry {
		fmt.Fprint(o.stdout, text)
		return nil
	}
	c, err := prepareQuick(ctx, o.app, dir, text, with)
	if err != nil {
		return err
	}
	o.printLine(fmt.Sprintf("measuring ends after %s, all collectives together", report.FormatSeconds(o.wallTime.Seconds())))
	err = startCampaign(ctx, o.app, c, o.yes)
	if (err == nil || errors.Is(err, errNotConverged)) && o.format == formatTable {
		fmt.Fprintf(o.stdout, "in jobs: . %s/%s.env, or: module use %[1]s/modulefiles\n", shellWord(displayPath(c.Output)), with.Library.Family)
	}
	return err
}

// chooseLaunchable returns the first library that works or, if a name is given, the first with this name.
func chooseLaunchable(found []launchable, name string) (launchable, error) {
	var names []string
	for _, l := range found {
		if name == "" || l.Library.Family == name {
			return l, nil
		}
		names = append(names, l.Library.Family)
	}
	if len(names) > 0 {
		return launchable{}, fmt.Errorf("--library %q: this machine has %s", name, strings.Join(slices.Compact(names), ", "))
	}
	return launchable{}, errors.New("no MPI library with a launcher that starts its programs was found: run tutti doctor to see what is missing")
}

// prepareQuick writes the campaign file and builds the benchmark program in the folder.
func prepareQuick(ctx context.Context, a *app, dir, text string, with launchable) (*config.Campaign, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, withOutputCode(err)
	}
	file := filepath.Join(dir, quickName)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		return nil, withOutputCode(err)
	}
	c, err := config.Load(file, config.Layers{Environ: a.environ})
	if err != nil {
		return nil, withCode(codeInput, err)
	}
	defer a.announce("compiling the benchmark program ...")()
	if _, err := csource.Build(ctx, csource.Bench, with.Library.Compilers[0], c.Libraries[0].Benchmark); err != nil {
		return nil, withBuildCode(err)
	}
	return c, nil
}

// quickFile returns a campaign file that tunes a library on the given machine. The file names its own folder
// for the benchmark program and the results.
func quickFile(host string, at assembly.Place, with launchable, o quickOptions) string {
	values := map[string]string{
		"machine": strconv.Quote(host), "output": ".", "collectives": "[" + strings.Join(o.collectives, ", ") + "]", "stop.wall_time": o.wallTime.String(),
	}
	if o.hosts != "" {
		values["runner.hosts"] = strconv.Quote(o.hosts)
	}
	return config.Template(at.Kind, config.Machine{
		Campaign: "quick", Library: libraryOf(with), Nodes: nodeCounts(at.Nodes), PPN: rankCounts(at), Values: values,
	})
}
