package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/service"
	"tutti/service/api"
)

const secret = "hunter2"

// guarded returns a backend that has a secret wherever a campaign may contain secrets.
func guarded(t *testing.T) *fake {
	t.Helper()
	f := newFake()
	for i := range f.campaigns {
		f.campaigns[i].Error = "export: " + secret
	}
	f.private = []string{"journal.jsonl", "jobs/j1/job.sh", "jobs/j1/setup.sh"}
	for _, name := range f.private {
		f.files[name] = secret
	}
	campaign := testutil.Must(json.Marshal(f.campaigns[0].Campaign))(t)
	online := testutil.Must(json.Marshal(f.Samples()[0]))(t)
	f.events.all = []service.Event{{Seq: 1, Type: "campaign", Data: campaign}, {Seq: 2, Type: "online", Data: online}}
	f.events.ended = true
	f.journal("c1").all = []service.Event{
		{Seq: 1, Type: "header", Data: json.RawMessage(`{"kind":"header","spec":{"runner":{"env":["A=` + secret + `"],"setup":["` + secret + `"]}}}`)},
		{Seq: 2, Type: "trial", Data: json.RawMessage(`{"kind":"trial","trial":{"state":"failed","phase":"run","error":"` + secret + `"}}`)},
		{Seq: 3, Type: "verify", Data: json.RawMessage(`{"kind":"verify","verify":"` + secret + `"}`)},
	}
	return f
}

// TestReadersSeeNoSecret checks that no answer to a user with the role "read" contains a secret. With the role
// "operate", the answers to the same requests must contain the secrets.
func TestReadersSeeNoSecret(t *testing.T) {
	s := serve(t, guarded(t), api.Options{Tokens: someTokens(t)})
	cookie := cookieOf(t, s, "look")
	const files = "/api/v1/campaigns/c1/files/"
	tests := []struct {
		name, method, path string
		headers            []string
		status             int // with the role read
		there              bool
	}{
		{"the campaign", "GET", "/api/v1/campaigns/c1", nil, 200, true},
		{"the list", "GET", "/api/v1/campaigns", nil, 200, true},
		{"events of all", "GET", "/api/v1/events", nil, 200, true},
		{"events from the first", "GET", "/api/v1/campaigns/c1/events", nil, 200, true},
		{"events from before the first", "GET", "/api/v1/campaigns/c1/events?after=0", nil, 200, true},
		{"events behind the header", "GET", "/api/v1/campaigns/c1/events?after=1", nil, 200, true},
		{"events connected again", "GET", "/api/v1/campaigns/c1/events", []string{"Last-Event-ID: 2"}, 200, true},
		{"the journal as a file", "GET", files + "journal.jsonl", nil, 403, true},
		{"a part of it", "GET", files + "journal.jsonl", []string{"Range: bytes=0-3"}, 403, false},
		{"its head", "HEAD", files + "journal.jsonl", nil, 403, false},
		{"its name quoted", "GET", files + "%6aournal.jsonl", nil, 403, true},
		{"a job's script", "GET", files + "jobs/j1/job.sh", nil, 403, true},
		{"its name in one piece", "GET", files + "jobs%2Fj1%2Fjob.sh", nil, 403, true},
		{"a detour", "GET", files + "mpich/../journal.jsonl", nil, 307, false},
		{"the setup", "GET", files + "jobs/j1/setup.sh", nil, 403, true},
		{"measurements", "GET", "/api/v1/campaigns/c1/measurements?format=csv", nil, 200, false},
		{"online learning", "GET", "/api/v1/online", nil, 200, true},
		{"bases", "GET", "/api/v1/bases", nil, 200, false},
		{"metrics", "GET", "/metrics", nil, 200, false},
		{"another method", "POST", "/api/v1/campaigns/c1/files/journal.jsonl", nil, 403, false},
		{"a method in a header", "GET", files + "journal.jsonl", []string{"X-HTTP-Method-Override: POST"}, 403, true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			for _, who := range []string{"Authorization: Bearer look", cookie} {
				got := ask(t, s, tc.method, tc.path, "", append([]string{who}, tc.headers...)...)
				if got.status != tc.status || strings.Contains(got.body, secret) {
					t.Errorf("%s: %d %s, want %d and no secret", who, got.status, got.body, tc.status)
				}
			}
			got := ask(t, s, tc.method, tc.path, "", append([]string{"Authorization: Bearer do"}, tc.headers...)...)
			if tc.there && (got.status != http.StatusOK || !strings.Contains(got.body, secret)) {
				t.Errorf("an operator: %d %s, want all of it", got.status, got.body)
			}
		})
	}
}

// TestFilesByRole checks that each role sees exactly the files that it may download.
func TestFilesByRole(t *testing.T) {
	s := serve(t, guarded(t), api.Options{Tokens: someTokens(t)})
	for token, want := range map[string]int{"look": 1, "do": 4} {
		got := ask(t, s, "GET", "/api/v1/campaigns/c1/files", "", "Authorization: Bearer "+token)
		var answer struct{ Files []service.File }
		if err := json.Unmarshal([]byte(got.body), &answer); err != nil || len(answer.Files) != want {
			t.Errorf("%s sees %s, %v, want %d files", token, got.body, err, want)
		}
		for _, f := range answer.Files {
			if one := ask(t, s, "GET", "/api/v1/campaigns/c1/files/"+f.Name, "", "Authorization: Bearer "+token); one.status != http.StatusOK {
				t.Errorf("%s may not fetch %s: %d", token, f.Name, one.status)
			}
		}
	}
}
