// Package test has the MPI programs that tests run. It is imported by tests alone.
//
//	built, err := csource.Build(ctx, test.World, "mpicc", "/tmp/world")
package test

import (
	"embed"

	"tutti/csource"
)

//go:embed src
var files embed.FS

// CallsFortran is the text of Calls in Fortran: as it is it includes mpif.h, and with
// MODULE or F08 defined it uses that module.
//
//go:embed src/calls.F90
var CallsFortran []byte

// The programs. Each says at its beginning what it is called with.
var (
	Brief       = program("brief")                         // communicators come and go
	Calls       = program("calls")                         // makes every collective, with known sizes
	Collectives = program("collectives", csource.Workload) // makes every collective in all forms and checks the data
	Forced      = program("forced")                        // reads and writes control variables
	Served      = program("served")                        // makes one call again and again and says what served it
	Sizes       = program("sizes")                         // broadcasts of many sizes
	Loop        = program("loop")                          // makes the same calls again and again
	Fuzz        = program("fuzz", csource.Workload)        // makes random calls on random communicators and checks the data
	OSU         = program("osu_bcast")                     // prints what OSU's program prints
	World       = program("world")                         // says which rank it is, hangs or fails
)

// Yield is no program: preloaded into those of Debian's MPICH it lets ranks that find
// nothing to do give way, since they may outnumber the cores.
var Yield = csource.Program{
	Name: "ucx-yield.so", Flags: []string{"-O2", "-shared", "-fPIC"},
	Parts: []csource.Part{{Files: files, Match: "src/ucx-yield.c"}},
}

// Distance is no program, either: preloaded into those on virtual nodes it makes some of
// them farther from one another than others.
var Distance = csource.Program{
	Name: "distance.so", Flags: []string{"-O2", "-shared", "-fPIC"},
	Parts: []csource.Part{{Files: files, Match: "src/distance.c"}},
}

// Objects is no program, either: preloaded behind the runtime library it counts the objects
// of MPI that the library makes and frees.
var Objects = csource.Program{
	Name: "objects.so", Flags: []string{"-O1", "-shared", "-fPIC"},
	Parts: []csource.Part{{Files: files, Match: "src/objects.c"}}, Libs: []string{"-ldl"},
}

func program(name string, more ...csource.Part) csource.Program {
	own := csource.Part{Files: files, Match: "src/" + name + ".c"}
	return csource.Program{Name: name, Parts: append([]csource.Part{own}, more...), Flags: []string{"-O1"}}
}
