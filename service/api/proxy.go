package api

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies says whose word is taken for where a request comes from. The zero value
// believes nobody.
type Proxies struct {
	Trusted []netip.Prefix // addresses of the proxies
	Socket  bool           // whoever speaks through the Unix socket is one, too
	// Forwarded has them name the client by the header Forwarded (RFC 7239) instead of
	// X-Forwarded-For and X-Forwarded-Proto. Only one of the two is looked at: what a proxy
	// does not write itself it hands on, whoever wrote it.
	Forwarded bool
}

// sender is where a request comes from.
type sender struct {
	client string // address as the limits and the log know it
	secure bool   // the client's own connection is under TLS
}

// hop is a client as the proxy that it spoke to saw it.
type hop struct {
	addr  netip.Addr // invalid when the proxy does not say
	proto string     // http or https in any case, "" when the proxy does not say
}

// sender returns who sent a request. Every proxy appends its own client, so that the
// last hop is what the nearest one saw: from there back it believes as long as proxies
// speak that are trusted.
func (p Proxies) sender(r *http.Request) sender {
	s := sender{client: "local", secure: r.TLS != nil}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	trusted := p.Socket
	if err == nil {
		s.client = clientName(peer.Addr())
		trusted = p.trusts(peer.Addr())
	}
	if !trusted {
		return s
	}
	for _, h := range slices.Backward(p.hops(r.Header)) {
		if h.proto != "" {
			s.secure = strings.EqualFold(h.proto, "https")
		}
		if !h.addr.IsValid() {
			break
		}
		s.client = clientName(h.addr)
		if !p.trusts(h.addr) {
			break
		}
	}
	return s
}

func (p Proxies) trusts(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(p.Trusted, func(known netip.Prefix) bool { return known.Contains(a) })
}

// clientName is an address; of IPv6 the network of 64 bits, all of whose addresses one
// machine can take.
func clientName(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		a = netip.PrefixFrom(a, 64).Masked().Addr()
	}
	return a.String()
}

// hops returns what the headers say, the farthest first.
func (p Proxies) hops(h http.Header) []hop {
	if p.Forwarded {
		return forwardedHops(strings.Join(h.Values("Forwarded"), ","))
	}
	addrs, protos := commaList(h.Values("X-Forwarded-For")), commaList(h.Values("X-Forwarded-Proto"))
	out := make([]hop, max(len(addrs), min(len(protos), 1)))
	for i := range out {
		if i < len(addrs) {
			out[i].addr = nodeAddr(addrs[i])
		}
		if len(protos) > 0 { // counted from the nearest; the farthest known holds for those behind it
			out[i].proto = protos[max(0, len(protos)-len(out)+i)]
		}
	}
	return out
}

// commaList splits headers at commas.
func commaList(lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	out := strings.Split(strings.Join(lines, ","), ",")
	for i, item := range out {
		out[i] = strings.TrimSpace(item)
	}
	return out
}

// forwardedHops reads a header Forwarded: elements between commas, each of pairs
// name=value between semicolons, values perhaps in quotes. A quotation that does not end
// makes all of it worth nothing: it could hold what the proxy wrote behind it.
func forwardedHops(text string) []hop {
	if text == "" || strings.Count(text, `"`)%2 == 1 {
		return nil
	}
	var out []hop
	for _, element := range splitOutside(text, ',') {
		var h hop
		for _, pair := range splitOutside(element, ';') {
			name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			value = strings.Trim(value, `"`)
			switch strings.ToLower(name) {
			case "for":
				h.addr = nodeAddr(value)
			case "proto":
				h.proto = value
			}
		}
		out = append(out, h)
	}
	return out
}

// splitOutside splits text at a mark, but not within quotes.
func splitOutside(text string, mark byte) []string {
	var out []string
	begin, quoted := 0, false
	for i := range len(text) {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case text[i] == mark && !quoted:
			out = append(out, text[begin:i])
			begin = i + 1
		}
	}
	return append(out, text[begin:])
}

// nodeAddr reads an address, perhaps with a port, of IPv6 perhaps in brackets. What is
// none, as unknown or a made-up name, gives the invalid one.
func nodeAddr(text string) netip.Addr {
	if a, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return a
	}
	a, err := netip.ParseAddrPort(text)
	if err != nil {
		return netip.Addr{}
	}
	return a.Addr()
}
