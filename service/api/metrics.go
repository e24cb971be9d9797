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

	"tutti/internal/exitcode"
	"tutti/service"
)

// liveHeap is what the last collection found in use, without what is garbage by now.
var liveHeap = regexp.MustCompile("^/gc/heap/live:bytes$")

// metrics is what Prometheus is told, in a registry of its own.
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
			Name: "tutti_http_request_duration_seconds", Help: "Latency of requests, event streams left out.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"method", "route", "code"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tutti_http_requests_refused_total", Help: "Requests refused before they reached a handler, by cause.",
		}, []string{"cause"}),
		events: prometheus.NewCounter(prometheus.CounterOpts{Name: "tutti_sse_events_total", Help: "Events sent to clients that watch."}),
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

// operationRoutes are for those who run the service.
func (a *API) operationRoutes() {
	a.metrics.registry.MustRegister(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: "tutti_sse_clients", Help: "Event streams open."}, func() float64 { return float64(a.streams.open()) }))
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

// campaignCollector counts what the campaigns say of themselves when it is asked:
// totals come from their journals, so a restart of the service loses none.
type campaignCollector struct{ backend Backend }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("tutti_"+name, help, labels, nil)
}

var (
	campaignsDesc    = desc("campaigns", "Campaigns by state.", "state")
	exitsDesc        = desc("campaign_exits_total", "Campaigns that are over by the exit code of their last process.", "code")
	roundsDesc       = desc("rounds_total", "Rounds of all campaigns.", "machine")
	measurementsDesc = desc("measurements_total", "Trials that gave a measurement.", "machine")
	failuresDesc     = desc("failures_total", "Failed trials by phase.", "machine", "cause")
	machineDesc      = desc("machine_seconds_total", "Machine time spent.", "machine")
	nodeDesc         = desc("node_seconds_total", "Machine time times nodes.", "machine")
	jobsDesc         = desc("jobs", "Jobs submitted and not ended.", "machine")
	slowdownDesc     = desc("predicted_slowdown", "Largest average slowdown of the problems of a campaign at work, by its last evaluation.", "campaign", "name", "machine")
	quotaDesc        = desc("node_hours_quota", "Node-hours that campaigns may take of machines.", "per")
	todayDesc        = desc("node_hours_today", "Node-hours of today: spent, reserved for running campaigns, remaining.", "what")
	waitDesc         = desc("queue_wait_seconds", "Time that campaigns waited for their machine.")
)

// waitBuckets are the upper bounds of queue waits, seconds: 1 s to a day.
var waitBuckets = []float64{1, 10, 60, 300, 1800, 3600, 4 * 3600, 12 * 3600, 24 * 3600}

func (campaignCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{campaignsDesc, exitsDesc, roundsDesc, measurementsDesc, failuresDesc, machineDesc, nodeDesc, jobsDesc, slowdownDesc, quotaDesc, todayDesc, waitDesc} {
		out <- d
	}
}

// totals of one machine.
type totals struct {
	rounds, done, machine, node, jobs float64
	failed                            map[string]float64
}

func (c campaignCollector) Collect(out chan<- prometheus.Metric) {
	states, exits, machines := map[service.State]float64{}, map[exitcode.Code]float64{}, map[string]*totals{}
	waits := newHistogram()
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
			waits.add(one.Started.Sub(one.Created).Seconds())
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
	out <- prometheus.MustNewConstHistogram(waitDesc, waits.n, waits.sum, waits.below)
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
	told := 0
	for cause, n := range p.Failures {
		t.failed[cause] += float64(n)
		told += n
	}
	if rest := p.FailedTrials - told; rest > 0 {
		t.failed["other"] += float64(rest)
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
		t.failed[cause] += 0 // there from the start, so that rates see the first
	}
	for cause, n := range t.failed {
		counter(failuresDesc, n, cause)
	}
	out <- prometheus.MustNewConstMetric(jobsDesc, prometheus.GaugeValue, t.jobs, machine)
}

// histogram counts seconds into waitBuckets, each with all that are below.
type histogram struct {
	n     uint64
	sum   float64
	below map[float64]uint64
}

func newHistogram() *histogram {
	h := &histogram{below: map[float64]uint64{}}
	for _, b := range waitBuckets {
		h.below[b] = 0
	}
	return h
}

func (h *histogram) add(v float64) {
	h.n++
	h.sum += v
	for _, b := range waitBuckets {
		if v <= b {
			h.below[b]++
		}
	}
}
