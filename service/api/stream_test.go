package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tutti/internal/testutil"
	"tutti/service/api"
)

// open opens an event stream and returns the HTTP response.
func open(t *testing.T, s *httptest.Server, path string, headers ...string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testutil.HangTimeout)
	t.Cleanup(cancel)
	r := testutil.Must(http.NewRequestWithContext(ctx, "GET", s.URL+path, nil))(t)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	resp := testutil.Must(http.DefaultClient.Do(r))(t)
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// blocks reads a stream to its end and splits the text at empty lines.
func blocks(t *testing.T, r io.Reader) []string {
	t.Helper()
	content := testutil.Must(io.ReadAll(r))(t)
	return strings.Split(strings.TrimSuffix(string(content), "\n\n"), "\n\n")
}

func event(n int) string {
	return fmt.Sprintf("id: %d\nevent: trial\ndata: {\"kind\":\"trial\",\"n\":%d}", n, n)
}

// TestStreamUnreadable checks that a stream ends without the event "end" if the events cannot be read, so that
// the client connects again.
func TestStreamUnreadable(t *testing.T) {
	for _, ended := range []bool{false, true} {
		f := newFake()
		f.journal("c2").unreadable = true
		f.journal("c2").grow(3, ended)
		resp := open(t, serve(t, f, api.Options{}), "/api/v1/campaigns/c2/events")
		if got := blocks(t, resp.Body); len(got) != 1 || strings.Contains(got[0], "event:") {
			t.Errorf("ended %t: the stream is %q, want no event", ended, got)
		}
	}
}

func TestStreamFrom(t *testing.T) {
	f := newFake()
	f.journal("c2").grow(1000, true)
	s := serve(t, f, api.Options{})
	tests := []struct {
		name, query string
		headers     []string
		first       int // number of the first event
	}{
		{name: "from the beginning", first: 1},
		{name: "after", query: "?after=10", first: 11},
		{name: "Last-Event-ID", headers: []string{"Last-Event-ID: 700"}, first: 701},
		{name: "Last-Event-ID before after", query: "?after=10", headers: []string{"Last-Event-ID: 998"}, first: 999},
		{name: "all are known", query: "?after=1000", first: 1001},
		{name: "more than all", query: "?after=999999", first: 1001},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			resp := open(t, s, "/api/v1/campaigns/c2/events"+tc.query, tc.headers...)
			if kind := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || kind != "text/event-stream" {
				t.Fatalf("%s, Content-Type %q", resp.Status, kind)
			}
			got := blocks(t, resp.Body)
			got = got[1:] // the first block sets the retry time of clients
			if len(got) != 1000-tc.first+2 {
				t.Fatalf("%d events, want %d and the end", len(got), 1000-tc.first+1)
			}
			for i, one := range got[:len(got)-1] {
				if one != event(tc.first+i) {
					t.Fatalf("event %d is %q, want %q", i, one, event(tc.first+i))
				}
			}
			if end := got[len(got)-1]; !strings.HasPrefix(end, "event: end\ndata: {\"seq\":") {
				t.Errorf("the last event is %q, want end", end)
			}
		})
	}
	for _, bad := range []string{"?after=-1", "?after=x", "?after=1e3", "?after=99999999999999999999"} {
		if got := ask(t, s, "GET", "/api/v1/campaigns/c2/events"+bad, ""); got.status != 422 || !strings.Contains(got.body, "query.after") {
			t.Errorf("%s: %d %s", bad, got.status, got.body)
		}
	}
	if got := ask(t, s, "GET", "/api/v1/campaigns/c9/events", ""); got.status != 404 {
		t.Errorf("no such campaign: %d", got.status)
	}
}

// TestStreamLive checks that an event is sent immediately, and that an idle stream sends comments.
func TestStreamLive(t *testing.T) {
	f := newFake()
	s := serve(t, f, api.Options{Heartbeat: 20 * time.Millisecond})
	in := bufio.NewScanner(open(t, s, "/api/v1/campaigns/c2/events").Body)
	until := func(want string) {
		t.Helper()
		for in.Scan() {
			if in.Text() == want {
				return
			}
		}
		t.Fatalf("the stream ended before %q: %v", want, in.Err())
	}
	until(": heartbeat")
	f.journal("c2").grow(1, false)
	until("id: 1")
	until(": heartbeat")
	f.journal("c2").grow(2, true)
	until("id: 3")
	until("event: end")
	for in.Scan() {
		if in.Text() != `data: {"seq":3}` && in.Text() != "" {
			t.Errorf("after the end: %q", in.Text())
		}
	}
}

