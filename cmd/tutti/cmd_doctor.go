package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tutti/campaign/assembly"
	"tutti/doctor"
	"tutti/internal/config"
)

// errNotReady ends doctor after the report has been printed.
var errNotReady = errors.New("no campaign can run here")

// doctorWidth is that of a terminal as it comes up; reports are pasted into mails.
const doctorWidth = 80

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find what a campaign on this machine needs and try each of it once",
		Long: `doctor looks for MPI libraries, launchers, benchmark programs and Slurm, on a
login node or inside a job, and says what is missing and how to get it. With a
campaign file it also says whether that campaign could run.

Nothing it runs has more than two processes. Programs are built in a folder of
their own in the current one, which is removed afterwards; where Slurm answers
and tutti is outside of a job, srun starts two processes for a second.

With --network and a campaign file it measures pairs of the campaign's nodes in two
jobs of its scheduler: slow nodes, slow links and oversubscribed switches, each with its
figure and the probability of a false alarm.`,
		Example: indent("tutti doctor", "tutti doctor -c campaign.yaml", "tutti doctor --network -c campaign.yaml", "tutti doctor --mpi /opt/mpich-4.2 --no-run", "tutti doctor --output json"),
		Args:    noArgs,
	}
	output := outputFlag(cmd)
	file := cmd.Flags().StringP("config", "c", "", "campaign file: can it run here?")
	prefixes := cmd.Flags().StringArray("mpi", nil, "folder of an MPI installation, with bin/mpicc; may be repeated")
	folders := cmd.Flags().StringArray("programs", nil, "folder with benchmark programs; may be repeated")
	network := cmd.Flags().Bool("network", false, "measure the campaign's nodes in pairs instead: which are slow?")
	tree := cmd.Flags().String("topology", "", "`FILE` of the nodes' switches (--network); the measured one of the campaign when not given")
	noRun := cmd.Flags().Bool("no-run", false, "start no parallel programs")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		if *network {
			return a.examineNetwork(cmd, *file, *tree, *output)
		}
		opt := doctor.Options{Environ: a.environ, Dir: ".", Prefixes: *prefixes, Folders: *folders, Run: !*noRun}
		if *file != "" {
			c, err := config.Load(*file, config.Layers{Environ: a.environ})
			if err != nil {
				return withCode(codeInput, err)
			}
			opt.Needs, opt.Dir = needsOf(c), nearestFolder(c.Output)
			if err := a.addRefused(cmd.Context(), opt.Needs, c); err != nil {
				return err
			}
		}
		r, err := doctor.Examine(cmd.Context(), opt)
		if err != nil {
			return err
		}
		return a.tellExamination(r, *output)
	}
	return cmd
}

// needsOf is what a campaign asks of the machine: nothing when it replays.
func needsOf(c *config.Campaign) *doctor.Needs {
	if !c.Runner.Live() {
		return nil
	}
	n := &doctor.Needs{
		Scheduler: c.Runner.Kind, Program: c.Benchmark.Program, JobTime: c.Runner.JobTime, Partition: c.Slurm.Partition,
		Nodes: slices.Max(c.Grid.Nodes), PPN: slices.Max(c.Grid.PPN), Modules: c.Runner.Modules, Setup: c.Runner.Setup, Bin: c.Slurm.Bin, Env: c.Runner.Env,
	}
	for _, o := range []struct{ option, value string }{
		{"--account", c.Slurm.Account}, {"--qos", c.Slurm.QOS}, {"--reservation", c.Slurm.Reservation}, {"--constraint", c.Slurm.Constraint},
	} {
		if o.value != "" {
			n.Options = append(n.Options, o.option+"="+o.value)
		}
	}
	n.Options = append(n.Options, c.Slurm.Directives...)
	for _, lib := range c.Libraries {
		n.Libraries = append(n.Libraries, doctor.NeededLibrary{
			Name: lib.Name, Version: lib.Version, Path: lib.Path, Benchmark: lib.Benchmark,
			Launcher: cmp.Or(lib.Launcher, c.Runner.DefaultLauncher(lib.Name)), LauncherPath: lib.LauncherPath, LauncherArgs: lib.LauncherArgs, PMI: lib.PMI, Env: lib.Env,
		})
	}
	return n
}

// capacityTime is how long doctor waits for a scheduler to say what it takes.
const capacityTime = 20 * time.Second

// addRefused adds to the needs of a campaign what it cannot measure here, as tune
// --dry-run tells it. It is an error when its programs can measure nothing.
func (a *app) addRefused(ctx context.Context, n *doctor.Needs, c *config.Campaign) error {
	if n == nil {
		return nil
	}
	b, err := assembly.New(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, capacityTime)
	defer cancel()
	var h assembly.Hours
	if err = b.Connect("doctor", a.environ); err == nil {
		h, err = b.Hours(ctx)
	}
	if err != nil {
		n.Refused = []string{"what of the grid can be measured is not known: " + err.Error()}
		return nil
	}
	for _, l := range h.LeftOut {
		n.Refused = append(n.Refused, l.String())
	}
	return nil
}

// glance tells what a campaign that measures seems to lack here. The error matches
// errNotReady when none of its benchmarks can run.
func (a *app) glance(ctx context.Context, c *config.Campaign) error {
	if !c.Runner.Live() {
		return nil
	}
	checks, err := doctor.Glance(ctx, doctor.Options{Environ: a.environ, Dir: nearestFolder(c.Output), Needs: needsOf(c)})
	if err != nil || len(checks) == 0 {
		return err
	}
	if err := doctor.WriteChecks(a.stderr, checks, doctorWidth); err != nil {
		return err
	}
	if slices.ContainsFunc(checks, func(c doctor.Check) bool { return c.State == doctor.Missing }) {
		fmt.Fprintln(a.stderr, "tutti: the campaign cannot run here yet; tutti doctor -c FILE looks closer, tutti tune --unchecked begins all the same")
		return errNotReady
	}
	return nil
}

// nearestFolder is the folder itself, or the one above that is there already.
func nearestFolder(path string) string {
	for {
		if info, err := os.Stat(path); err == nil && info.IsDir() || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}

// tellExamination prints a report and returns errNotReady when nothing can run.
func (a *app) tellExamination(r *doctor.Report, output string) error {
	if err := writeExamination(a.stdout, r, output); err != nil {
		return err
	}
	if !r.Ready() {
		return errNotReady
	}
	return nil
}

func writeExamination(w io.Writer, r *doctor.Report, output string) error {
	if output == "text" {
		return r.Text(w, doctorWidth)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Ready bool `json:"ready"`
		*doctor.Report
	}{r.Ready(), r})
}
