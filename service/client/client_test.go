package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tutti/journal"
	"tutti/service"
	"tutti/service/client"
)

// scripted answers requests one after another with the handlers, the last one again.
func scripted(t *testing.T, o client.Options, handlers ...http.HandlerFunc) (*client.Client, *atomic.Int32) {
	t.Helper()
	var calls atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(calls.Add(1))
		handlers[min(n, len(handlers))-1](w, r)
	}))
	t.Cleanup(s.Close)
	c, err := client.New(s.URL+"/", o)
	if err != nil {
		t.Fatal(err)
	}
	return c, &calls
}

func problem(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }
}

func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func TestNewRefuses(t *testing.T) {
	for _, server := range []string{"", "localhost:8080", "ftp://x", "http://", "unix:", "http://user:secret@x", "http://x?a=b", "://"} {
		if _, err := client.New(server, client.Options{}); err == nil {
			t.Errorf("New(%q): want an error", server)
		}
	}
}

// What fails by accident is asked again, what is refused is not.
func TestRetries(t *testing.T) {
	good := text(`{"id":"c1","state":"running"}`)
	tests := []struct {
		name     string
		handlers []http.HandlerFunc
		calls    int32
		status   int // of the error, 0 for none
	}{
		{"at once", []http.HandlerFunc{good}, 1, 0},
		{"after a broken connection", []http.HandlerFunc{hangUp, good}, 2, 0},
		{"after 503", []http.HandlerFunc{problem(503, "{}"), problem(503, "{}"), good}, 3, 0},
		{"after 429, when it is allowed", []http.HandlerFunc{problem(429, "{}", "Retry-After: 1"), good}, 2, 0},
		{"no such campaign", []http.HandlerFunc{problem(404, `{"detail":"no such campaign"}`), good}, 1, 404},
		{"not allowed", []http.HandlerFunc{problem(401, "{}"), good}, 1, 401},
		{"broken service", []http.HandlerFunc{problem(500, "{}"), good}, 1, 500},
		{"longer than patience", []http.HandlerFunc{problem(503, "{}", "Retry-After: 60"), good}, 1, 503},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, calls := scripted(t, client.Options{Patience: 5 * time.Second}, tc.handlers...)
			got, err := c.Campaign(t.Context(), "c1")
			var refused *client.Error
			switch {
			case tc.status == 0 && (err != nil || got.State != service.Running):
				t.Errorf("Campaign = %v, %v", got, err)
			case tc.status != 0 && (!errors.As(err, &refused) || refused.Status != tc.status):
				t.Errorf("error %v, want status %d", err, tc.status)
			}
			if n := calls.Load(); n != tc.calls {
				t.Errorf("%d requests, want %d", n, tc.calls)
			}
		})
	}
}

// Who cannot be spoken to is named; what stays so is not asked again.
func TestUnreachable(t *testing.T) {
	secure := httptest.NewTLSServer(text("{}"))
	t.Cleanup(secure.Close)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	open := httptest.NewServer(text("{}"))
	t.Cleanup(open.Close)
	gone := httptest.NewServer(text("{}"))
	gone.Close()
	tests := []struct {
		name, server, want string
		patience           time.Duration
	}{
		{"nobody there", gone.URL, "no service answers at " + gone.URL + ": dial tcp", -1},
		{"no socket", "unix:/nowhere", "no service answers at unix:/nowhere: dial unix", -1},
		{"strange certificate", secure.URL, "failed to verify certificate", time.Minute},
		{"HTTPS to HTTP", "https" + strings.TrimPrefix(open.URL, "http"), "HTTP response to HTTPS client", time.Minute},
		{"HTTP to HTTPS", "http" + strings.TrimPrefix(secure.URL, "https"), "the service speaks TLS: want https://", time.Minute},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			c, err := client.New(tc.server, client.Options{Patience: tc.patience})
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			if _, err = c.Bases(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q in it", err, tc.want)
			}
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("asked again for %v", took)
			}
		})
	}
}

// Create uses one key for all its attempts; what must not happen twice is sent once.
func TestWhatIsRepeated(t *testing.T) {
	var keys []string
	note := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			keys = append(keys, r.Header.Get("Idempotency-Key"))
			next(w, r)
		}
	}
	c, _ := scripted(t, client.Options{}, note(hangUp), note(text(`{"id":"c1"}`)))
	if _, err := c.Create(t.Context(), service.Request{Base: "small"}, ""); err != nil {
		t.Fatal(err)
	}
	if len(keys) != 2 || keys[0] == "" || keys[0] != keys[1] {
		t.Errorf("keys %q, want one key twice", keys)
	}
	for name, verb := range map[string]func(context.Context, string) (service.Campaign, error){"pause": c.Pause, "resume": c.Resume, "cancel": c.Cancel} {
		c2, calls := scripted(t, client.Options{}, hangUp)
		verb = map[string]func(context.Context, string) (service.Campaign, error){"pause": c2.Pause, "resume": c2.Resume, "cancel": c2.Cancel}[name]
		if _, err := verb(t.Context(), "c1"); err == nil || calls.Load() != 1 {
			t.Errorf("%s: %d requests, %v, want one and an error", name, calls.Load(), err)
		}
	}
}

