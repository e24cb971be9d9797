package benchrunner_test

import (
	"slices"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
)

func at(nodes int, size int64, algorithm string) coll.Candidate {
	return coll.Candidate{
		Point:     coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: 2, MsgBytes: size},
		Algorithm: coll.Algorithm{Name: algorithm},
	}
}

// TestCosts checks how the costs of launches, 10 s plus 1 s for each node, are divided among candidates.
func TestCosts(t *testing.T) {
	batch := []coll.Candidate{
		at(4, 8, "ring"), at(4, 16, "ring"), at(4, 8, "tree"), at(4, 16, "tree"), at(2, 8, "ring"), at(4, 32, "ring"),
	}
	reduce := at(4, 8, "ring")
	reduce.Collective = coll.Reduce
	wide := at(4, 8, "ring")
	wide.PPN = 4
	tests := []struct {
		name  string
		model benchrunner.LaunchModel
		batch []coll.Candidate
		want  []float64
	}{
		{name: "each its own", model: benchrunner.LaunchCandidate, batch: batch, want: []float64{14, 14, 14, 14, 12, 14}},
		{name: "none named", model: "", batch: batch, want: []float64{14, 14, 14, 14, 12, 14}},
		{name: "one for all sizes", model: benchrunner.LaunchOSU, batch: batch, want: []float64{14, 0, 14, 0, 12, 0}},
		{name: "one for a layout", model: benchrunner.LaunchNative, batch: batch, want: []float64{14, 0, 0, 0, 12, 0}},
		{name: "layouts and collectives differ", model: benchrunner.LaunchNative, batch: []coll.Candidate{at(4, 8, "ring"), wide, reduce}, want: []float64{14, 14, 14}},
		{name: "nothing", model: benchrunner.LaunchNative, want: []float64{}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			l := benchrunner.LaunchCost{Model: tc.model, Seconds: 10, SecondsPerNode: 1}
			if got := l.Costs(tc.batch, nil); !slices.Equal(got, tc.want) {
				t.Errorf("Costs() = %v, want %v", got, tc.want)
			}
		})
	}
}

// TestCostsOfStarts checks that candidates that need other settings at the start of a program have launches of their own.
func TestCostsOfStarts(t *testing.T) {
	batch := []coll.Candidate{at(4, 8, "ring"), at(4, 8, "library_default"), at(4, 16, "tree"), at(4, 16, "library_default")}
	start := func(c coll.Candidate) string {
		return map[bool]string{true: "as the site has it"}[c.Algorithm.IsDefault()]
	}
	for model, want := range map[benchrunner.LaunchModel][]float64{
		benchrunner.LaunchNative: {14, 14, 0, 0}, benchrunner.LaunchOSU: {14, 14, 14, 0}, benchrunner.LaunchCandidate: {14, 14, 14, 14},
	} {
		l := benchrunner.LaunchCost{Model: model, Seconds: 10, SecondsPerNode: 1}
		if got := l.Costs(batch, start); !slices.Equal(got, want) {
			t.Errorf("%s: Costs() = %v, want %v", model, got, want)
		}
	}
}

// TestCostsWithoutOrder checks that the costs of a batch do not depend on the order of its candidates.
func TestCostsWithoutOrder(t *testing.T) {
	batch := []coll.Candidate{at(4, 8, "ring"), at(2, 8, "tree"), at(4, 16, "ring"), at(4, 8, "tree"), at(2, 16, "tree")}
	for _, model := range benchrunner.LaunchModels() {
		l := benchrunner.LaunchCost{Model: model, Seconds: 10, SecondsPerNode: 1}
		want := sum(l.Costs(batch, nil))
		reversed := slices.Clone(batch)
		slices.Reverse(reversed)
		if got := sum(l.Costs(reversed, nil)); got != want {
			t.Errorf("%s: a batch costs %g s one way and %g s the other", model, want, got)
		}
	}
}

func sum(costs []float64) float64 {
	total := 0.0
	for _, c := range costs {
		total += c
	}
	return total
}
