package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// loadReport contains the measurements of one load test.
type loadReport struct {
	loadAverage string // load average of the machine before the run
	reads       []read
	selections  []read
	memory      []memory
	campaigns   int
	streams     comparison
}

const mib = 1 << 20

// latencies returns the latencies of the requests for one route, in ascending order. If route is "", it returns
// the latencies of all requests.
func latencies(reads []read, route string) []time.Duration {
	var out []time.Duration
	for _, r := range reads {
		if route == "" || r.route == route {
			out = append(out, r.latency)
		}
	}
	slices.Sort(out)
	return out
}

// percentile returns the p-th percentile of sorted latencies by the nearest-rank method. It returns 0 if
// there are none.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max((len(sorted)*p+99)/100, 1)-1]
}

// quarter returns the memory that the service used in quarter n of the run, counted from 0. It contains the
// mean resident memory and the lowest live memory. The lowest value leaves out most of the memory that requests
// use for a moment. If the run was short, both are zero.
func (r *loadReport) quarter(n int) memory {
	samples := r.memory[n*len(r.memory)/4 : (n+1)*len(r.memory)/4]
	if len(samples) == 0 {
		return memory{}
	}
	out := memory{live: samples[0].live}
	for _, m := range samples {
		out.resident += m.resident / int64(len(samples))
		out.live = min(out.live, m.live)
	}
	return out
}

// missed returns a message for each missed target.
func (r *loadReport) missed(o loadOptions) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if want := int(o.Rate * o.Time.Seconds() / 2); len(r.reads) < want {
		add("%d reads were sent, want at least %d", len(r.reads), want)
	}
	failed := 0
	for _, one := range r.reads {
		if one.status != http.StatusOK {
			failed++
		}
	}
	if failed > 0 {
		add("%d reads were refused or not answered", failed)
	}
	if p99 := percentile(latencies(r.reads, ""), 99); p99 > o.P99 {
		add("p99 of reads is %s, want at most %s", p99.Round(time.Millisecond/10), o.P99)
	}
	if grown := float64(r.quarter(3).live-r.quarter(1).live) / mib; grown > o.Growth { // without the first quarter, in which caches fill
		add("live memory grew by %.1f MiB, want at most %.1f MiB", grown, o.Growth)
	}
	if len(r.memory) < 4 {
		add("memory was measured %d times only", len(r.memory))
	}
	if n := len(r.streams.faults); n > 0 {
		add("%d streams differ from the journals: %s", n, strings.Join(r.streams.faults[:min(n, 3)], "; "))
	}
	if r.streams.events == 0 {
		add("no event was received")
	}
	return out
}

func (r *loadReport) print(out io.Writer, o loadOptions) {
	fmt.Fprintf(out, "%d clients, %g reads/s, %d campaigns at a time, %s, %d cores, load average before %s\n",
		o.Clients, o.Rate, o.Campaigns, o.Time, runtime.NumCPU(), r.loadAverage)
	fmt.Fprintf(out, "%-48s %6s %9s %9s %9s\n", "reads", "number", "p50 ms", "p99 ms", "max ms")
	row := func(name string, t []time.Duration) {
		ms := func(p int) float64 { return float64(percentile(t, p)) / float64(time.Millisecond) }
		fmt.Fprintf(out, "%-48s %6d %9.2f %9.2f %9.2f\n", name, len(t), ms(50), ms(99), ms(100))
	}
	row("all", latencies(r.reads, ""))
	for _, route := range routes {
		row(route, latencies(r.reads, route))
	}
	row("not in all: "+selectionRoute, latencies(r.selections, ""))
	fmt.Fprintf(out, "events: %d campaigns, %d streams, %d events received, %d reconnections, %d streams differ from the journal\n",
		r.campaigns, r.streams.streams, r.streams.events, r.streams.reconnects, len(r.streams.faults))
	var resident, live []string
	for n := range 4 {
		q := r.quarter(n)
		resident = append(resident, fmt.Sprintf("%.1f", float64(q.resident)/mib))
		live = append(live, fmt.Sprintf("%.1f", float64(q.live)/mib))
	}
	fmt.Fprintf(out, "memory of the service by quarters of the run, MiB: live %s, resident %s\n", strings.Join(live, " "), strings.Join(resident, " "))
}

// loadAverage returns the system's load average over one minute, or "unknown".
func loadAverage() string {
	content, err := os.ReadFile("/proc/loadavg")
	first, _, found := strings.Cut(string(content), " ")
	if err != nil || !found {
		return "unknown"
	}
	return first
}
