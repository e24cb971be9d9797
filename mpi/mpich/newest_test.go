package mpich

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

// newest returns a build of MPICH 5.0.2 with the trees and names of Debian's library. `texts`
// holds strings of the library that say how it was built.
func newest(t testing.TB, texts ...string) build {
	t.Helper()
	f := treeFinder{}
	for _, name := range []string{"5.0.2.json", "5.0.2.ch4.json"} {
		f.see(testutil.Must(os.ReadFile("testdata/" + name))(t))
	}
	names := string(testutil.Must(os.ReadFile("testdata/5.0.2.names"))(t))
	for _, text := range slices.Concat(strings.Fields(names), texts) {
		f.see([]byte(text))
	}
	lib := testutil.Must(f.library("libmpich.so", "5.0.2"))(t)
	return newBuild(lib, release(t, "5.0.1").As("5.0.2"))
}

const sharedMemory = "MPIDI_POSIX_mpi_bcast_release_gather"

// TestRecordedReleases compares the catalogues with the algorithms that two releases accept, and with the numbers of
// the control variables of 4.2.1. Algorithms that the catalogues leave out count as unlisted.
func TestRecordedReleases(t *testing.T) {
	const unlisted = "MPIR_Barrier_intra_recexch MPIDI_Allgather_intra_composition_alpha MPIDI_Alltoall_intra_composition_alpha "
	for version, want := range map[string]string{
		"4.2.1": "absent [], unlisted [" + unlisted + "MPIDI_Scan_intra_composition_alpha]",
		"5.0.2": "absent [], unlisted [MPIR_Allreduce_intra_ccl " + unlisted + "MPIDI_Bcast_intra_composition_delta MPIDI_Scan_intra_composition_alpha]",
	} {
		near, _ := mpi.Near(releases(), version)
		cat, f := near.As(version), treeFinder{}
		for _, name := range strings.Fields(string(testutil.Must(os.ReadFile("testdata/" + version + ".names"))(t))) {
			f.see([]byte(name))
		}
		absent, unlisted, compared := compare(cat, f.lib)
		for _, c := range coll.Collectives() {
			compared -= len(cat.Entries(c))
		}
		if got := fmt.Sprintf("absent %v, unlisted %v", absent, unlisted); got != want || compared != 0 {
			t.Errorf("%s: %s, want %s; %d algorithms compared too many", version, got, want, compared)
		}
	}
	near, _ := mpi.Near(releases(), "4.2.1")
	numbers := string(testutil.Must(os.ReadFile("testdata/4.2.1.numbers.csv"))(t))
	for _, c := range coll.Collectives() {
		for _, e := range near.Entries(c) {
			if want := fmt.Sprintf("\n%s,%s,%d\n", c, e.Name, e.ID); !composes(e) && !strings.Contains(numbers, want) {
				t.Errorf("not in the control variables of 4.2.1: %s", want)
			}
		}
	}
}

// TestUnknownSeries opens a library of a release series that has no catalogue. Its algorithms and their numbers
// must be those in the help texts of its control variables.
func TestUnknownSeries(t *testing.T) {
	cat := release(t, "5.0.1")
	recorded := strings.Split(string(testutil.Must(os.ReadFile("testdata/5.0.2.numbers"))(t)), "\n\n")
	for _, tc := range []struct{ shipped, changed string }{
		{},
		{"binomial                                - Force Binomial", "brand_new - Force a new one\nbinomial - Force Binomial"},
	} {
		f := treeFinder{}
		f.lib.Leaves = []string{"MPIR_Bcast_intra_brand_new"}
		for _, text := range recorded {
			f.see([]byte(strings.Replace(text, tc.shipped, tc.changed, 1)))
		}
		lib := newest(t, "ch4:ofi", sharedMemory).lib
		lib.Leaves, lib.Numbers = append(lib.Leaves, "MPIR_Bcast_intra_brand_new"), f.lib.Numbers
		b := newBuild(lib, cat.As("6.0.0"))
		for _, c := range coll.Collectives() {
			for _, e := range b.cat.Entries(c) {
				known, err := cat.Lookup(c, mpi.Variants(e)[0])
				moved := c == coll.Bcast && tc.shipped != "" && !composes(e)
				switch {
				case e.Name == "brand_new" && (e.ID != 1 || e.OpSafe):
					t.Errorf("%+v", e)
				case e.Name != "brand_new" && e.Name != "ccl" && c != coll.Barrier && (err != nil || (known.ID != e.ID) != moved || !slices.Equal(known.Requires, e.Requires)):
					t.Errorf("%s: %+v, in the catalogue %+v, %v", c, e, known, err)
				}
			}
		}
		if got, want := len(b.cat.Entries(coll.Allreduce)), len(cat.Only(lib.runs).Entries(coll.Allreduce)); got < want {
			t.Errorf("%d algorithms of allreduce, want at least %d", got, want)
		}
		sel, _ := mpilibrarytest.FitAndExport(t, b, grids(b.cat, 1), mpi.MergeOptions{MaxLoss: 0.1, OpSafe: true})
		if len(sel.Trees) < 10 {
			t.Errorf("%d trees", len(sel.Trees))
		}
	}
	_, err := Library.Open(cat.As("6.0.0"), "")
	testutil.GoldenErrors(t)("without the library", err)
}

