package libraries_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/mpi/libtutti"
)

// TestLibraries runs the tests that every library must pass, also for libtutti without the algorithms of other
// libraries.
func TestLibraries(t *testing.T) {
	for _, lib := range append(libraries.All(), mpi.Library(libtutti.Library)) {
		t.Run(fmt.Sprintf("%s, %d releases", lib.Facts().Name, len(lib.Releases())), func(t *testing.T) {
			t.Parallel()
			t.Run("facts", func(t *testing.T) { testFacts(t, lib) })
			t.Run("catalogue", func(t *testing.T) { testCatalogues(t, lib) })
			t.Run("builds", func(t *testing.T) { testBuilds(t, lib) })
			t.Run("writing", func(t *testing.T) { testWriting(t, lib) })
			t.Run("porting", func(t *testing.T) { testPorting(t, lib) })
			if m, ok := lib.(mpi.Measurable); ok {
				t.Run("forcing", func(t *testing.T) { testForcing(t, m) })
			}
		})
	}
}

// testFacts checks the facts with which tutti finds, launches and names a library. It also checks that
// tutti does not recognise other files as this library.
func testFacts(t *testing.T, lib mpi.Library) {
	f := lib.Facts()
	needed := map[string]string{
		"name": f.Name, "title": f.Title, "family": f.Family, "kind of launcher": f.Launcher.Kind, "launcher": f.Launcher.Program,
	}
	m, measurable := lib.(mpi.Measurable)
	if measurable {
		testNothing(t, m)
	}
	own := measurable && f.Family == f.Name && !f.Preload // others are found and started as the library of their family
	if own {
		needed["title of its launcher"] = f.Launcher.Title
		needed["package of its launcher"] = f.Install.Runtime
		needed["package of its headers"] = f.Install.Headers
	}
	for name, text := range needed {
		if text == "" {
			t.Errorf("no %s", name)
		}
	}
	if len(f.Install.Compilers) == 0 || own && (f.Launcher.Answer == nil || len(f.Launcher.PMI) == 0) {
		t.Errorf("%+v: want compilers; with a family of its own, its launcher's answer and plugins of srun", f)
	}
	if name := lib.Recognise([]byte("\x00GNU C Library\x002.36\x00")); name != "" {
		t.Errorf("the C library is taken for %s", name)
	}
}

// testNothing checks that Inspect reports nothing about an installation whose file and programs are unknown.
func testNothing(t *testing.T, lib mpi.Measurable) {
	t.Helper()
	got := lib.Inspect(t.Context(), mpi.Installed{Version: lib.Releases()[0].Version, Tools: noTools{}})
	if got.Catalogue != nil || len(got.Absent)+len(got.Unlisted) > 0 || (got.Fault == "") != (got.Fix == "") {
		t.Errorf("a build with neither file nor tools: %+v, want nothing known of it", got)
	}
}

// noTools stands for an installed MPI library whose programs are missing.
type noTools struct{}

func (noTools) Find(string) string { return "" }

func (noTools) Ask(context.Context, string, ...string) string { return "" }

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

// inOrder reports whether the release `after` may follow the release `before` in a list. The release numbers
// must ascend. Only libtutti may repeat one: it has a separate catalogue for each library below it.
func inOrder(lib mpi.Library, before, after string) bool {
	order := slices.Compare(mpi.ReleaseNumbers(before), mpi.ReleaseNumbers(after))
	return order < 0 || order == 0 && lib.Facts().Preload && before < after
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
		if (cat.Check(cand) == nil) != cat.ValidFrom(cand, cat.Version) {
			t.Errorf("%s: %v: checked %v, but carried %t from its own release", cat.Version, cand, cat.Check(cand), cat.ValidFrom(cand, cat.Version))
		}
	}
}

// testForcing checks, on a small grid, that each candidate that can run has settings that force it. The default
// must need no setting.
func testForcing(t *testing.T, lib mpi.Measurable) {
	layouts := []coll.Layout{{Nodes: 2, PPN: 1}, {Nodes: 2, PPN: 2}, {Nodes: 1, PPN: 4}, {Nodes: 3, PPN: 2}}
	for _, cat := range lib.Releases() {
		for _, c := range coll.Collectives() {
			shared := map[string][]string{} // by start: names of the switches
			for _, l := range layouts {
				point := coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: 4096}
				same := map[string]coll.Algorithm{} // by settings, and by start and switches
				for _, a := range append(cat.Algorithms(c), coll.Default) {
					forced(t, lib, cat, coll.Candidate{Point: point, Algorithm: a}, shared, same)
				}
			}
		}
	}
}

// forced checks the settings that force one candidate. All candidates of one run of the program must write the
// same control variables. Otherwise one candidate inherits a value from the previous one. Two candidates must
// not write the same values, or they would run the same algorithm.
func forced(t *testing.T, lib mpi.Measurable, cat *mpi.Catalogue, c coll.Candidate, shared map[string][]string, same map[string]coll.Algorithm) {
	t.Helper()
	feasible := cat.Check(c) == nil
	f, err := mpi.Force(lib, cat, c)
	switch {
	case !feasible && err == nil:
		t.Errorf("%s %v: forced, though it cannot run", cat.Version, c)
		return
	case !feasible:
		return
	case err != nil && cat.Version != lib.Facts().TestedRelease && errors.Is(err, mpi.ErrInfeasible):
		return // no way is known in this release
	case err != nil:
		t.Errorf("%s %v: %v", cat.Version, c, err)
		return
	}
	testSettings(t, cat, c, f)
	var switches []string
	for _, s := range f.Switches {
		switches = append(switches, s.Name)
	}
	start := fmt.Sprintf("%t %q", f.NewComm, f.Base)
	if before, ok := shared[start]; ok && !slices.Equal(before, switches) {
		t.Errorf("%s %v: switches %v, its neighbours have %v", cat.Version, c, switches, before)
	}
	shared[start] = switches
	for _, way := range []string{fmt.Sprint("settings ", f.Env), fmt.Sprint("switches ", start, f.Switches, f.LibtuttiAlgorithm)} {
		if other, ok := same[way]; ok {
			t.Errorf("%s %v: forced as %v is: %s", cat.Version, c, other, way)
		}
		same[way] = c.Algorithm
	}
}

// testSettings checks that the default needs no setting. Other algorithms must have settings, and no two
// settings may have the same name.
func testSettings(t *testing.T, cat *mpi.Catalogue, c coll.Candidate, f mpi.Forcing) {
	t.Helper()
	if c.Algorithm.IsDefault() == (len(f.Env) > 0) {
		t.Errorf("%s %v: settings %v: want none for the default, and some for what it is not", cat.Version, c, f.Env)
	}
	var names []string
	for _, v := range f.Env {
		if slices.Contains(names, v.Name) {
			t.Errorf("%s %v: %s is set twice", cat.Version, c, v.Name)
		}
		names = append(names, v.Name)
	}
}
