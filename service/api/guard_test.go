package api_test

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"tutti/internal/test/patience"
	"tutti/service/api"
)

// tokens in memory: secret to name; names that begin with op- may operate.
type tokens struct {
	mu sync.Mutex
	of map[string]string
}

func (t *tokens) Check(secret string) (string, bool, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name, ok := t.of[secret]
	return name, strings.HasPrefix(name, "op-"), ok
}

func (t *tokens) revoke(secret string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.of, secret)
}

func someTokens() *tokens {
	return &tokens{of: map[string]string{"look": "grafana", "do": "op-anna"}}
}

var page = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<p>the page</p>") })

// Who may do what with which token; all that is refused is a problem.
func TestTokens(t *testing.T) {
	const look, do = "Authorization: Bearer look", "Authorization: Bearer do"
	s := serve(t, newFake(), api.Options{Tokens: someTokens(), Page: page, Pprof: true})
	tests := []struct {
		method, path, header string
		status               int
	}{
		{"GET", "/healthz", "", 200},
		{"GET", "/readyz", "", 200},
		{"GET", "/login", "", 200},
		{"GET", "/metrics", "", 401},
		{"GET", "/metrics", look, 200},
		{"GET", "/", "", 401},
		{"GET", "/", "Accept: text/html", 303},
		{"GET", "/assets/app.js", "Accept: text/html", 401},
		{"GET", "/", look, 200},
		{"GET", "/api/v1/openapi.json", "", 401},
		{"GET", "/api/v1/version", "", 401},
		{"GET", "/api/v1/version", look, 200},
		{"GET", "/api/v1/version", "Authorization: bearer look", 200},
		{"GET", "/api/v1/version", "Authorization: Bearer", 401},
		{"GET", "/api/v1/version", "Authorization: Bearer ", 401},
		{"GET", "/api/v1/version", "Authorization: Bearer lookx", 401},
		{"GET", "/api/v1/version", "Authorization: Basic look", 401},
		{"GET", "/api/v1/version?token=look", "", 401},
		{"GET", "/api/v1/version", "Cookie: tutti_session=look", 401},
		{"GET", "/api/v1/version", "Cookie: tutti_session=", 401},
		{"GET", "/api/v1/campaigns/c2/events", "", 401},
		{"GET", "/api/v1/events", "", 401},
		{"GET", "/api/v1/nothing", "", 401},
		{"POST", "/api/v1/campaigns/c2/pause", "", 401},
		{"POST", "/api/v1/campaigns/c2/pause", look, 403},
		{"POST", "/api/v1/campaigns/c2/pause", look + "\x00X-HTTP-Method-Override: GET", 403},
		{"POST", "/api/v1/campaigns", look, 403},
		{"DELETE", "/api/v1/campaigns/c2", look, 403},
		{"GET", "/api/v1/campaigns/c2/pause", look, 405},
		{"POST", "/api/v1/campaigns/c2/pause", do, 200},
		{"GET", "/debug/pprof/", "", 401},
		{"GET", "/debug/pprof/", look, 403},
		{"GET", "/debug/pprof/cmdline", do, 200},
		{"GET", "//api/v1/version", "", 401},
		{"GET", "/healthz/../api/v1/version", "", 401},
		{"GET", "/login/../api/v1/version", "", 401},
		{"GET", "/login%2f..%2fapi%2fv1%2fversion", "", 401},
	}
	for _, tc := range tests {
		t.Run(tc.method+" "+tc.path+" "+tc.header, func(t *testing.T) {
			var headers []string
			if tc.header != "" {
				headers = strings.Split(tc.header, "\x00")
			}
			got := ask(t, s, tc.method, tc.path, "", headers...)
			if got.status != tc.status {
				t.Errorf("status %d, want %d: %.200s", got.status, tc.status, got.body)
			}
			if got.status >= 400 && got.header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("Content-Type %q of a refusal", got.header.Get("Content-Type"))
			}
			if got.status == 401 && got.header.Get("WWW-Authenticate") == "" {
				t.Error("401 without WWW-Authenticate")
			}
			if wrong := strings.HasPrefix(strings.TrimSpace(tc.header), "Authorization: Bearer "); got.status == 401 && wrong != strings.Contains(got.body, "it is wrong or was revoked") {
				t.Errorf("says %s", got.body)
			}
		})
	}
}

