package campaign_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/journal"
)

// TestContradictingLog changes single records of a log so that the campaign
// cannot have written them.
func TestContradictingLog(t *testing.T) {
	p := problem(t, replay.Options{Seed: 1})
	s := spec("uncertainty")
	var log memory
	if _, err := campaign.Run(context.Background(), s, p, nil, &log, nil); err != nil {
		t.Fatal(err)
	}
	first := func(kind journal.Kind) int {
		return slices.IndexFunc(log.records, func(r journal.Record) bool { return r.Kind == kind })
	}
	tests := []struct {
		name   string
		kind   journal.Kind
		change func(r *journal.Record)
	}{
		{"trial that nobody asked for", journal.KindTrial, func(r *journal.Record) {
			t := *r.Trial
			t.Nodes = 31
			r.Trial = &t
		}},
		{"study trial without its value", journal.KindHPO, func(r *journal.Record) {
			r.HPO = json.RawMessage(`{"number":0,"state":"complete","params":{}}`)
		}},
		{"study trial with an unknown field", journal.KindHPO, func(r *journal.Record) {
			r.HPO = json.RawMessage(`{"number":0,"state":"failed","params":{},"eror":"x"}`)
		}},
		{"study begins in the middle", journal.KindHPO, func(r *journal.Record) {
			r.HPO = json.RawMessage(`{"number":1,"state":"failed","params":{},"error":"x"}`)
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			records := slices.Clone(log.records)
			tc.change(&records[first(tc.kind)])
			if _, err := campaign.Run(context.Background(), s, p, past(p, records), nil, nil); !errors.Is(err, campaign.ErrLog) {
				t.Errorf("Run error = %v, want %v", err, campaign.ErrLog)
			}
			if _, err := campaign.Restore(s, p, past(p, records)); !errors.Is(err, campaign.ErrLog) {
				t.Errorf("Recall error = %v, want %v", err, campaign.ErrLog)
			}
		})
	}
}
