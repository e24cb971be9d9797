package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
)

// ListenOptions say how a listener is protected.
type ListenOptions struct {
	CertFile    string // PEM, of the certificate and of its key; both or none
	KeyFile     string
	Connections int // open at the same time; 0: no limit

	Mode  fs.FileMode // permissions of a socket; 0 means 0600
	Group int         // of a socket with a Mode, as a number; -1: that of the process
}

// Listen opens a listener at `addr`, which is host:port, or unix:PATH for a socket. It replaces a
// socket on which no process listens. Package config refuses addresses that others can reach without TLS and tokens.
func Listen(addr string, o ListenOptions) (l net.Listener, err error) {
	path, isSocket := strings.CutPrefix(addr, "unix:")
	var pair tls.Certificate
	if o.CertFile != "" {
		if pair, err = tls.LoadX509KeyPair(o.CertFile, o.KeyFile); err != nil {
			return nil, fmt.Errorf("TLS: %w", err)
		}
	}
	if isSocket {
		l, err = listenUnix(path, o)
	} else {
		l, err = net.Listen("tcp", addr)
	}
	if err != nil {
		return nil, err
	}
	if o.Connections > 0 {
		l = limitConnections(l, MaxConnections(o.Connections))
	}
	if o.CertFile != "" && !isSocket {
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}})
	}
	return l, nil
}

// ownFiles is the number of descriptors that a service needs in addition to those of requests: its log, its lock, the
// listener, journals that it follows. The rest of the lower half of the descriptors is for connections.
const ownFiles = 48

// MaxConnections returns the largest number of connections, at most `limit`, with which requests take less than half of
// the file descriptors that this process may open. Each connection takes one, and each request that is being answered
// may take another one.
func MaxConnections(limit int) int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return limit
	}
	half := int(min(files.Cur/2, math.MaxInt32))
	return min(limit, max(1, half/4, half-maxAnswers-ownFiles))
}

// listenUnix creates a socket that no other user can connect to, then gives it its group and its permissions.
func listenUnix(path string, o ListenOptions) (net.Listener, error) {
	if err := removeUnused(path); err != nil {
		return nil, err
	}
	l, err := listenPrivately(path)
	if err != nil || o.Mode == 0 {
		return l, err
	}
	if o.Group >= 0 {
		if err = os.Chown(path, -1, o.Group); err != nil {
			err = fmt.Errorf("socket.group: %w: the user of the service is not a member of the group", err)
		}
	}
	if err == nil {
		err = os.Chmod(path, o.Mode)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// listenPrivately creates a socket with mode 0600. Meanwhile, files that other goroutines create can be used by their
// owner only.
func listenPrivately(path string) (net.Listener, error) {
	defer syscall.Umask(syscall.Umask(0o177))
	return net.Listen("unix", path)
}

// removeUnused removes a socket on which no process listens.
func removeUnused(path string) error {
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
	return os.Remove(path)
}

// Serve answers requests until ctx is cancelled. Then it closes the listener and ends the event streams. It
// waits at most ten seconds for the remaining requests.
func (a *API) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           a,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second, // each part of an answer extends it
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelDebug), // anybody can cause these lines
		ConnContext:       withConnection,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          32, // a browser with several pages has a few streams on each
			MaxReceiveBufferPerConnection: 128 << 10,
			MaxReceiveBufferPerStream:     maxRequest,
		},
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
