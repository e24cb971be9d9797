// Package test holds the MPI programs of tests. Only tests import it.
//
//	built, err := csource.Build(ctx, test.World, "mpicc", "/tmp/world")
package test

import (
	"embed"

	"tutti/csource"
)

//go:embed src
var files embed.FS

// CallsFortran is the source of Calls in Fortran. It includes mpif.h, or uses module mpi if MODULE is
// defined, or module mpi_f08 if F08 is.
//
//go:embed src/calls.F90
var CallsFortran []byte

// The programs. The comment at the beginning of each describes its arguments.
var (
	Brief       = program("brief")                         // creates and frees communicators
	Calls       = program("calls")                         // makes every collective call with known sizes
	Collectives = program("collectives", csource.Workload) // makes every collective call in all forms and checks the data
	Forced      = program("forced")                        // reads and writes control variables
	Served      = program("served")                        // repeats one call and prints what served it
	Sizes       = program("sizes")                         // broadcasts of many sizes
	Large       = program("large")                         // makes one call with a very long message or type
	Loop        = program("loop")                          // repeats the same calls
	Fuzz        = program("fuzz", csource.Workload)        // makes random calls on random communicators and checks the data
	OSU         = program("osu_bcast")                     // prints the output of OSU's program
	World       = program("world")                         // prints its rank, hangs or fails
)

// Yield is a library that is preloaded into programs of Debian's MPICH: idle ranks yield the
// processor, since there may be more ranks than cores.
var Yield = csource.Program{
	Name: "ucx-yield.so", Flags: []string{"-O2", "-shared", "-fPIC"},
	Parts: []csource.Part{{Files: files, Match: "src/ucx-yield.c"}},
}

// Distance is a library that is preloaded into programs on virtual nodes: it makes some nodes farther
// from each other than others.
var Distance = csource.Program{
	Name: "distance.so", Flags: []string{"-O2", "-shared", "-fPIC"},
	Parts: []csource.Part{{Files: files, Match: "src/distance.c"}},
}

// Objects is a library that is preloaded after the runtime library: it counts the objects of MPI
// that the runtime library creates and frees.
var Objects = csource.Program{
	Name: "objects.so", Flags: []string{"-O1", "-shared", "-fPIC"},
	Parts: []csource.Part{{Files: files, Match: "src/objects.c"}}, Libs: []string{"-ldl"},
}

func program(name string, more ...csource.Part) csource.Program {
	own := csource.Part{Files: files, Match: "src/" + name + ".c"}
	return csource.Program{Name: name, Parts: append([]csource.Part{own}, more...), Flags: []string{"-O1"}}
}
