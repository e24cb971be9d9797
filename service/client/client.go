package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Options of a client. The zero value is for an open service.
type Options struct {
	Token    string
	HTTP     *http.Client  // nil: one of its own
	Patience time.Duration // how long requests are tried again, default 30 s; negative: once
}

// Client speaks to one service. It is safe for concurrent use.
type Client struct {
	server   string // as it was given
	base     string // without the last slash
	token    string
	http     *http.Client
	patience time.Duration
	pause    time.Duration // before the first repetition
}

// maxAnswer is the longest JSON answer that is taken, bytes.
const maxAnswer = 256 << 20

// New returns a client of the service at server: http://host:port, https://host:port
// or unix:PATH of its socket.
func New(server string, o Options) (*Client, error) {
	c := &Client{server: server, token: o.Token, http: o.HTTP, patience: o.Patience, pause: 200 * time.Millisecond}
	if c.patience == 0 {
		c.patience = 30 * time.Second
	}
	path, socket := strings.CutPrefix(server, "unix:")
	if socket {
		c.base = "http://localhost"
		if path == "" {
			return nil, errors.New("server unix: without a path")
		}
	} else {
		u, err := url.Parse(server)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("server %q: want http://host:port, https://host:port or unix:PATH", server)
		}
		c.base = strings.TrimSuffix(u.String(), "/")
	}
	if c.http == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.ResponseHeaderTimeout = time.Minute
		if socket {
			t.Proxy = nil
			t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", path)
			}
		}
		c.http = &http.Client{Transport: t}
	}
	return c, nil
}

// Error is an answer that says no.
type Error struct {
	Status int     `json:"status"`
	Title  string  `json:"title"`
	Detail string  `json:"detail"`
	Fields []Field `json:"errors"`

	wait time.Duration // that the service asked for
}

// Field is a part of a request that was refused: Location is its path, such as
// body.set.stop.slowdown.
type Field struct {
	Message  string `json:"message"`
	Location string `json:"location"`
}

func (e *Error) Error() string {
	parts := []string{e.Detail}
	if e.Detail == "" {
		parts[0] = fmt.Sprintf("%d %s", e.Status, e.Title)
	}
	for _, f := range e.Fields {
		parts = append(parts, strings.TrimPrefix(f.Location+": ", ": ")+f.Message)
	}
	return strings.Join(parts, ": ")
}

// Temporary reports that the same request may be granted later.
func (e *Error) Temporary() bool {
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// Unreachable is no answer at all.
type Unreachable struct {
	Server string
	Err    error
}

func (e *Unreachable) Error() string {
	return fmt.Sprintf("no service answers at %s: %v", e.Server, e.Err)
}

func (e *Unreachable) Unwrap() error { return e.Err }

// forGood reports what another attempt does not mend: a certificate that nobody
// trusts, and HTTP where HTTPS is spoken.
func (e *Unreachable) forGood() bool {
	var certificate *tls.CertificateVerificationError
	return errors.As(e.Err, &certificate) || errors.Is(e.Err, http.ErrSchemeMismatch)
}

// request is one that can be sent again.
type request struct {
	method, path string
	query        url.Values
	body         []byte
	header       http.Header
	repeat       bool // sending it twice does no harm
}

// do sends a request, again while that is harmless and may help. The caller
// closes the body of the answer.
func (c *Client) do(ctx context.Context, r request) (*http.Response, error) {
	if !r.repeat || c.patience < 0 {
		return c.send(ctx, r)
	}
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = c.pause, 5*time.Second
	var last error
	resp, err := backoff.Retry(ctx, func() (*http.Response, error) {
		resp, err := c.send(ctx, r)
		last = err
		var refused *Error
		var silent *Unreachable
		switch {
		case errors.As(err, &refused) && !refused.Temporary(), errors.As(err, &silent) && silent.forGood():
			return nil, backoff.Permanent(err)
		case refused != nil && refused.wait > 0:
			return nil, &backoff.RetryAfterError{Duration: refused.wait}
		}
		return resp, err
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(c.patience))
	if err != nil && ctx.Err() == nil {
		err = last // not that it was to be tried again
	}
	return resp, err
}

func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	address := c.base + "/api/v1" + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if resp.StatusCode >= 300 {
		defer resp.Body.Close()
		return nil, errorOf(resp)
	}
	return resp, nil
}

// unreachable says who did not answer, without the method and the path.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	return &Unreachable{c.server, err}
}

// errorOf reads a problem; of an answer that is none, HTML perhaps, it takes the
// status only.
func errorOf(resp *http.Response) error {
	e := &Error{}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case strings.HasSuffix(kind, "json"):
		if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(e); err != nil {
			e = &Error{}
		}
	case resp.StatusCode == http.StatusBadRequest && kind == "": // net/http before TLS
		line, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		if strings.Contains(string(line), "HTTP request to an HTTPS server") {
			e.Detail = "the service speaks TLS: want https:// as its address"
		}
	}
	e.Status = resp.StatusCode
	if e.Title == "" {
		e.Title = http.StatusText(resp.StatusCode)
	}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
		e.wait = min(time.Duration(n)*time.Second, time.Minute)
	}
	return e
}

// fetch sends a request and reads its JSON answer into out.
func (c *Client) fetch(ctx context.Context, r request, out any) error {
	resp, err := c.do(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(out); err != nil {
		return fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	return nil
}

func get[T any](ctx context.Context, c *Client, query url.Values, parts ...string) (T, error) {
	var out T
	err := c.fetch(ctx, request{method: http.MethodGet, path: join(parts), query: query, repeat: true}, &out)
	return out, err
}

// join makes a path of parts, each of which may hold anything but slashes stay.
func join(parts []string) string {
	var b strings.Builder
	for _, p := range parts {
		for name := range strings.SplitSeq(p, "/") {
			b.WriteByte('/')
			b.WriteString(url.PathEscape(name))
		}
	}
	return b.String()
}
