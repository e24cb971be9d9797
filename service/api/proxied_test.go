package api_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"tutti/service/api"
)

// besides is a proxy on this machine, where the tests' own requests come from.
func besides() api.Proxies {
	return api.Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
}

// statuses are those of requests in a row, each with headers of its own.
func statuses(t *testing.T, o api.Options, headers ...string) (got []int) {
	t.Helper()
	s := serve(t, newFake(), o)
	for _, h := range headers {
		var lines []string
		if h != "" {
			lines = strings.Split(h, "\n")
		}
		got = append(got, ask(t, s, "GET", "/api/v1/version", "", lines...).status)
	}
	return got
}

// The rate is that of a token where there is one, else of the client's address, behind a
// proxy of the address that the proxy names; what others write into the headers counts
// for nothing.
func TestWhoseRate(t *testing.T) {
	const look, do = "Authorization: Bearer look", "Authorization: Bearer do"
	two := api.Limits{Rate: 0.001, Burst: 2}
	tests := []struct {
		name    string
		options api.Options
		headers []string
		want    []int
	}{
		{
			"clients behind a proxy", api.Options{Limits: two, Proxies: besides()},
			[]string{"X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 192.0.2.2"},
			[]int{200, 200, 429, 200},
		},
		{
			"spoofed through the proxy", api.Options{Limits: two, Proxies: besides()},
			[]string{"X-Forwarded-For: 198.51.100.1, 192.0.2.1", "X-Forwarded-For: 198.51.100.2, 192.0.2.1", "X-Forwarded-For: 198.51.100.3, 192.0.2.1"},
			[]int{200, 200, 429},
		},
		{
			"spoofed without a proxy", api.Options{Limits: two},
			[]string{"X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 192.0.2.2", "Forwarded: for=192.0.2.3", "X-Real-IP: 192.0.2.4"},
			[]int{200, 200, 429, 429},
		},
		{
			"spoofed by one who is not the proxy", api.Options{Limits: two, Proxies: api.Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}}},
			[]string{"X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 192.0.2.2", "X-Forwarded-For: 192.0.2.3"},
			[]int{200, 200, 429},
		},
		{
			"tokens", api.Options{Limits: two, Tokens: someTokens()},
			[]string{look, look, look, do, do, do, ""},
			[]int{200, 200, 429, 200, 200, 429, 401},
		},
		{
			"one token from several addresses", api.Options{Limits: two, Tokens: someTokens(), Proxies: besides()},
			[]string{look + "\nX-Forwarded-For: 192.0.2.1", look + "\nX-Forwarded-For: 192.0.2.2", look + "\nX-Forwarded-For: 192.0.2.3"},
			[]int{200, 200, 429},
		},
		{
			"guessing tokens", api.Options{Limits: two, Tokens: someTokens()},
			[]string{"Authorization: Bearer a", "Authorization: Bearer b", "Authorization: Bearer c", look},
			[]int{401, 401, 429, 200},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := statuses(t, tc.options, tc.headers...); !slices.Equal(got, tc.want) {
				t.Errorf("answers %v, want %v", got, tc.want)
			}
		})
	}
}

// The cookie is for TLS only when the browser came over TLS, by the word of a proxy
// that is trusted and of nobody else.
func TestCookieBehindProxy(t *testing.T) {
	tests := []struct {
		name    string
		proxies api.Proxies
		proto   string
		secure  bool
	}{
		{"TLS at the proxy", besides(), "https", true},
		{"none at the proxy", besides(), "http", false},
		{"the proxy does not say", besides(), "", false},
		{"spoofed", api.Proxies{}, "https", false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t, newFake(), api.Options{Tokens: someTokens(), Proxies: tc.proxies})
			in := login(t, s, "do", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: "+tc.proto)
			cookie := in.header.Get("Set-Cookie")
			if strings.Contains(cookie, "Secure") != tc.secure || !strings.Contains(cookie, "tutti_session=") {
				t.Errorf("cookie %q, want Secure: %t", cookie, tc.secure)
			}
			value, _, _ := strings.Cut(cookie, ";")
			out := ask(t, s, "POST", "/logout", "", "Cookie: "+value, "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: "+tc.proto)
			if cookie := out.header.Get("Set-Cookie"); strings.Contains(cookie, "Secure") != tc.secure {
				t.Errorf("cookie %q of the logout, want Secure: %t", cookie, tc.secure)
			}
		})
	}
}

// The log names the client, not the proxy.
func TestLogBehindProxy(t *testing.T) {
	log := logged(t, api.Options{Proxies: besides()}, "X-Forwarded-For: 192.0.2.1")
	if !strings.Contains(log, `"client":"192.0.2.1"`) {
		t.Errorf("log: %s, want the client 192.0.2.1", log)
	}
}
