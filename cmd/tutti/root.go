package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// app is what every verb needs from the process it runs in.
type app struct {
	environ []string
	stdout  io.Writer
	stderr  io.Writer
}

// Main runs one command line and returns the exit code.
func Main(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	a := &app{environ: environ, stdout: stdout, stderr: stderr}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	code := codeOf(err)
	if err != nil && !errorIsShown(err) {
		fmt.Fprintf(stderr, "tutti: %v\n", err)
	}
	return int(code)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "tutti",
		Short: "Tune MPI collectives from few benchmark runs",
		Long: `tutti learns which algorithm of each MPI collective is fastest at each number of
nodes, processes per node and message size of a machine, from as few benchmark
runs as possible, and writes the selection files that MPICH and Open MPI load.

Exit codes:
` + codeTable(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError(cmd, err)
	})
	root.AddCommand(
		a.initCommand(), a.tuneCommand(), a.resumeCommand(), a.statusCommand(), a.reportCommand(),
		a.exportCommand(), a.evaluateCommand(), a.hpoCommand(), a.versionCommand(),
	)
	return root
}

func usageError(cmd *cobra.Command, err error) error {
	return withCode(codeUsage, fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath()))
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError(cmd, fmt.Errorf("unknown argument %q", args[0]))
	}
	return nil
}

// oneFolder is the argument check of verbs that work on a campaign's folder.
func oneFolder(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError(cmd, fmt.Errorf("want the folder of one campaign, got %d arguments", len(args)))
	}
	return nil
}

// outputFlag adds --output text|json.
func outputFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("output", "text", "text or json")
}

func checkOutput(cmd *cobra.Command, output string) error {
	if !slices.Contains([]string{"text", "json"}, output) {
		return usageError(cmd, fmt.Errorf("--output %q: want text or json", output))
	}
	return nil
}

func indent(lines ...string) string { return "  " + strings.Join(lines, "\n  ") }
