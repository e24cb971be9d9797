package assembly_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/campaign/assembly"
	"tutti/coll"
)

// weightsAt are the weights of the first problem by point.
func weightsAt(c *assembly.Campaign) map[coll.Point]float64 {
	out := map[coll.Point]float64{}
	for i, p := range c.Problems[0].Space.Points() {
		out[p] = c.Problems[0].Weights[i]
	}
	return out
}

// A trace gives the points that an application uses their weights, the others none, and
// every library has the same. Its file is read once: the journal carries the calls.
func TestTraceGivesWeights(t *testing.T) {
	cfg := small(t, map[string]string{"app.csv": "collective,processes,ppn,msg_bytes,calls\nallreduce,32,1,65536,1000\nallreduce,16,1,65000,500\n"}, "grid.trace=app.csv")
	if err := os.Remove(filepath.Join(filepath.Dir(cfg.Output), "app.csv")); err != nil {
		t.Fatal(err)
	}
	c, err := assembly.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for p, w := range weightsAt(c) {
		sum += w
		if used := p.Nodes >= 16 && p.MsgBytes == 65536; used != (w > 0) {
			t.Errorf("%v has weight %g, used: %t", p, w, used)
		}
	}
	if n := float64(len(c.Problems[0].Weights)); math.Abs(sum-n) > 1e-9 {
		t.Errorf("mean weight %g, want 1", sum/n)
	}
	if len(c.Problems) != 2 || len(c.Problems[1].Weights) != len(c.Problems[0].Weights) {
		t.Errorf("the libraries have different weights")
	}
}

// Weights of the campaign file multiply, and points are alike without any.
func TestWeights(t *testing.T) {
	const file = `name: small
output: out
libraries: [{name: openmpi, version: "4.1.4"}]
collectives: [allreduce]
grid:
  weights: [{nodes: 32, weight: 3}]
runner: {data: [data/C_allreduce.csv], names: data/names.csv}
`
	c, err := assembly.New(small(t, map[string]string{"small.yaml": file}))
	if err != nil {
		t.Fatal(err)
	}
	weights := weightsAt(c)
	of := func(nodes int) float64 {
		return weights[coll.Point{Collective: coll.Allreduce, Nodes: nodes, PPN: 1, MsgBytes: 1024}]
	}
	if math.Abs(of(32)/of(4)-3) > 1e-9 {
		t.Errorf("weights %g at 32 nodes and %g at 4, want three times as much", of(32), of(4))
	}
	alike, err := assembly.New(small(t, nil))
	if err != nil || alike.Problems[0].Weights != nil {
		t.Errorf("without weights: %v, %v", alike.Problems[0].Weights, err)
	}
}

// Where nothing matters nothing can be tuned.
func TestNoWeight(t *testing.T) {
	const file = `name: small
output: out
libraries: [{name: openmpi, version: "4.1.4"}]
collectives: [allreduce]
grid:
  weights: [{weight: 0}]
runner: {data: [data/C_allreduce.csv], names: data/names.csv}
`
	_, err := assembly.New(small(t, map[string]string{"small.yaml": file}))
	if !errors.Is(err, assembly.ErrInput) || !strings.Contains(err.Error(), "every point of allreduce has the weight 0") {
		t.Errorf("error %v, want bad input about weights", err)
	}
}

// What is odd about a trace is told once, however many libraries there are.
func TestOddTraceIsToldOnce(t *testing.T) {
	c, err := assembly.New(small(t, map[string]string{
		"app.csv": "collective,processes,ppn,msg_bytes,calls\nallreduce,32,1,65536,1000\nallreduce,32,1,1073741824,1000\n",
	}, "grid.trace=app.csv"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "50 % of the trace's allreduce lies two doublings or more away from any point of the grid"
	if n := len(slices.DeleteFunc(slices.Clone(c.Warnings), func(w string) bool { return w != want })); n != 1 {
		t.Errorf("warnings %q, want %q once", c.Warnings, want)
	}
}
