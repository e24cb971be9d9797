package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/preprocess"
)

func TestWeightsOf(t *testing.T) {
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
		warnings []string
		err      string
	}{
		{"nothing said", config.Grid{}, nil, nil, ""},
		{"multiplied, mean 1", config.Grid{Weights: []config.Weight{large, small, reduces}}, []float64{2. / 3, 1. / 3, 2, 1}, nil, ""},
		{"of another collective", config.Grid{Weights: []config.Weight{reduces}}, nil, nil, ""},
		{"fits nothing", config.Grid{Weights: []config.Weight{{Nodes: config.Range{Low: 64}, Weight: 3}}}, nil, []string{"grid.weights[0] fits no point of bcast"}, ""},
		{"nothing left", config.Grid{Weights: []config.Weight{{Weight: 0}}}, nil, nil, "every point of bcast has the weight 0: nothing is left to tune for"},
		{"trace", config.Grid{Trace: "t", Calls: []preprocess.Calls{calls(at(2, 8), 1), calls(at(20, 900), 3)}}, []float64{1, 0, 0, 3}, nil, ""},
		{"trace and weights", config.Grid{Trace: "t", Calls: []preprocess.Calls{calls(at(2, 8), 1), calls(at(20, 900), 3)}, Weights: []config.Weight{large}}, []float64{0.4, 0, 0, 3.6}, nil, ""},
		{"trace without it", config.Grid{Trace: "t", Weights: []config.Weight{small}}, []float64{4. / 3, 2. / 3, 4. / 3, 2. / 3}, []string{"the trace has no call of bcast: all its points count alike"}, ""},
		{"trace far away", config.Grid{Trace: "t", Calls: []preprocess.Calls{calls(at(2, 8), 1), calls(at(2, 1<<20), 3)}}, []float64{1, 3, 0, 0}, []string{"75 % of the trace's bcast lies two doublings or more away from any point of the grid"}, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, warnings, err := tc.grid.WeightsOf(points)
			if (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("error = %v, want %q in it", err, tc.err)
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("weights (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.warnings, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
