package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/service/api"
)

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func isListen(s string) error {
	if socket, ok := strings.CutPrefix(s, "unix:"); ok {
		if socket == "" {
			return errors.New("unix: without a path")
		}
		return isPrintable(socket)
	}
	_, port, err := net.SplitHostPort(s)
	if err != nil || port == "" {
		return fmt.Errorf("%q: want host:port, for example 127.0.0.1:8372, or unix:PATH", s)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q: port %s: want a number from 0 to 65535", s, port)
	}
	return nil
}

// isHost allows what a request can be addressed to: a name or an address.
func isHost(s string) error {
	if s == "" || strings.ContainsAny(s, "/:@?# \t") && net.ParseIP(s) == nil {
		return fmt.Errorf("%q: want a name or an address, without scheme and port", s)
	}
	return isPrintable(s)
}

// logBytes reads a size with its unit.
func logBytes(at *int64) reader {
	return func(_ *Campaign, v any) error {
		n, err := coll.ParseBytes(fmt.Sprint(v))
		if err == nil && n < 4<<10 {
			err = fmt.Errorf("%v: want at least 4KiB", v)
		}
		if err == nil {
			*at = n
		}
		return err
	}
}

// proxies reads addresses and networks, and unix for the socket.
func proxies(at *api.Proxies) reader {
	return func(_ *Campaign, v any) error {
		given, err := list(v)
		if err != nil {
			return err
		}
		var faults faultList
		for i, item := range given {
			text := fmt.Sprint(item)
			if text == "unix" {
				at.Socket = true
				continue
			}
			p, err := toNetwork(text)
			if err != nil {
				faults.add(fmt.Sprintf("[%d]", i), err)
			}
			at.Trusted = append(at.Trusted, p)
		}
		return faults.err()
	}
}

// toNetwork reads a network, or an address as the network of itself.
func toNetwork(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		a = a.Unmap().WithZone("")
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil || p.Addr().Is4In6() {
		return p, fmt.Errorf("%q: want an address as 10.0.0.5, a network as 10.0.0.0/8, or unix", text)
	}
	return p.Masked(), nil
}

// forwardedHeader reads which header names the client.
func forwardedHeader(at *api.Proxies) reader {
	return func(_ *Campaign, v any) error {
		switch strings.ToLower(fmt.Sprint(v)) {
		case "x-forwarded-for":
			at.Forwarded = false
		case "forwarded":
			at.Forwarded = true
		default:
			return fmt.Errorf("%v: want X-Forwarded-For or Forwarded", v)
		}
		return nil
	}
}
