package campaign_test

import (
	"context"
	"testing"

	"tutti/benchrunner/replay"
	"tutti/campaign"
)

// The log says why each candidate after the first batch was asked for.
func TestReasonsAreLogged(t *testing.T) {
	log := &memory{}
	s := spec("regret")
	s.HPO, s.Limits.MachineSeconds = 0, 20
	if _, err := campaign.Run(context.Background(), s, problem(t, replay.Options{Seed: 1}), nil, log, nil); err != nil {
		t.Fatal(err)
	}
	batches := 0
	for _, r := range log.records {
		if err := r.Validate(); err != nil {
			t.Errorf("record of round %d: %v", r.Round, err)
		}
		if len(r.Batch) == 0 {
			continue
		}
		if batches++; batches > 1 != (len(r.Reasons) == len(r.Batch)) {
			t.Errorf("batch %d of %d candidates has %d reasons", batches, len(r.Batch), len(r.Reasons))
		}
	}
	if batches < 3 {
		t.Errorf("%d batches, want 3 or more", batches)
	}
}
