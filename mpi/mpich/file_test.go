package mpich

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
)

// intra returns a tree of one collective.
func intra(collective, alternatives string) string {
	return "{\n\"collective=" + collective + "\":\n {\"comm_type=intra\":\n  {" + alternatives + "}}\n}"
}

var treeTexts = []struct{ name, text string }{
	{"bcast alone", intra("bcast", `"avg_msg_size<=1024":{"algorithm=MPIR_Bcast_intra_binomial":{}},"avg_msg_size=any":{"algorithm=MPIR_Bcast_intra_smp":{}}`)},
	{"sorted as texts", intra("bcast", `"avg_msg_size<=1024":{"algorithm=MPIR_Bcast_intra_binomial":{}},
"avg_msg_size<=16":{"algorithm=MPIR_Bcast_intra_scatter_ring_allgather":{}},
"avg_msg_size=any":{"algorithm=MPIR_Bcast_intra_binomial":{}}`)},
	{"no last alternative", intra("bcast", `"comm_size<=4":{"algorithm=MPIR_Bcast_intra_binomial":{}}`)},
	{"any first", intra("bcast", `"comm_size=any":{"algorithm=MPIR_Bcast_intra_binomial":{}},"comm_size<=4":{"algorithm=MPIR_Bcast_intra_binomial":{}}`)},
	{"many faults", intra("allgather", `"comm_size>4":{"algorithm=MPIR_Allgather_intra_ring":{}},
"comm_size<=8":{"algorithm=MPIR_Allgather_intra_fast":{}},
"total_msg_size<=4294967296":{"algorithm=MPIR_Bcast_intra_binomial":{}},
"comm_size<=16":{"algorithm=MPIR_Bcast_intra_binomial":{}},
"comm_size=any":{"algorithm=MPIR_Allgather_intra_recursive_doubling":{}}`)},
	{"one answer alone", intra("allreduce", `"is_commutative=yes":{"algorithm=MPIR_Allreduce_intra_recursive_doubling":{}}`)},
	{"less than", intra("alltoall", `"avg_msg_size<=256":{"comm_size<8":{"algorithm=MPIR_Alltoall_intra_scattered":{}},"comm_size=any":{"algorithm=MPIR_Alltoall_intra_brucks":{}}},
"avg_msg_size=any":{"algorithm=MPIR_Alltoall_intra_pairwise":{}}`)},
	{"guarded", intra("allgather", `"comm_size=pow2":{"algorithm=MPIR_Allgather_intra_recursive_doubling":{}},"comm_size=any":{"algorithm=MPIR_Allgather_intra_ring":{}}`)},
	{"by communicator size", `{"comm_size<=4":` + intra("barrier", `"comm_hierarchy=parent":{"algorithm=MPIR_Barrier_intra_smp":{}},"comm_hierarchy=any":{"algorithm=MPIR_Barrier_intra_dissemination":{}}`) + `,"comm_size=any":{}}`},
	{"device", intra("bcast", `"comm_size<=4":{"composition=MPIDI_Bcast_intra_composition_gamma":{}},"comm_hierarchy=parent":{"composition=MPIDI_Bcast_intra_composition_alpha":{}}`)},
	{"cut off", "{\"collective=bcast\":\n{\"comm_type=intra\":"},
	{"leaf is a text", intra("bcast", `"algorithm=MPIR_Bcast_intra_binomial":"yes"`)},
	{"conditions of other collectives", intra("allgather", `"avg_msg_size<=1024":{"algorithm=MPIR_Allgather_intra_brucks":{}},
"is_commutative=yes":{"algorithm=MPIR_Allgather_intra_brucks":{}},
"is_sendbuf_inplace=no":{"algorithm=MPIR_Allgather_intra_brucks":{}},
"avg_msg_size=any":{"algorithm=MPIR_Allgather_intra_ring":{}}`)},
	{"numbers that atoi cuts", intra("bcast", `"avg_msg_size<=64KiB":{"algorithm=MPIR_Bcast_intra_binomial":{}},
"avg_msg_size<=4294967296":{"algorithm=MPIR_Bcast_intra_binomial":{}},
"comm_size<=-1":{"algorithm=MPIR_Bcast_intra_binomial":{}},
"comm_size=64":{"algorithm=MPIR_Bcast_intra_binomial":{}},
"comm_size=any":{"algorithm=MPIR_Bcast_intra_scatter_ring_allgather":{}}`)},
	{"parameters", intra("ibcast", `"comm_size<=4":{"algorithm=MPIR_Ibcast_intra_tsp_tree":{"tree_type=knomial_1":{},"k=0":{},"chunk_size=4k":{}}},
"comm_size<=8":{"algorithm=MPIR_Ibcast_intra_tsp_tree":{"tree_type=3":{},"k=2":{}}},
"comm_size<=16":{"algorithm=MPIR_Ibcast_intra_tsp_tree":{"tree_type=1":{},"k=1":{},"chunk_size=0":{}}},
"comm_size=any":{"algorithm=MPIR_Ibcast_intra_tsp_tree":{"tree_type=0":{},"k=1":{},"chunk_size=0":{}}}`)},
	{"comments, quotes, more text", "// x \"{\"\n" + strings.ReplaceAll(intra("bcast", `/* y */ "algorithm=MPIR_Bcast_intra_binomial":{}`), `"`, "'") + "}\n"},
	{"byte order mark", "\ufeff" + intra("bcast", `"algorithm=MPIR_Bcast_intra_binomial":{}`)},
	{"empty", " { } "},
	{"both kinds of leaves", `{"collective=bcast":{"algorithm=MPIR_Bcast_intra_binomial":{}},"collective=gather":{"composition=MPIDI_Gather_intra_composition_alpha":{}},
"collective=scatter":{"composition=MPIDI_Scatter_intra_composition_alpha":{}}}`},
	{"twice", intra("bcast", `"algorithm=MPIR_Bcast_intra_binomial":{}, "algorithm = MPIR_Bcast_intra_binomial":{}`)},
}

