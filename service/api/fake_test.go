package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/online"
	"tutti/service"
)

var bcast = journal.Problem{Library: "mpich", Collective: "bcast"}

// fake is a Backend that keeps its campaigns in memory. Each campaign has one problem.
type fake struct {
	mu        sync.Mutex
	campaigns []service.Campaign // newest first
	feeds     map[string]*feed
	events    *feed
	keys      map[string]service.Request
	made      map[string]string // campaign ID by idempotency key
	measured  []service.Measurement
	reads     int // calls of Measurements
	files     map[string]string
	private   []string // names of private files
	err       error    // returned by Create, Pause, Resume and Cancel
	ready     error
}

func newFake() *fake {
	f := &fake{feeds: map[string]*feed{}, events: newFeed(), keys: map[string]service.Request{}, made: map[string]string{}, files: map[string]string{}}
	f.add("c1", service.Done)
	f.add("c2", service.Running)
	return f
}

func (f *fake) add(id string, state service.State) service.Campaign {
	c := service.Campaign{
		ID: id, Name: "night " + id, Base: "small", Machine: "recorded", State: state, Exit: -1, Reason: "requested",
		Created: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Started: time.Date(2026, 3, 1, 12, 0, 20, 0, time.UTC),
		Progress: service.Progress{
			Records: 9, Rounds: 3, Trials: 12, FailedTrials: 3, Failures: map[string]int{"launch": 2, "other": 1}, MachineSeconds: 40, NodeSeconds: 160,
			Slowdown: 1.04, Jobs: 1,
		},
	}
	if state.Over() {
		c.Exit = 0
	}
	f.campaigns = slices.Insert(f.campaigns, 0, c)
	f.feeds[id] = newFeed()
	return c
}

func (f *fake) Campaigns() []service.Campaign {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.campaigns)
}

func (f *fake) Campaign(id string) (service.Campaign, error) {
	for _, c := range f.Campaigns() {
		if c.ID == id {
			return c, nil
		}
	}
	return service.Campaign{}, fmt.Errorf("%w: %q", service.ErrNoCampaign, id)
}

func (f *fake) Create(_ context.Context, r service.Request, key string) (service.Campaign, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return service.Campaign{}, false, f.err
	}
	if r.Base != "small" {
		return service.Campaign{}, false, fmt.Errorf("%w: %q", service.ErrNoBase, r.Base)
	}
	if v, ok := r.Set["stop.slowdown"]; ok && strings.HasPrefix(v, "-") {
		return service.Campaign{}, false, &config.FieldError{Field: "set.stop.slowdown", Text: "want more than 1"}
	}
	if old, used := f.keys[key]; key != "" && used {
		if fmt.Sprint(old) != fmt.Sprint(r) {
			return service.Campaign{}, false, service.ErrKey
		}
		i := slices.IndexFunc(f.campaigns, func(c service.Campaign) bool { return c.ID == f.made[key] })
		return f.campaigns[i], false, nil
	}
	c := f.add(fmt.Sprintf("c%d", len(f.campaigns)+1), service.Queued)
	f.campaigns[0].Name = r.Name
	f.keys[key], f.made[key] = r, c.ID
	return f.campaigns[0], true, nil
}

func (f *fake) setState(id string, from, to service.State) (service.Campaign, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return service.Campaign{}, f.err
	}
	for i, c := range f.campaigns {
		if c.ID != id {
			continue
		}
		if c.State != from {
			return c, fmt.Errorf("%w: campaign %s is %s", service.ErrState, id, c.State)
		}
		f.campaigns[i].State = to
		return f.campaigns[i], nil
	}
	return service.Campaign{}, service.ErrNoCampaign
}

func (f *fake) Pause(id string) (service.Campaign, error) {
	return f.setState(id, service.Running, service.Paused)
}

func (f *fake) Resume(id string) (service.Campaign, error) {
	return f.setState(id, service.Paused, service.Running)
}

func (f *fake) Cancel(id string) (service.Campaign, error) {
	return f.setState(id, service.Running, service.Cancelled)
}

func (f *fake) Feed(_ context.Context, id string) (service.Feed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one, ok := f.feeds[id]; ok {
		return one, nil
	}
	return nil, service.ErrNoCampaign
}

func (f *fake) Events() service.Feed { return f.events }

func (f *fake) Bases() []config.Base {
	return []config.Base{{Name: "small", Machine: "recorded", Runner: "replay", Libraries: []string{"mpich"}, Collectives: []string{"bcast"}, File: "/etc/secret/small.yaml"}}
}

func (f *fake) Schedule() []service.Scheduled { return []service.Scheduled{} }

