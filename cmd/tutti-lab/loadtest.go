package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// loadOptions describe the load on a service and the targets that the service must meet.
type loadOptions struct {
	Program   string        // path of tutti
	Campaign  string        // campaign file on recorded data, run repeatedly with different seeds
	Dir       string        // folder of the service, kept afterwards; "": a temporary folder
	Campaigns int           // number of campaigns at the same time
	Clients   int           // number of clients that watch event streams
	Rate      float64       // reads per second
	Time      time.Duration // duration of the load
	Drop      time.Duration // mean time until a client drops its connection and reconnects
	P99       time.Duration // target: 99th percentile of the latency of reads
	Growth    float64       // target: growth of live memory from the second to the last quarter, MiB
}

// Validate returns an error for options that give no load, such as zero clients.
func (o loadOptions) Validate() error {
	if o.Campaigns < 1 || o.Clients < 1 || o.Rate <= 0 || o.Time < time.Second || o.Drop <= 0 {
		return fmt.Errorf("want at least one campaign, one client, a rate and a drop time above 0, and a second")
	}
	return nil
}

// runLoad puts a service under load. It writes the measured figures to out and returns the targets that the
// service missed.
func runLoad(ctx context.Context, o loadOptions, out io.Writer) (missed []string, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	remove := func() error { return nil }
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp("", "tutti-load-"); err != nil {
			return nil, err
		}
		remove = func() error { return os.RemoveAll(o.Dir) }
	}
	for _, path := range []*string{&o.Program, &o.Campaign, &o.Dir} {
		if *path, err = filepath.Abs(*path); err != nil {
			return nil, err
		}
	}
	r, err := measureLoad(ctx, o)
	if err := cmp.Or(err, remove()); err != nil {
		return nil, err
	}
	r.print(out, o)
	return r.missed(o), nil
}

// measureLoad puts the service under load. Clients that watch campaigns stay connected until all campaigns
// have ended.
func measureLoad(ctx context.Context, o loadOptions) (*loadReport, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	s, err := startService(ctx, o)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	r := &loadReport{loadAverage: loadAverage()}
	deadline := time.Now().Add(o.Time)
	c := newCampaigns(s.client(), o.Campaigns, deadline)
	reads := &reader{client: s.client(), campaigns: c}
	w := &watchers{service: s, options: o, campaigns: c}
	var tasks sync.WaitGroup
	tasks.Go(func() { c.run(ctx) })
	tasks.Go(func() { reads.run(ctx, o.Rate, deadline) })
	tasks.Go(func() { r.memory = s.sampleMemory(ctx, deadline) })
	tasks.Go(func() { w.run(ctx) })
	tasks.Wait()
	r.reads, r.selections = reads.reads, reads.selections
	r.campaigns = c.count()
	r.streams = w.compare()
	return r, cmp.Or(c.err, ctx.Err())
}
