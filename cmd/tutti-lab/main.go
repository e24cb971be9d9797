// Command tutti-lab runs the experiments behind tutti: it compares strategies and models
// on recorded data, checks how often campaigns stop correctly, draws the figures of
// published papers, compares clustering methods, simulates policies that learn while
// applications run and puts a service under load.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// app has the streams to which the commands write.
type app struct {
	stdout, stderr io.Writer
	format         string // value of --format
}

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a := &app{stdout: stdout, stderr: stderr}
	root := &cobra.Command{
		Use:           "tutti-lab",
		Short:         "Experiments with tutti's method on recorded data",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(usageError)
	root.AddCommand(a.evaluateCommand(), a.figureCommand(), a.calibrateCommand(), a.modelsCommand(), a.onlineCommand(), a.clusterCommand(), a.loadCommand(), a.constantsCommand(), a.harmCommand())
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	var usage *usageFault
	fmt.Fprintf(stderr, "tutti-lab: %v\n", err)
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

// usageFault is an error in the command line. It ends the program with exitUsage.
type usageFault struct{ error }

func (f *usageFault) Unwrap() error { return f.error }

func usageError(cmd *cobra.Command, err error) error {
	return &usageFault{fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())}
}

// noArguments returns an error if there are arguments besides flags.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError(cmd, fmt.Errorf("unknown argument %q", args[0]))
	}
	return nil
}

// formatFlag adds the flag --format, which says how the function `show` prints results.
func (a *app) formatFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.format, "format", "text", "text or json")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if a.format != "text" && a.format != "json" {
			return usageError(cmd, fmt.Errorf("--format %q: want text or json", a.format))
		}
		return nil
	}
}

// show prints a value as JSON if --format asks for it. Otherwise it calls the function `text`, which prints the
// value for people.
func (a *app) show(v any, text func(io.Writer) error) error {
	if a.format == "json" {
		return json.NewEncoder(a.stdout).Encode(v)
	}
	return text(a.stdout)
}

func indent(lines ...string) string { return "  " + strings.Join(lines, "\n  ") }
