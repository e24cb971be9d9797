package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// figures are what one run of the load gave.
type figures struct {
	cores     int
	before    string // load average of the machine
	reads     []read
	learnt    []read // those that made it learn
	memory    []weight
	campaigns []string
	watched   watched
}

// quantile returns the q-th part of sorted times, the nearest rank; 0 for none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// times returns the sorted latencies of the reads of a route, "" for all.
func times(reads []read, route string) []time.Duration {
	var out []time.Duration
	for _, r := range reads {
		if route == "" || r.route == route {
			out = append(out, r.took)
		}
	}
	slices.Sort(out)
	return out
}

// bad counts the reads that were not answered with 200.
func (f *figures) bad() int {
	n := 0
	for _, r := range f.reads {
		if r.status != 200 {
			n++
		}
	}
	return n
}

// quarter is the mean resident and the least live memory of the n-th quarter of
// the run; zeros for too short a run. The least, because what is being answered
// or learnt is live, too.
func (f *figures) quarter(n int) weight {
	part := f.memory[n*len(f.memory)/4 : (n+1)*len(f.memory)/4]
	if len(part) == 0 {
		return weight{}
	}
	out := part[0]
	out.resident = 0
	for _, v := range part {
		out.resident += v.resident
		out.live = min(out.live, v.live)
	}
	out.resident /= int64(len(part))
	return out
}

// grown is by how many bytes live memory grew from the second quarter to the last:
// the first is when everything is filled.
func (f *figures) grown() int64 { return f.quarter(3).live - f.quarter(1).live }

// missed lists the targets that were missed.
func (f *figures) missed(p load) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	all := times(f.reads, "")
	if want := int(p.rate * p.time.Seconds() / 2); len(all) < want {
		add("%d reads were sent, want at least %d", len(all), want)
	}
	if n := f.bad(); n > 0 {
		add("%d reads were refused or not answered", n)
	}
	if p99 := quantile(all, 0.99); p99 > p.p99 {
		add("p99 of reads is %s, want at most %s", p99.Round(time.Millisecond/10), p.p99)
	}
	if g := float64(f.grown()) / mib; g > p.growth {
		add("live memory grew by %.1f MiB, want at most %.1f MiB", g, p.growth)
	}
	if len(f.memory) < 4 {
		add("memory was seen %d times only", len(f.memory))
	}
	if n := len(f.watched.faults); n > 0 {
		add("%d streams were not what the journals say: %s", n, strings.Join(f.watched.faults[:min(n, 3)], "; "))
	}
	if f.watched.events == 0 {
		add("no event was seen")
	}
	return out
}

const mib = 1 << 20

func (f *figures) print(out io.Writer, p load) {
	fmt.Fprintf(out, "%d clients watched, %g reads/s, %d campaigns at a time, %s, %d cores, load average before %s\n",
		p.clients, p.rate, p.machines, p.time, f.cores, f.before)
	fmt.Fprintf(out, "%-48s %6s %9s %9s %9s\n", "reads", "number", "p50 ms", "p99 ms", "max ms")
	row := func(name string, t []time.Duration) {
		fmt.Fprintf(out, "%-48s %6d %9.2f %9.2f %9.2f\n", name, len(t), ms(quantile(t, 0.5)), ms(quantile(t, 0.99)), ms(quantile(t, 1)))
	}
	row("all", times(f.reads, ""))
	for _, route := range routes {
		row(route, times(f.reads, route))
	}
	row("beside them: "+learning, times(f.learnt, ""))
	w := f.watched
	fmt.Fprintf(out, "events: %d campaigns, %d streams, %d events received, %d reconnections, %d streams not equal to the journal\n",
		len(f.campaigns), w.streams, w.events, w.reconnect, len(w.faults))
	var resident, live []string
	for n := range 4 {
		q := f.quarter(n)
		resident = append(resident, fmt.Sprintf("%.1f", float64(q.resident)/mib))
		live = append(live, fmt.Sprintf("%.1f", float64(q.live)/mib))
	}
	fmt.Fprintf(out, "memory of the service by quarters, MiB: live %s, resident %s\n", strings.Join(live, " "), strings.Join(resident, " "))
}

// loadAverage is that of the last minute, "unknown" where there is none.
func loadAverage() string {
	content, err := os.ReadFile("/proc/loadavg")
	first, _, found := strings.Cut(string(content), " ")
	if err != nil || !found {
		return "unknown"
	}
	return first
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
