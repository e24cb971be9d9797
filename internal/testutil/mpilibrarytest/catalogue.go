package mpilibrarytest

import (
	"slices"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/mpi"
)

// mostAlgorithms is the largest number of algorithms of one collective that a campaign can measure in
// reasonable time.
const mostAlgorithms = 80

// testCatalogues checks that the list of releases is in order, and that every listed algorithm can be
// looked up.
func testCatalogues(t *testing.T, lib mpi.Library) {
	all := lib.Releases()
	if len(all) == 0 {
		t.Fatal("no release")
	}
	for i, cat := range all {
		if cat.Library != lib.Facts().Name {
			t.Errorf("%s %s: want releases of %s", cat.Library, cat.Version, lib.Facts().Name)
		}
		if i > 0 && !inOrder(lib, all[i-1].Version, cat.Version) {
			t.Errorf("%s after %s: want the oldest first, each once", cat.Version, all[i-1].Version)
		}
		for _, c := range coll.Collectives() {
			testEntries(t, cat, c)
			testAlgorithms(t, cat, c)
		}
	}
}

// inOrder reports whether a release may follow another one in a list of releases. libtutti runs above other
// libraries and has one catalogue for each pair of its release and such a library.
func inOrder(lib mpi.Library, before, after string) bool {
	order := slices.Compare(mpi.ReleaseNumbers(before), mpi.ReleaseNumbers(after))
	return order < 0 || order == 0 && lib.Facts().Preload && before < after
}

// CheckListed compares the algorithms of a library with expected names. A key of lists consists of a
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

func testEntries(t *testing.T, cat *mpi.Catalogue, c coll.Collective) {
	t.Helper()
	var names []string
	for _, e := range cat.Entries(c) {
		if _, err := coll.NewAlgorithm(e.Name); err != nil {
			t.Errorf("%s %s: %v", cat.Version, c, err)
		}
		if slices.Contains(names, e.Name) {
			t.Errorf("%s %s: %s is there twice", cat.Version, c, e.Name)
		}
		if e.ID < 0 {
			t.Errorf("%s %s %s: number %d: want 0 or more", cat.Version, c, e.Name, e.ID)
		}
		if why := []mpi.Requirement{mpi.Commutative, mpi.NotInPlace, mpi.SameTypes}; !e.OpSafe && !slices.ContainsFunc(why, e.Has) {
			t.Errorf("%s %s %s: not safe: want a requirement of %v", cat.Version, c, e.Name, why)
		}
		names = append(names, e.Name)
	}
}

// testAlgorithms checks the algorithms that campaigns measure. Each algorithm can be looked up and is
// listed once. It stays equal when it is formatted as text and parsed again.
func testAlgorithms(t *testing.T, cat *mpi.Catalogue, c coll.Collective) {
	t.Helper()
	list := cat.Algorithms(c)
	if entries := cat.Entries(c); len(list) > mostAlgorithms || len(list) == 0 && len(entries) > 0 {
		t.Errorf("%s %s: %d algorithms of %d entries: want 1 to %d", cat.Version, c, len(list), len(entries), mostAlgorithms)
	}
	seen := map[coll.Algorithm]bool{}
	for _, a := range list {
		e, err := cat.Lookup(c, a)
		if err != nil || e.Name != a.Name || e.Has(mpi.InPlace) {
			t.Errorf("%s %s: Lookup(%v) = %+v, %v", cat.Version, c, a, e, err)
		}
		if back, err := coll.ParseAlgorithm(a.String()); err != nil || back != a {
			t.Errorf("%s %s: %v is read as %v, %v", cat.Version, c, a, back, err)
		}
		if seen[a] {
			t.Errorf("%s %s: %v is there twice", cat.Version, c, a)
		}
		seen[a] = true
		cand := coll.Candidate{Point: coll.Point{Collective: c, Nodes: 4, PPN: 2, MsgBytes: 1 << 16}, Algorithm: a}
		if (cat.Check(cand) == nil) != cat.Carries(cand, cat.Version) {
			t.Errorf("%s: %v: checked %v, but carried %t from its own release", cat.Version, cand, cat.Check(cand), cat.Carries(cand, cat.Version))
		}
	}
}