func reads(t testing.TB, version, path, text string) *mpi.RuleFile {
	t.Helper()
	near, _ := mpi.Near(Library.Releases(), version)
	f, ok := Library.(mpi.RuleReader).ReadRules(near.As(version), path, []byte(text))
	if !ok {
		t.Fatalf("%.60q: no tree", text)
	}
	return f
}

// TestReadRules checks what is found in trees with many faults.
func TestReadRules(t *testing.T) {
	var b strings.Builder
	for _, tc := range treeTexts {
		f := reads(t, "4.0.2", "", tc.text)
		fmt.Fprintf(&b, "%s: %s\n%s\n", tc.name, f.Format, f.Effect)
		for _, x := range f.Findings {
			text, _, _ := strings.Cut(x.Text, "are missing")
			fmt.Fprintf(&b, "%d: %s: %s\n", x.Line, x.Kind, text)
		}
		b.WriteString("\n")
	}
	testutil.CheckGolden(t, "TestReadRules.txt", []byte(b.String()))
}

// TestReadOwnTrees checks that nothing is found in MPICH's own trees but what MPICH's developers know, and that they
// select what the library selects.
func TestReadOwnTrees(t *testing.T) {
	for _, name := range []string{"trees/4.0.2.json", "trees/4.0.2.ch4.json", "testdata/5.0.2.json", "testdata/5.0.2.ch4.json"} {
		version := strings.SplitAfterN(filepath.Base(name), ".", 4)
		release := strings.TrimSuffix(strings.Join(version[:3], ""), ".")
		f := reads(t, release, "", string(testutil.Must(os.ReadFile(name))(t)))
		for _, kind := range []mpi.FindingKind{mpi.FindingError, mpi.FindingHarm, mpi.FindingUnreachable} {
			for _, x := range f.Of(kind) {
				if strings.HasSuffix(x.Text, "when a file selects it") && release == "5.0.2" {
					continue // known, and only the library's file shows that its own tree has the leaf
				}
				t.Errorf("%s:%d: %s: %s", name, x.Line, x.Kind, x.Text)
			}
		}
		if f.Choose == nil || len(f.Listing) != f.Rules || f.Rules == 0 {
			t.Fatalf("%s: %s, %d rules", name, f.Effect, f.Rules)
		}
		if name != "trees/4.0.2.json" {
			continue
		}
		p := coll.Point{Collective: coll.Bcast, Nodes: 8, PPN: 2, MsgBytes: 1 << 20}
		want, err := reach(testutil.Must(embeddedTree("4.0.2"))(t).Tree, signatureAt(p))
		testutil.NoError(t, err)
		if got := f.Choose(p); !strings.HasSuffix(want.Name, got.Algorithm.Name) || got.Line == 0 || len(got.Rule) < 3 {
			t.Errorf("%v: %+v, want %v", p, got, want)
		}
	}
}

// TestReadCopiedLeaves checks that a leaf of the library's own tree is no harm below further conditions, as in exported
// files. It is harm for calls for which the library's own tree selects another algorithm.
func TestReadCopiedLeaves(t *testing.T) {
	const collective, kind, alpha = collectiveKey + "reduce", "comm_type=intra", compositionKey + "MPIDI_Reduce_intra_composition_alpha"
	device := testutil.Must(embeddedTree("4.0.2"))(t).Device
	reduce, _ := device.Get(collective)
	own, _ := reduce.Get(kind)
	for _, tc := range []struct {
		name string
		tree treeObject
		harm bool
	}{
		{"copies", treeObject{{"comm_size<=8", own}, {"comm_size=any", own}}, false},
		{"everywhere", treeObject{{alpha, nil}}, true},
		{"everywhere on few ranks", treeObject{{"comm_size<=8", treeObject{{alpha, nil}}}, {"comm_size=any", own}}, true},
	} {
		f := reads(t, "4.0.2", "", string(device.With(collective, reduce.With(kind, tc.tree)).Bytes()))
		if harm := f.Of(mpi.FindingHarm); len(harm) > 0 != tc.harm {
			t.Errorf("%s: %v, want harm: %t", tc.name, harm, tc.harm)
		}
	}
}

// FuzzReadRules checks that no text crashes the reader, and that all findings are on lines of the text.
func FuzzReadRules(f *testing.F) {
	for _, tc := range treeTexts {
		f.Add([]byte(tc.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, ok := library{}.ReadRules(Library.Releases()[0], "", text)
		if !ok {
			return
		}
		for _, x := range r.Findings {
			if lines := 1 + strings.Count(string(text), "\n"); x.Line < 0 || x.Line > lines {
				t.Errorf("line %d of %d: %s", x.Line, lines, x.Text)
			}
		}
		if r.Choose != nil {
			r.Choose(coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 2, MsgBytes: 8})
		}
	})
}
