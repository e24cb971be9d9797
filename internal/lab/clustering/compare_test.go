package clustering_test

import (
	"slices"
	"testing"

	"tutti/internal/lab/clustering"
	"tutti/internal/testutil"
)

// TestThesisMachines checks that every method finds all levels of the machines of Reinfjell (NTNU 2023) with 5
// % noise. With 1 % outliers, it must find at least 99 % of the groups of the machine BETZY. SSSTree and
// complete linkage are sensitive to outliers and are not checked with them. So is k-means on the two largest machines: there it
// must reach the recorded accuracy (docs/experiments/2026-11-24-topology.md).
func TestThesisMachines(t *testing.T) {
	outlierSensitive := []string{"SSSTree", "complete"}
	kMeans := map[string]float64{"FRAM, 4 nodes": 0.859, "BETZY, 4 nodes": 0.756}
	machines := clustering.ThesisMachines()
	if !testutil.AllCases() {
		machines = machines[:2]
	}
	for _, noise := range []clustering.Noise{{Sigma: 0.05}, clustering.DefaultNoise(0.05)} {
		rows := testutil.Must(clustering.Compare(t.Context(), machines, noise, false, 1))(t)
		for _, r := range rows {
			if noise.Outliers > 0 && slices.Contains(outlierSensitive, r.Method) {
				continue
			}
			want := 1.0
			if noise.Outliers > 0 && r.Machine == "BETZY, 4 nodes" {
				want = 0.99
			}
			if recorded, ok := kMeans[r.Machine]; ok && noise.Outliers > 0 && r.Method == "k-means" {
				want = recorded - 0.001
			}
			if worst := slices.Min(r.Accuracy); worst < want {
				t.Errorf("%s with %g outliers: %s %.3f at its worst level, want %g", r.Machine, noise.Outliers, r.Method, worst, want)
			}
		}
	}
}

// TestPLogPInputs checks that all methods find the levels of a machine in PLogP distances and profiles.
func TestPLogPInputs(t *testing.T) {
	rows := testutil.Must(clustering.Compare(t.Context(), clustering.ThesisMachines()[:1], clustering.Noise{Sigma: 0.02}, true, 1))(t)
	inputs := map[string]int{}
	for _, r := range rows {
		inputs[r.Input]++
		if slices.Min(r.Accuracy) < 1 {
			t.Errorf("%s: %s %.3f, want 1 at each level", r.Input, r.Method, r.Accuracy)
		}
	}
	if n := len(clustering.Methods()); inputs["PLogP distances"] != n || inputs["PLogP profiles"] != n || len(inputs) != 3 {
		t.Errorf("inputs %v, want each with %d methods", inputs, n)
	}
}
