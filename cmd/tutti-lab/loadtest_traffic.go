package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// campaigns keeps one campaign running on every machine. At the deadline it cancels the campaigns that still
// run.
type campaigns struct {
	client   *client
	deadline time.Time

	mu      sync.Mutex
	ids     [][]string // ids of campaigns by machine, in the order of creation
	done    bool       // no more campaigns will be created
	err     error
	changed chan struct{} // closed and replaced at every change
}

func newCampaigns(c *client, machines int, deadline time.Time) *campaigns {
	return &campaigns{client: c, deadline: deadline, ids: make([][]string, machines), changed: make(chan struct{})}
}

func (c *campaigns) run(ctx context.Context) {
	var machines sync.WaitGroup
	for machine := range c.ids {
		machines.Go(func() {
			for seed := 1; time.Now().Before(c.deadline) && ctx.Err() == nil; seed++ {
				if err := c.runOne(ctx, machine, seed); err != nil {
					c.update(func() { c.err = errors.Join(c.err, err) })
					return
				}
			}
		})
	}
	machines.Wait()
	c.update(func() { c.done = true })
}

// update calls the function change, which may change the fields of c. Then it wakes up all goroutines that
// wait for a change.
func (c *campaigns) update(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// runOne creates a campaign and waits until it ends.
func (c *campaigns) runOne(ctx context.Context, machine, seed int) error {
	request := fmt.Sprintf(`{"base":%q,"name":"load %d","set":{"seed":"%d"}}`, baseName(machine), seed, 100*machine+seed)
	created, _, err := c.client.call(ctx, http.MethodPost, "", []byte(request))
	if err != nil {
		return err
	}
	c.update(func() { c.ids[machine] = append(c.ids[machine], created.ID) })
	for cancelled := false; ; time.Sleep(200 * time.Millisecond) {
		now, _, err := c.client.call(ctx, http.MethodGet, "/"+created.ID, nil)
		switch {
		case err != nil:
			return err
		case now.State == "failed":
			return fmt.Errorf("campaign %s failed: %s", created.ID, now.Error)
		case now.State == "done", now.State == "cancelled":
			return nil
		}
		if !cancelled && time.Now().After(c.deadline) {
			_, status, err := c.client.call(ctx, http.MethodPost, "/"+created.ID+"/cancel", nil)
			if err != nil && status != http.StatusConflict { // a conflict means that the campaign has just ended
				return err
			}
			cancelled = true
		}
	}
}

// next waits until campaign n of a machine exists and returns its ID. It returns "" if there will be no
// such campaign.
func (c *campaigns) next(ctx context.Context, machine, n int) string {
	for {
		c.mu.Lock()
		ids, done, changed := c.ids[machine], c.done, c.changed
		c.mu.Unlock()
		switch {
		case len(ids) > n:
			return ids[n]
		case done:
			return ""
		}
		select {
		case <-ctx.Done():
			return ""
		case <-changed:
		}
	}
}

// latest returns the newest campaign of a machine, "" if there is none yet. The index of the machine is i
// modulo the number of machines.
func (c *campaigns) latest(i int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := c.ids[i%len(c.ids)]
	if len(ids) == 0 {
		return ""
	}
	return ids[len(ids)-1]
}

func (c *campaigns) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(slices.Concat(c.ids...))
}

// routes lists the paths that a reader requests in turn. {id} stands for the ID of a running campaign.
var routes = []string{
	"/api/v1/campaigns",
	"/api/v1/campaigns/{id}",
	"/api/v1/campaigns/{id}/measurements?limit=100",
	"/api/v1/campaigns/{id}/files",
	"/api/v1/bases",
	"/api/v1/schedule",
	"/",
}

// selectionRoute is requested only once in each selectionInterval, because the service trains models for
// the response. Its latency has no target.
const (
	selectionRoute    = "/api/v1/campaigns/{id}/selection"
	selectionInterval = 5 * time.Second
)

// read is one request that reads data, with its latency.
type read struct {
	route   string
	latency time.Duration // since the time at which the request was due
	status  int           // 0 without a response
}

// reader sends read requests at a fixed rate. It does not wait for a response before the next request.
type reader struct {
	client    *client
	campaigns *campaigns

	mu         sync.Mutex
	reads      []read
	selections []read
}

func (r *reader) run(ctx context.Context, rate float64, deadline time.Time) {
	var tasks sync.WaitGroup
	defer tasks.Wait()
	if r.campaigns.next(ctx, 0, 0) == "" {
		return
	}
	tasks.Go(func() { r.readSelections(ctx, deadline) })
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
		tasks.Go(func() {
			one := r.read(ctx, routes[i%len(routes)], i/len(routes), due)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.reads = append(r.reads, one)
		})
	}
}

