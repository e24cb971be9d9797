package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

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
and tutti is outside of a job, srun starts two processes for a second.`,
		Example: indent("tutti doctor", "tutti doctor -c campaign.yaml", "tutti doctor --mpi /opt/mpich-4.2 --no-run", "tutti doctor --output json"),
		Args:    noArgs,
	}
	output := outputFlag(cmd)
	file := cmd.Flags().StringP("config", "c", "", "campaign file: can it run here?")
	prefixes := cmd.Flags().StringArray("mpi", nil, "folder of an MPI installation, with bin/mpicc; may be repeated")
	folders := cmd.Flags().StringArray("programs", nil, "folder with benchmark programs; may be repeated")
	noRun := cmd.Flags().Bool("no-run", false, "start no parallel programs")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		opt := doctor.Options{Environ: a.environ, Dir: ".", Prefixes: *prefixes, Folders: *folders, Run: !*noRun}
		if *file != "" {
			c, err := config.Load(*file, config.Layers{Environ: a.environ})
			if err != nil {
				return withCode(codeInput, err)
			}
			opt.Needs, opt.Dir = needsOf(c), nearestFolder(c.Output)
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
		Nodes: slices.Max(c.Grid.Nodes), PPN: slices.Max(c.Grid.PPN), Modules: c.Runner.Modules, Bin: c.Slurm.Bin, Env: c.Runner.Env,
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
			Launcher: cmp.Or(lib.Launcher, c.Runner.DefaultLauncher(lib.Name)), LauncherPath: lib.LauncherPath, PMI: lib.PMI,
		})
	}
	return n
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