func TestNoNodes(t *testing.T) {
	for _, tc := range []struct {
		texts []string
		want  bool
	}{
		{[]string{"ch4:ucx"}, true}, {[]string{"ch4:ofi", sharedMemory}, false}, {[]string{"ch4:ucx", "src/mpid/ch4/shm/posix/posix_init.c"}, false}, {[]string{"ch3:nemesis"}, false},
	} {
		b := newest(t, tc.texts...)
		if b.lib.NoNodes != tc.want {
			t.Errorf("%q: no nodes: %t", tc.texts, b.lib.NoNodes)
		}
		for _, name := range []string{"smp", "alpha"} {
			if _, err := b.Catalogue().Lookup(coll.Bcast, coll.Algorithm{Name: name}); (err != nil) != tc.want {
				t.Errorf("%q: bcast %s: %v", tc.texts, name, err)
			}
		}
	}
	if known(t).lib.NoNodes {
		t.Error("MPICH 4.0.2 has nodes")
	}
}

// TestNewest exports files for MPICH 5.0.2 from random times. The files must not turn off the device's
// collectives. If each rank counts as a node, they must not compare processes per node.
func TestNewest(t *testing.T) {
	for _, transport := range []string{"ch4:ucx", "ch4:ofi"} {
		texts := []string{transport, sharedMemory}
		if transport == "ch4:ucx" {
			texts = texts[:1]
		}
		b := newest(t, texts...)
		for seed := range uint64(2) {
			rows := grids(b.cat, seed)
			_, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{MaxLoss: 0.1})
			off := func(s mpi.Setting) bool {
				return strings.HasSuffix(s.Name, "_DEVICE_COLLECTIVE") && s.Value == "0"
			}
			other := func(s mpi.Setting) bool { return !strings.HasSuffix(s.Name, "_JSON_FILE") }
			files := slices.DeleteFunc(slices.Clone(x.Setup.Settings), other)
			if len(files) != 2 || slices.ContainsFunc(x.Setup.Settings, off) {
				t.Errorf("%s: settings %v, want two files, and the device on", transport, x.Setup.Settings)
			}
			for _, f := range x.Files {
				if strings.Contains(string(f.Content), "comm_avg_ppn") == b.lib.NoNodes {
					t.Errorf("%s: %s: processes per node are compared: %t", transport, f.Name, b.lib.NoNodes)
				}
			}
			if (len(x.Setup.Layouts) > 0) != b.lib.NoNodes {
				t.Errorf("%s: %d layouts with settings of their own", transport, len(x.Setup.Layouts))
			}
		}
	}
}

// TestNewestSMP checks an algorithm that splits the communicator into smaller ones. It must run as measured: tuned
// rules for communicators of these sizes must not apply to its parts.
func TestNewestSMP(t *testing.T) {
	for _, b := range []build{newest(t, "ch4:ofi", sharedMemory), newest(t, "ch3:nemesis"), {known(t).lib, release(t, "4.0.2")}} {
		if b.lib.Transport == "ch3:nemesis" {
			b.lib.Device, b.lib.Compositions = nil, nil
			b = newBuild(b.lib, b.cat)
		}
		var rows []selection.Row
		for _, l := range []coll.Layout{{Nodes: 1, PPN: 16}, {Nodes: 4, PPN: 4}, {Nodes: 4, PPN: 1}, {Nodes: 1, PPN: 4}, {Nodes: 16, PPN: 1}} {
			name := "smp"
			if l.Nodes*l.PPN < 16 || l.PPN == 1 {
				name = "scatter_ring_allgather"
			}
			rows = append(rows, row(t, coll.Point{Collective: coll.Bcast, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: 32768}, times{name: 1, "library_default": 2}))
		}
		sel, _ := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{})
		for _, r := range rows {
			if alg, _ := sel.Select(r.Point); alg != r.Options[len(r.Options)-1].Algorithm {
				t.Errorf("%s %v: %v is selected", b.cat.Version, r.Point, alg)
			}
		}
	}
}
