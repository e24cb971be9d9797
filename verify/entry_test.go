package verify_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/store"
	"tutti/verify"
)

func TestEntryFaults(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{`{`, "EOF"},
		{`{}`, "0 contents"},
		{`{"library":"lib","session":1,"sights":[],"verdict":{}}`, "2 contents"},
		{`{"session":1,"sights":[]}`, `library ""`},
		{`{"library":"lib","session":0,"sights":[]}`, "session 0"},
		{`{"library":"lib","session":1,"what":1}`, "what"},
		{`{"library":"lib","session":1,"trial":{"state":"done"},"look":9}`, "look 9"},
		{`{"library":"lib","session":1,"trial":{"collective":"bcast","algorithm":"tuned","state":"done"},"look":1}`, "time 0 s"},
		{`{"library":"lib","session":1,"job":{},"look":1}`, "job without a name"},
	} {
		_, err := verify.Entries([]store.Record{{Kind: store.KindResume}, {Kind: store.KindVerify, Verify: []byte(tc.text)}})
		if !errors.Is(err, verify.ErrEntry) || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "record 2: ") {
			t.Errorf("%s: error %v, want one with %q", tc.text, err, tc.want)
		}
	}
	if _, err := (verify.Entry{Library: "lib", Session: 1}).Record(); !errors.Is(err, verify.ErrEntry) {
		t.Errorf("an entry of nothing: %v", err)
	}
}

// TestCondemnedBy gathers over sessions and tells libraries and collectives apart.
func TestCondemnedBy(t *testing.T) {
	at := func(c coll.Collective, n int) verify.Finding {
		return verify.Finding{Spot: verify.Spot{Point: coll.Point{Collective: c, Nodes: n, PPN: 1}}}
	}
	entries := []verify.Entry{
		{Library: "a", Session: 1, Verdict: &verify.Verdict{PutBack: []verify.Finding{at(coll.Bcast, 4), at(coll.Reduce, 2)}}},
		{Library: "b", Session: 1, Verdict: &verify.Verdict{PutBack: []verify.Finding{at(coll.Bcast, 8)}, Left: []coll.Collective{coll.Bcast}}},
		{Library: "a", Session: 2, Verdict: &verify.Verdict{PutBack: []verify.Finding{at(coll.Bcast, 2), at(coll.Bcast, 4)}}},
	}
	got := verify.CondemnedBy(entries, "a", coll.Bcast)
	if got.All || len(got.Points) != 2 || got.Points[0].Nodes != 2 || got.Points[1].Nodes != 4 {
		t.Errorf("a bcast: %+v", got)
	}
	if got := verify.CondemnedBy(entries, "b", coll.Bcast); !got.All || len(got.Points) != 1 {
		t.Errorf("b bcast: %+v", got)
	}
}

// FuzzEntries: what can be read can be written, and reads the same.
func FuzzEntries(f *testing.F) {
	f.Add([]byte(`{"library":"lib","session":1,"sights":[{"collective":"bcast","nodes":2,"ppn":1,"msg_bytes":8,"choice":"ring","why":"grid","state":"obeyed"}]}`))
	f.Add([]byte(`{"library":"lib","session":2,"round":3,"look":1,"trial":{"collective":"bcast","algorithm":"tuned","state":"failed"}}`))
	f.Add([]byte(`{"library":"lib","session":1,"verdict":{"number":1,"put_back":[],"end":true}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, err := verify.Entries([]store.Record{{Kind: store.KindVerify, Verify: text}})
		if err != nil {
			return
		}
		rec, err := entries[0].Record()
		if err != nil {
			t.Fatal(err)
		}
		again, err := verify.Entries([]store.Record{rec})
		if err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(entries[0])
		b, _ := json.Marshal(again[0])
		if string(a) != string(b) {
			t.Errorf("%s became %s", a, b)
		}
		if _, err := verify.Recall(entries, entries[0].Library); err != nil && !errors.Is(err, verify.ErrEntry) {
			t.Error(err)
		}
	})
}
