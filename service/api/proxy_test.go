package api

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func prefixes(t testing.TB, texts ...string) []netip.Prefix {
	t.Helper()
	var out []netip.Prefix
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// Who a request comes from: only what trusted proxies wrote counts.
func TestSender(t *testing.T) {
	proxies := Proxies{Trusted: prefixes(t, "10.0.0.0/8", "fd00::/16")}
	forwarded, socket := proxies, proxies
	forwarded.Forwarded, socket.Socket = true, true
	tests := []struct {
		name    string
		proxies Proxies
		peer    string
		tls     bool
		headers []string // "Name: value"
		client  string
		secure  bool
	}{
		{name: "direct", proxies: proxies, peer: "192.0.2.7:4711", client: "192.0.2.7"},
		{name: "direct under TLS", proxies: proxies, peer: "192.0.2.7:4711", tls: true, client: "192.0.2.7", secure: true},
		{name: "IPv6 counts by network", peer: "[2001:db8:1:2:3:4:5:6]:80", client: "2001:db8:1:2::"},
		{name: "the same network", peer: "[2001:db8:1:2:ffff::1]:9", client: "2001:db8:1:2::"},
		{name: "IPv4 within IPv6", peer: "[::ffff:192.0.2.7]:1", client: "192.0.2.7"},
		{name: "socket", peer: "@", client: "local"},

		{name: "spoofed, nobody is trusted", peer: "192.0.2.7:1", headers: []string{"X-Forwarded-For: 198.51.100.9", "X-Forwarded-Proto: https"}, client: "192.0.2.7"},
		{name: "spoofed by a stranger", proxies: proxies, peer: "192.0.2.7:1", headers: []string{"X-Forwarded-For: 198.51.100.9", "X-Forwarded-Proto: https"}, client: "192.0.2.7"},
		{name: "spoofed as a proxy", proxies: proxies, peer: "192.0.2.7:1", headers: []string{"X-Forwarded-For: 10.0.0.1"}, client: "192.0.2.7"},
		{name: "spoofed through the proxy", proxies: proxies, peer: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 203.0.113.1, 198.51.100.9"}, client: "198.51.100.9"},
		{name: "spoofed in a line of its own", proxies: proxies, peer: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 203.0.113.1", "X-Forwarded-For: 198.51.100.9"}, client: "198.51.100.9"},
		{name: "the other header, handed on", proxies: proxies, peer: "10.0.0.1:1", headers: []string{"Forwarded: for=203.0.113.1;proto=https", "X-Forwarded-For: 198.51.100.9"}, client: "198.51.100.9"},
		{name: "the other header alone", proxies: proxies, peer: "10.0.0.1:1", headers: []string{"Forwarded: for=203.0.113.1;proto=https"}, client: "10.0.0.1"},
		{name: "through a socket that is no proxy", proxies: proxies, peer: "@", headers: []string{"X-Forwarded-For: 203.0.113.1"}, client: "local"},

		{name: "proxy", proxies: proxies, peer: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 198.51.100.9", "X-Forwarded-Proto: https"}, client: "198.51.100.9", secure: true},
		{name: "proxy without TLS of its own", proxies: proxies, peer: "10.0.0.1:1", tls: true, headers: []string{"X-Forwarded-For: 198.51.100.9", "X-Forwarded-Proto: http"}, client: "198.51.100.9"},
		{name: "proxy that says nothing", proxies: proxies, peer: "10.0.0.1:1", client: "10.0.0.1"},
		{name: "proxy that says TLS alone", proxies: proxies, peer: "10.0.0.1:1", headers: []string{"X-Forwarded-Proto: HTTPS"}, client: "10.0.0.1", secure: true},
		{name: "two proxies, one word", proxies: proxies, peer: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 198.51.100.9, 10.0.0.2", "X-Forwarded-Proto: https"}, client: "198.51.100.9", secure: true},
		{name: "two proxies, a word each", proxies: proxies, peer: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 198.51.100.9, 10.0.0.2", "X-Forwarded-Proto: https, http"}, client: "198.51.100.9", secure: true},
		{name: "spoofed TLS before the proxy's word", proxies: proxies, peer: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 198.51.100.9", "X-Forwarded-Proto: https, http"}, client: "198.51.100.9"},
		{name: "proxies only", proxies: proxies, peer: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 10.0.0.3, 10.0.0.2"}, client: "10.0.0.3"},
		{name: "proxy of IPv6", proxies: proxies, peer: "[fd00::1%eth0]:1", headers: []string{"X-Forwarded-For: [2001:db8::1]:4711"}, client: "2001:db8::"},
		{name: "client with a port", proxies: proxies, peer: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 198.51.100.9:4711"}, client: "198.51.100.9"},
		{name: "no address", proxies: proxies, peer: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 203.0.113.1, unknown"}, client: "10.0.0.1"},
		{name: "empty", proxies: proxies, peer: "10.0.0.1:1", headers: []string{"X-Forwarded-For: ", "X-Forwarded-Proto: "}, client: "10.0.0.1"},
		{name: "socket of a proxy", proxies: socket, peer: "@", headers: []string{"X-Forwarded-For: 198.51.100.9", "X-Forwarded-Proto: https"}, client: "198.51.100.9", secure: true},

		{name: "Forwarded", proxies: forwarded, peer: "10.0.0.1:1", headers: []string{`Forwarded: for="[2001:db8:1:2::9]:4711";proto=https;by=10.0.0.1`}, client: "2001:db8:1:2::", secure: true},
		{name: "Forwarded by two", proxies: forwarded, peer: "10.0.0.1:1", headers: []string{"Forwarded: For=198.51.100.9;Proto=https", "Forwarded: for=10.0.0.2;proto=http"}, client: "198.51.100.9", secure: true},
		{name: "Forwarded of a hidden client", proxies: forwarded, peer: "10.0.0.1:1", headers: []string{"Forwarded: for=203.0.113.1, for=_hidden;proto=https"}, client: "10.0.0.1", secure: true},
		{name: "commas in quotes", proxies: forwarded, peer: "10.0.0.1:1", headers: []string{`Forwarded: for=198.51.100.9;by="a,for=203.0.113.1"`}, client: "198.51.100.9"},
		{name: "a quotation around the proxy's word", proxies: forwarded, peer: "10.0.0.1:1", headers: []string{`Forwarded: for=203.0.113.1;proto=https;x="`, "Forwarded: for=198.51.100.9;proto=http"}, client: "10.0.0.1"},
		{name: "X-Forwarded-For, handed on", proxies: forwarded, peer: "10.0.0.1:1", headers: []string{"X-Forwarded-For: 203.0.113.1", "X-Forwarded-Proto: https"}, client: "10.0.0.1"},
		{name: "Forwarded by a stranger", proxies: forwarded, peer: "192.0.2.7:1", headers: []string{"Forwarded: for=203.0.113.1;proto=https"}, client: "192.0.2.7"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: tc.peer, Header: http.Header{}}
			if tc.tls {
				r.TLS = &tls.ConnectionState{}
			}
			for _, line := range tc.headers {
				name, value, _ := strings.Cut(line, ": ")
				r.Header.Add(name, value)
			}
			got := tc.proxies.sender(r)
			if got.client != tc.client || got.secure != tc.secure {
				t.Errorf("sender = %s, secure %t, want %s, %t", got.client, got.secure, tc.client, tc.secure)
			}
		})
	}
}

// FuzzSender has a proxy hand on whatever a client sends before its own word: the
// client is the one that the proxy saw, or else unknown behind the proxy.
func FuzzSender(f *testing.F) {
	f.Add(false, "203.0.113.1, unknown", "https,,")
	f.Add(true, `for="[::1]:x;proto=https", by=a`, "")
	f.Add(false, "[[", "\x00")
	f.Fuzz(func(t *testing.T, forwarded bool, text, proto string) {
		p := Proxies{Trusted: prefixes(t, "10.0.0.0/8"), Forwarded: forwarded}
		r := &http.Request{RemoteAddr: "10.0.0.1:1", Header: http.Header{}}
		if forwarded {
			r.Header.Add("Forwarded", text)
			r.Header.Add("Forwarded", "for=198.51.100.9;proto=http")
		} else {
			r.Header.Add("X-Forwarded-For", text)
			r.Header.Add("X-Forwarded-Proto", proto)
			r.Header.Add("X-Forwarded-For", "198.51.100.9")
			r.Header.Add("X-Forwarded-Proto", "http")
		}
		want := "198.51.100.9"
		if forwarded && strings.Count(text, `"`)%2 == 1 {
			want = "10.0.0.1"
		}
		if got := p.sender(r); got.client != want || got.secure {
			t.Errorf("sender = %+v, want %s without TLS", got, want)
		}
	})
}