// TestStreamInjection checks that line breaks in an event's data or type cannot add fields to the event.
func TestStreamInjection(t *testing.T) {
	f := newFake()
	feed := f.journal("c2")
	feed.grow(1, true)
	feed.all[0].Data = []byte("{\"a\":1,\r\n\"b\":2}\n\ndata: evil")
	feed.all[0].Type = "trial\nid: 7"
	got := blocks(t, open(t, serve(t, f, api.Options{}), "/api/v1/campaigns/c2/events").Body)
	if len(got) != 3 || strings.Count(got[1], "\n") != 2 {
		t.Errorf("stream %q, want one event of three lines", got)
	}
}

// TestManyWatch checks that every client gets all events once and in order while the feed grows.
func TestManyWatch(t *testing.T) {
	const clients, events = 50, 2000
	f := newFake()
	s := serve(t, f, api.Options{})
	var wg sync.WaitGroup
	for range clients {
		resp := open(t, s, "/api/v1/campaigns/c2/events")
		wg.Go(func() {
			next := 1
			in := bufio.NewScanner(resp.Body)
			for in.Scan() {
				if id, ok := strings.CutPrefix(in.Text(), "id: "); ok {
					if id != fmt.Sprint(next) {
						t.Errorf("event %s, want %d", id, next)
						return
					}
					next++
				}
			}
			if err := in.Err(); err != nil || next != events+1 {
				t.Errorf("%d events, want %d; error %v", next-1, events, err)
			}
		})
	}
	for i := range events / 10 {
		f.journal("c2").grow(10, i == events/10-1)
	}
	wg.Wait()
}

func TestStreamLimits(t *testing.T) {
	const look, do = "Authorization: Bearer look", "Authorization: Bearer do"
	s := serve(t, newFake(), api.Options{Tokens: someTokens(t), Streams: 2})
	first := open(t, s, "/api/v1/events", look)
	open(t, s, "/api/v1/events", look)
	if got := ask(t, s, "GET", "/api/v1/events", "", look); got.status != 503 || got.header.Get("Retry-After") == "" {
		t.Errorf("third stream of a token: %d, want 503 with Retry-After", got.status)
	}
	if got := open(t, s, "/api/v1/events", do); got.StatusCode != 200 {
		t.Errorf("stream of another token: %d, want 200", got.StatusCode)
	}
	first.Body.Close()
	for range 100 { // the service notices the closed stream after a short time
		resp := open(t, s, "/api/v1/events", look)
		if resp.StatusCode == 200 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("a closed stream still counts")
}

// TestStreamShares checks that two tokens cannot take all event streams.
func TestStreamShares(t *testing.T) {
	s := serve(t, newFake(), api.Options{Tokens: someTokens(t), Streams: 10, AllStreams: 8})
	for who, want := range map[string]int{"look": 4, "do": 2} {
		open := func() int { return open(t, s, "/api/v1/events", "Authorization: Bearer "+who).StatusCode }
		n := 0
		for ; n < 10 && open() == http.StatusOK; n++ {
		}
		if n != 4 && n != 2 {
			t.Errorf("%s opens %d streams, want %d, or 4 and 2 in the other order", who, n, want)
		}
	}
}

// TestStreamEndsWithTheService checks that streams end when the service ends. They must end without the event
// "end", so that clients connect again.
func TestStreamEndsWithTheService(t *testing.T) {
	a, addr := listenAndServe(t, "127.0.0.1:0", api.ListenOptions{}, api.Options{})
	resp := testutil.Must(http.Get("http://" + addr + "/api/v1/events"))(t)
	defer resp.Body.Close()
	a.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil || strings.Contains(string(content), "event: end") {
		t.Errorf("stream %q, %v, want it to end without the event end", content, err)
	}
}

// TestStreamsLeaveNothing checks that no goroutines remain after streams are closed.
func TestStreamsLeaveNothing(t *testing.T) {
	s := serve(t, newFake(), api.Options{})
	clients := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	visit := func(n int) {
		for range n {
			ctx, cancel := context.WithCancel(t.Context())
			r := testutil.Must(http.NewRequestWithContext(ctx, "GET", s.URL+"/api/v1/campaigns/c2/events", nil))(t)
			resp := testutil.Must(clients.Do(r))(t)
			resp.Body.Close()
			cancel()
		}
	}
	visit(10)
	before := runtime.NumGoroutine()
	visit(300)
	for range 200 {
		if runtime.NumGoroutine() <= before+5 && strings.Contains(ask(t, s, "GET", "/metrics", "").body, "tutti_sse_clients 0\n") {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before 300 streams", runtime.NumGoroutine(), before)
}
