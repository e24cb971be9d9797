package api

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// guard wraps the handlers in what holds for every request, outermost first:
// recording, who sent it, headers, the name it was addressed to, the caller's rate, its
// origin and what the caller may do.
func (a *API) guard(next http.Handler) http.Handler {
	return a.record(a.recognise(a.headers(a.checkHost(a.limitRate(a.checkOrigin(a.authorise(next)))))))
}

// policy lets pages take everything from here and nothing from elsewhere, runs no
// script that stands in a page and is shown in no frame.
const policy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

func (a *API) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if strings.HasPrefix(r.URL.Path, "/api/") {
			h.Set("Cache-Control", "no-store")
		}
		if r.TLS != nil {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// checkHost refuses requests that reached a loopback address under a foreign name:
// a page elsewhere whose name was bound to this machine's loopback sends those.
// Requests through a Unix socket come from no browser.
func (a *API) checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if tcp, ok := local.(*net.TCPAddr); ok && tcp.IP.IsLoopback() && !a.ownName(r.Host) {
			a.metrics.refused.WithLabelValues("host").Inc()
			writeProblem(w, http.StatusMisdirectedRequest, "this service does not go by that name: use localhost, or list the name in the service's hosts")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (a *API) ownName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host == "localhost" || slices.Contains(a.options.Hosts, host) {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func (a *API) limitRate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" && r.URL.Path != "/readyz" && !a.limiter.allow(callerOf(r.Context()).payer()) {
			a.metrics.refused.WithLabelValues("rate").Inc()
			w.Header().Set("Retry-After", "1")
			writeProblem(w, http.StatusTooManyRequests, "too many requests: wait a second")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// checkOrigin refuses what pages of other sites make a browser send. Programs
// send neither Origin nor Sec-Fetch-Site and pass.
func (a *API) checkOrigin(next http.Handler) http.Handler {
	c := http.NewCrossOriginProtection()
	c.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		a.metrics.refused.WithLabelValues("origin").Inc()
		writeProblem(w, http.StatusForbidden, "this request comes from a page of another site")
	}))
	return c.Handler(next)
}

// recorder remembers how a request was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
	caller caller
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
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// record measures and logs every request, and answers for a handler that panics.
func (a *API) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recorder{ResponseWriter: w}
		begin := time.Now()
		defer func() {
			fault, answered := recover(), false
			if err, ok := fault.(error); fault != nil && !(ok && errors.Is(err, http.ErrAbortHandler)) {
				a.log.Error("a handler panicked", "path", r.URL.Path, "fault", fault, "stack", string(debug.Stack()))
				if rec.status == 0 {
					writeProblem(rec, http.StatusInternalServerError, "something went wrong in the service; its log says what")
					answered = true
				}
			}
			a.recorded(rec, r, time.Since(begin))
			if fault != nil && !answered {
				panic(http.ErrAbortHandler) // what was sent is cut: let the client see it
			}
		}()
		next.ServeHTTP(rec, r)
	})
}

func (a *API) recorded(rec *recorder, r *http.Request, took time.Duration) {
	route := a.route(r)
	if !strings.HasSuffix(route, "/events") {
		a.metrics.observe(r.Method, route, rec.status, took)
	}
	level := slog.LevelInfo
	if route == "/healthz" || route == "/readyz" || route == "/metrics" {
		level = slog.LevelDebug
	}
	a.log.Log(r.Context(), level, "request", "method", r.Method, "path", r.URL.Path, "status", rec.status, "bytes", rec.bytes,
		"seconds", took.Seconds(), "client", rec.caller.client, "caller", rec.caller.name)
}

// route is the pattern that a request matched, without its method: few of them,
// whatever clients ask for.
func (a *API) route(r *http.Request) string {
	_, pattern := a.mux.Handler(r)
	if _, path, found := strings.Cut(pattern, " "); found {
		pattern = path
	}
	switch pattern {
	case "", "/api/":
		return "other"
	}
	return strings.Replace(pattern, "...}", "}", 1)
}