func (f *fake) Samples() []service.SampleStatus {
	return []service.SampleStatus{{
		SampleFolder: config.SampleFolder{Name: "production", Folder: "/hunter2/learned", Base: "small"}, Error: "open /hunter2/learned: permission denied",
		Report: &online.Report{
			Time: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Calls: 120, AllJobs: 2, Price: online.Price{Cost: 0.02, OverDefault: 0.75}, Jobs: []online.JobReport{{File: "hunter2-4711-1-0.samples", Calls: 60}},
			TimeChanges: []online.TimeChange{{Job: "hunter2-4711-1-0.samples", Factor: 2}},
			Classes:     []online.ClassReport{{Point: candidate(1).Point, Calls: 120, Selected: candidate(1).Algorithm, Faster: 1.5, Of: 4}},
			Drift:       []online.SourceDrift{{Source: "/hunter2/measured.csv", Candidates: 3, Change: 0.2, Ratio: 1.1}},
		},
	}}
}

func (f *fake) NodeHours() service.NodeHours {
	return service.NodeHours{Campaign: 10, Day: 24, Spent: 3, Reserved: 12, Remaining: 9, Until: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}
}

func candidate(i int) coll.Candidate {
	return coll.Candidate{
		Point:     coll.Point{Collective: "bcast", Nodes: 2, PPN: 4, MsgBytes: int64(8 * (i + 1))},
		Algorithm: coll.Algorithm{Name: "binomial"},
	}
}

func (f *fake) Measurements(_ context.Context, id string, after int64) (iter.Seq2[service.Measurement, error], error) {
	f.reads++
	_, err := f.Campaign(id)
	return func(yield func(service.Measurement, error) bool) {
		for _, m := range f.measured {
			if m.Seq > after && !yield(m, nil) {
				return
			}
		}
	}, err
}

// measure adds n measurements, alternately for two libraries.
func (f *fake) measure(n int) {
	for i := range n {
		m := service.Measurement{Seq: int64(3 + 2*i), Library: []string{"mpich", "openmpi"}[i%2], Round: 1 + i/10}
		m.Candidate = candidate(i)
		m.Seconds, m.CostSeconds, m.Samples = 1e-6*float64(i+1), 0.5, 0
		f.measured = append(f.measured, m)
	}
}

func (f *fake) Problems(_ context.Context, id string) ([]journal.Problem, error) {
	_, err := f.Campaign(id)
	return []journal.Problem{bcast, {Library: "openmpi", Collective: "bcast"}}, err
}

func (f *fake) Selection(_ context.Context, id string, p journal.Problem) (service.Selection, error) {
	if _, err := f.Campaign(id); err != nil {
		return service.Selection{}, err
	}
	if p != bcast {
		return service.Selection{}, service.ErrNotYet
	}
	return service.Selection{Problem: p, Round: 3, Choices: []service.Choice{{Nodes: 2, PPN: 4, MsgBytes: 8, Algorithm: "binomial"}}}, nil
}

func (f *fake) Predictions(_ context.Context, id string, p journal.Problem) ([]service.Prediction, error) {
	if _, err := f.Campaign(id); err != nil {
		return nil, err
	}
	if p != bcast {
		return nil, service.ErrNoProblem
	}
	return []service.Prediction{{Nodes: 2, PPN: 4, MsgBytes: 8, Algorithm: "binomial", Seconds: 1e-6}}, nil
}

func (f *fake) Files(id string) ([]service.File, error) {
	_, err := f.Campaign(id)
	files := []service.File{{Name: "mpich/bcast.json", Size: 2, Type: "application/json"}}
	for _, name := range f.private {
		files = append(files, service.File{Name: name, Private: true})
	}
	return files, err
}

type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }

func (f *fake) Open(id, name string) (io.ReadSeekCloser, service.File, error) {
	if _, err := f.Campaign(id); err != nil {
		return nil, service.File{}, err
	}
	content, ok := f.files[name]
	if !ok {
		return nil, service.File{}, fmt.Errorf("%w: %q", service.ErrNoFile, name)
	}
	return memoryFile{bytes.NewReader([]byte(content))}, service.File{Name: name, Type: "text/html", Private: slices.Contains(f.private, name)}, nil
}

func (f *fake) Ready() error { return f.ready }

// feed is a service.Feed that keeps its events in memory.
type feed struct {
	mu    sync.Mutex
	all   []service.Event
	more  chan struct{}
	ended bool
}

func newFeed() *feed { return &feed{more: make(chan struct{})} }

func (f *feed) After(seq int64, limit int) ([]service.Event, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	part := f.all[min(int(seq), len(f.all)):]
	if limit > 0 && len(part) > limit {
		part = part[:limit]
	}
	return part, f.more
}

func (f *feed) Last() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(len(f.all))
}

func (f *feed) Ended() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// grow adds n events to the feed. If end is true, it then ends the feed.
func (f *feed) grow(n int, end bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range n {
		seq := int64(len(f.all) + 1)
		f.all = append(f.all, service.Event{Seq: seq, Type: "trial", Data: json.RawMessage(fmt.Sprintf(`{"kind":"trial","n":%d}`, seq))})
	}
	f.ended = end
	close(f.more)
	f.more = make(chan struct{})
}
