package main

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"tutti/service"
	"tutti/service/client"
)

// seen is what one client saw of one campaign: how many events, and a hash of all
// their data in order. That of a journal is the same when nothing is lost, twice
// or changed.
type seen struct {
	campaign string
	events   int64
	hash     uint64
	err      error
}

// watched sums up what the clients saw.
type watched struct {
	clients   int
	streams   int // client x campaign, from the first event to the end
	events    int64
	reconnect int64
	faults    []string
}

// watchers are clients that see every campaign of a machine from its first event
// to its end, and drop their connection now and then.
type watchers struct {
	s    *served
	p    load
	keep *keeper

	mu        sync.Mutex
	seen      []seen
	reconnect int64
}

func newWatchers(s *served, p load, k *keeper) *watchers {
	return &watchers{s: s, p: p, keep: k}
}

func (w *watchers) run(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, w.p.time+2*time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for i := range w.p.clients {
		wg.Go(func() { w.one(ctx, i) })
	}
	wg.Wait()
}

// one is one client. It sees every campaign of its machine.
func (w *watchers) one(ctx context.Context, i int) {
	random := rand.New(rand.NewPCG(1, uint64(i)))
	c, err := w.s.client()
	if err != nil {
		panic(err) // the address has been used already
	}
	for n := 0; ; n++ {
		id := w.keep.after(ctx, i%w.p.machines, n)
		if id == "" {
			return
		}
		got, drops := w.follow(ctx, c, id, random)
		w.mu.Lock()
		w.seen = append(w.seen, got)
		w.reconnect += drops
		w.mu.Unlock()
	}
}

// follow sees a campaign to its end.
func (w *watchers) follow(ctx context.Context, c *client.Client, id string, random *rand.Rand) (got seen, drops int64) {
	got.campaign = id
	hash := fnv.New64a()
	for {
		until, cancel := context.WithTimeout(ctx, time.Duration(random.ExpFloat64()*float64(w.p.drop)))
		got.err = c.Watch(until, id, got.events, func(e service.Event) error {
			hash.Write(e.Data)
			hash.Write([]byte("\n"))
			got.events = e.Seq
			return nil
		})
		dropped := until.Err() != nil && ctx.Err() == nil
		cancel()
		if got.err == nil || !dropped {
			got.hash = hash.Sum64()
			return got, drops
		}
		drops++
	}
}

// check holds what everybody saw against the journals.
func (w *watchers) check() watched {
	out := watched{clients: w.p.clients, streams: len(w.seen), reconnect: w.reconnect}
	journals := map[string]seen{}
	for _, s := range w.seen {
		want, known := journals[s.campaign]
		if !known {
			want = w.lines(s.campaign)
			journals[s.campaign] = want
		}
		out.events += s.events
		switch {
		case s.err != nil:
			out.faults = append(out.faults, fmt.Sprintf("campaign %s: %v after %d events", s.campaign, s.err, s.events))
		case want.err != nil:
			out.faults = append(out.faults, want.err.Error())
		case s.events != want.events || s.hash != want.hash:
			out.faults = append(out.faults, fmt.Sprintf("campaign %s: %d events for %d lines (hash %x, %x)", s.campaign, s.events, want.events, s.hash, want.hash))
		}
	}
	if want := w.keep.watched(w.p.clients); len(w.seen) != want {
		out.faults = append(out.faults, fmt.Sprintf("%d streams were seen to the end, want %d", len(w.seen), want))
	}
	return out
}

// lines sums up the journal of a campaign as its file is.
func (w *watchers) lines(id string) seen {
	content, err := os.ReadFile(w.s.journal(id))
	hash := fnv.New64a()
	hash.Write(content)
	return seen{campaign: id, events: int64(bytes.Count(content, []byte("\n"))), hash: hash.Sum64(), err: err}
}
