package main

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"tutti/csource"
	"tutti/doctor"
	"tutti/internal/config"
	"tutti/mpi"
)

// buildable maps the argument of tutti build to the program that it compiles.
var buildable = map[string]csource.Program{"benchmark": csource.Bench, "runtime": csource.Runtime, "conformance": csource.Conformance}

type buildOptions struct {
	*app
	program  csource.Program
	compiler *string
	out      *string
}

func buildCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "build {benchmark|runtime|conformance}",
		Short: "Compile the benchmark program, the runtime library or its test",
		Long: `build compiles one of the C programs that tutti contains. The benchmark measures
collectives, many algorithms and sizes in one launch. The runtime library is preloaded
into applications: it traces their collectives and selects algorithms from a table (see
tutti run). A header for algorithms of users is written next to it. The conformance program
checks the results of such algorithms, or of those of the runtime library.

Build it on the machine where it will run, with the MPI compiler of the library that
is tuned or that the applications use, and with the same modules loaded.`,
		Example: examples("tutti build benchmark --mpicc mpicc --out tutti-native-mpich", "tutti build runtime --mpicc /opt/openmpi/bin/mpicc"),
	}
	o := buildOptions{app: a}
	o.compiler = cmd.Flags().String("mpicc", "mpicc", "MPI compiler for C")
	o.out = cmd.Flags().StringP("out", "o", "", "compiled `FILE`, in a folder that every node sees (default tutti-native, libtutti.so or tutti-conformance)")
	a.formatFlag(cmd)
	names := []string{"benchmark", "runtime", "conformance"}
	cmd.ValidArgs = names
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError(cmd, fmt.Errorf("want one of %s", strings.Join(names, ", ")))
		}
		program, ok := buildable[args[0]]
		if !ok {
			return usageError(cmd, config.NotOneOf(args[0], names))
		}
		o.program = program
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return o.run(cmd) }
	return cmd
}

func (o *buildOptions) run(cmd *cobra.Command) error {
	compiled := o.announce("compiling ...")
	built, err := csource.Build(cmd.Context(), o.program, *o.compiler, cmp.Or(*o.out, o.program.Name))
	compiled()
	if err != nil {
		return withBuildCode(err)
	}
	loads := doctor.Loaded(cmd.Context(), built.Path, o.environ)
	return o.show(struct {
		csource.Built
		Loads mpi.Identity `json:"loads"`
	}{built, loads}, func() { o.printBuilt(built, loads) })
}

// printBuilt prints the path of the compiled file and the MPI library that this file loads on this machine.
func (a *app) printBuilt(b csource.Built, loads mpi.Identity) {
	library := "no shared MPI library here: linked statically, or its folder is not in LD_LIBRARY_PATH"
	if loads.Path != "" {
		library = fmt.Sprintf("%s, %s", cmp.Or(loads.Version, "an MPI library of unknown release"), loads.Path)
	}
	a.printFit("%s\nbuilt by %s (%s) from source %.12s\nloads %s", b.Path, b.Compiler, b.Version, b.Checksum, library)
	if b.Header != "" {
		a.printFit("header for own algorithms %s", b.Header)
	}
}

// withBuildCode adds the exit code to an error of csource.Build. There is one code for a missing compiler or a
// compile error, and another one for a file that cannot be written.
func withBuildCode(err error) error {
	if errors.Is(err, csource.ErrCompiler) || errors.As(err, new(*exec.ExitError)) {
		return withCode(codeFailed, err)
	}
	return withOutputCode(err)
}
