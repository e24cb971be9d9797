package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tutti/journal"
)

// loadReport contains what a load test measured: latencies, memory and faults of event streams.
type loadReport struct {
	reads      []read
	live       []float64 // memory in use after a garbage collection, once a second, MiB
	campaigns  int
	streams    int
	events     int64 // received by all clients together
	reconnects int
	faults     []string // a message for each stream that differs from its journal
}

// read describes one request to the service: its path, latency and status.
type read struct {
	route   string
	latency time.Duration // since the time at which the request was due
	status  int           // 0 without a response
}

// routes lists the paths that are read in turn. {id} stands for the ID of a campaign.
var routes = []string{
	"/api/v1/campaigns",
	"/api/v1/campaigns/{id}",
	"/api/v1/campaigns/{id}/measurements?limit=100",
	"/api/v1/campaigns/{id}/files",
	"/api/v1/bases",
	"/api/v1/schedule",
	"/",
}

// readAll sends requests at a fixed rate until the deadline. It does not wait for a response before the next
// request.
func (t *loadTest) readAll(ctx context.Context) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	var tasks sync.WaitGroup
	defer tasks.Wait()
	begin := time.Now()
	for i := 0; ctx.Err() == nil; i++ {
		due := begin.Add(time.Duration(float64(i) / t.Rate * float64(time.Second)))
		if due.After(t.deadline) {
			return
		}
		time.Sleep(time.Until(due))
		tasks.Go(func() {
			one := read{route: routes[i%len(routes)]}
			one.status = t.get(ctx, client, strings.Replace(one.route, "{id}", t.campaignOf(i/len(routes)%t.Campaigns), 1))
			one.latency = time.Since(due)
			t.mu.Lock()
			defer t.mu.Unlock()
			t.report.reads = append(t.report.reads, one)
		})
	}
}

// get reads a path and returns the status of the response, or 0 if there is none.
func (t *loadTest) get(ctx context.Context, client *http.Client, path string) int {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, t.url+path, nil)
	if err != nil {
		return 0
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return 0
	}
	return answer.StatusCode
}

// sampleMemory measures the memory of this process once a second until the deadline.
func (t *loadTest) sampleMemory(ctx context.Context) {
	for time.Now().Before(t.deadline) && ctx.Err() == nil {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		t.mu.Lock()
		t.report.live = append(t.report.live, float64(m.HeapAlloc)/(1<<20))
		t.mu.Unlock()
		time.Sleep(time.Second)
	}
}

// watch receives all events of a campaign as client i, which drops its connection at random times. It compares
// the events with the journal.
func (t *loadTest) watch(ctx context.Context, id string, i int) {
	random := rand.New(rand.NewPCG(1, uint64(i)))
	got := fnv.New64a()
	events, reconnects := int64(0), 0
	var err error
	for ; ; reconnects++ {
		connection, cancel := context.WithTimeout(ctx, time.Duration(random.ExpFloat64()*float64(t.Drop)))
		err = t.receive(connection, id, events, func(number int64, data []byte) {
			got.Write(data)
			got.Write([]byte("\n"))
			events = number
		})
		dropped := connection.Err() != nil && ctx.Err() == nil
		cancel()
		if err == nil || !dropped {
			break
		}
	}
	want := fnv.New64a()
	content, failed := os.ReadFile(filepath.Join(t.Dir, "state", "campaigns", id, "results", journal.FileName))
	want.Write(content)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.streams++
	t.report.events += events
	t.report.reconnects += reconnects
	if err := cmp.Or(err, failed); err != nil {
		t.report.faults = append(t.report.faults, fmt.Sprintf("campaign %s after %d events: %v", id, events, err))
	} else if lines := bytes.Count(content, []byte("\n")); got.Sum64() != want.Sum64() {
		t.report.faults = append(t.report.faults, fmt.Sprintf("campaign %s: %d events for %d lines", id, events, lines))
	}
}

