package main

import (
	"encoding/json"
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
		Args:    noVerb,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.nativeBuildCommand())
	return cmd
}

func noVerb(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError(cmd, fmt.Errorf("unknown argument %q: want build", args[0]))
	}
	return nil
}

func (a *app) nativeBuildCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Compile the program with the site's MPI compiler",
		Long: `Compiles the benchmark program that tutti carries with the MPI library that is
to be tuned: on the machine where it will run, with the modules loaded that
will be loaded then. It measures many algorithms and sizes in one launch.`,
		Example: indent("tutti native build --mpicc mpicc -o tutti-native"),
		Args:    noArgs,
	}
	compiler := cmd.Flags().String("mpicc", "mpicc", "MPI compiler for C")
	out := cmd.Flags().StringP("out", "o", "tutti-native", "the program; every node must see it")
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		built, err := csource.Build(cmd.Context(), csource.Bench, *compiler, *out)
		if err != nil {
			return withBuildCode(err)
		}
		if *output == "json" {
			return json.NewEncoder(a.stdout).Encode(built)
		}
		fmt.Fprintf(a.stdout, "%s\nbuilt by %s (%s) from source %.12s\n", built.Path, built.Compiler, built.Version, built.Checksum)
		return nil
	}
	return cmd
}

// withBuildCode tells what a compiler refused from what could not be written.
func withBuildCode(err error) error {
	if errors.Is(err, csource.ErrCompiler) || errors.As(err, new(*exec.ExitError)) {
		return withCode(codeFailed, err)
	}
	return withOutputCode(err)
}
