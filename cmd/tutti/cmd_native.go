package main

import (
	"errors"
	"os/exec"

	"github.com/spf13/cobra"

	"tutti/csource"
)

func (a *app) nativeCommand() *cobra.Command {
	return verbs(&cobra.Command{
		Use:     "native",
		Short:   "Build tutti's own benchmark program",
		Example: indent("tutti native build --mpicc mpicc -o tutti-native"),
	}, a.nativeBuildCommand())
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