func TestError(t *testing.T) {
	tests := []struct{ name, kind, body, want string }{
		{"fields", "application/problem+json", `{"detail":"the request was refused","errors":[{"message":"want more than 1","location":"body.set.stop.slowdown"}]}`, "the request was refused: body.set.stop.slowdown: want more than 1"},
		{"no detail", "application/problem+json", `{}`, "422 Unprocessable Entity"},
		{"of a proxy", "text/html", `<h1>Gateway</h1>`, "422 Unprocessable Entity"},
		{"broken", "application/json", `{`, "422 Unprocessable Entity"},
	}
	for _, tc := range tests {
		c, _ := scripted(t, client.Options{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", tc.kind)
			w.WriteHeader(422)
			io.WriteString(w, tc.body)
		})
		if _, err := c.Bases(t.Context()); err == nil || err.Error() != tc.want {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
}

// Every call asks for what it says and hands back what came.
func TestCalls(t *testing.T) {
	const secret = "Bearer s3"
	answers := map[string]string{
		"GET /api/v1/version":                                                `{"version":"1.2"}`,
		"GET /api/v1/bases":                                                  `{"bases":[{"name":"x"}]}`,
		"GET /api/v1/node-hours":                                             `{"left":9}`,
		"GET /api/v1/schedule":                                               `{"schedule":[{"base":"x"}]}`,
		"GET /api/v1/campaigns?limit=1000&state=done":                        `{"campaigns":[{"id":"b"}],"next":"b"}`,
		"GET /api/v1/campaigns?after=b&limit=1000&state=done":                `{"campaigns":[{"id":"a"}]}`,
		"POST /api/v1/campaigns/a%2Fb/pause":                                 `{"id":"a"}`,
		"GET /api/v1/campaigns/a/rounds":                                     `{"rounds":[{"round":3}]}`,
		"GET /api/v1/campaigns/a/measurements?after=4&limit=2":               `{"measurements":[{"seq":7}],"next":7}`,
		"GET /api/v1/campaigns/a/curve":                                      `{"curve":[{"round":3}]}`,
		"GET /api/v1/campaigns/a/jobs":                                       `{"jobs":[{"name":"j"}]}`,
		"GET /api/v1/campaigns/a/selection":                                  `{"selections":[{"round":3}]}`,
		"GET /api/v1/campaigns/a/predictions?collective=bcast&library=mpich": `{"predictions":[{"nodes":3}]}`,
		"GET /api/v1/compare?a=a&b=b":                                        `{"a":"a"}`,
		"GET /api/v1/campaigns/a/files":                                      `{"files":[{"name":"f"}]}`,
		"GET /api/v1/campaigns/a/files/mpich/odd%20%3Fname.json":             `content`,
	}
	c, _ := scripted(t, client.Options{Token: "s3"}, func(w http.ResponseWriter, r *http.Request) {
		key := r.Method + " " + strings.TrimSuffix(r.URL.EscapedPath()+"?"+r.URL.RawQuery, "?")
		key = strings.Replace(key, "a/b", "a%2Fb", 1)
		answer, ok := answers[key]
		if !ok || r.Header.Get("Authorization") != secret {
			t.Errorf("unexpected request %s with %q", key, r.Header.Get("Authorization"))
			w.WriteHeader(400)
		}
		delete(answers, key)
		io.WriteString(w, answer)
	})
	ctx := t.Context()
	check := func(what, got string, err error, want string) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("%s = %s, %v, want %s", what, got, err, want)
		}
	}
	v, err := c.Version(ctx)
	check("Version", v, err, "1.2")
	bases, err := c.Bases(ctx)
	check("Bases", fmt.Sprint(len(bases)), err, "1")
	sch, err := c.Schedule(ctx)
	check("Schedule", fmt.Sprint(len(sch)), err, "1")
	hours, err := c.NodeHours(ctx)
	check("NodeHours", fmt.Sprint(hours.Left), err, "9")
	all, err := c.Campaigns(ctx, service.Done)
	check("Campaigns", all[0].ID+all[1].ID, err, "ba")
	one, err := c.Pause(ctx, "a/b")
	check("Pause", one.ID, err, "a")
	rounds, err := c.Rounds(ctx, "a")
	check("Rounds", fmt.Sprint(rounds[0].Round), err, "3")
	part, next, err := c.Measurements(ctx, "a", 4, 2)
	check("Measurements", fmt.Sprint(part[0].Seq, next), err, "7 7")
	curve, err := c.Curve(ctx, "a")
	check("Curve", fmt.Sprint(curve[0].Round), err, "3")
	jobs, err := c.Jobs(ctx, "a")
	check("Jobs", jobs[0].Name, err, "j")
	sel, err := c.Selection(ctx, "a", journal.Problem{})
	check("Selection", fmt.Sprint(sel[0].Round), err, "3")
	pred, err := c.Predictions(ctx, "a", journal.Problem{Library: "mpich", Collective: "bcast"})
	check("Predictions", fmt.Sprint(pred[0].Nodes), err, "3")
	drift, err := c.Compare(ctx, "a", "b")
	check("Compare", drift.A, err, "a")
	files, err := c.Files(ctx, "a")
	check("Files", files[0].Name, err, "f")
	var b strings.Builder
	err = c.Download(ctx, "a", "mpich/odd ?name.json", &b)
	check("Download", b.String(), err, "content")
	if len(answers) != 0 {
		t.Errorf("not asked: %v", answers)
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(text(`{"version":"7"}`))
	s.Listener = l
	s.Start()
	defer s.Close()
	c, err := client.New("unix:"+path, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := c.Version(t.Context()); v != "7" || err != nil {
		t.Errorf("Version = %q, %v", v, err)
	}
}

// events writes those numbered first to last as a stream.
func events(first, last int, tail string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, ": hello\nretry: 5\n\n")
		for i := first; i <= last; i++ {
			fmt.Fprintf(w, "id: %d\nevent: trial\ndata: {\"n\":%d,\"time\":\"2026-03-01T00:00:0%dZ\"}\n\n", i, i, i%10)
		}
		io.WriteString(w, tail)
	}
}

