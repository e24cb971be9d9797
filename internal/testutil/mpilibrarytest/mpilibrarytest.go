// Package mpilibrarytest has what tests of several MPI libraries share: comparisons of catalogues and forced
// algorithms with tables, random rows, and fitted selections. The tests that every library must pass are in
// mpi/libraries. Only tests import it.
//
//	mpilibrarytest.Check(t, mpich.Library, "4.0.2 allgather 6x1 8 recursive_doubling cannot")
package mpilibrarytest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
)

// Release returns the catalogue of the release with the given version.
func Release(t testing.TB, lib mpi.Library, version string) *mpi.Catalogue {
	t.Helper()
	all := lib.Releases()
	i := slices.IndexFunc(all, func(c *mpi.Catalogue) bool { return c.Version == version })
	if i < 0 {
		t.Fatalf("%s has no release %s", lib.Facts().Name, version)
	}
	return all[i]
}

// Algorithm parses the text of an algorithm. If the text is invalid, the test fails.
func Algorithm(t testing.TB, text string) coll.Algorithm {
	t.Helper()
	return testutil.Must(coll.ParseAlgorithm(text))(t)
}

// Check compares catalogues with a table. A line has a release, a collective, a layout, a message size, an
// algorithm and an expected result. The result is runs, unknown, or cannot; cannot means that the release
// has the algorithm but not for this point:
//
//	4.0.2 allgather 6x1 8 recursive_doubling cannot # a comment
func Check(t *testing.T, lib mpi.Library, table string) {
	t.Helper()
	for _, tc := range parse(t, table) {
		if err := Release(t, lib, tc.release).Check(tc.Candidate); !errors.Is(err, tc.want) {
			t.Errorf("%s: Check(%v) = %v, want %v", tc.release, tc.Candidate, err, tc.want)
		}
	}
}

// line is one line of a table of catalogue checks.
type line struct {
	release string
	coll.Candidate
	want error
	text string // the rest
}

func parse(t *testing.T, table string) []line {
	t.Helper()
	wants := map[string]error{"runs": nil, "cannot": mpi.ErrInfeasible, "unknown": mpi.ErrUnknown}
	var out []line
	for text := range strings.Lines(table) {
		words, _, _ := strings.Cut(text, "#")
		if strings.TrimSpace(words) == "" {
			continue
		}
		var l line
		var algorithm, want string
		if _, err := fmt.Sscanf(words, "%s %s %dx%d %d %s %s", &l.release, &l.Collective, &l.Nodes, &l.PPN, &l.MsgBytes, &algorithm, &want); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		l.Algorithm = Algorithm(t, algorithm)
		var ok bool
		if l.want, ok = wants[want]; !ok {
			t.Fatalf("%s: want runs, cannot or unknown", text)
		}
		_, rest, _ := strings.Cut(words, " "+want)
		l.text = strings.TrimSpace(rest)
		out = append(out, l)
	}
	return out
}

// CheckListed compares the algorithms of a library with expected names. A key of `lists` consists of a
// release and a collective. If the value ends with …, the library may have further algorithms:
//
//	"4.1.4 barrier": "linear double_ring recursive_doubling …"
func CheckListed(t *testing.T, lib mpi.Library, lists map[string]string) {
	t.Helper()
	for of, want := range lists {
		release, collective, _ := strings.Cut(of, " ")
		var names []string
		for _, a := range Release(t, lib, release).Algorithms(coll.Collective(collective)) {
			names = append(names, a.String())
		}
		got := strings.Join(names, " ")
		if start, cut := strings.CutSuffix(want, "…"); got != want && !(cut && strings.HasPrefix(got, start)) {
			t.Errorf("%s:\n got %s\nwant %s", of, got, want)
		}
	}
}
