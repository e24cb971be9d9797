package service

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/report"
)

// receiver is a web server that answers requests with the given codes, the last one again and again.
type receiver struct {
	codes []int

	mu     sync.Mutex
	bodies []string
	header http.Header
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bodies, r.header = append(r.bodies, string(body)), q.Header
	if r.codes[0] == http.StatusFound {
		w.Header().Set("Location", "/elsewhere")
	}
	w.WriteHeader(r.codes[0])
	if len(r.codes) > 1 {
		r.codes = r.codes[1:]
	}
}

// notifying returns a notifier with the given receivers and the feed that it reads. Its first retry follows after a
// millisecond. The buffer gets its log.
func notifying(t *testing.T, state string, receivers ...config.Receiver) (*notifier, *serviceLog, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	opt := &Options{
		Service: config.Service{State: state, Notify: receivers, Listen: "127.0.0.1:8372"},
		Clock:   clockwork.NewRealClock(), Log: slog.New(slog.NewTextHandler(&out, nil)),
	}
	events, _, err := openServiceLog(filepath.Join(state, eventsFile), opt.Clock, opt.Log)
	testutil.NoError(t, err)
	t.Cleanup(func() { events.close() })
	n := newNotifier(opt, events.log)
	n.first = time.Millisecond
	return n, events, &out
}

func TestNotify(t *testing.T) {
	tests := []struct {
		name  string
		codes []int
		want  int // requests
		log   string
	}{
		{"at once", []int{204}, 1, ""},
		{"after failures", []int{503, 429, 200}, 3, ""},
		{"refused", []int{404}, 1, "it answers 404"},
		{"redirected", []int{302}, 1, "it answers 302"},
		{"never", []int{500}, noticeTries, "it answers 500"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			at := &receiver{codes: tc.codes}
			server := httptest.NewServer(at)
			defer server.Close()
			r := config.Receiver{Name: "chat", URL: server.URL + "/hooks/SECRET", Headers: []string{"Authorization: Bearer SECRET"}, States: []string{"done"}}
			n, events, out := notifying(t, t.TempDir(), r)
			verdict := report.Verdict{Library: "mpich", Evidence: report.Predicted, NoGain: "unknown times", Next: report.NextStep{Why: "compare"}}
			for _, state := range []State{Queued, Running, Done} {
				testutil.NoError(t, events.publish(campaignEvent, Campaign{ID: "c/1", Base: "night", Machine: "m", State: state, Exit: ExitNotProved, Error: "SECRET",
					Verdicts: []Verdict{{Verdict: verdict, GainText: verdict.GainText(), Command: "tutti verify /SECRET"}}}))
			}
			n.catchUp(t.Context(), r)
			n.catchUp(t.Context(), r)
			if len(at.bodies) != tc.want || at.header.Get("Authorization") != "Bearer SECRET" || at.header.Get("Content-Type") != "application/json" {
				t.Fatalf("%d requests %q with %v, want %d", len(at.bodies), at.bodies, at.header, tc.want)
			}
			var got Notice
			testutil.NoError(t, json.Unmarshal([]byte(at.bodies[0]), &got))
			if got.Event != 3 || got.State != Done || got.Link != "http://127.0.0.1:8372/#/campaigns/c%2F1" || len(got.Verdicts) != 1 || got.Verdicts[0].Next != "compare" ||
				!strings.Contains(got.Meaning, "not proved") || !strings.Contains(got.Text, "campaign c/1 (night) on m is done; mpich: gain unknown: unknown times") {
				t.Errorf("notice %s", at.bodies[0])
			}
			if text := at.bodies[0] + out.String(); strings.Contains(text, "SECRET") {
				t.Errorf("a secret is in %s", text)
			}
			if (out.Len() > 0) != (tc.log != "") || !strings.Contains(out.String(), tc.log) {
				t.Errorf("log %q, want %q", out, tc.log)
			}
		})
	}
}

// TestNoticeIntervals checks that the attempts of a notice extend over about two minutes.
func TestNoticeIntervals(t *testing.T) {
	n, _, _ := notifying(t, t.TempDir())
	n.first = time.Second
	intervals, total := n.intervals(), time.Duration(0)
	intervals.RandomizationFactor = 0
	for range noticeTries - 1 {
		total += intervals.NextBackOff()
	}
	if total < 100*time.Second || total > 140*time.Second {
		t.Errorf("attempts extend over %v, want about 2 minutes", total)
	}
}

// TestNotifyGoesOn checks that the next service tells what this one could not tell any more, and that a new receiver is
// told about later events only.
func TestNotifyGoesOn(t *testing.T) {
	at := &receiver{codes: []int{200}}
	server := httptest.NewServer(at)
	defer server.Close()
	state := t.TempDir()
	old := config.Receiver{Name: "old", URL: server.URL, States: []string{"done"}}
	n, events, _ := notifying(t, state, old)
	publish := func(events *serviceLog, id string) {
		testutil.NoError(t, events.publish(campaignEvent, Campaign{ID: id, State: Done}))
	}
	publish(events, "one")
	n.catchUp(t.Context(), old)
	publish(events, "two")
	testutil.NoError(t, events.close())
	n, events, _ = notifying(t, state, old, config.Receiver{Name: "new", URL: server.URL + "/new", States: []string{"done"}})
	publish(events, "three")
	for _, r := range n.opt.Notify {
		n.catchUp(t.Context(), r)
	}
	var ids []string
	for _, body := range at.bodies {
		var got Notice
		testutil.NoError(t, json.Unmarshal([]byte(body), &got))
		ids = append(ids, got.Campaign)
	}
	if want := []string{"one", "two", "three", "three"}; !slices.Equal(ids, want) {
		t.Errorf("told about %v, want %v", ids, want)
	}
}

// TestNotifyCommand checks that a command gets the notice as its input and its arguments as they are, and that its failure
// is logged.
func TestNotifyCommand(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "notify")
	testutil.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ncat >>"+dir+"/got; echo \"$1\" >>"+dir+"/argument; exit $2\n"), 0o700))
	for _, code := range []string{"0", "3"} {
		r := config.Receiver{Name: "mail", Command: []string{program, "$(touch x); `id`", code}, States: []string{"failed"}}
		n, events, out := notifying(t, t.TempDir(), r)
		testutil.NoError(t, events.publish(campaignEvent, Campaign{ID: "c1", Name: "$(id)", State: Failed, Exit: ExitOutput}))
		n.catchUp(t.Context(), r)
		if failed := strings.Contains(out.String(), "exit status 3"); failed != (code == "3") {
			t.Errorf("code %s: log %q", code, out)
		}
	}
	got := string(testutil.Must(os.ReadFile(filepath.Join(dir, "got")))(t))
	if strings.Count(got, `"name":"$(id)"`) != 1+noticeTries || !strings.Contains(got, `"meaning":"cannot write results`) {
		t.Errorf("input %q", got)
	}
	if arguments := string(testutil.Must(os.ReadFile(filepath.Join(dir, "argument")))(t)); !strings.HasPrefix(arguments, "$(touch x); `id`\n") {
		t.Errorf("arguments %q", arguments)
	}
}

// TestNotifiableStates checks that receivers can be told about states that campaigns have.
func TestNotifiableStates(t *testing.T) {
	for _, s := range config.NotifiableStates() {
		if !slices.Contains(States(), State(s)) {
			t.Errorf("%s is no state of a campaign", s)
		}
	}
}