// Profiles are there only when they were asked for.
func TestPprofIsOff(t *testing.T) {
	s := serve(t, newFake(), api.Options{})
	if got := ask(t, s, "GET", "/debug/pprof/", ""); got.status != http.StatusNotFound {
		t.Errorf("status %d, want 404", got.status)
	}
}

func login(t *testing.T, s *httptest.Server, secret string, headers ...string) answer {
	t.Helper()
	return ask(t, s, "POST", "/login", "token="+secret, append(headers, "Content-Type: application/x-www-form-urlencoded")...)
}

func TestSession(t *testing.T) {
	known := someTokens()
	s := serve(t, newFake(), api.Options{Tokens: known, Page: page})
	in := login(t, s, "do")
	cookie := in.header.Get("Set-Cookie")
	if in.status != 303 || in.header.Get("Location") != "/" {
		t.Fatalf("login: %d to %q", in.status, in.header.Get("Location"))
	}
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("cookie %q lacks %s", cookie, want)
		}
	}
	if strings.Contains(cookie, "tutti_session=do") || strings.Contains(cookie, "Secure") {
		t.Errorf("cookie %q: want neither the secret nor Secure without TLS", cookie)
	}
	value, _, _ := strings.Cut(cookie, ";")
	session := "Cookie: " + value
	if got := ask(t, s, "POST", "/api/v1/campaigns/c2/pause", "", session); got.status != 200 {
		t.Errorf("with the session: %d %s", got.status, got.body)
	}
	if got := ask(t, s, "POST", "/api/v1/campaigns/c2/resume", "", session, "Authorization: Bearer look"); got.status != 403 {
		t.Errorf("a header of a reader beside the session of an operator: %d, want 403", got.status)
	}
	if got := ask(t, s, "POST", "/logout", "", session); got.status != 303 || !strings.Contains(got.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("logout: %d, cookie %q", got.status, got.header.Get("Set-Cookie"))
	}
	if got := ask(t, s, "GET", "/api/v1/me", "", session); got.status != 401 {
		t.Errorf("after the logout: %d, want 401", got.status)
	}
	value, _, _ = strings.Cut(login(t, s, "do").header.Get("Set-Cookie"), ";")
	known.revoke("do")
	if got := ask(t, s, "GET", "/api/v1/me", "", "Cookie: "+value); got.status != 401 {
		t.Errorf("session of a revoked token: %d, want 401", got.status)
	}
}

func TestLoginRefuses(t *testing.T) {
	s := serve(t, newFake(), api.Options{Tokens: someTokens()})
	for _, secret := range []string{"", "wrong", "<script>alert(1)</script>", strings.Repeat("x", 5000)} {
		for _, accept := range []string{"*/*", "text/html"} {
			got := login(t, s, secret, "Accept: "+accept)
			if got.status != 401 && got.status != 400 || got.header.Get("Set-Cookie") != "" || strings.Contains(got.body, "<script>") {
				t.Errorf("login with %.20q: %d, cookie %q, body %s", secret, got.status, got.header.Get("Set-Cookie"), got.body)
			}
		}
	}
}

