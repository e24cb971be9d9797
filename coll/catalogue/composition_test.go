package catalogue

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
)

// parts are algorithms that a composition can be made of.
var parts = map[coll.Collective]string{
	coll.Bcast: "binomial", coll.Reduce: "binomial", coll.Allreduce: "recursive_doubling",
}

func TestCompositions(t *testing.T) {
	tests := []struct {
		collective coll.Collective
		algorithm  string
		nodes, ppn int
		bytes      int64
		want       error
	}{
		{coll.Bcast, "alpha", 4, 2, 8, nil},
		{coll.Bcast, "alpha", 4, 1, 8, ErrInfeasible},
		{coll.Bcast, "alpha", 1, 4, 8, ErrInfeasible},
		{coll.Bcast, "alpha(inter=scatter_ring_allgather)", 4, 2, 8, nil},
		{coll.Bcast, "alpha(inter=binomial,node=scatter_ring_allgather)", 4, 2, 8, nil},
		{coll.Bcast, "beta(inter=binomial)", 2, 2, 8, nil},
		{coll.Bcast, "gamma", 4, 1, 8, nil},
		{coll.Bcast, "gamma(inter=binomial)", 4, 2, 8, ErrUnknown},
		{coll.Bcast, "alpha(inter=smp)", 4, 2, 8, ErrUnknown},
		{coll.Bcast, "alpha(inter=gamma)", 4, 2, 8, ErrUnknown},
		{coll.Bcast, "alpha(inter=pipeline)", 4, 2, 8, ErrUnknown},
		{coll.Bcast, "alpha(outer=binomial)", 4, 2, 8, ErrUnknown},

		// Floats between 4 nodes need 4 of them, on 6 processes of a node as well.
		{coll.Allreduce, "alpha(inter=reduce_scatter_allgather)", 4, 6, 16, nil},
		{coll.Allreduce, "alpha(inter=reduce_scatter_allgather)", 4, 6, 12, ErrInfeasible},
		{coll.Reduce, "beta(node=reduce_scatter_gather)", 2, 6, 16, nil},
		{coll.Reduce, "beta(node=reduce_scatter_gather)", 2, 6, 12, ErrInfeasible},
		{coll.Allreduce, "gamma", 1, 4, 8, nil},
		{coll.Allreduce, "gamma", 2, 4, 8, ErrInfeasible},
		{coll.Scan, "alpha", 3, 2, 8, nil},
		{coll.Barrier, "alpha", 3, 1, 0, ErrInfeasible},
		{coll.Alltoall, "alpha", 3, 1, 8, nil},
	}
	cat := release(t, MPICH, "4.0.2")
	for _, tc := range tests {
		err := cat.Check(coll.Candidate{
			Point:     coll.Point{Collective: tc.collective, Nodes: tc.nodes, PPN: tc.ppn, MsgBytes: tc.bytes},
			Algorithm: algorithm(t, tc.algorithm),
		})
		if !errors.Is(err, tc.want) {
			t.Errorf("Check(%s %dx%d %dB %s) = %v, want %v", tc.collective, tc.nodes, tc.ppn, tc.bytes, tc.algorithm, err, tc.want)
		}
	}
	_, err := cat.Lookup(coll.Bcast, algorithm(t, "alpha(inter=smp)"))
	if err == nil || !strings.Contains(err.Error(), "inter=smp: not in the catalogue: want one of binomial, scatter_recursive") {
		t.Errorf("Lookup of a part that splits again: %v, want what is allowed", err)
	}
}

func TestFlat(t *testing.T) {
	want := map[coll.Collective]string{coll.Bcast: "gamma", coll.Allreduce: "beta", coll.Reduce: "gamma", coll.Barrier: "beta", coll.Scan: "beta"}
	cat := release(t, MPICH, "4.0.2")
	for _, c := range coll.Collectives() {
		name := want[c]
		if name == "" {
			name = "alpha"
		}
		if e, ok := cat.Flat(c); !ok || e.Name != name {
			t.Errorf("Flat(%s) = %s, %t, want %s", c, e.Name, ok, name)
		}
	}
	if e, ok := release(t, OpenMPI, "4.1.4").Flat(coll.Bcast); ok {
		t.Errorf("Open MPI has a composition %s, want none", e.Name)
	}
}