func from(t *testing.T, last string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Last-Event-ID"); got != last {
			t.Errorf("Last-Event-ID %q, want %q", got, last)
		}
		next(w, r)
	}
}

// A stream that breaks goes on behind the last event: each is seen once, in order.
func TestWatch(t *testing.T) {
	const end = "event: end\ndata: {}\n\n"
	long := strings.Repeat("x", 100_000)
	c, calls := scripted(t, client.Options{},
		from(t, "", events(1, 3, "id: 4\nevent: trial\nda")), // cut in an event
		from(t, "3", hangUp),
		from(t, "3", problem(503, "{}")),
		from(t, "3", events(4, 5, "")), // ended without the end
		from(t, "5", events(4, 7, "")), // some again
		from(t, "7", events(9, 9, "")), // one left out: not taken
		from(t, "7", events(8, 8, "id: 9\r\nevent: note\r\ndata: \""+long+"\"\r\n\r\n"+end)),
	)
	var seen []int64
	err := c.Watch(t.Context(), "c1", 0, func(e service.Event) error {
		seen = append(seen, e.Seq)
		if e.Seq == 9 && (e.Type != "note" || len(e.Data) != len(long)+2) {
			t.Errorf("event 9: %s with %d bytes", e.Type, len(e.Data))
		}
		if e.Seq == 8 && (e.Type != "trial" || string(e.Data) != `{"n":8,"time":"2026-03-01T00:00:08Z"}`) {
			t.Errorf("event 8: %s %s", e.Type, e.Data)
		}
		return nil
	})
	if got := fmt.Sprint(seen); err != nil || got != "[1 2 3 4 5 6 7 8 9]" || calls.Load() != 7 {
		t.Errorf("Watch saw %s in %d connections, %v", got, calls.Load(), err)
	}
}

func TestWatchEnds(t *testing.T) {
	mine := errors.New("enough")
	c, calls := scripted(t, client.Options{}, events(1, 5, ""))
	err := c.Watch(t.Context(), "c1", 0, func(e service.Event) error {
		if e.Seq == 2 {
			return mine
		}
		return nil
	})
	if err != mine || calls.Load() != 1 {
		t.Errorf("after the function's error: %v, %d connections", err, calls.Load())
	}
	gone, _ := scripted(t, client.Options{}, problem(404, `{"detail":"no such campaign"}`))
	var refused *client.Error
	if err := gone.Watch(t.Context(), "c1", 0, nil); !errors.As(err, &refused) || refused.Status != 404 {
		t.Errorf("no such campaign: %v", err)
	}
	empty, calls := scripted(t, client.Options{}, text(""))
	if err := empty.Watch(t.Context(), "c1", 0, nil); err == nil || calls.Load() != 10 {
		t.Errorf("streams that say nothing: %v after %d connections, want an error after 10", err, calls.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	idle, _ := scripted(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-r.Context().Done()
	})
	if err := idle.WatchAll(ctx, 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Whatever a server sends, the client returns.
func FuzzWatch(f *testing.F) {
	for _, s := range []string{"id: 1\ndata: {}\n\n", "event: end\ndata\n\n", "data: a\ndata: b\n\n", "id: x\n\n", ":\n\n", "\r\n\r\n", "id: 1\nevent: end\ndata: {}\n\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := client.New("http://localhost", client.Options{
			HTTP: &http.Client{Transport: answerWith(s)}, Patience: -1,
		})
		if err != nil {
			t.Fatal(err)
		}
		last, mine := int64(0), errors.New("stop")
		err = c.Watch(t.Context(), "c1", 0, func(e service.Event) error {
			if e.Seq != last+1 {
				t.Errorf("event %d after %d", e.Seq, last)
			}
			last = e.Seq
			return mine
		})
		if err == nil && !strings.Contains(s, "end") {
			t.Errorf("Watch of %q ended well", s)
		}
	})
}

type answerWith string

func (a answerWith) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}
