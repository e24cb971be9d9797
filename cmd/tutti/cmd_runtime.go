package main

import (
	"github.com/spf13/cobra"

	"tutti/csource"
)

func (a *app) runtimeCommand() *cobra.Command {
	return verbs(&cobra.Command{
		Use:     "runtime",
		Short:   "Build the library that works inside applications, show and join its tables",
		Example: indent("tutti runtime build --mpicc mpicc -o libtutti.so"),
	}, a.runtimeBuildCommand(), a.runtimeJoinCommand(), a.runtimeShowCommand())
}

func (a *app) runtimeBuildCommand() *cobra.Command {
	return a.buildCommand(csource.Runtime, &cobra.Command{
		Short: "Compile the library with the site's MPI compiler",
		Long: `Compiles the library that tutti carries for the MPI library that applications
use. Preloaded or linked, it writes a trace of the collectives that an
application calls (see tutti run).`,
		Example: indent("tutti runtime build --mpicc mpicc -o libtutti.so"),
	})
}