func (r *reader) readSelections(ctx context.Context, deadline time.Time) {
	for i := 0; time.Now().Before(deadline) && ctx.Err() == nil; i++ {
		if one := r.read(ctx, selectionRoute, i, time.Now()); one.status == http.StatusOK {
			r.selections = append(r.selections, one)
		}
		time.Sleep(selectionInterval)
	}
}

func (r *reader) read(ctx context.Context, route string, i int, due time.Time) read {
	status, err := r.client.get(ctx, strings.Replace(route, "{id}", r.campaigns.latest(i), 1), io.Discard)
	if err != nil {
		status = 0
	}
	return read{route: route, latency: time.Since(due), status: status}
}

// stream summarizes the events of one campaign that one client received.
type stream struct {
	campaign string
	events   int64
	hash     uint64 // of all data in order; the journal has the same hash unless events were lost, repeated or changed
	err      error
}

// watchers are clients that watch campaigns. Each client watches the campaigns of one machine from the
// first to the last event, and drops its connection at random times.
type watchers struct {
	service   *loadService
	options   loadOptions
	campaigns *campaigns

	mu         sync.Mutex
	streams    []stream
	reconnects int
}

func (w *watchers) run(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, w.options.Time+2*time.Minute)
	defer cancel()
	var clients sync.WaitGroup
	for i := range w.options.Clients {
		clients.Go(func() { w.runClient(ctx, i) })
	}
	clients.Wait()
}

func (w *watchers) runClient(ctx context.Context, i int) {
	random := rand.New(rand.NewPCG(1, uint64(i)))
	c := w.service.client()
	for n := 0; ; n++ {
		id := w.campaigns.next(ctx, i%w.options.Campaigns, n)
		if id == "" {
			return
		}
		got, reconnects := w.watch(ctx, c, id, random)
		w.mu.Lock()
		w.streams = append(w.streams, got)
		w.reconnects += reconnects
		w.mu.Unlock()
	}
}

// watch receives all events of a campaign. It reconnects after each dropped connection.
func (w *watchers) watch(ctx context.Context, c *client, id string, random *rand.Rand) (got stream, reconnects int) {
	got.campaign = id
	hash := fnv.New64a()
	for ; ; reconnects++ {
		connection, cancel := context.WithTimeout(ctx, time.Duration(random.ExpFloat64()*float64(w.options.Drop)))
		got.err = c.watch(connection, id, got.events, func(number int64, data []byte) {
			hash.Write(data)
			hash.Write([]byte("\n"))
			got.events = number
		})
		dropped := connection.Err() != nil && ctx.Err() == nil
		cancel()
		if got.err == nil || !dropped {
			got.hash = hash.Sum64()
			return got, reconnects
		}
	}
}

// comparison is the result of comparing the received streams with the journals.
type comparison struct {
	streams    int
	events     int64 // received by all clients together
	reconnects int
	faults     []string // a message for each stream that differs from its journal
}

func (w *watchers) compare() comparison {
	out := comparison{streams: len(w.streams), reconnects: w.reconnects}
	journals := map[string]stream{}
	for _, got := range w.streams {
		want, ok := journals[got.campaign]
		if !ok {
			want = w.readJournal(got.campaign)
			journals[got.campaign] = want
		}
		out.events += got.events
		if err := cmp.Or(got.err, want.err); err != nil {
			out.faults = append(out.faults, fmt.Sprintf("campaign %s after %d events: %v", got.campaign, got.events, err))
		} else if got != want {
			out.faults = append(out.faults, fmt.Sprintf("campaign %s: %d events for %d lines (hash %x, %x)", got.campaign, got.events, want.events, got.hash, want.hash))
		}
	}
	want := 0
	for i := range w.options.Clients {
		want += len(w.campaigns.ids[i%w.options.Campaigns])
	}
	if len(w.streams) != want {
		out.faults = append(out.faults, fmt.Sprintf("%d streams ended, want %d", len(w.streams), want))
	}
	return out
}

// readJournal returns the stream that a client of a campaign should receive.
func (w *watchers) readJournal(id string) stream {
	content, err := os.ReadFile(w.service.journal(id))
	hash := fnv.New64a()
	hash.Write(content)
	return stream{campaign: id, events: int64(bytes.Count(content, []byte("\n"))), hash: hash.Sum64(), err: err}
}
