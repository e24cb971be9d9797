package load

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

// campaigns keeps one campaign running on every machine until the deadline. Then it cancels
// them.
type campaigns struct {
	client   *client
	deadline time.Time

	mu      sync.Mutex
	ids     [][]string // by machine, in the order of creation
	done    bool       // no further campaign will be created
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

// update changes the state and wakes the waiting clients.
func (c *campaigns) update(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// runOne creates a campaign and waits until it is over.
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
			if err != nil && status != http.StatusConflict { // a conflict: it has just ended
				return err
			}
			cancelled = true
		}
	}
}

// next waits for the campaign number n of a machine. It returns "" when there will be none.
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

// latest returns the newest campaign of machine i modulo the number of machines, "" before
// there is one.
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

// routes are read in turn; {id} stands for a running campaign.
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

// selectionRoute is read every selectionInterval by one more client, because the service
// trains models to answer. Its latency is no target.
const (
	selectionRoute    = "/api/v1/campaigns/{id}/selection"
	selectionInterval = 5 * time.Second
)

// read is one request.
type read struct {
	route   string
	latency time.Duration // from the time at which the request was due
	status  int           // 0 without an answer
}

// reader sends reads at a fixed rate, whether or not earlier ones were answered.
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

// stream is what one client received of one campaign.
type stream struct {
	campaign string
	events   int64
	hash     uint64 // of all data in order; equal to that of the journal when no event is missing, repeated or changed
	err      error
}

// watchers are clients that watch every campaign of one machine from its first event to its
// end. They drop their connections from time to time.
type watchers struct {
	service   *service
	options   Options
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

// watch receives the events of a campaign through as many connections as it takes.
func (w *watchers) watch(ctx context.Context, c *client, id string, random *rand.Rand) (got stream, reconnects int) {
	got.campaign = id
	hash := fnv.New64a()
	for ; ; reconnects++ {
		until, cancel := context.WithTimeout(ctx, time.Duration(random.ExpFloat64()*float64(w.options.Drop)))
		got.err = c.watch(until, id, got.events, func(number int64, data []byte) {
			hash.Write(data)
			hash.Write([]byte("\n"))
			got.events = number
		})
		dropped := until.Err() != nil && ctx.Err() == nil
		cancel()
		if got.err == nil || !dropped {
			got.hash = hash.Sum64()
			return got, reconnects
		}
	}
}

// comparison is the result of comparing all streams with the journals.
type comparison struct {
	streams    int // clients times campaigns
	events     int64
	reconnects int
	faults     []string // one for each stream that differs from its journal
}

func (w *watchers) compare() comparison {
	out := comparison{streams: len(w.streams), reconnects: w.reconnects}
	journals := map[string]stream{}
	for _, got := range w.streams {
		want, known := journals[got.campaign]
		if !known {
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

// readJournal returns the stream that the journal of a campaign amounts to.
func (w *watchers) readJournal(id string) stream {
	content, err := os.ReadFile(w.service.journal(id))
	hash := fnv.New64a()
	hash.Write(content)
	return stream{campaign: id, events: int64(bytes.Count(content, []byte("\n"))), hash: hash.Sum64(), err: err}
}
