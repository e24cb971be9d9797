package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// app contains the environment and the standard streams of this process. Every command is a function that
// takes an app.
type app struct {
	environ []string
	stdin   *os.File
	stdout  io.Writer
	stderr  io.Writer
	format  string       // value of --format
	waits   *waitNotices // prints why tutti waits for the scheduler
	warned  []string     // warnings that the method warn printed
}

// Main runs one command line and returns the exit code of the process.
func Main(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	out := &stickyWriter{to: stdout}
	a := &app{environ: environ, stdin: os.Stdin, stdout: forLocale(out, environ), stderr: forLocale(stderr, environ)}
	a.waits = newWaitNotices("the scheduler", a.printLine)
	root := rootCommand(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if out.err != nil && (err == nil || errorIsPrinted(err) || errors.Is(err, out.err)) {
		err = withCode(codeOutput, fmt.Errorf("standard output: %w", out.err))
	}
	if err != nil && !errorIsPrinted(err) && !errors.Is(err, syscall.EPIPE) { // such as: tutti ... | head
		a.printLine(fmt.Sprintf("tutti: %v", err))
	}
	return int(codeOf(err))
}

// stickyWriter stores the first error of a write and ignores all later writes. Callers check the stored error
// once, after all writes.
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

func rootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:     "tutti",
		Version: version,
		Short:   "Tune MPI collectives with few benchmark runs",
		Long: `tutti learns which algorithm of each MPI collective is fastest at each number of
nodes, processes per node and message size of a machine. It needs few benchmark runs,
and writes the selection files that MPICH and Open MPI load.

Exit codes:
` + codeTable(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(a.stdout) // before the completion command, which stores it
	root.SetErr(a.stderr)
	root.SetVersionTemplate("tutti {{.Version}}\n")
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80"))
	root.SetFlagErrorFunc(flagError)
	verbs(root)
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"campaign", "Campaign:", []*cobra.Command{
			initCommand(a), quickCommand(a), tuneCommand(a), resumeCommand(a), statusCommand(a), listCommand(a), compareCommand(a), cancelCommand(a),
			reportCommand(a), verifyCommand(a), exportCommand(a), importCommand(a), rulesCommand(a),
		}},
		{"machine", "Machine:", []*cobra.Command{doctorCommand(a), buildCommand(a), topologyCommand(a)}},
		{"application", "Applications:", []*cobra.Command{runCommand(a), traceCommand(a), onlineCommand(a)}},
		{"service", "Service:", []*cobra.Command{serveCommand(a), tokenCommand(a)}},
		{"", "", []*cobra.Command{versionCommand(a), manCommand()}},
	} {
		if g.id != "" {
			root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		}
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.SetHelpCommand(helpCommand())
	wrapHelp(root)
	root.InitDefaultCompletionCmd()
	finishCompletion(root)
	return root
}

// helpCommand returns cobra's help command with one change: an unknown command is an error.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help about a command",
		Example: examples("tutti help tune"),
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return usageError(cmd.Root(), err)
			}
			if len(rest) > 0 {
				return oneCommand(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// finishCompletion adds examples to cobra's completion command, and makes an unknown shell an
// error.
func finishCompletion(root *cobra.Command) {
	cmd, _, err := root.Find([]string{"completion"})
	if err != nil {
		panic(err) // cobra has just added it
	}
	cmd.Use, cmd.Args = "completion SHELL", oneCommand
	cmd.Example = examples("source <(tutti completion bash)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return usageError(cmd, errors.New("the shell is missing"))
	}
	for _, shell := range cmd.Commands() {
		shell.Args = noArgs
		shell.Example = examples("tutti completion " + shell.Name() + " > FILE")
	}
}
