package mpilibrarytest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
)

// Forced is a row of a table for CheckForced: a candidate, and the variables and switches that are expected
// to force it, as NAME=VALUE. The candidate has 2x2 processes and 4 KiB.
type Forced struct {
	Name                string
	Release             string
	Collective          coll.Collective
	Algorithm           string
	Env, Base, Switches []string
	NewComm             bool
}

// CheckForced checks that the variables and switches that force a library's algorithms are those in the table.
func CheckForced(t *testing.T, lib mpi.Library, tests []Forced) {
	t.Helper()
	for _, tc := range tests {
		point := coll.Point{Collective: tc.Collective, Nodes: 2, PPN: 2, MsgBytes: 4096}
		f, err := mpi.Force(lib, Release(t, lib, tc.Release), coll.Candidate{Point: point, Algorithm: Algorithm(t, tc.Algorithm)})
		if err != nil {
			t.Errorf("%s: %v", tc.Name, err)
			continue
		}
		got := tc
		got.Env, got.Base, got.Switches, got.NewComm = Vars(f.Env), Vars(f.Base), Switches(f.Switches), f.NewComm
		if d := cmp.Diff(tc, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.Name, d)
		}
	}
}

// CheckRefused checks candidates that a library must refuse to force. The table has lines as for Check, each with a
// part of the expected error's text at its end.
func CheckRefused(t *testing.T, lib mpi.Library, table string) {
	t.Helper()
	for _, tc := range parse(t, table) {
		_, err := mpi.Force(lib, Release(t, lib, tc.release), tc.Candidate)
		if !errors.Is(err, tc.want) || err == nil || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s: %v: error %v, want one matching %v with %q", tc.release, tc.Candidate, err, tc.want, tc.text)
		}
	}
}

// Vars formats variables as NAME=VALUE, or as "NAME is a file" for a variable whose value is a file.
func Vars(list []mpi.Var) []string {
	var out []string
	for _, v := range list {
		text := v.Name + "=" + v.Value
		if v.File != nil {
			text = v.Name + " is a file"
		}
		out = append(out, text)
	}
	return out
}

func Switches(list []mpi.Switch) []string {
	var out []string
	for _, s := range list {
		out = append(out, fmt.Sprintf("%s=%d", s.Name, s.Value))
	}
	return out
}

// Candidate returns the candidate with the given collective, layout, message size and algorithm.
func Candidate(t testing.TB, c coll.Collective, l coll.Layout, bytes int64, algorithm string) coll.Candidate {
	t.Helper()
	return coll.Candidate{
		Point:     coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: bytes},
		Algorithm: Algorithm(t, algorithm),
	}
}

func Force(t testing.TB, lib mpi.Library, cat *mpi.Catalogue, c coll.Candidate) mpi.Forcing {
	t.Helper()
	return testutil.Must(mpi.Force(lib, cat, c))(t)
}

// usable has values for parameters that cannot be 1 in MPICH: recursive exchange with k=1 does not end, and chunks smaller
// than an element make nonblocking algorithms divide by zero.
var usable = map[string]string{"k": "2", "chunk_size": "8192"}

// Everything returns the candidates of a release that can run on a layout with 4 KiB, including the
// default. Every parameter of an algorithm has the value 1, except those in usable.
func Everything(t testing.TB, cat *mpi.Catalogue, l coll.Layout) []coll.Candidate {
	t.Helper()
	var out []coll.Candidate
	for _, c := range coll.Collectives() {
		out = append(out, Candidate(t, c, l, 4096, coll.Default.Name))
		for _, e := range cat.Entries(c) {
			var params []coll.Param
			for _, name := range e.Params {
				value, ok := usable[name]
				if !ok {
					value = "1"
				}
				params = append(params, coll.Param{Name: name, Value: value})
			}
			a := testutil.Must(coll.NewAlgorithm(e.Name, params...))(t)
			cand := out[len(out)-1]
			if cand.Algorithm = a; cat.Check(cand) == nil {
				out = append(out, cand)
			}
		}
	}
	return out
}

// Groups returns arguments for the program ForcedProgram, with one group for each candidate. The program
// writes the group's control variables before it makes the group's call.
func Groups(t testing.TB, lib mpi.Library, cat *mpi.Catalogue, candidates []coll.Candidate) []string {
	t.Helper()
	var args []string
	for i, c := range candidates {
		if i > 0 {
			args = append(args, "--")
		}
		args = append(args, Switches(Force(t, lib, cat, c).Switches)...)
	}
	return args
}
