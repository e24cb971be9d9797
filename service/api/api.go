package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// root of everything that the OpenAPI document describes.
const root = "/api/v1"

// maxRequest is the largest body of a request, bytes; maxRequest itself is too large.
const maxRequest = 64 << 10

// Options say how the service is offered.
type Options struct {
	Version string
	Log     *slog.Logger // of requests and of errors; nil discards
	Tokens  Tokens       // nil: whoever reaches the listener may do everything
	Proxies Proxies
	Hosts   []string     // names that requests may be addressed to, beside those of this machine's loopback
	Page    http.Handler // at /, for browsers; may be nil
	Pprof   bool         // serve /debug/pprof/ to those who may operate
	Limits  Limits
}

// API is the handler of everything the service answers.
type API struct {
	backend  Backend
	options  Options
	log      *slog.Logger
	mux      *http.ServeMux
	huma     huma.API
	metrics  *metrics
	limiter  *limiter
	sessions *sessions
	streams  *streams
	handler  http.Handler

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
	a.options.Limits = o.Limits.withDefaults()
	a.limiter = newLimiter(a.options.Limits)
	a.sessions = newSessions()
	a.streams = newStreams(a.options.Limits)
	a.metrics = newMetrics(backend, o.Version)
	a.huma = humago.New(restMux{a.mux}, describe())
	a.campaignRoutes()
	a.resultRoutes()
	a.measurementRoutes()
	a.fileRoutes()
	a.streamRoutes()
	a.authRoutes()
	a.operationRoutes()
	a.handler = a.guard(a.mux)
	return a, nil
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
		"bearer":  {Type: "http", Scheme: "bearer", Description: "A token of tutti token create. An open listener needs none."},
		"session": {Type: "apiKey", In: "cookie", Name: sessionCookie, Description: "What a browser gets at /login."},
	}
	c.Security = []map[string][]string{{"bearer": {}}, {"session": {}}, {}}
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
		Errors: []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusServiceUnavailable},
	}
}

func get[I, O any](a *API, path, id, summary string, h func(context.Context, *I) (*O, error)) {
	op := operation(http.MethodGet, path, id, summary)
	if strings.Contains(path, "{id}") || path == "/compare" {
		op.Errors = append(op.Errors, http.StatusNotFound)
	}
	huma.Register(a.huma, op, h)
}
