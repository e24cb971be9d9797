package testutil

import (
	"embed"
	"slices"

	"tutti/csource"
)

//go:embed programs
var programs embed.FS

// CallsFortran is a Fortran program that makes the same calls as CallsProgram. It includes mpif.h,
// but uses module mpi if MODULE is defined, or module mpi_f08 if F08 is defined.
//
//go:embed programs/calls.F90
var CallsFortran []byte

// These MPI programs are used by tests. A comment at the beginning of each source file describes the
// program's arguments.
var (
	BriefProgram       = program("brief")                                                  // creates and frees communicators
	CallsProgram       = program("calls")                                                  // makes every collective call with known sizes
	CollectivesProgram = program("all_collectives", csource.Collectives, csource.Workload) // makes every collective call in all forms and checks the data
	ForcedProgram      = program("forced", csource.Collectives)                            // reads and writes control variables
	ServedProgram      = program("served")                                                 // repeats one call and prints what served it
	SendsProgram       = program("sends", csource.Collectives, csource.Workload)           // makes one call; counts its messages in MPICH over UCX
	SizesProgram       = program("sizes")                                                  // broadcasts of many sizes
	LargeProgram       = program("large")                                                  // makes one call with a very long message or type
	LaterProgram       = program("later")                                                  // makes nonblocking and persistent calls
	LoopProgram        = program("loop")                                                   // repeats the same calls
	FuzzProgram        = program("fuzz", csource.Collectives, csource.Workload)            // makes random calls on random communicators and checks the data
	OSUProgram         = program("osu_bcast")                                              // prints the output of OSU's program
	ThreadsProgram     = program("threads")                                                // calls collectives in several threads at once
	WrongProgram       = program("wrong")                                                  // makes wrong calls and prints their errors
	WorldProgram       = program("world")                                                  // prints its rank, hangs or fails
)

// YieldLibrary is preloaded into programs of Debian's MPICH. It makes idle ranks yield the processor, since
// there may be more ranks than cores.
var YieldLibrary = csource.Program{
	Name: "ucx-yield.so", Flags: []string{"-O2", "-shared", "-fPIC"},
	Parts: []csource.Part{{Files: programs, Match: "programs/ucx-yield.c"}},
}

// UserLibrary is a shared object with algorithms of a user for the runtime library.
var UserLibrary = csource.Program{
	Name: "user.so", Flags: []string{"-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Wpedantic", "-Werror"},
	Parts: []csource.Part{{Files: programs, Match: "programs/user.c"}, csource.UserHeader},
}

// DistanceLibrary is preloaded into programs on virtual nodes. It delays messages so that some nodes seem
// farther from each other than others.
var DistanceLibrary = csource.Program{
	Name: "distance.so", Flags: []string{"-O2", "-shared", "-fPIC"},
	Parts: []csource.Part{{Files: programs, Match: "programs/distance.c"}},
}

// ObjectsLibrary is preloaded after the runtime library. It counts the MPI objects that the runtime library
// creates and frees.
var ObjectsLibrary = csource.Program{
	Name: "objects.so", Flags: []string{"-O1", "-shared", "-fPIC"},
	Parts: []csource.Part{{Files: programs, Match: "programs/objects.c"}}, Libs: []string{"-ldl"},
}

// Long returns a variant of the program p that calls the collectives with long counts. It needs MPI 4.
func Long(p csource.Program) csource.Program {
	p.Name += "-long"
	p.Parts = append(slices.Clone(p.Parts), csource.Part{Files: programs, Match: "programs/long.h"})
	p.Flags = append(slices.Clone(p.Flags), "-include", "long.h")
	return p
}

func program(name string, more ...csource.Part) csource.Program {
	own := csource.Part{Files: programs, Match: "programs/" + name + ".c"}
	return csource.Program{Name: name, Parts: append([]csource.Part{own}, more...), Flags: []string{"-O1"}}
}
