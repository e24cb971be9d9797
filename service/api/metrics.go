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

func newMetrics(backend Backend, version string) *metrics {
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
	for _, cause := range []string{"auth", "role", "host", "origin", "streams"} {
		m.refused.WithLabelValues(cause)
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tutti_build_info", Help: "The program; always 1.", ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(m.latency, m.refused, m.events, build, campaignCollector{backend}, onlineCollector{backend},
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: liveHeap})), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) observe(method, route string, status int, took time.Duration) {
	if !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost}, method) {
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
		prometheus.GaugeOpts{Name: "tutti_sse_clients", Help: "Open event streams."}, func() float64 { return float64(a.streams.open()) }))
	a.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { writeOK(w) })
	a.mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := a.backend.Ready(); err != nil {
			writeProblem(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		writeOK(w)
	})
	a.mux.Handle("GET /metrics", promhttp.HandlerFor(a.metrics.registry, promhttp.HandlerOpts{}))
	a.mux.HandleFunc("/api/", a.notFound)
	if a.options.Page != nil {
		a.mux.Handle("/", a.options.Page)
	}
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

// campaignCollector computes the metrics of campaigns whenever Prometheus reads them. The totals come from
// the journals, so they are correct after a restart of the service.
type campaignCollector struct{ backend Backend }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("tutti_"+name, help, labels, nil)
}

var (
	campaignsDesc    = desc("campaigns", "Campaigns by state.", "state")
	exitsDesc        = desc("campaign_exits_total", "Campaigns that are over, by exit code of their last process.", "code")
	roundsDesc       = desc("rounds_total", "Rounds of all campaigns.", "machine")
	measurementsDesc = desc("measurements_total", "Successful trials.", "machine")
	failuresDesc     = desc("failures_total", "Failed trials by phase.", "machine", "cause")
	machineDesc      = desc("machine_seconds_total", "Machine time spent.", "machine")
	nodeDesc         = desc("node_seconds_total", "Machine time times nodes.", "machine")
	jobsDesc         = desc("jobs", "Jobs submitted and not ended.", "machine")
	slowdownDesc     = desc("predicted_slowdown", "Largest average slowdown of the problems of a running campaign at its last evaluation.", "campaign", "name", "machine")
	quotaDesc        = desc("node_hours_quota", "Node-hours that campaigns may take of machines.", "per")
	todayDesc        = desc("node_hours_today", "Node-hours of today: spent, reserved for running campaigns, remaining.", "what")
)

// waitBuckets are the upper bounds of a histogram of queueing times in seconds, from 1 s to a day.
var waitBuckets = []float64{1, 10, 60, 300, 1800, 3600, 4 * 3600, 12 * 3600, 24 * 3600}

// Describe implements prometheus.Collector. It sends nothing, because the registry need not know the metrics before
// they are collected.
func (campaignCollector) Describe(chan<- *prometheus.Desc) {}

// totals has the sums over all campaigns of one machine.
type totals struct {
	rounds, done, machine, node, jobs float64
	failed                            map[string]float64
}

func (c campaignCollector) Collect(out chan<- prometheus.Metric) {
	states, exits, machines := map[service.State]float64{}, map[service.ExitCode]float64{}, map[string]*totals{}
	waits := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "tutti_queue_wait_seconds", Help: "Time that campaigns waited in the queue.", Buckets: waitBuckets})
	for _, one := range c.backend.Campaigns() {
		states[one.State]++
		if one.State.Over() {
			exits[one.Exit]++
		}
		t := machines[one.Machine]
		if t == nil {
			t = &totals{failed: map[string]float64{}}
			machines[one.Machine] = t
		}
		t.add(one.Progress)
		if !one.Started.IsZero() {
			waits.Observe(one.Started.Sub(one.Created).Seconds())
		}
		if p := one.Progress; p.Slowdown > 0 && !one.State.Over() && one.State != service.Queued {
			out <- prometheus.MustNewConstMetric(slowdownDesc, prometheus.GaugeValue, p.Slowdown, one.ID, one.Name, one.Machine)
		}
	}
	for _, s := range service.States() {
		out <- prometheus.MustNewConstMetric(campaignsDesc, prometheus.GaugeValue, states[s], string(s))
	}
	for code, n := range exits {
		out <- prometheus.MustNewConstMetric(exitsDesc, prometheus.CounterValue, n, strconv.Itoa(int(code)))
	}
	for machine, t := range machines {
		t.send(machine, out)
	}
	sendNodeHours(c.backend.NodeHours(), out)
	out <- waits
}

