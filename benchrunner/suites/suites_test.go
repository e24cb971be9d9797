package suites

import (
	"os"
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/mpi"
)

// launchOf returns a launch of one collective and algorithm with the given sizes.
func launchOf(collective coll.Collective, nodes, ppn int, algorithm string, sizes ...int64) benchrunner.Launch {
	s := benchrunner.Launch{Layout: coll.Layout{Nodes: nodes, PPN: ppn}, Dir: "/work/1"}
	for _, size := range sizes {
		s.Cases = append(s.Cases, benchrunner.Case{
			Candidate: coll.Candidate{
				Point:     coll.Point{Collective: collective, Nodes: nodes, PPN: ppn, MsgBytes: size},
				Algorithm: coll.Algorithm{Name: algorithm},
			},
			Forcing: mpi.Forcing{Env: []mpi.Var{{Name: "ALG", Value: algorithm}}},
		})
	}
	return s
}

// hosts returns the output in which ranks report their hosts.
func hosts(names ...string) string {
	var b strings.Builder
	for _, h := range names {
		b.WriteString("tutti: process on host " + h + "\n")
	}
	return b.String()
}

// twoHosts is the output of two ranks on two hosts.
var twoHosts = hosts("n1", "n2")

// sample returns a recorded output.
func sample(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
