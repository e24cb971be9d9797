package main

import (
	"errors"
	"fmt"
	"os/exec"

	"github.com/spf13/cobra"

	"tutti/csource"
)

func (a *app) nativeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "native",
		Short:   "Build tutti's own benchmark program",
		Example: indent("tutti native build --mpicc mpicc -o tutti-native"),
		Args:    noVerb("build"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.nativeBuildCommand())
	return cmd
}

// noVerb refuses arguments of a command that wants one of the verbs.
func noVerb(verbs string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usageError(cmd, fmt.Errorf("unknown argument %q: want %s", args[0], verbs))
		}
		return nil
	}
}

func (a *app) nativeBuildCommand() *cobra.Command {
	return a.buildCommand(csource.Bench, &cobra.Command{
		Short: "Compile the program with the site's MPI compiler",
		Long: `Compiles the benchmark program that tutti carries with the MPI library that is
to be tuned: on the machine where it will run, with the modules loaded that
will be loaded then. It measures many algorithms and sizes in one launch.`,
		Example: indent("tutti native build --mpicc mpicc -o tutti-native"),
	})
}

// withBuildCode tells what a compiler refused from what could not be written.
func withBuildCode(err error) error {
	if errors.Is(err, csource.ErrCompiler) || errors.As(err, new(*exec.ExitError)) {
		return withCode(codeFailed, err)
	}
	return withOutputCode(err)
}
