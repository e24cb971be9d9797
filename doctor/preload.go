package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"tutti/csource"
)

// needPreloaded looks for the file of tutti's own library, and lets the benchmark program
// measure one of its algorithms where programs may be run. It returns the MPI library
// that the program loads; nil when that was not found.
func (x *examiner) needPreloaded(ctx context.Context, want NeededLibrary) *Library {
	name := want.Name + " " + want.Version
	lib := x.libraryOf(ctx, want.Benchmark)
	cure := fmt.Sprintf("tutti build runtime --mpicc MPICC -o %s", want.Path)
	if lib != nil {
		cure = fmt.Sprintf("tutti build runtime --mpicc %s -o %s", x.short(lib.Compilers[0]), want.Path)
	}
	start := x.starter(lib)
	switch {
	case !exists(want.Path):
		x.add(need(name, Missing, cure, "no file "+want.Path))
	case lib == nil || start == nil || !x.options.Run || !exists(want.Benchmark):
		x.add(need(name, Found, "", want.Path+": not tried"))
	default:
		x.add(x.tryPreloaded(ctx, need(name, Missing, cure, want.Path), want, start))
	}
	return lib
}

// tryPreloaded measures one broadcast on two ranks by an algorithm of tutti's own library.
func (x *examiner) tryPreloaded(ctx context.Context, c Check, want NeededLibrary, start *trial) Check {
	plan := filepath.Join(x.temp, "plan-own")
	if err := os.WriteFile(plan, []byte(planOf(start, " run=binomial")), 0o644); err != nil {
		c.Details = append(c.Details, err.Error())
		return c
	}
	r := x.run(ctx, start.command(x, "env", "LD_PRELOAD="+want.Path, want.Benchmark, plan))
	measured, why := parseNative(r.Stdout)
	switch {
	case measured && r.Err == nil:
		c = c.with(OK, "")
		c.Details = append(c.Details, fmt.Sprintf("%s: serves a broadcast, %.1f s", start.library.Name, r.Took.Seconds()))
	case why != "":
		c.Details = append(c.Details, start.library.Name+": "+why)
	default:
		c.Details = append(c.Details, start.library.Name+": serves nothing: "+r.said())
	}
	return c
}

// planOf is a plan of the benchmark program for one broadcast of 8 bytes; how says what
// stands behind the communicator.
func planOf(start *trial, how string) string {
	nodes := max(1, len(start.hosts))
	return fmt.Sprintf("tutti-native-plan %d\nnodes %d\nppn %d\nwarmup 1\nmin 6\nmax 10\nprecision 0.5\nslice 0.5\nhang 10\nhopeless 0\ncheck yes\ncase 1 bcast 8 same%s\nend\n",
		csource.BenchFormat, nodes, pairRanks/nodes, how)
}
