package mpich

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
)

// TestCompare checks that compare ignores leaves of nonblocking calls and of intercommunicators.
func TestCompare(t *testing.T) {
	cat := release(t, "4.0.2")
	var lib libraryTree
	for _, c := range coll.Collectives() {
		for _, e := range cat.Entries(c) {
			if composes(e) {
				lib.Compositions = append(lib.Compositions, e.Function)
			} else {
				lib.Leaves = append(lib.Leaves, e.Function)
			}
		}
	}
	all := len(lib.Leaves) + len(lib.Compositions)
	passed := libraryTree{
		Leaves:       append([]string{"MPIR_Bcast_intra_nb", "MPIR_Ibcast_intra_sched_binomial", "MPIR_Bcast_inter_flat"}, lib.Leaves...),
		Compositions: lib.Compositions,
	}
	absent, unlisted, listed := compare(cat, passed)
	if len(absent) > 0 || len(unlisted) > 0 || listed != all {
		t.Errorf("absent %v, unlisted %v, %d listed of %d", absent, unlisted, listed, all)
	}

	older := libraryTree{Leaves: []string{"MPIR_Bcast_intra_osu_zcpy"}} // a relative without compositions
	for _, name := range lib.Leaves {
		if name != "MPIR_Bcast_intra_binomial" {
			older.Leaves = append(older.Leaves, name)
		}
	}
	absent, unlisted, listed = compare(cat, older)
	if d := cmp.Diff([]string{"bcast binomial"}, absent); d != "" {
		t.Errorf("absent (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"MPIR_Bcast_intra_osu_zcpy"}, unlisted); d != "" || listed != len(lib.Leaves) {
		t.Errorf("%d listed of %d, unlisted (-want +got):\n%s", listed, len(lib.Leaves), d)
	}
}

func TestInspect(t *testing.T) {
	// A tree and a composition (plan of the ch4 device), as a library stores them.
	const (
		tree    = `{"collective=bcast":{"algorithm=MPIR_Bcast_intra_binomial":{}}}`
		device  = `{"collective=bcast":{"composition=MPIDI_Bcast_intra_composition_alpha":{}}}`
		leaf    = "algorithm=MPIR_Bcast_intra_binomial"
		alpha   = "composition=MPIDI_Bcast_intra_composition_alpha"
		asserts = "node->type == CSEL_NODE_TYPE__OPERATOR__COLLECTIVE"
		posix   = "./src/mpid/ch4/shm/posix/posix_coll.h"
	)
	tests := []struct {
		name, version string
		texts         []string
		device        string
		checks        string
		build         []string
		catalogue     string
		fault         string // a part
	}{
		{"ch4", "4.0.2", []string{"ch4:ucx", tree, leaf, device, alpha, asserts, posix}, "ch4:ucx", "on",
			[]string{"device ch4:ucx, with device and shared-memory collectives", "checks itself: a bad selection file aborts"}, "4.0.2", ""},
		{"no shared memory", "4.2.1", []string{"ch4:ofi", tree, leaf, alpha}, "ch4:ofi", "off",
			[]string{"device ch4:ofi, with device collectives, none through shared memory", "built without checks: a bad selection file is undefined behaviour"}, "4.2.3", ""},
		{"no nodes", "5.0.2", []string{"Thu Oct  1 12:34:45 CDT 2026", "5.0.2", "ch4:ucx", tree, leaf, alpha, asserts}, "ch4:ucx", "on",
			[]string{"device ch4:ucx, with device collectives, none through shared memory",
				"takes each rank for a node: algorithms for nodes are not used, and some layouts have files of their own",
				"checks itself: a bad selection file aborts"}, "5.0.1", ""},
		{"ch3", "4.0.2", []string{"ch3:nemesis", tree, leaf}, "ch3:nemesis", "off",
			[]string{"device ch3:nemesis, without device collectives", "built without checks: a bad selection file is undefined behaviour"}, "4.0.2", ""},
		{"no tree", "3.4", []string{"ch3:nemesis"}, "ch3:nemesis", "", []string{"device ch3:nemesis, without device collectives"}, "", "no selection tree"},
		{"no release near", "main", []string{tree, asserts}, "", "on", []string{"checks itself: a bad selection file aborts"}, "", "no list of algorithms"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "libmpich.so")
			testutil.NoError(t, os.WriteFile(path, []byte("\x7fELF\x00"+strings.Join(tc.texts, "\x00")+"\x00"), 0o644))
			got := Library.Inspect(t.Context(), mpi.Installed{Version: tc.version, File: path})
			if got.Device != tc.device || got.Checks != tc.checks || (got.Fault == "") != (tc.fault == "") || !strings.Contains(got.Fault, tc.fault) {
				t.Errorf("got %+v, want device %q, checks %q, fault %q", got, tc.device, tc.checks, tc.fault)
			}
			if d := cmp.Diff(tc.build, got.Build); d != "" {
				t.Errorf("build (-want +got):\n%s", d)
			}
			if tc.fault != "" {
				if got.Catalogue != nil || got.Fix != "use MPICH 4.0 or newer" {
					t.Errorf("got %+v, want no catalogue and a cure", got)
				}
				return
			}
			if got.Catalogue.Listed != tc.catalogue || len(got.Absent) == 0 || len(got.Absent) >= got.Listed {
				t.Errorf("%d of %d absent of catalogue %s, want some and %s", len(got.Absent), got.Listed, got.Catalogue.Listed, tc.catalogue)
			}
		})
	}
	if got := Library.Inspect(t.Context(), mpi.Installed{Version: "4.0.2"}); !cmp.Equal(got, mpi.Inspection{}) {
		t.Errorf("without a file: %+v, want nothing", got)
	}
}

// TestLeftOut checks that compare does not report the algorithms in faults.csv, and that no release in which
// such an algorithm is wrong offers it.
func TestLeftOut(t *testing.T) {
	b := known(t)
	if _, unlisted, _ := compare(b.cat, b.lib); len(unlisted) > 0 {
		t.Errorf("unlisted in 4.0.2: %v", unlisted)
	}
	for release, want := range map[string]int{"4.0.2": 4, "4.1.2": 9, "4.2.0": 8, "4.2.3": 8, "5.0.1": 8} {
		if got := leftOut(release); len(got) != want {
			t.Errorf("%s: %v, want %d leaves", release, got, want)
		}
	}
	for _, cat := range Library.Releases() {
		for _, c := range coll.Collectives() {
			for _, e := range cat.Entries(c) {
				if slices.Contains(leftOut(cat.Version), e.Function) {
					t.Errorf("%s offers %s", cat.Version, e.Function)
				}
			}
		}
	}
}
