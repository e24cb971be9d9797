package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ErrOpen refuses to listen where strangers could do everything.
var ErrOpen = errors.New("any address but loopback and Unix sockets needs TLS and tokens")

// Security is how a listener is protected.
type Security struct {
	CertFile string // PEM, of the certificate and of its key; both or none
	KeyFile  string
	Tokens   bool // requests need tokens
}

func (s Security) tls() bool { return s.CertFile != "" || s.KeyFile != "" }

// Listen opens addr: host:port or unix:PATH, whose socket only its owner may use.
// It returns an error matching ErrOpen for an address that others can reach
// unless there are TLS and tokens. A socket that nobody listens on any more is
// replaced.
func Listen(addr string, s Security) (net.Listener, error) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return listenUnix(path)
	}
	if err := mayListen(addr, s); err != nil {
		return nil, err
	}
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); !s.closed() && (!ok || !tcp.IP.IsLoopback()) { // localhost may stand for anything
		l.Close()
		return nil, fmt.Errorf("listen %s, which is %s: %w", addr, l.Addr(), ErrOpen)
	}
	if config != nil {
		return tls.NewListener(l, config), nil
	}
	return l, nil
}

func (s Security) closed() bool { return s.tls() && s.Tokens }

// mayListen applies the rule to an address as it is written.
func mayListen(addr string, s Security) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("listen %q: want host:port or unix:PATH: %w", addr, err)
	}
	ip := net.ParseIP(host)
	if host == "localhost" || ip != nil && ip.IsLoopback() || s.closed() {
		return nil
	}
	var lacks []string
	if !s.tls() {
		lacks = append(lacks, "TLS is missing")
	}
	if !s.Tokens {
		lacks = append(lacks, "tokens are missing")
	}
	return fmt.Errorf("listen %s: %w: %s", addr, ErrOpen, strings.Join(lacks, ", "))
}

func (s Security) config() (*tls.Config, error) {
	if !s.tls() {
		return nil, nil
	}
	if s.CertFile == "" || s.KeyFile == "" {
		return nil, errors.New("TLS needs the file of a certificate and the file of its key")
	}
	pair, err := tls.LoadX509KeyPair(s.CertFile, s.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}, nil
}

// listenUnix makes the socket in a folder that nobody else can enter and moves it
// to its place when its mode is set.
func listenUnix(path string) (net.Listener, error) {
	if path == "" || strings.HasPrefix(path, "@") {
		return nil, fmt.Errorf("listen unix:%s: want the path of a socket", path)
	}
	if err := notInUse(path); err != nil {
		return nil, err
	}
	private, err := os.MkdirTemp(filepath.Dir(path), ".tutti-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(private)
	inside := filepath.Join(private, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: inside, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // it would look for the name inside
	err = os.Chmod(inside, 0o600)
	if err == nil {
		err = os.Rename(inside, path)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return &unixListener{l, path}, nil
}

func notInUse(path string) error {
	about, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case about.Mode()&fs.ModeSocket == 0:
		return fmt.Errorf("listen unix:%s: there is something that is no socket", path)
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		c.Close()
		return fmt.Errorf("listen unix:%s: %w", path, syscall.EADDRINUSE)
	}
	return nil
}

// unixListener removes its socket when it is closed.
type unixListener struct {
	*net.UnixListener
	path string
}

func (l *unixListener) Close() error {
	err := l.UnixListener.Close()
	if !errors.Is(err, net.ErrClosed) {
		_ = os.Remove(l.path)
	}
	return err
}

// Serve answers requests until the context ends, then takes no new ones, ends the
// streams and gives the others ten seconds.
func (a *API) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           a,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second, // streams and downloads extend it
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	a.Close()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return server.Close()
	}
	return nil
}
