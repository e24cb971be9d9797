package api

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// guard wraps a handler in the checks that apply to every request. From the outermost to the innermost
// these are: the log and the metrics, the caller, security headers, the Host header, the check for requests
// from other sites, the caller's role, and the number of requests.
func (a *API) guard(next http.Handler) (http.Handler, error) {
	sameSite, err := a.denyCrossSite(a.authorise(a.admit(next)))
	if err != nil {
		return nil, err
	}
	return a.record(a.authenticate(a.setHeaders(a.checkHost(sameSite)))), nil
}

// contentPolicy is the content security policy of answers. It allows pages to load only files of this
// service, and forbids inline scripts and frames.
const contentPolicy = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

func (a *API) setHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer browsers send Origin: null, which denyCrossSite refuses
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if strings.HasPrefix(r.URL.Path, "/api/") {
			h.Set("Cache-Control", "no-store")
		}
		if a.isHTTPS(r) {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// checkHost refuses requests that reach a loopback address with a foreign host name. Pages of other sites
// send such requests if their name resolves to this machine (DNS rebinding). Browsers do not use Unix
// sockets, so requests through them are not checked.
func (a *API) checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if tcp, ok := local.(*net.TCPAddr); ok && tcp.IP.IsLoopback() && !a.isOwnHost(r.Host) {
			a.metrics.refused.WithLabelValues("host").Inc()
			writeProblem(w, http.StatusMisdirectedRequest, "this service has another name: use localhost, or set public_address in the service file")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isOwnHost reports whether a Host header names a loopback address or the public address.
func (a *API) isOwnHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	if p := a.options.PublicAddress; p != nil && strings.EqualFold(host, p.Hostname()) {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// denyCrossSite refuses a write that a browser sends for a page of another site. It accepts requests
// without the headers Origin and Sec-Fetch-Site, which only browsers send.
func (a *API) denyCrossSite(next http.Handler) (http.Handler, error) {
	c := http.NewCrossOriginProtection()
	if p := a.options.PublicAddress; p != nil {
		if err := c.AddTrustedOrigin(p.Scheme + "://" + p.Host); err != nil {
			return nil, fmt.Errorf("public address: %w", err)
		}
	}
	c.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		a.metrics.refused.WithLabelValues("origin").Inc()
		writeProblem(w, http.StatusForbidden, "this request comes from a page of another site")
	}))
	return c.Handler(next), nil
}

// recorder is a ResponseWriter that remembers the status and size of an answer, and the caller who gets it. The client
// has the time partTime for each part of the answer.
type recorder struct {
	http.ResponseWriter
	status   int
	bytes    int64
	caller   caller
	extended time.Time // when the client last got time for the next part
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	written := 0
	for part := range slices.Chunk(p, partBytes) {
		if time.Since(r.extended) > partTime/10 {
			r.extended = time.Now()
			extend(r.ResponseWriter)
		}
		n, err := r.ResponseWriter.Write(part)
		written, r.bytes = written+n, r.bytes+int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// Unwrap returns the wrapped ResponseWriter, through which http.ResponseController reaches the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// record logs and measures every request. If a handler panics, record answers the request with status 500.
func (a *API) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recorder{ResponseWriter: w}
		begin := time.Now()
		defer func() {
			fault, answered := recover(), false
			if err, ok := fault.(error); fault != nil && !(ok && errors.Is(err, http.ErrAbortHandler)) {
				a.log.Error("a handler panicked", "path", clip(r.URL.Path), "fault", fault, "stack", string(debug.Stack()))
				if rec.status == 0 {
					writeProblem(rec, http.StatusInternalServerError, internalError)
					answered = true
				}
			}
			a.logRequest(rec, r, begin)
			if fault != nil && !answered {
				panic(http.ErrAbortHandler) // closes the connection, so that the client notices the incomplete answer
			}
		}()
		next.ServeHTTP(rec, r)
	})
}

// maxLogged is the largest number of bytes of a text from a request that the log shows.
const maxLogged = 200

func clip(text string) string {
	if len(text) <= maxLogged {
		return text
	}
	return strings.ToValidUTF8(text[:maxLogged], "") + "…"
}

// strangerLines is the number of lines that requests without a valid token may add to the log in a second.
const strangerLines = 10

// lineLimit counts the lines of one second.
type lineLimit struct {
	mu     sync.Mutex
	second int64
	lines  int
}

// allow reports whether one more line may be written at a time.
func (l *lineLimit) allow(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := now.Unix(); s != l.second {
		l.second, l.lines = s, 0
	}
	l.lines++
	return l.lines <= strangerLines
}

func (a *API) logRequest(rec *recorder, r *http.Request, begin time.Time) {
	took := time.Since(begin)
	route := a.route(r)
	if !strings.HasSuffix(route, "/events") {
		a.metrics.observe(r.Method, route, rec.status, took)
	}
	level := slog.LevelInfo
	if route == "/healthz" || route == "/readyz" || route == "/metrics" {
		level = slog.LevelDebug
	}
	if !rec.caller.known && !a.strangers.allow(begin) {
		return
	}
	a.log.Log(r.Context(), level, "request", "method", clip(r.Method), "path", clip(r.URL.Path), "status", rec.status, "bytes", rec.bytes,
		"seconds", took.Seconds(), "client", r.RemoteAddr, "caller", rec.caller.name)
}

// route returns the pattern that a request matches, without the HTTP method. Metrics use it as a label, because
// a service has few patterns but any number of paths.
func (a *API) route(r *http.Request) string {
	_, pattern := a.mux.Handler(r)
	if _, path, found := strings.Cut(pattern, " "); found {
		pattern = path
	}
	if pattern == "" || pattern == "/api/" {
		return "other"
	}
	return strings.Replace(pattern, "...}", "}", 1)
}
