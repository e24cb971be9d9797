package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"tutti/coll"
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

// publicAddress reads an http or https URL without a path.
func publicAddress(at **url.URL) reader {
	return func(_ *Campaign, v any) error {
		text := fmt.Sprint(v)
		if text == "" {
			return nil
		}
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.TrimSuffix(text, "/") != u.Scheme+"://"+u.Host {
			return fmt.Errorf("%q: want a URL without a path, as https://tutti.example.org", text)
		}
		*at = &url.URL{Scheme: u.Scheme, Host: u.Host}
		return nil
	}
}
