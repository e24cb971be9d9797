package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// app is what every verb needs from the process it runs in.
type app struct {
	environ []string
	stdin   *os.File
	stdout  io.Writer
	stderr  io.Writer
	waits   *waits // of the scheduler
}

// Main runs one command line and returns the exit code.
func Main(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	out := &stickyWriter{to: stdout}
	a := &app{environ: environ, stdin: os.Stdin, stdout: out, stderr: stderr}
	a.waits = newWaits("the scheduler", a.showLine)
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if out.err != nil && (err == nil || errorIsShown(err) || errors.Is(err, out.err)) {
		err = withCode(codeOutput, fmt.Errorf("standard output: %w", out.err))
	}
	if err != nil && !errorIsShown(err) {
		fmt.Fprintf(stderr, "tutti: %v\n", err)
	}
	return int(codeOf(err))
}

// stickyWriter keeps the first error, so that nobody who prints need look.
type stickyWriter struct {
	to  io.Writer
	err error
}

func (w *stickyWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.to.Write(p)
	w.err = err
	return n, err
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
	}
	root.SetOut(a.stdout) // before the completion command, which keeps it
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError(cmd, err)
	})
	verbs(root,
		a.initCommand(), a.doctorCommand(), a.quickCommand(), a.tuneCommand(), a.resumeCommand(), a.statusCommand(), a.cancelCommand(), a.reportCommand(),
		a.verifyCommand(), a.driftCommand(), a.exportCommand(), a.hpoCommand(), a.nativeCommand(),
		a.runtimeCommand(), a.runCommand(), a.traceCommand(), a.serveCommand(), a.tokenCommand(), a.topologyCommand(), a.onlineCommand(), a.versionCommand(),
	)
	root.SetHelpCommand(helpCommand())
	root.InitDefaultCompletionCmd()
	completeCompletion(root)
	return root
}

// helpCommand is cobra's, but an unknown verb is an error.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [VERB]",
		Short:   "Help about a verb",
		Example: indent("tutti help tune"),
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return usageError(cmd.Root(), err)
			}
			if len(rest) > 0 {
				return oneVerb(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// completeCompletion gives cobra's completion command examples, and an error for
// a shell it does not know.
func completeCompletion(root *cobra.Command) {
	cmd, _, err := root.Find([]string{"completion"})
	if err != nil {
		panic(err) // cobra has just added it
	}
	cmd.Use, cmd.Args = "completion SHELL", oneVerb
	cmd.Example = indent("source <(tutti completion bash)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return usageError(cmd, errors.New("the shell is missing"))
	}
	for _, shell := range cmd.Commands() {
		shell.Args = noArgs
		shell.Example = indent("tutti completion " + shell.Name() + " > FILE")
	}
}

func usageError(cmd *cobra.Command, err error) error {
	return withCode(codeUsage, fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath()))
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