func TestAlgorithms(t *testing.T) {
	tests := []struct {
		library, version string
		collective       coll.Collective
		want             string
	}{
		{MPICH, "4.0.2", coll.Bcast, "binomial smp scatter_recursive_doubling_allgather scatter_ring_allgather alpha(inter=binomial) " +
			"alpha(inter=scatter_recursive_doubling_allgather) alpha(inter=scatter_ring_allgather)"},
		{MPICH, "4.0.2", coll.Allreduce, "smp recursive_doubling reduce_scatter_allgather alpha(inter=recursive_doubling) alpha(inter=reduce_scatter_allgather)"},
		{MPICH, "4.0.2", coll.Reduce, "binomial smp reduce_scatter_gather alpha(inter=binomial) alpha(inter=reduce_scatter_gather) " +
			"beta(inter=binomial) beta(inter=reduce_scatter_gather)"},
		{MPICH, "4.0.2", coll.Barrier, "smp dissemination alpha"},
		{MPICH, "4.0.2", coll.Scan, "smp recursive_doubling alpha"},
		{MPICH, "4.0.2", coll.Alltoall, "brucks pairwise scattered"},
		{MPICH, "4.1.2", coll.Barrier, "smp k_dissemination(k=2) k_dissemination(k=4) k_dissemination(k=8) alpha"},
		{MPICH, "4.3.2", coll.Bcast, "binomial smp scatter_recursive_doubling_allgather scatter_ring_allgather " +
			"pipelined_tree(chunk_size=65536,is_non_blocking=1,k=2,recv_pre_posted=0,tree_type=kary) …"},
		{OpenMPI, "4.1.4", coll.Bcast, "basic_linear chain(faninout=2,segsize=0) chain(faninout=2,segsize=65536) chain(faninout=2,segsize=8192) " +
			"chain(faninout=4,segsize=0) chain(faninout=4,segsize=65536) chain(faninout=4,segsize=8192) …"},
		{OpenMPI, "4.1.4", coll.Barrier, "linear double_ring recursive_doubling bruck two_proc tree"},
	}
	for _, tc := range tests {
		var got []string
		for _, a := range release(t, tc.library, tc.version).Algorithms(tc.collective) {
			got = append(got, a.String())
		}
		text := strings.Join(got, " ")
		if start, ok := strings.CutSuffix(tc.want, "…"); ok && strings.HasPrefix(text, start) {
			continue
		}
		if text != tc.want {
			t.Errorf("%s %s %s:\n got %s\nwant %s", tc.library, tc.version, tc.collective, text, tc.want)
		}
	}
}

// What is listed is known, listed once, has one value for each parameter and is
// little enough to be measured.
func TestAlgorithmsAreKnown(t *testing.T) {
	for library, versions := range releases {
		for _, version := range versions {
			cat := release(t, library, version)
			for _, c := range coll.Collectives() {
				list := cat.Algorithms(c)
				if len(list) == 0 || len(list) > 40 {
					t.Errorf("%s %s %s: %d algorithms, want 1 to 40", library, version, c, len(list))
				}
				seen := map[coll.Algorithm]bool{}
				for _, a := range list {
					e, err := cat.Lookup(c, a)
					if err != nil || seen[a] {
						t.Errorf("%s %s %s %v: twice %t, %v", library, version, c, a, seen[a], err)
					}
					if !e.Composition() && len(a.Params()) != len(e.Params) {
						t.Errorf("%s %s %s %v: want parameters %v", library, version, c, a, e.Params)
					}
					seen[a] = true
				}
			}
		}
	}
}

// Whatever a benchmark can run is listed.
func TestAlgorithmsAreComplete(t *testing.T) {
	for library, versions := range releases {
		for _, version := range versions {
			cat := release(t, library, version)
			for _, c := range coll.Collectives() {
				for _, e := range cat.Entries(c) {
					listed := slices.ContainsFunc(cat.Algorithms(c), func(a coll.Algorithm) bool { return a.Name == e.Name })
					if !listed && !e.Has(InPlace) && !e.Composition() {
						t.Errorf("%s %s %s: %s is not listed", library, version, c, e.Name)
					}
				}
			}
		}
	}
}

func TestPartPoint(t *testing.T) {
	p := coll.Point{Collective: coll.Bcast, Nodes: 3, PPN: 4, MsgBytes: 8}
	want := []coll.Point{{Collective: coll.Bcast, Nodes: 3, PPN: 1, MsgBytes: 8}, {Collective: coll.Bcast, Nodes: 1, PPN: 4, MsgBytes: 8}}
	if d := cmp.Diff(want, []coll.Point{PartPoint(p, Inter), PartPoint(p, Node)}); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Every composition of the table has a name that no algorithm has.
func TestIsComposition(t *testing.T) {
	for _, c := range load() {
		for collective, entries := range c.entries {
			for _, e := range entries {
				if got := IsComposition(coll.Algorithm{Name: e.Name}); got != e.Composition() {
					t.Errorf("%s %s %s %s: IsComposition = %t, want %t", c.Library, c.Version, collective, e.Name, got, e.Composition())
				}
			}
		}
	}
}
