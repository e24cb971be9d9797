package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tutti/csource"
	"tutti/doctor"
	"tutti/mpi"
)

// buildCommand makes a command of what is said about it: it compiles a program.
func (a *app) buildCommand(p csource.Program, cmd *cobra.Command) *cobra.Command {
	cmd.Use, cmd.Args = "build", noArgs
	compiler := cmd.Flags().String("mpicc", "mpicc", "MPI compiler for C")
	out := cmd.Flags().StringP("out", "o", p.Name, "the file; every node must see it")
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		built, err := csource.Build(cmd.Context(), p, *compiler, *out)
		if err != nil {
			return withBuildCode(err)
		}
		return writeBuilt(a.stdout, built, doctor.Loaded(cmd.Context(), built.Path, a.environ), *output)
	}
	return cmd
}

// writeBuilt says what was compiled, and which MPI library it loads here.
func writeBuilt(w io.Writer, b csource.Built, loads mpi.Identity, output string) error {
	if output == "json" {
		return json.NewEncoder(w).Encode(struct {
			csource.Built
			Loads mpi.Identity
		}{b, loads})
	}
	said := "no shared MPI library here: linked statically, or LD_LIBRARY_PATH lacks its folder"
	if loads.Path != "" {
		said = fmt.Sprintf("%s, %s", cmp.Or(loads.Version, "an MPI library of unknown release"), loads.Path)
	}
	_, err := fmt.Fprintf(w, "%s\nbuilt by %s (%s) from source %.12s\nloads %s\n", b.Path, b.Compiler, b.Version, b.Checksum, said)
	return err
}
