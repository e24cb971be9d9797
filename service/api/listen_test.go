package api_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tutti/internal/testutil"
	"tutti/service/api"
)

// certificate writes a self-signed certificate for loopback addresses. It returns the paths of the
// certificate and of its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private := testutil.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der := testutil.Must(x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private))(t)
	secret := testutil.Must(x509.MarshalPKCS8PrivateKey(private))(t)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		testutil.NoError(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	return cert, key
}

func listenAndServe(t *testing.T, addr string, options api.ListenOptions, o api.Options) (a *api.API, bound string) {
	t.Helper()
	l := testutil.Must(api.Listen(addr, options))(t)
	a = testutil.Must(api.New(newFake(), o))(t)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return a, l.Addr().String()
}

// TestListen checks that Listen accepts TCP addresses and Unix sockets, with and without certificates. It must
// return an error if the path of a socket or certificate leads to another kind of file.
func TestListen(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	cert, key := certificate(t)
	socket := filepath.Join(t.TempDir(), "s")
	tests := []struct {
		addr    string
		options api.ListenOptions
		fails   bool
	}{
		{addr: "127.0.0.1:0"},
		{addr: "localhost:0"},
		{addr: "127.3.2.1:0"},
		{addr: "unix:" + socket},
		{addr: "127.0.0.1:0", options: api.ListenOptions{CertFile: cert, KeyFile: key}},
		{addr: ":0", options: api.ListenOptions{CertFile: cert, KeyFile: key}},
		{addr: "unix:" + cert, fails: true},
		{addr: "127.0.0.1:0", options: api.ListenOptions{CertFile: cert, KeyFile: cert}, fails: true},
		{addr: "127.0.0.1:0", options: api.ListenOptions{CertFile: "none", KeyFile: "none"}, fails: true},
	}
	for _, tc := range tests {
		t.Run(tc.addr, func(t *testing.T) {
			l, err := api.Listen(tc.addr, tc.options)
			if err == nil {
				defer l.Close()
			}
			if tc.fails {
				golden(tc.addr, err)
			} else if err != nil {
				t.Errorf("Listen: %v", err)
			}
		})
	}
}

func TestUnixSocket(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tutti.sock")
	l := testutil.Must(api.Listen("unix:"+path, api.ListenOptions{}))(t)
	about, err := os.Lstat(path)
	if err != nil || about.Mode().Perm() != 0o600 || about.Mode()&os.ModeSocket == 0 {
		t.Errorf("socket: %v, %v, want mode 0600", about, err)
	}
	shared := testutil.Must(api.Listen("unix:"+path+"2", api.ListenOptions{Mode: 0o660, Group: os.Getegid()}))(t)
	if about, err := os.Lstat(path + "2"); err != nil || about.Mode().Perm() != 0o660 {
		t.Errorf("socket of a group: %v, %v, want mode 0660", about, err)
	}
	testutil.NoError(t, shared.Close())
	_, err = api.Listen("unix:"+path, api.ListenOptions{})
	testutil.GoldenErrors(t)("a second service on the socket", err)
	testutil.NoError(t, l.Close())
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left in the folder: %v", left)
	}
	// Listen replaces the socket of a killed service.
	dead := testutil.Must(net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}))(t)
	dead.SetUnlinkOnClose(false)
	dead.Close()
	_, _ = listenAndServe(t, "unix:"+path, api.ListenOptions{}, api.Options{})
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	defer client.CloseIdleConnections()
	resp := testutil.Must(client.Get("http://any.name/api/v1/version"))(t)
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("through the socket: %s", resp.Status)
	}
}

// TestTLS checks that the login cookie has the attribute Secure if TLS is used, and that the server refuses
// TLS 1.1.
func TestTLS(t *testing.T) {
	cert, key := certificate(t)
	_, addr := listenAndServe(t, "127.0.0.1:0", api.ListenOptions{CertFile: cert, KeyFile: key}, api.Options{Tokens: someTokens(t)})
	pool := x509.NewCertPool()
	content, err := os.ReadFile(cert)
	if err != nil || !pool.AppendCertsFromPEM(content) {
		t.Fatal(err)
	}
	client := http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	resp := testutil.Must(client.Post("https://"+addr+"/login", "application/x-www-form-urlencoded", strings.NewReader("token=do")))(t)
	defer resp.Body.Close()
	if cookie := resp.Header.Get("Set-Cookie"); resp.StatusCode != 303 || !strings.Contains(cookie, "Secure") {
		t.Errorf("login: %s, cookie %q, want Secure", resp.Status, cookie)
	}
	if resp.ProtoMajor != 2 {
		t.Errorf("protocol %s, want HTTP/2, whose streams share a connection", resp.Proto)
	}
	if resp.Header.Get("Strict-Transport-Security") == "" {
		t.Error("no Strict-Transport-Security")
	}
	old, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS11})
	if err == nil {
		old.Close()
		t.Error("TLS 1.1 is accepted")
	}
}

// talk sends a request on a connection and waits for the first byte of the answer.
func talk(c net.Conn, path string, limit time.Duration) error {
	_ = c.SetDeadline(time.Now().Add(limit))
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return err
	}
	_, err := c.Read(make([]byte, 1))
	return err
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c := testutil.Must(net.Dial("tcp", addr))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

// TestConnectionLimit checks that a connection beyond the limit waits while requests are being answered on all others.
func TestConnectionLimit(t *testing.T) {
	_, addr := listenAndServe(t, "127.0.0.1:0", api.ListenOptions{Connections: 1}, api.Options{})
	first := dial(t, addr)
	if err := talk(first, "/api/v1/campaigns/c2/events", testutil.HangTimeout); err != nil {
		t.Fatalf("first connection: %v", err)
	}
	second := dial(t, addr)
	if err := talk(second, "/healthz", 200*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("second connection: %v, want that it waits", err)
	}
	first.Close()
	_ = second.SetDeadline(time.Now().Add(testutil.HangTimeout))
	if _, err := second.Read(make([]byte, 1)); err != nil {
		t.Errorf("second connection after the first was closed: %v", err)
	}
}

// TestSilentConnections checks that connections on which nothing happens keep nobody out: those without a token are
// closed before the idle one of a token.
func TestSilentConnections(t *testing.T) {
	const limit = 4
	_, addr := listenAndServe(t, "127.0.0.1:0", api.ListenOptions{Connections: limit}, api.Options{Tokens: someTokens(t)})
	known := dial(t, addr)
	const authorised = "/api/v1/version HTTP/1.1\r\nAuthorization: Bearer look\r\nX-Rest:"
	for i := range 5 * limit {
		if err := talk(dial(t, addr), "/healthz", testutil.HangTimeout); err != nil {
			t.Fatalf("connection %d without a token: %v", i, err)
		}
		if err := talk(known, authorised, testutil.HangTimeout); i == 0 && err != nil {
			t.Fatalf("connection with a token: %v", err)
		}
		dial(t, addr) // says nothing at all
	}
	if _, err := known.Read(make([]byte, 1)); err != nil {
		t.Errorf("the connection with a token: %v, want it still open", err)
	}
}
