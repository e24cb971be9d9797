package campaigntest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
)

// Made is a synthetic machine with times of bcast for one library. A tree is the fastest algorithm for
// small messages, a ring for large ones. The library's default takes a third longer than the faster of the
// two algorithms. The campaign measures little of it, and writes the selection as predicted (export.guard).
type Made struct {
	Library, Version string
	Tree, Ring       string                       // as the library calls them
	Factor           func(coll.Candidate) float64 // of times; nil: 1 everywhere
}

// MadeMPICH, MadeOpenMPI, MadeIntel and MadeMVAPICH are synthetic machines of four libraries.
var (
	MadeMPICH   = Made{Library: "mpich", Version: "4.0.2", Tree: "binomial", Ring: "scatter_ring_allgather"}
	MadeOpenMPI = Made{Library: "openmpi", Version: "4.1.4", Tree: "binomial", Ring: "pipeline"}
	MadeIntel   = Made{Library: "intel", Version: "2019", Tree: "binomial", Ring: "ring"}
	MadeMVAPICH = Made{Library: "mvapich2", Version: "2.3", Tree: "knomial", Ring: "scatter_ring_allgather"}
)

// Put writes a campaign for the machine into a folder: the file made.yaml and the recorded data. It returns
// the path of made.yaml.
func (m Made) Put(t testing.TB, dir string) (file string) {
	t.Helper()
	m.Record(t, dir)
	file = filepath.Join(dir, "made.yaml")
	text := fmt.Sprintf(`name: made
output: out
libraries: [{name: %s, version: "%s"}]
collectives: [bcast]
runner: {kind: replay, data: [in.csv], noise: 0.01}
method: fact
model: {trees: 5}
stop: {slowdown: 1.2, mistakes: 0.5, patience: 1}
hpo: {trials: 0}
export: {guard: false}
`, m.Library, m.Version)
	testutil.NoError(t, os.WriteFile(file, []byte(text), 0o666))
	return file
}

// Record computes the times of the machine and writes them as the recorded data of the campaign that the
// method Put wrote. After a change of the machine, call Record again.
func (m Made) Record(t testing.TB, dir string) {
	t.Helper()
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "in.csv"), []byte(m.table()), 0o666))
}

func (m Made) table() string {
	var b strings.Builder
	b.WriteString("collective,algorithm,nodes,ppn,msg_bytes,time_us\n")
	for _, l := range []coll.Layout{{Nodes: 2, PPN: 1}, {Nodes: 3, PPN: 1}, {Nodes: 4, PPN: 1}, {Nodes: 2, PPN: 2}, {Nodes: 3, PPN: 2}, {Nodes: 6, PPN: 1}, {Nodes: 5, PPN: 3}} {
		for size := int64(8); size <= 1<<20; size *= 4 {
			ranks, s := float64(l.Ranks()), float64(size)
			tree := math.Log2(ranks) * (2 + s/2000) * (1 + 0.3*float64(l.PPN))
			ring := ranks*3 + s/1000
			for _, x := range []struct {
				name string
				us   float64
			}{{m.Tree, tree}, {m.Ring, ring}, {coll.Default.Name, 1.3 * min(tree, ring)}} {
				if m.Factor != nil {
					x.us *= m.Factor(coll.Candidate{
						Point:     coll.Point{Collective: coll.Bcast, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: size},
						Algorithm: coll.Algorithm{Name: x.name},
					})
				}
				fmt.Fprintf(&b, "bcast,%s,%d,%d,%d,%.4f\n", x.name, l.Nodes, l.PPN, size, x.us)
			}
		}
	}
	return b.String()
}

// Slowed returns a factor for Made that multiplies the times of one algorithm.
func Slowed(algorithm string, by float64) func(coll.Candidate) float64 {
	return func(c coll.Candidate) float64 {
		if c.Algorithm.Name == algorithm {
			return by
		}
		return 1
	}
}
