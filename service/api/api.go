package api

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/gorilla/securecookie"
	"golang.org/x/sync/semaphore"

	"tutti/internal/config"
	"tutti/journal"
	"tutti/service"
)

// root is the prefix of all paths in the OpenAPI document.
const root = "/api/v1"

// maxRequest is the largest size of a request body in bytes.
const maxRequest = 64 << 10

// Backend is the service that the HTTP handlers call. Its methods are safe for concurrent use. If an error
// matches none of package service's errors, it is logged and the client gets an internal error. Methods with a
// context stop reading journals when the context is cancelled.
type Backend interface {
	// Campaigns returns all campaigns, newest first.
	Campaigns() []service.Campaign
	Campaign(id string) (service.Campaign, error)
	// Create creates a campaign. If an earlier request had the same key, Create returns that request's
	// campaign and false. If the two requests differ, it returns service.ErrKey.
	Create(ctx context.Context, r service.Request, key string) (c service.Campaign, created bool, err error)
	Pause(id string) (service.Campaign, error)
	Resume(id string) (service.Campaign, error)
	Cancel(id string) (service.Campaign, error)
	// Verify verifies the files of a campaign that is done, or as soon as it is.
	Verify(id string, v service.Verification) (service.Campaign, error)
	// Delete removes a campaign that has ended.
	Delete(id string) (service.Campaign, error)

	// Feed returns the lines of a campaign's journal as events. Events returns the events of the service,
	// such as a new state of a campaign.
	Feed(ctx context.Context, id string) (service.Feed, error)
	Events() service.Feed

	Bases() []config.Base
	Schedule() []service.Scheduled
	NodeHours() service.NodeHours
	// Samples returns the status of the watched folders of samples.
	Samples() []service.SampleStatus

	// Measurements returns the measurements that come after the given line of the journal.
	Measurements(ctx context.Context, id string, after int64) (iter.Seq2[service.Measurement, error], error)

	// Selection and Predictions return service.ErrNotYet before the first evaluation.
	Problems(ctx context.Context, id string) ([]journal.Problem, error)
	Selection(ctx context.Context, id string, p journal.Problem) (service.Selection, error)
	Predictions(ctx context.Context, id string, p journal.Problem) ([]service.Prediction, error)

	Files(id string) ([]service.File, error)
	// Open opens a file that Files lists. For any other name it returns an error.
	Open(id, name string) (io.ReadSeekCloser, service.File, error)

	// Ready returns nil if the service can take requests, otherwise the reason why it cannot.
	Ready() error
}

// Options say who may use the HTTP interface of a service, how browsers reach it, and where it logs.
type Options struct {
	Version string
	Log     *slog.Logger // of requests and errors; nil discards
	// Tokens contains the valid tokens. If it is nil, requests need no token, and every caller may do
	// everything.
	Tokens *TokenStore
	// CookieKey signs login cookies; see the function CookieKey. If it is nil, the service uses a random
	// key, and logins are invalid after a restart.
	CookieKey []byte
	// PublicAddress is the URL at which browsers reach the service behind a reverse proxy. If it is nil,
	// they connect to the listener directly.
	PublicAddress *url.URL
	Pprof         bool          // serve /debug/pprof/ to tokens with the role operate
	Streams       int           // open event streams of one token at most, 0: no limit
	AllStreams    int           // open event streams of all tokens at most, 0: no limit
	Requests      int           // requests in progress at most, event streams included, 0: no limit
	Heartbeat     time.Duration // between comments on an idle event stream, 0: 15 s
}

// API is the HTTP handler of a service: it answers the paths of the API and serves the web page.
type API struct {
	backend Backend
	options Options
	log     *slog.Logger
	mux     *http.ServeMux
	huma    huma.API
	metrics *metrics
	cookies *securecookie.SecureCookie
	handler http.Handler

	requests  *shares             // in progress
	answers   *shares             // see maxAnswers
	trainings *shares             // see maxTrainings
	streams   *shares             // open event streams
	lines     *semaphore.Weighted // see maxLines
	strangers lineLimit           // of the log

	closing   chan struct{} // closed when event streams must end
	closeOnce sync.Once
}

// New returns the HTTP handler of a service. It returns an error if backend is nil.
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
	a.cookies = securecookie.New(a.options.CookieKey, nil).MaxAge(int(loginLifetime.Seconds())).SetSerializer(securecookie.JSONEncoder{})
	a.requests, a.answers, a.trainings = newShares(0, o.Requests), newShares(0, maxAnswers), newShares(maxTokenTrainings, maxTrainings)
	a.streams, a.lines = newShares(o.Streams, o.AllStreams), semaphore.NewWeighted(maxLines)
	a.metrics = newMetrics(o.Version)
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

// ServeHTTP answers one request after it has checked the caller's access.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

// Close ends the event streams without the event "end", so that clients connect again when the service has
// restarted. Close may be called more than once.
func (a *API) Close() { a.closeOnce.Do(func() { close(a.closing) }) }

// OpenAPI returns the OpenAPI document of the interface, as JSON.
func (a *API) OpenAPI() ([]byte, error) { return a.huma.OpenAPI().MarshalJSON() }

func describe() huma.Config {
	c := huma.DefaultConfig("tutti", "v1")
	c.Info.Description = "Campaigns that tune MPI collectives. Errors are problem+json (RFC 9457); errors[].location is the path of the field."
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = root+"/openapi", "", ""
	c.CreateHooks = nil // no links to schemas in the answers
	c.RejectUnknownQueryParameters = true
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer", Description: "A token of tutti token create. A service without tokens needs none."},
		"login":  {Type: "apiKey", In: "cookie", Name: loginCookie, Description: "The cookie that a browser gets at /login."},
	}
	c.Security = []map[string][]string{{"bearer": {}}, {"login": {}}, {}}
	return c
}

// restMux is a ServeMux in which the path parameter {name} matches the whole rest of the path, because file
// names may contain slashes.
type restMux struct{ *http.ServeMux }

func (m restMux) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	m.ServeMux.HandleFunc(strings.Replace(pattern, "/{name}", "/{name...}", 1), h)
}

// operation describes one HTTP method of one path. It includes the errors that all operations can return.
func operation(method, path, id, summary string) huma.Operation {
	op := huma.Operation{
		Method: method, Path: root + path, OperationID: id, Summary: summary,
		Errors: []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusServiceUnavailable},
	}
	if strings.Contains(path, "{id}") {
		op.Errors = append(op.Errors, http.StatusNotFound)
	}
	return op
}

func get[I, O any](a *API, path, id, summary string, h func(context.Context, *I) (*O, error)) {
	huma.Register(a.huma, operation(http.MethodGet, path, id, summary), h)
}