// What the page of another site can make a browser send changes nothing.
func TestOtherSites(t *testing.T) {
	f := newFake()
	s := serve(t, f, api.Options{})
	host := strings.TrimPrefix(s.URL, "http://")
	tests := []struct {
		name    string
		headers []string
		status  int
	}{
		{"form of another site", []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example", "Content-Type: text/plain"}, 403},
		{"fetch of another site", []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"}, 403},
		{"neighbour on another port", []string{"Sec-Fetch-Site: same-site", "Origin: http://localhost:1"}, 403},
		{"old browser", []string{"Origin: https://evil.example"}, 403},
		{"sandboxed frame", []string{"Origin: null"}, 403},
		{"own page", []string{"Sec-Fetch-Site: same-origin", "Origin: http://" + host}, 201},
		{"program", nil, 201},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			before := len(f.Campaigns())
			got := ask(t, s, "POST", "/api/v1/campaigns", `{"base":"small"}`, tc.headers...)
			if got.status != tc.status {
				t.Errorf("status %d, want %d: %s", got.status, tc.status, got.body)
			}
			if made := len(f.Campaigns()) - before; made != map[int]int{403: 0, 201: 1}[tc.status] {
				t.Errorf("%d campaigns made", made)
			}
		})
	}
	if got := login(t, s, "x", "Sec-Fetch-Site: cross-site"); got.status != 403 {
		t.Errorf("login from another site: %d, want 403", got.status)
	}
}

// A name that points to loopback does not make a page elsewhere one of ours.
func TestRebinding(t *testing.T) {
	s := serve(t, newFake(), api.Options{Hosts: []string{"tuning.site.example"}})
	for host, status := range map[string]int{
		"localhost:8080": 200, "LOCALHOST": 200, "127.0.0.1": 200, "127.0.0.2:99": 200, "[::1]:8080": 200, "tuning.site.example": 200, "tuning.site.example:443": 200,
		"evil.example": 421, "evil.example:8080": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "0.0.0.0": 421, "192.168.0.1": 421,
	} {
		if got := ask(t, s, "GET", "/api/v1/campaigns", "", "Host: "+host); got.status != status {
			t.Errorf("Host %s: %d, want %d", host, got.status, status)
		}
	}
}

func TestHeaders(t *testing.T) {
	s := serve(t, newFake(), api.Options{Page: page})
	for _, path := range []string{"/", "/login", "/api/v1/campaigns", "/api/v1/nothing", "/healthz"} {
		h := ask(t, s, "GET", path, "").header
		policy := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: policy %q lacks %s", path, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer"} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s %q, want %q", path, name, got, want)
			}
		}
	}
}

// Names that lead out of the results folder never reach what opens files, and a
// file is never shown as a page of this site.
func TestFiles(t *testing.T) {
	f := newFake()
	f.files["report.html"] = "<script>alert(1)</script>"
	for _, name := range []string{"../secret", "..", ".", "", "a/../../secret", "/etc/passwd", "a//b", `..\secret`, "c:x", "a\x00b"} {
		f.files[name] = "TOP SECRET"
	}
	s := serve(t, f, api.Options{})
	for _, path := range []string{
		"../secret", "..", ".", "", "%2e%2e/secret", "..%2fsecret", "%2e%2e%2fsecret", "%2e", "a/../../secret", "a%2f..%2f..%2fsecret",
		"/etc/passwd", "%2fetc%2fpasswd", "a//b", "a%2f%2fb", `..\secret`, "..%5csecret", "c:x", "c%3ax", "a%00b", "....//secret", "%252e%252e%252fsecret",
	} {
		got := ask(t, s, "GET", "/api/v1/campaigns/c1/files/"+path, "")
		if got.status == 200 && strings.Contains(got.body, "SECRET") {
			t.Errorf("files/%s: %d %s", path, got.status, got.body)
		}
	}
	got := ask(t, s, "GET", "/api/v1/campaigns/c1/files/report.html", "")
	if got.status != 200 || got.body != f.files["report.html"] {
		t.Fatalf("report.html: %d %s", got.status, got.body)
	}
	if d := got.header.Get("Content-Disposition"); d != "attachment; filename=report.html" {
		t.Errorf("Content-Disposition %q", d)
	}
	if p := got.header.Get("Content-Security-Policy"); !strings.Contains(p, "sandbox") {
		t.Errorf("policy %q of a file, want a sandbox", p)
	}
	part := ask(t, s, "GET", "/api/v1/campaigns/c1/files/report.html", "", "Range: bytes=1-6")
	if part.status != 206 || part.body != "script" {
		t.Errorf("part of a file: %d %q", part.status, part.body)
	}
}

