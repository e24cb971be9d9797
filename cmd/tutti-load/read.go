package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// routes are read one after another; {id} is a campaign that runs.
var routes = []string{
	"/api/v1/campaigns",
	"/api/v1/campaigns/{id}",
	"/api/v1/campaigns/{id}/rounds",
	"/api/v1/campaigns/{id}/measurements?limit=100",
	"/api/v1/campaigns/{id}/curve",
	"/api/v1/campaigns/{id}/jobs",
	"/api/v1/campaigns/{id}/files",
	"/api/v1/bases",
	"/api/v1/schedule",
	"/",
}

// learning is read once in learningEvery beside the others, by one client: the
// service fits models when there is something new. It is no part of the target,
// the reads that go on meanwhile are.
const (
	learning      = "/api/v1/campaigns/{id}/selection"
	learningEvery = 5 * time.Second
)

// read is one request and how long it took, from when it was due.
type read struct {
	route  string
	took   time.Duration
	status int // 0 when there was no answer
}

// reader sends reads at a fixed rate, whether or not earlier ones were answered: a
// service that falls behind is seen to.
type reader struct {
	url  string
	keep *keeper
	http *http.Client
	done chan struct{}

	mu     sync.Mutex
	reads  []read
	learnt []read
}

func newReader(url string, k *keeper) *reader {
	return &reader{
		url: url, keep: k, done: make(chan struct{}),
		http: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
}

func (r *reader) run(ctx context.Context, rate float64, deadline time.Time) {
	defer close(r.done)
	var wg sync.WaitGroup
	defer wg.Wait()
	if r.keep.after(ctx, 0, 0) == "" { // no campaign to ask for
		return
	}
	wg.Go(func() { r.learn(ctx, deadline) })
	begin := time.Now()
	for i := 0; ; i++ {
		due := begin.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		if due.After(deadline) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(due)):
		}
		wg.Go(func() { r.one(ctx, i, due) })
	}
}

func (r *reader) one(ctx context.Context, i int, due time.Time) {
	if got, ok := r.get(ctx, routes[i%len(routes)], i/len(routes), due); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.reads = append(r.reads, got)
	}
}

// learn reads selections, of the campaigns in turn.
func (r *reader) learn(ctx context.Context, deadline time.Time) {
	for i := 0; time.Now().Before(deadline) && ctx.Err() == nil; i++ {
		if got, ok := r.get(ctx, learning, i, time.Now()); ok && got.status == http.StatusOK {
			r.learnt = append(r.learnt, got)
		}
		time.Sleep(learningEvery)
	}
}

// get reads a route of the n-th campaign that runs; there may be none by now.
func (r *reader) get(ctx context.Context, route string, n int, due time.Time) (read, bool) {
	one := read{route: route}
	id := r.keep.latest(n)
	if id == "" {
		return one, false
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+strings.Replace(one.route, "{id}", id, 1), nil)
	if err != nil {
		panic(err) // of our own making
	}
	if resp, err := r.http.Do(req); err == nil {
		if _, err := io.Copy(io.Discard, resp.Body); err == nil {
			one.status = resp.StatusCode
		}
		resp.Body.Close()
	}
	one.took = time.Since(due)
	return one, true
}

// wait returns the reads and those that made the service learn.
func (r *reader) wait() (reads, learnt []read) {
	<-r.done
	return r.reads, r.learnt
}
