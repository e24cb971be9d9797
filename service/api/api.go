package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/gorilla/securecookie"
)

// root of everything that the OpenAPI document describes.
const root = "/api/v1"

// maxRequest is the largest body of a request, bytes; maxRequest itself is too large.
const maxRequest = 64 << 10

// Options configure the HTTP interface of a service.
type Options struct {
	Version string
	Log     *slog.Logger // of requests and errors; nil discards
	// Tokens are those that requests need. nil: everyone who reaches the listener may operate.
	Tokens *TokenStore
	// CookieKey signs login cookies, see the function CookieKey. nil: a random key, with which
	// logins end with the process.
	CookieKey []byte
	// PublicAddress is the URL under which browsers reach the service behind a reverse proxy;
	// nil: they reach the listener directly.
	PublicAddress *url.URL
	Page          http.Handler  // at /, for browsers; may be nil
	Pprof         bool          // serve /debug/pprof/ to tokens with the role operate
	Streams       int           // open event streams of one token at most, 0: DefaultStreams
	Heartbeat     time.Duration // between comments on an idle event stream, 0: 15 s
}

// DefaultStreams is the default of Options.Streams.
const DefaultStreams = 500

// API is the handler of everything the service answers.
type API struct {
	backend Backend
	options Options
	log     *slog.Logger
	mux     *http.ServeMux
	huma    huma.API
	metrics *metrics
	cookies *securecookie.SecureCookie
	streams *streams
	handler http.Handler

	closing   chan struct{} // closed when streams must end
	closeOnce sync.Once
}

// New returns the handler of a service.
func New(backend Backend, o Options) (*API, error) {
	if backend == nil {
		return nil, errors.New("api: no backend")
	}
	a := &API{backend: backend, options: o, log: o.Log, mux: http.NewServeMux(), closing: make(chan struct{})}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	a.options.Heartbeat = cmp.Or(o.Heartbeat, 15*time.Second)
	if len(o.CookieKey) == 0 {
		a.options.CookieKey = securecookie.GenerateRandomKey(cookieKeyBytes)
	}
	a.cookies = newCookieCodec(a.options.CookieKey)
	a.streams = newStreams(cmp.Or(o.Streams, DefaultStreams))
	a.metrics = newMetrics(backend, o.Version)
	a.huma = humago.New(restMux{a.mux}, describe())
	a.campaignRoutes()
	a.resultRoutes()
	a.measurementRoutes()
	a.fileRoutes()
	a.streamRoutes()
	a.accessRoutes()
	a.operationRoutes()
	var err error
	a.handler, err = a.guard(a.mux)
	return a, err
}

// ServeHTTP answers one request, with all the rules of the service applied.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

// Close ends the streams, so that their clients come back to the next process. It
// may be called more than once.
func (a *API) Close() { a.closeOnce.Do(func() { close(a.closing) }) }

// OpenAPI returns the document that describes the interface, as JSON.
func (a *API) OpenAPI() ([]byte, error) { return a.huma.OpenAPI().MarshalJSON() }

func describe() huma.Config {
	c := huma.DefaultConfig("tutti", "v1")
	c.Info.Description = "Campaigns that tune MPI collectives. Errors are problem+json (RFC 9457); errors[].location is the path of the field."
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = root+"/openapi", "", ""
	c.CreateHooks = nil // links to schemas in every answer
	c.RejectUnknownQueryParameters = true
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer", Description: "A token of tutti token create. A service without tokens needs none."},
		"login":  {Type: "apiKey", In: "cookie", Name: loginCookie, Description: "The cookie that a browser gets at /login."},
	}
	c.Security = []map[string][]string{{"bearer": {}}, {"login": {}}, {}}
	return c
}

// restMux lets the parameter name stand for the rest of the path: names of files
// may hold slashes.
type restMux struct{ *http.ServeMux }

func (m restMux) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	m.ServeMux.HandleFunc(strings.Replace(pattern, "/{name}", "/{name...}", 1), h)
}

// operation describes one method of one path. All may answer with these errors.
func operation(method, path, id, summary string) huma.Operation {
	return huma.Operation{
		Method: method, Path: root + path, OperationID: id, Summary: summary,
		Errors: []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusServiceUnavailable},
	}
}

func get[I, O any](a *API, path, id, summary string, h func(context.Context, *I) (*O, error)) {
	op := operation(http.MethodGet, path, id, summary)
	if strings.Contains(path, "{id}") || path == "/compare" {
		op.Errors = append(op.Errors, http.StatusNotFound)
	}
	huma.Register(a.huma, op, h)
}