func TestLargeBody(t *testing.T) {
	s := serve(t, newFake(), api.Options{})
	big := `{"base":"small","name":"` + strings.Repeat("x", 70<<10) + `"}`
	if got := ask(t, s, "POST", "/api/v1/campaigns", big); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("70 KiB: %d, want 413", got.status)
	}
}

// A client that asks too fast is refused, by its own fault only.
func TestRate(t *testing.T) {
	s := serve(t, newFake(), api.Options{Limits: api.Limits{Rate: 0.001, Burst: 3}})
	for i, want := range []int{200, 200, 200, 429, 429} {
		got := ask(t, s, "GET", "/api/v1/version", "")
		if got.status != want {
			t.Errorf("request %d: %d, want %d", i+1, got.status, want)
		}
		if want == 429 && got.header.Get("Retry-After") == "" {
			t.Error("429 without Retry-After")
		}
	}
	if got := ask(t, s, "GET", "/healthz", ""); got.status != 200 {
		t.Errorf("healthz: %d, want 200 whatever the rate", got.status)
	}
}

// A handler that panics costs its request, and its words stay in the log.
func TestPanic(t *testing.T) {
	var log bytes.Buffer
	s := serve(t, newFake(), api.Options{
		Log:  slog.New(slog.NewJSONHandler(&log, nil)),
		Page: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("secret words") }),
	})
	got := ask(t, s, "GET", "/", "")
	if got.status != 500 || strings.Contains(got.body, "secret") {
		t.Errorf("answer %d %s", got.status, got.body)
	}
	if !strings.Contains(log.String(), "secret words") || !strings.Contains(log.String(), `"status":500`) {
		t.Errorf("log: %s", log.String())
	}
	if got := ask(t, s, "GET", "/healthz", ""); got.status != 200 {
		t.Errorf("after the panic: %d", got.status)
	}
}

// The log of requests names who asked and never a secret.
func TestLog(t *testing.T) {
	var log bytes.Buffer
	s := serve(t, newFake(), api.Options{Tokens: someTokens(), Log: slog.New(slog.NewJSONHandler(&log, nil))})
	ask(t, s, "GET", "/api/v1/campaigns/c1", "", "Authorization: Bearer look")
	login(t, s, "do")
	line, _, _ := strings.Cut(log.String(), "\n")
	for _, want := range []string{`"msg":"request"`, `"method":"GET"`, `"path":"/api/v1/campaigns/c1"`, `"status":200`, `"caller":"grafana"`, `"client":"127.0.0.1"`} {
		if !strings.Contains(line, want) {
			t.Errorf("log %s lacks %s", line, want)
		}
	}
	if strings.Contains(log.String(), "Bearer") || strings.Contains(log.String(), `"look"`) || strings.Contains(log.String(), "token=") {
		t.Errorf("the log holds a secret: %s", log.String())
	}
}

// logged is the log of one request.
func logged(t *testing.T, o api.Options, headers ...string) string {
	t.Helper()
	var log bytes.Buffer
	o.Log = slog.New(slog.NewJSONHandler(&log, nil))
	ask(t, serve(t, newFake(), o), "GET", "/api/v1/campaigns/c1", "", headers...)
	return log.String()
}

// A client that never finishes its header does not hold a connection for ever.
func TestSlowHeader(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a limit of 5 s")
	}
	_, addr := listenAndServe(t, "127.0.0.1:0", api.Security{}, api.Options{})
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
	begin := time.Now()
	_ = c.SetReadDeadline(begin.Add(patience.Long))
	if _, err := io.ReadAll(c); err != nil {
		t.Errorf("the connection is still open after %s: %v", time.Since(begin), err)
	}
}
