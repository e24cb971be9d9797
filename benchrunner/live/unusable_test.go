package live

import (
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
)

// TestUnusable checks that an algorithm is not run again after two failures without a success, whatever its
// point and parameters.
func TestUnusable(t *testing.T) {
	at := func(name string, bytes int64) coll.Candidate {
		p := coll.Point{Collective: coll.Allreduce, Nodes: 1, PPN: 2, MsgBytes: bytes}
		return coll.Candidate{Point: p, Algorithm: coll.Algorithm{Name: name}}
	}
	var r records
	add := func(c coll.Candidate, state coll.TrialState, phase string) {
		r.add(coll.Trial{Measurement: coll.Measurement{Candidate: c}, State: state, Phase: phase, Error: "signal 6"})
	}
	for _, bytes := range []int64{8, 64} {
		if reason := r.unusable(at("tree", 512)); reason != "" {
			t.Errorf("%d bytes: %s", bytes, reason)
		}
		add(at("tree", bytes), coll.TrialFailed, benchrunner.PhaseRun)
		add(at("ring", bytes), coll.TrialFailed, benchrunner.PhaseLaunch)
		add(at("noisy", bytes), coll.TrialFailed, benchrunner.PhaseParse)
		add(coll.Candidate{Point: at("", bytes).Point, Algorithm: coll.Default}, coll.TrialFailed, benchrunner.PhaseRun)
	}
	if reason := r.unusable(at("tree", 512)); !strings.Contains(reason, "2 trials of allreduce tree failed") || !strings.Contains(reason, "signal 6") {
		t.Errorf("reason %q", reason)
	}
	if r.unusable(at("ring", 8))+r.unusable(at("noisy", 8)) != "" || r.unusable(coll.Candidate{Point: at("", 8).Point, Algorithm: coll.Default}) != "" {
		t.Error("a failed launch, unusable output or the default counts")
	}
	add(at("tree", 4096), coll.TrialDone, "")
	if reason := r.unusable(at("tree", 512)); reason != "" {
		t.Errorf("after a success: %s", reason)
	}
}
