package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/securecookie"

	"tutti/internal/testutil"
	"tutti/service"
	"tutti/service/api"
)

// someTokens returns a store with two tokens: "grafana" with the role "read" and the secret "look", and "anna"
// with the role "operate" and the secret "do".
func someTokens(t *testing.T) *api.TokenStore {
	t.Helper()
	sum := func(secret string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(secret))) }
	path := filepath.Join(t.TempDir(), "tokens.json")
	content := fmt.Sprintf(`{"tokens":[{"name":"grafana","role":"read","sha256":%q},{"name":"anna","role":"operate","sha256":%q}]}`, sum("look"), sum("do"))
	testutil.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return openTokens(t, path)
}

// panicking is a backend in which one method panics.
type panicking struct{ *fake }

func (panicking) Schedule() []service.Scheduled { panic("secret words") }

// TestTokens checks the HTTP status of requests without a token and with a token of each role. Errors must
// have the format problem+json.
func TestTokens(t *testing.T) {
	const look, do = "Authorization: Bearer look", "Authorization: Bearer do"
	s := serve(t, newFake(), api.Options{Tokens: someTokens(t), Pprof: true})
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
		{"GET", "/assets/main.js", "", 401},
		{"GET", "/assets/views.css", "", 200},
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
		{"GET", "/api/v1/version", "Cookie: tutti_login=look", 401},
		{"GET", "/api/v1/version", "Cookie: tutti_login=", 401},
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
			if wrong := strings.HasPrefix(strings.TrimSpace(tc.header), "Authorization: Bearer "); got.status == 401 && wrong != strings.Contains(got.body, "invalid or revoked token") {
				t.Errorf("says %s", got.body)
			}
		})
	}
}

// TestPprofIsOff checks that the service serves no profiles of its process by default.
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

// cookieOf logs in with a secret. It returns the Cookie header that later requests send.
func cookieOf(t *testing.T, s *httptest.Server, secret string) string {
	t.Helper()
	value, _, _ := strings.Cut(login(t, s, secret).header.Get("Set-Cookie"), ";")
	return "Cookie: " + value
}

func TestLogin(t *testing.T) {
	store := someTokens(t)
	s := serve(t, newFake(), api.Options{Tokens: store})
	in := login(t, s, "do")
	cookie := in.header.Get("Set-Cookie")
	if in.status != 303 || in.header.Get("Location") != "/" {
		t.Fatalf("login: %d to %q", in.status, in.header.Get("Location"))
	}
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=86400"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("cookie %q does not contain %s", cookie, want)
		}
	}
	if strings.Contains(cookie, "Secure") {
		t.Errorf("cookie %q: want no Secure without TLS", cookie)
	}
	header := cookieOf(t, s, "do")
	if got := ask(t, s, "POST", "/api/v1/campaigns/c2/pause", "", header); got.status != 200 {
		t.Errorf("with the cookie: %d %s", got.status, got.body)
	}
	if got := ask(t, s, "POST", "/api/v1/campaigns/c2/resume", "", header, "Authorization: Bearer look"); got.status != 403 {
		t.Errorf("token of a reader with the cookie of an operator: %d, want 403", got.status)
	}
	if got := ask(t, s, "POST", "/logout", "", header); got.status != 303 || !strings.Contains(got.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("logout: %d, cookie %q", got.status, got.header.Get("Set-Cookie"))
	}
	testutil.NoError(t, store.Revoke("anna"))
	if got := ask(t, s, "GET", "/api/v1/me", "", header); got.status != 401 {
		t.Errorf("cookie of a revoked token: %d, want 401", got.status)
	}
	createToken(t, store, "anna", api.Operate)
	if got := ask(t, s, "GET", "/api/v1/me", "", header); got.status != 401 {
		t.Errorf("cookie of a revoked token after a new one of its name: %d, want 401", got.status)
	}
}

