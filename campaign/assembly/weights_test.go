package assembly_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/journal"
	"tutti/preprocess"
)

// weightsAt returns the weight of each point of the campaign's first problem.
func weightsAt(c *assembly.Campaign) map[coll.Point]float64 {
	out := map[coll.Point]float64{}
	for i, p := range c.Problems[0].Space.Points() {
		out[p] = c.Problems[0].Weights[i]
	}
	return out
}

// TestWeights checks that the weights of points have the configured ratios. Without configured weights the
// result must be nil.
func TestWeights(t *testing.T) {
	const file = `name: small
output: out
libraries: [{name: openmpi, version: "4.1.4"}]
collectives: [allreduce]
grid:
  weights: [{nodes: 32, weight: 3}]
runner: {data: [data/C_allreduce.csv], names: data/names.csv}
`
	c := assemble(t, small(t, map[string]string{"small.yaml": file}))
	weights := weightsAt(c)
	weight := func(nodes int) float64 {
		return weights[coll.Point{Collective: coll.Allreduce, Nodes: nodes, PPN: 1, MsgBytes: 1024}]
	}
	if math.Abs(weight(32)/weight(4)-3) > 1e-9 {
		t.Errorf("weights %g at 32 nodes and %g at 4, want three times as much", weight(32), weight(4))
	}
	equal, err := assembly.New(small(t, nil))
	if err != nil || equal.Problems[0].Weights != nil {
		t.Errorf("without weights: %v, %v", equal.Problems[0].Weights, err)
	}
}

// TestTraceWarning checks that a warning about the trace appears only once, although there are two
// libraries.
func TestTraceWarning(t *testing.T) {
	c, err := assembly.New(small(t, map[string]string{
		"app.csv": "collective,processes,ppn,msg_bytes,calls\nallreduce,32,1,65536,1000\nallreduce,32,1,1073741824,1000\n",
	}, "grid.trace=app.csv"))
	testutil.NoError(t, err)
	const want = "50 % of the trace's allreduce is two doublings or more away from any point of the grid"
	if n := len(slices.DeleteFunc(slices.Clone(c.Warnings), func(w string) bool { return w != want })); n != 1 {
		t.Errorf("warnings %q, want %q once", c.Warnings, want)
	}
}

func TestWeightsOf(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	at := func(nodes int, bytes int64) coll.Point {
		return coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: 1, MsgBytes: bytes}
	}
	points := []coll.Point{at(2, 8), at(2, 1024), at(16, 8), at(16, 1024)}
	calls := func(p coll.Point, n float64) preprocess.Calls { return preprocess.Calls{Point: p, Calls: n} }
	large := config.Weight{Nodes: config.Range{Low: 8}, Weight: 3}
	small := config.Weight{Sizes: config.Range{High: 64}, Weight: 2}
	reduces := config.Weight{Collective: "reduce", Weight: 0}
	tests := []struct {
		name     string
		grid     config.Grid
		want     []float64
		mean     float64
		warnings []string
		fails    bool
	}{
		{"no weights", config.Grid{}, nil, 1, nil, false},
		{"multiplied, mean 1", config.Grid{Weights: []config.Weight{large, small, reduces}}, []float64{2. / 3, 1. / 3, 2, 1}, 3, nil, false},
		{"of another collective", config.Grid{Weights: []config.Weight{reduces}}, nil, 1, nil, false},
		{"matches no point", config.Grid{Weights: []config.Weight{{Nodes: config.Range{Low: 64}, Weight: 3}}}, nil, 1, []string{"grid.weights[0] fits no point of bcast"}, false},
		{"only zero weights", config.Grid{Weights: []config.Weight{{Weight: 0}}}, nil, 0, nil, true},
		{"trace", config.Grid{Trace: "t", Calls: []preprocess.Calls{calls(at(2, 8), 1), calls(at(20, 900), 3)}}, []float64{1, 0, 0, 3}, 1, nil, false},
		{"trace and weights", config.Grid{Trace: "t", Calls: []preprocess.Calls{calls(at(2, 8), 1), calls(at(20, 900), 3)}, Weights: []config.Weight{large}}, []float64{0.4, 0, 0, 3.6}, 2.5, nil, false},
		{"trace without it", config.Grid{Trace: "t", Weights: []config.Weight{small}}, []float64{4. / 3, 2. / 3, 4. / 3, 2. / 3}, 1.5, []string{"the trace has no call of bcast: all its points have equal weights"}, false},
		{"trace far away", config.Grid{Trace: "t", Calls: []preprocess.Calls{calls(at(2, 8), 1), calls(at(2, 1<<20), 3)}}, []float64{1, 3, 0, 0}, 1, []string{"75 % of the trace's bcast is two doublings or more away from any point of the grid"}, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, mean, warnings, err := assembly.WeightsOf(tc.grid, points)
			if tc.fails {
				golden(tc.name, err)
			} else {
				testutil.NoError(t, err)
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("weights (-want +got):\n%s", diff)
			}
			if math.Abs(mean-tc.mean) > 1e-12 {
				t.Errorf("mean %g, want %g", mean, tc.mean)
			}
			if diff := cmp.Diff(tc.warnings, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWeighPoints checks that a collective counts as much as its calls and its configured weights say, with and without
// sizes that joined the grid.
func TestWeighPoints(t *testing.T) {
	at := func(bytes int64) coll.Point {
		return coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: bytes}
	}
	points := []coll.Point{at(8), at(1024)}
	p := campaign.Problem{
		Problem: journal.Problem{Collective: coll.Bcast}, Weights: []float64{0.5, 1.5}, MeanWeight: 3,
		Space: coll.NewSpace(points, []coll.Algorithm{coll.Default}, func(coll.Candidate) error { return nil }),
	}
	calls := []preprocess.Calls{{Point: at(8), Calls: 10}, {Point: coll.Point{Collective: coll.Reduce, Nodes: 2, PPN: 1}, Calls: 5}}
	for _, tc := range []struct {
		name   string
		calls  []preprocess.Calls
		points []coll.Point
		want   []float64
	}{
		{"grid.weights", nil, points, []float64{1.5, 4.5}},
		{"trace", calls, points, []float64{7.5, 22.5}},
		{"trace, and a size that joined", calls, []coll.Point{at(8), at(64), at(1024)}, []float64{6, 6, 18}},
	} {
		c := &assembly.Campaign{Config: &config.Campaign{Grid: config.Grid{Calls: tc.calls}}}
		if diff := cmp.Diff(tc.want, c.WeighPoints(p, tc.points), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s: weights (-want +got):\n%s", tc.name, diff)
		}
	}
}
