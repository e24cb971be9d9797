package api

import (
	"net/http"
	"net/http/pprof"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"tutti/service"
)

// liveHeap matches the Go metric for the memory that was in use after the last garbage collection.
var liveHeap = regexp.MustCompile("^/gc/heap/live:bytes$")

// metrics contains the Prometheus metrics that /metrics shows, and their registry.
type metrics struct {
	registry *prometheus.Registry
	latency  *prometheus.HistogramVec
	refused  *prometheus.CounterVec
	events   prometheus.Counter
}

func newMetrics(version string) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tutti_http_request_duration_seconds", Help: "Latency of requests, without event streams.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"method", "route", "code"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tutti_http_requests_refused_total", Help: "Requests refused before they reached a handler, by cause.",
		}, []string{"cause"}),
		events: prometheus.NewCounter(prometheus.CounterOpts{Name: "tutti_sse_events_total", Help: "Events sent to event streams."}),
	}
	for _, cause := range []string{"auth", "role", "host", "origin", "streams", "requests", "answers", "training"} {
		m.refused.WithLabelValues(cause)
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tutti_build_info", Help: "The program; always 1.", ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(m.latency, m.refused, m.events, build,
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: liveHeap})), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) observe(method, route string, status int, took time.Duration) {
	if !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete}, method) {
		method = "other"
	}
	if status == 0 {
		status = http.StatusOK
	}
	m.latency.WithLabelValues(method, route, strconv.Itoa(status/100)+"xx").Observe(took.Seconds())
}

// operationRoutes registers the paths for operators: health checks, metrics, the page and profiles.
func (a *API) operationRoutes() {
	a.metrics.registry.MustRegister(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: "tutti_sse_clients", Help: "Open event streams."}, func() float64 { return float64(a.streams.inUse()) }))
	a.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { writeOK(w) })
	a.mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := a.backend.Ready(); err != nil {
			writeProblem(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		writeOK(w)
	})
	a.mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		promhttp.HandlerFor(prometheus.Gatherers{a.metrics.registry, scrape(a.backend)}, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	})
	a.mux.HandleFunc("/api/", a.notFound)
	a.pageRoutes()
	if a.options.Pprof {
		a.mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		a.mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		a.mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		a.mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		a.mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
}

func writeOK(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

// scrape computes the metrics of campaigns, node-hours and watched folders of samples. It is called each time
// Prometheus reads the metrics. The totals come from the journals, so they are correct after a restart of the
// service.
func scrape(b Backend) prometheus.Gatherer {
	r := prometheus.NewRegistry()
	f := family{promauto.With(r)}
	f.addCampaigns(b.Campaigns())
	f.addNodeHours(b.NodeHours())
	f.addSamples(b.Samples())
	return r
}

type family struct{ promauto.Factory }

func (f family) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return f.NewGaugeVec(prometheus.GaugeOpts{Name: "tutti_" + name, Help: help}, labels)
}

func (f family) counter(name, help string, labels ...string) *prometheus.CounterVec {
	return f.NewCounterVec(prometheus.CounterOpts{Name: "tutti_" + name, Help: help}, labels)
}

// waitBuckets are the upper bounds of a histogram of queueing times in seconds, from 1 s to a day.
var waitBuckets = []float64{1, 10, 60, 300, 1800, 3600, 4 * 3600, 12 * 3600, 24 * 3600}