// TestLoginCookie checks that a login cookie contains neither the secret nor its hash, and is valid only
// with the key of the service.
func TestLoginCookie(t *testing.T) {
	store := someTokens(t)
	key := []byte("0123456789abcdef0123456789abcdef")
	s := serve(t, newFake(), api.Options{Tokens: store, CookieKey: key})
	header := cookieOf(t, s, "do")
	_, value, _ := strings.Cut(header, "=")
	var content map[string]any
	codec := func(key []byte) *securecookie.SecureCookie {
		return securecookie.New(key, nil).SetSerializer(securecookie.JSONEncoder{})
	}
	if err := codec(key).Decode("tutti_login", value, &content); err != nil || content["token"] != "anna" || len(content) != 2 {
		t.Errorf("cookie contains %v, %v", content, err)
	}
	plain, err := base64.URLEncoding.DecodeString(value)
	if err != nil || bytes.Contains(plain, []byte(hashOf(t, store, "anna"))) {
		t.Errorf("cookie %q, %v: want no hash of the secret", plain, err)
	}
	restarted := serve(t, newFake(), api.Options{Tokens: store, CookieKey: key})
	if got := ask(t, restarted, "GET", "/api/v1/me", "", header); got.status != 200 {
		t.Errorf("after a restart with the same key: %d, want 200", got.status)
	}
	other := serve(t, newFake(), api.Options{Tokens: store})
	if got := ask(t, other, "GET", "/api/v1/me", "", header); got.status != 401 {
		t.Errorf("with another key: %d, want 401", got.status)
	}
	changed := strings.Replace(header, value[10:14], "AAAA", 1)
	if got := ask(t, s, "GET", "/api/v1/me", "", changed); got.status != 401 {
		t.Errorf("changed cookie: %d, want 401", got.status)
	}
}

// TestCookieBehindProxy checks that the cookie has the attribute Secure exactly if the public address is an
// https URL.
func TestCookieBehindProxy(t *testing.T) {
	for public, secure := range map[string]bool{"https://tutti.example.org": true, "http://tutti.example.org": false, "": false} {
		o := api.Options{Tokens: someTokens(t)}
		if public != "" {
			o.PublicAddress = parseURL(t, public)
		}
		s := serve(t, newFake(), o)
		in := login(t, s, "do", "X-Forwarded-Proto: https")
		out := ask(t, s, "POST", "/logout", "", "Authorization: Bearer do")
		for _, got := range []answer{in, out} {
			if cookie := got.header.Get("Set-Cookie"); strings.Contains(cookie, "Secure") != secure || !strings.Contains(cookie, "tutti_login=") {
				t.Errorf("public address %q: cookie %q, want Secure: %t", public, cookie, secure)
			}
		}
	}
}

func parseURL(t *testing.T, text string) *url.URL {
	t.Helper()
	return testutil.Must(url.Parse(text))(t)
}

func TestLoginRefuses(t *testing.T) {
	s := serve(t, newFake(), api.Options{Tokens: someTokens(t)})
	for _, secret := range []string{"", "wrong", "<script>alert(1)</script>", strings.Repeat("x", 5000)} {
		for _, accept := range []string{"*/*", "text/html"} {
			got := login(t, s, secret, "Accept: "+accept)
			if got.status != 401 && got.status != 400 || got.header.Get("Set-Cookie") != "" || strings.Contains(got.body, "<script>") {
				t.Errorf("login with %.20q: %d, cookie %q, body %s", secret, got.status, got.header.Get("Set-Cookie"), got.body)
			}
		}
	}
}

