package verify_test

import (
	"encoding/json"
	"errors"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
	"tutti/verify"
)

// verificationOf returns the verification of a journal that has only one record: the given step as JSON.
func verificationOf(step string) (*journal.Verification, error) {
	var s journal.VerifyStep
	err := json.Unmarshal([]byte(step), &s)
	return campaigntest.State([]journal.Record{{Verify: &s}}).Verification(s.Library), err
}

func TestEntryFaults(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for _, text := range []string{
		`{"library":"lib","session":1,"forcing_checks":{}}`,
		`{"library":"lib","session":1,"outcome":{"what":1}}`,
	} {
		_, err := verify.Entries(testutil.Must(verificationOf(text))(t))
		golden(text, err, verify.ErrEntry)
	}
	for _, e := range []verify.Entry{
		{Library: "lib", Session: 1},
		{Library: "lib", Session: 1, Outcome: &verify.PassOutcome{}, ForcingChecks: []verify.ForcingCheck{{}}},
		{Session: 1, Outcome: &verify.PassOutcome{}},
		{Library: "lib", Outcome: &verify.PassOutcome{}},
		{Library: "lib", Session: 1, Stage: verify.Screening, Job: &coll.Job{}},
		{Library: "lib", Session: 1, Stage: verify.Screening, Trial: &coll.Trial{State: coll.TrialDone}},
		{Library: "lib", Session: 1, Trial: &coll.Trial{State: coll.TrialFailed}},
		{Library: "lib", Session: 1, Stage: 9, Trial: &coll.Trial{State: coll.TrialFailed}},
	} {
		if _, err := e.Record(); !errors.Is(err, verify.ErrEntry) {
			t.Errorf("%+v: %v, want an error matching %v", e, err, verify.ErrEntry)
		}
	}
}

// TestRejectedBy checks that RejectedBy returns the rejected points of all sessions, separately for each
// collective.
func TestRejectedBy(t *testing.T) {
	at := func(c coll.Collective, n int) verify.Finding {
		return verify.Finding{TestPoint: verify.TestPoint{Point: coll.Point{Collective: c, Nodes: n, PPN: 1}}}
	}
	entries := []verify.Entry{
		{Library: "a", Session: 1, Outcome: &verify.PassOutcome{Reverted: []verify.Finding{at(coll.Bcast, 4), at(coll.Reduce, 2)}}},
		{Library: "a", Session: 2, Outcome: &verify.PassOutcome{Reverted: []verify.Finding{at(coll.Bcast, 2), at(coll.Bcast, 4)}, RevertedCollectives: []coll.Collective{coll.Reduce}}},
	}
	got := verify.RejectedBy(entries, coll.Bcast)
	if got.All || len(got.Points) != 2 || got.Points[0].Nodes != 2 || got.Points[1].Nodes != 4 {
		t.Errorf("bcast: %+v", got)
	}
	if got := verify.RejectedBy(entries, coll.Reduce); !got.All || len(got.Points) != 1 {
		t.Errorf("reduce: %+v", got)
	}
}

// FuzzEntries checks that every entry that can be read can also be written and read again.
func FuzzEntries(f *testing.F) {
	f.Add([]byte(`{"library":"lib","session":1,"forcing_checks":[{"collective":"bcast","nodes":2,"ppn":1,"msg_bytes":8,"choice":"ring","kind":"grid","state":"obeyed"}]}`))
	f.Add([]byte(`{"library":"lib","session":2,"round":3,"stage":1,"trial":{"collective":"bcast","algorithm":"tuned","state":"failed"}}`))
	f.Add([]byte(`{"library":"lib","session":1,"outcome":{"number":1,"reverted":[],"end":true}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		past, err := verificationOf(string(text))
		if err != nil {
			return
		}
		entries, err := verify.Entries(past)
		if err != nil {
			return
		}
		rec, err := entries[0].Record()
		if err != nil {
			return // such an entry is never written
		}
		again := testutil.Must(verify.Entries(campaigntest.State([]journal.Record{rec}).Verification(entries[0].Library)))(t)
		a, _ := json.Marshal(entries[0])
		b, _ := json.Marshal(again[0])
		if string(a) != string(b) {
			t.Errorf("%s became %s", a, b)
		}
		if _, err := verify.Restore(entries[0].Library, entries); err != nil && !errors.Is(err, verify.ErrEntry) {
			t.Error(err)
		}
	})
}