// receive calls the function `each` for every event of a campaign whose number is greater than `after`. It returns
// nil after the last event, and an error if the connection ends earlier.
func (t *loadTest) receive(ctx context.Context, id string, after int64, each func(number int64, data []byte)) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/api/v1/campaigns/%s/events?after=%d", t.url, id, after), nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("events: %s", answer.Status)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, journal.MaxLine)
	var number int64
	var data []byte
	kind := ""
	for lines.Scan() {
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		switch string(name) {
		case "id":
			if number, err = strconv.ParseInt(string(value), 10, 64); err != nil {
				return err
			}
		case "event":
			if kind = string(value); kind == "end" {
				return nil
			}
		case "data":
			data = bytes.Clone(value)
		case "": // the end of an event; a connection that breaks within a line does not get here
			if data != nil {
				each(number, data)
			}
			data = nil
		}
	}
	return cmp.Or(lines.Err(), io.ErrUnexpectedEOF)
}

// percentile returns the p-th percentile of the latencies of a route by the nearest-rank method, and the number
// of these latencies. If route is "", all reads count. It returns 0 if there are none.
func (r loadReport) percentile(route string, p int) (latency time.Duration, reads int) {
	var sorted []time.Duration
	for _, one := range r.reads {
		if route == "" || one.route == route {
			sorted = append(sorted, one.latency)
		}
	}
	if len(sorted) == 0 {
		return 0, 0
	}
	slices.Sort(sorted)
	return sorted[max((len(sorted)*p+99)/100, 1)-1], len(sorted)
}

// quarter returns the lowest live memory in quarter n of the run, counted from 0. The lowest value contains
// little of the memory that requests use only for a moment. It is 0 if the run was short.
func (r loadReport) quarter(n int) float64 {
	samples := r.live[n*len(r.live)/4 : (n+1)*len(r.live)/4]
	if len(samples) == 0 {
		return 0
	}
	return slices.Min(samples)
}

// missed returns a message for each target (see loadOptions) that the load test missed.
func (r loadReport) missed(o loadOptions) []string {
	var out []string
	check := func(bad bool, format string, args ...any) {
		if bad {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	failed := 0
	for _, one := range r.reads {
		if one.status != http.StatusOK {
			failed++
		}
	}
	p99, reads := r.percentile("", 99)
	want := int(o.Rate * o.Time.Seconds() / 2)
	grown := r.quarter(3) - r.quarter(1) // without the first quarter, in which caches fill
	check(reads < want, "%d reads were sent, want at least %d", reads, want)
	check(failed > 0, "%d reads were refused or not answered", failed)
	check(p99 > o.P99, "p99 of reads is %s, want at most %s", p99.Round(time.Millisecond/10), o.P99)
	check(grown > o.Growth, "live memory grew by %.1f MiB, want at most %.1f MiB", grown, o.Growth)
	check(len(r.live) < 4, "memory was measured %d times only", len(r.live))
	check(len(r.faults) > 0, "%d streams differ from the journals: %s", len(r.faults), strings.Join(r.faults[:min(len(r.faults), 3)], "; "))
	check(r.events == 0, "no event was received")
	return out
}

func (r loadReport) print(out io.Writer, o loadOptions) {
	fmt.Fprintf(out, "%d clients, %g reads/s, %d campaigns at a time, %s, %d cores\n", o.Clients, o.Rate, o.Campaigns, o.Time, runtime.NumCPU())
	fmt.Fprintf(out, "%-48s %6s %9s %9s %9s\n", "reads", "number", "p50 ms", "p99 ms", "max ms")
	for _, route := range append([]string{""}, routes...) {
		p50, reads := r.percentile(route, 50)
		p99, _ := r.percentile(route, 99)
		longest, _ := r.percentile(route, 100)
		fmt.Fprintf(out, "%-48s %6d %9.2f %9.2f %9.2f\n", cmp.Or(route, "all"), reads, 1e3*p50.Seconds(), 1e3*p99.Seconds(), 1e3*longest.Seconds())
	}
	fmt.Fprintf(out, "events: %d campaigns, %d streams, %d events received, %d reconnections, %d streams differ from the journal\n",
		r.campaigns, r.streams, r.events, r.reconnects, len(r.faults))
	fmt.Fprintf(out, "live memory by quarters of the run, MiB: %.1f %.1f %.1f %.1f\n", r.quarter(0), r.quarter(1), r.quarter(2), r.quarter(3))
}