// TestOtherSites checks that the API refuses a write that a browser sends for a page of another site.
func TestOtherSites(t *testing.T) {
	f := newFake()
	s := serve(t, f, api.Options{PublicAddress: parseURL(t, "https://tutti.example.org")})
	host := strings.TrimPrefix(s.URL, "http://")
	tests := []struct {
		name    string
		headers []string
		status  int
	}{
		{"form of another site", []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example", "Content-Type: text/plain"}, 403},
		{"fetch of another site", []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"}, 403},
		{"another port of the host", []string{"Sec-Fetch-Site: same-site", "Origin: http://localhost:1"}, 403},
		{"old browser", []string{"Origin: https://evil.example"}, 403},
		{"sandboxed frame", []string{"Origin: null"}, 403},
		{"own page", []string{"Sec-Fetch-Site: same-origin", "Origin: http://" + host}, 201},
		{"own page behind a proxy", []string{"Origin: https://tutti.example.org"}, 201},
		{"another port of the proxy", []string{"Origin: https://tutti.example.org:8443"}, 403},
		{"program", nil, 201},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			before := len(f.Campaigns())
			got := ask(t, s, "POST", "/api/v1/campaigns", `{"base":"night"}`, tc.headers...)
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

// TestRebinding checks that requests to a loopback address with a foreign host name are refused (DNS
// rebinding).
func TestRebinding(t *testing.T) {
	s := serve(t, newFake(), api.Options{PublicAddress: parseURL(t, "https://tuning.site.example")})
	for host, status := range map[string]int{
		"localhost:8080": 200, "LOCALHOST": 200, "127.0.0.1": 200, "127.0.0.2:99": 200, "[::1]:8080": 200, "Tuning.site.example": 200, "tuning.site.example:443": 200,
		"evil.example": 421, "evil.example:8080": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "0.0.0.0": 421, "192.168.0.1": 421,
	} {
		if got := ask(t, s, "GET", "/api/v1/campaigns", "", "Host: "+host); got.status != status {
			t.Errorf("Host %s: %d, want %d", host, got.status, status)
		}
	}
}

func TestHeaders(t *testing.T) {
	s := serve(t, newFake(), api.Options{})
	for _, path := range []string{"/", "/login", "/api/v1/campaigns", "/api/v1/nothing", "/healthz"} {
		h := ask(t, s, "GET", path, "").header
		policy := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: policy %q does not contain %s", path, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin"} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s %q, want %q", path, name, got, want)
			}
		}
	}
}

// TestFiles checks that browsers download files instead of showing them.
func TestFiles(t *testing.T) {
	f := newFake()
	f.files["report.html"] = "<script>alert(1)</script>"
	s := serve(t, f, api.Options{})
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
	big := `{"base":"night","name":"` + strings.Repeat("x", 70<<10) + `"}`
	if got := ask(t, s, "POST", "/api/v1/campaigns", big); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("70 KiB: %d, want 413", got.status)
	}
}

// TestPanic checks that a panic in a handler results in status 500. The panic's text must appear only in
// the log.
func TestPanic(t *testing.T) {
	var log bytes.Buffer
	s := serve(t, panicking{newFake()}, api.Options{Log: slog.New(slog.NewJSONHandler(&log, nil))})
	got := ask(t, s, "GET", "/api/v1/schedule", "")
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

// TestLog checks that the request log names the caller and contains no secret.
func TestLog(t *testing.T) {
	var log bytes.Buffer
	s := serve(t, newFake(), api.Options{Tokens: someTokens(t), Log: slog.New(slog.NewJSONHandler(&log, nil))})
	ask(t, s, "GET", "/api/v1/campaigns/c1", "", "Authorization: Bearer look")
	login(t, s, "do")
	line, _, _ := strings.Cut(log.String(), "\n")
	for _, want := range []string{`"msg":"request"`, `"method":"GET"`, `"path":"/api/v1/campaigns/c1"`, `"status":200`, `"caller":"grafana"`, `"client":"127.0.0.1:`} {
		if !strings.Contains(line, want) {
			t.Errorf("log %s does not contain %s", line, want)
		}
	}
	if strings.Contains(log.String(), "Bearer") || strings.Contains(log.String(), `"look"`) || strings.Contains(log.String(), "token=") {
		t.Errorf("the log contains a secret: %s", log.String())
	}
}

// TestSlowHeader checks that the server closes a connection after the time limit if the client has not sent
// the whole header.
func TestSlowHeader(t *testing.T) {
	testutil.SkipShort(t)
	_, addr := listenAndServe(t, "127.0.0.1:0", api.ListenOptions{}, api.Options{})
	c := testutil.Must(net.Dial("tcp", addr))(t)
	defer c.Close()
	io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
	begin := time.Now()
	_ = c.SetReadDeadline(begin.Add(testutil.HangTimeout))
	if _, err := io.ReadAll(c); err != nil {
		t.Errorf("the connection is still open after %s: %v", time.Since(begin), err)
	}
}
