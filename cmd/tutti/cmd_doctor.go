package main

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"tutti/doctor"
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
login node or inside a job, and says what is missing and how to get it.

Nothing it runs has more than two processes. Programs are built in a folder of
their own in the current one, which is removed afterwards; where Slurm answers
and tutti is outside of a job, srun starts two processes for a second.`,
		Example: indent("tutti doctor", "tutti doctor --mpi /opt/mpich-4.2 --no-run", "tutti doctor --output json"),
		Args:    noArgs,
	}
	output := outputFlag(cmd)
	prefixes := cmd.Flags().StringArray("mpi", nil, "folder of an MPI installation, with bin/mpicc; may be repeated")
	folders := cmd.Flags().StringArray("programs", nil, "folder with benchmark programs; may be repeated")
	noRun := cmd.Flags().Bool("no-run", false, "start no parallel programs")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		r, err := doctor.Examine(cmd.Context(), doctor.Options{
			Environ: a.environ, Dir: ".", Prefixes: *prefixes, Folders: *folders, Run: !*noRun,
		})
		if err != nil {
			return err
		}
		return a.tellExamination(r, *output)
	}
	return cmd
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
