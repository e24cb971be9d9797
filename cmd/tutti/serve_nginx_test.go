package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"tutti/internal/testutil"
)

// TestServeNginx puts a real nginx before a service, as the manual says: by a port and by a socket, whose group is that of
// nginx's workers. Requests and an event stream must pass; without the keys of the socket, the workers must be refused.
func TestServeNginx(t *testing.T) {
	testutil.NeedAllCases(t)
	nginx, err := exec.LookPath("nginx")
	if err != nil || os.Geteuid() != 0 {
		testutil.NeedBrowser.Missing(t, "needs apt-get install nginx, and root so that its workers are another user")
	}
	manual := string(testutil.Must(os.ReadFile("../../docs/how-to/service.md"))(t))
	location := regexp.MustCompile(`(?s)    location / \{.*?\n    \}\n`).FindString(manual)
	for _, tc := range []struct {
		name, more string
		socket     bool
		want       int
	}{
		{"a port", "", false, http.StatusOK},
		{"a socket of the group", "socket: {mode: '0660', group: www-data}\n", true, http.StatusOK},
		{"a socket of the service alone", "", true, http.StatusBadGateway},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := sharedFolder(t)
			front := freeAddress(t)
			smallService(t, dir, "tokens: tokens.json\npublic_address: http://"+front+"\n"+tc.more)
			if tc.socket {
				text := testutil.Must(os.ReadFile(filepath.Join(dir, "service.yaml")))(t)
				testutil.NoError(t, os.WriteFile(filepath.Join(dir, "service.yaml"), []byte(strings.Replace(string(text), "127.0.0.1:0", "unix:tutti.sock", 1)), 0o600))
			}
			mustEnd(t, dir, []exitCode{codeDone}, "token", "create", "-c", "service.yaml", "anna", "--role", "operate", "--out", "anna.token")
			s := serve(t, dir)
			defer s.end(syscall.SIGTERM)
			back := s.address
			if tc.socket {
				back = "http://" + s.address
			}
			startNginx(t, nginx, dir, front, strings.Replace(location, "http://127.0.0.1:8372", back, 1))
			s.address, s.token = "http://"+front, strings.TrimSpace(string(testutil.Must(os.ReadFile(filepath.Join(dir, "anna.token")))(t)))
			if got := getStatus(s, "/api/v1/campaigns"); got != tc.want {
				t.Fatalf("status %d, want %d", got, tc.want)
			}
			if tc.want == http.StatusOK {
				if got := getStatus(s, "/api/v1/events"); got != http.StatusOK {
					t.Errorf("event stream: status %d", got)
				}
			}
		})
	}
}

// sharedFolder returns a temporary folder that other users can enter.
func sharedFolder(t *testing.T) string {
	dir := testutil.Must(os.MkdirTemp("/tmp", "tutti-nginx-"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	testutil.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// freeAddress returns an address on which nothing listens.
func freeAddress(t *testing.T) string {
	l := testutil.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().String()
}

// startNginx starts nginx with workers of the user www-data, and waits until it listens.
func startNginx(t *testing.T, nginx, dir, front, location string) {
	conf := fmt.Sprintf(`user www-data www-data;
worker_processes 1;
daemon off;
pid %[1]s/nginx.pid;
error_log %[1]s/nginx.log;
events {}
http {
	access_log off;
	server {
		listen %[2]s;
%[3]s	}
}
`, dir, front, location)
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(conf), 0o644))
	cmd := exec.Command(nginx, "-c", filepath.Join(dir, "nginx.conf"), "-e", filepath.Join(dir, "nginx.log"))
	testutil.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() })
	s := &served{T: t}
	s.await("nginx listens", func() bool {
		c, err := net.Dial("tcp", front)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// getStatus returns the HTTP status of a request. It reads only the beginning of the answer, which may be endless.
func getStatus(s *served, path string) int {
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	r := testutil.Must(http.NewRequestWithContext(ctx, "GET", s.address+path, nil))(s)
	r.Header.Set("Authorization", "Bearer "+s.token)
	answer := testutil.Must(http.DefaultClient.Do(r))(s)
	defer answer.Body.Close()
	if _, err := io.CopyN(io.Discard, answer.Body, 1); err != nil {
		s.Errorf("%s: %v", path, err)
	}
	return answer.StatusCode
}
