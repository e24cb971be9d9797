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

	"golang.org/x/net/netutil"
)

// ListenOptions say how a listener is protected.
type ListenOptions struct {
	CertFile    string // PEM, of the certificate and of its key; both or none
	KeyFile     string
	Connections int // open at the same time; more connections wait; 0: no limit
}

// Listen opens a listener at addr, which is host:port, or unix:PATH for a socket with mode 0600. It replaces a
// socket on which no process listens. Package config refuses addresses that others can reach without TLS and
// tokens.
func Listen(addr string, o ListenOptions) (net.Listener, error) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		l, err := listenUnix(path)
		if err != nil {
			return nil, err
		}
		return o.limit(l), nil
	}
	var config *tls.Config
	if o.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("TLS: %w", err)
		}
		config = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	l = o.limit(l)
	if config != nil {
		return tls.NewListener(l, config), nil
	}
	return l, nil
}

// limit returns a listener that limits the number of open connections.
func (o ListenOptions) limit(l net.Listener) net.Listener {
	if o.Connections == 0 {
		return l
	}
	return netutil.LimitListener(l, MaxConnections(o.Connections))
}

// MaxConnections returns the smaller of limit and half of the file descriptors that this process may open.
// The other half remains for journals, files and processes.
func MaxConnections(limit int) int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return limit
	}
	return int(min(uint64(limit), max(1, files.Cur/2)))
}

// listenUnix creates a socket in a private folder, sets the socket's mode and moves it to path. Other users
// can therefore never connect to it.
func listenUnix(path string) (net.Listener, error) {
	if err := checkNotInUse(path); err != nil {
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
	l.SetUnlinkOnClose(false) // Close would look for the name before the move
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

func checkNotInUse(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSocket == 0:
		return fmt.Errorf("listen unix:%s: the file is not a socket", path)
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		c.Close()
		return fmt.Errorf("listen unix:%s: %w", path, syscall.EADDRINUSE)
	}
	return nil
}

// unixListener is a listener that removes its socket when it is closed.
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

// Serve answers requests until ctx is cancelled. Then it closes the listener and ends the event streams. It
// waits at most ten seconds for the remaining requests.
func (a *API) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           a,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second, // event streams and downloads extend it
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
