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

// The programs. Each says at its beginning what it is called with.
var (
	Collectives = program("collectives") // makes every collective and checks the data
	Forced      = program("forced")      // reads and writes control variables
	OSU         = program("osu_bcast")   // prints what OSU's program prints
	World       = program("world")       // says which process it is, hangs or fails
)

func program(name string) csource.Program {
	return csource.Program{Name: name, Files: files, Match: "src/" + name + ".c", Flags: []string{"-O1"}}
}