func (f family) addCampaigns(campaigns []service.Campaign) {
	states := f.gauge("campaigns", "Campaigns by state.", "state")
	for _, s := range service.States() {
		states.WithLabelValues(string(s))
	}
	exits := f.counter("campaign_exits_total", "Campaigns that are over, by exit code of their last process.", "code")
	rounds := f.counter("rounds_total", "Rounds of all campaigns.", "machine")
	measurements := f.counter("measurements_total", "Successful trials.", "machine")
	failures := f.counter("failures_total", "Failed trials by phase.", "machine", "cause")
	machine := f.counter("machine_seconds_total", "Machine time spent.", "machine")
	node := f.counter("node_seconds_total", "Machine time times nodes.", "machine")
	jobs := f.gauge("jobs", "Jobs submitted and not ended.", "machine")
	slowdown := f.gauge("predicted_slowdown", "Largest average slowdown of the problems of a running campaign at its last evaluation.", "campaign", "name", "machine")
	waits := f.NewHistogram(prometheus.HistogramOpts{Name: "tutti_queue_wait_seconds", Help: "Time that campaigns waited in the queue.", Buckets: waitBuckets})
	for _, c := range campaigns {
		states.WithLabelValues(string(c.State)).Inc()
		if c.State.Over() {
			exits.WithLabelValues(strconv.Itoa(int(c.Exit))).Inc()
		}
		p := c.Progress
		rounds.WithLabelValues(c.Machine).Add(float64(p.Rounds))
		measurements.WithLabelValues(c.Machine).Add(float64(p.Trials - p.FailedTrials))
		machine.WithLabelValues(c.Machine).Add(p.MachineSeconds)
		node.WithLabelValues(c.Machine).Add(p.NodeSeconds)
		jobs.WithLabelValues(c.Machine).Add(float64(p.Jobs))
		for _, cause := range []string{"launch", "run", "parse"} {
			failures.WithLabelValues(c.Machine, cause) // a counter that begins at 0 lets rates include the first failure
		}
		for cause, n := range p.Failures {
			failures.WithLabelValues(c.Machine, cause).Add(float64(n))
		}
		if !c.Started.IsZero() {
			waits.Observe(c.Started.Sub(c.Created).Seconds())
		}
		if p.Slowdown > 0 && !c.State.Over() && c.State != service.Queued {
			slowdown.WithLabelValues(c.ID, c.Name, c.Machine).Set(p.Slowdown)
		}
	}
}

func (f family) addNodeHours(h service.NodeHours) {
	quota := f.gauge("node_hours_quota", "Node-hours that campaigns may take of machines.", "per")
	quota.WithLabelValues("campaign").Set(h.Campaign)
	quota.WithLabelValues("day").Set(h.Day)
	today := f.gauge("node_hours_today", "Node-hours of today: spent, reserved for running campaigns, remaining.", "what")
	today.WithLabelValues("spent").Set(h.Spent)
	today.WithLabelValues("reserved").Set(h.Reserved)
	today.WithLabelValues("remaining").Set(h.Remaining)
}

// addSamples adds the metrics of every watched folder of samples. The values come from the folder's last
// update.
func (f family) addSamples(folders []service.SampleStatus) {
	calls := f.gauge("online_calls", "Timed calls in a watched folder that are used.", "folder")
	jobs := f.gauge("online_jobs", "Jobs that have left samples in a watched folder.", "folder")
	exploring := f.gauge("online_exploring_ratio", "Time that exploring took, as a share of collective time.", "folder")
	overDefault := f.gauge("online_over_default_ratio", "Time of all calls, exploring included, over the time that the default would take.", "folder")
	updated := f.gauge("online_updated_timestamp_seconds", "When the last table of a watched folder was made.", "folder")
	stuck := f.gauge("online_stuck", "1 while an error prevents a newer table of a watched folder, else 0.", "folder")
	for _, o := range folders {
		stuck.WithLabelValues(o.Name)
		if o.Error != "" {
			stuck.WithLabelValues(o.Name).Set(1)
		}
		if o.Report == nil {
			continue
		}
		calls.WithLabelValues(o.Name).Set(float64(o.Report.Calls))
		jobs.WithLabelValues(o.Name).Set(float64(o.Report.AllJobs))
		exploring.WithLabelValues(o.Name).Set(o.Report.Price.Cost)
		if o.Report.Price.OverDefault > 0 {
			overDefault.WithLabelValues(o.Name).Set(o.Report.Price.OverDefault)
		}
		updated.WithLabelValues(o.Name).Set(float64(o.Report.Time.UnixNano()) / float64(time.Second))
	}
}