func sendNodeHours(h service.NodeHours, out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, label string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, label)
	}
	gauge(quotaDesc, h.Campaign, "campaign")
	gauge(quotaDesc, h.Day, "day")
	gauge(todayDesc, h.Spent, "spent")
	gauge(todayDesc, h.Reserved, "reserved")
	gauge(todayDesc, h.Remaining, "remaining")
}

func (t *totals) add(p service.Progress) {
	t.rounds += float64(p.Rounds)
	t.done += float64(p.Trials - p.FailedTrials)
	t.machine += p.MachineSeconds
	t.node += p.NodeSeconds
	t.jobs += float64(p.Jobs)
	byPhase := 0
	for cause, n := range p.Failures {
		t.failed[cause] += float64(n)
		byPhase += n
	}
	if other := p.FailedTrials - byPhase; other > 0 {
		t.failed["other"] += float64(other)
	}
}

func (t *totals) send(machine string, out chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, append([]string{machine}, labels...)...)
	}
	counter(roundsDesc, t.rounds)
	counter(measurementsDesc, t.done)
	counter(machineDesc, t.machine)
	counter(nodeDesc, t.node)
	for _, cause := range []string{"launch", "run", "parse"} {
		t.failed[cause] += 0 // a counter that begins at 0 lets rates include the first failure
	}
	for cause, n := range t.failed {
		counter(failuresDesc, n, cause)
	}
	out <- prometheus.MustNewConstMetric(jobsDesc, prometheus.GaugeValue, t.jobs, machine)
}

// onlineCollector computes the metrics of every watched folder of samples from the folder's last update.
type onlineCollector struct{ backend Backend }

var (
	callsDesc        = desc("online_calls", "Timed calls in a watched folder that are used.", "folder")
	jobsOfFolderDesc = desc("online_jobs", "Jobs that have left samples in a watched folder.", "folder")
	exploringDesc    = desc("online_exploring_ratio", "Time that exploring took, as a share of collective time.", "folder")
	overDefaultDesc  = desc("online_over_default_ratio", "Time of all calls, exploring included, over the time that the default would take.", "folder")
	updatedDesc      = desc("online_updated_timestamp_seconds", "When the last table of a watched folder was made.", "folder")
	stuckDesc        = desc("online_stuck", "1 while an error prevents a newer table of a watched folder, else 0.", "folder")
)

// Describe implements prometheus.Collector, as that of campaignCollector.
func (onlineCollector) Describe(chan<- *prometheus.Desc) {}

func (c onlineCollector) Collect(out chan<- prometheus.Metric) {
	for _, o := range c.backend.Samples() {
		gauge := func(d *prometheus.Desc, v float64) {
			out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, o.Name)
		}
		stuck := 0.0
		if o.Error != "" {
			stuck = 1
		}
		gauge(stuckDesc, stuck)
		if o.Report == nil {
			continue
		}
		gauge(callsDesc, float64(o.Report.Calls))
		gauge(jobsOfFolderDesc, float64(o.Report.AllJobs))
		gauge(exploringDesc, o.Report.Price.Cost)
		if o.Report.Price.OverDefault > 0 {
			gauge(overDefaultDesc, o.Report.Price.OverDefault)
		}
		gauge(updatedDesc, float64(o.Report.Time.UnixNano())/float64(time.Second))
	}
}
