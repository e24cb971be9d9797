package browser_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tutti/internal/config"
	"tutti/journal"
	"tutti/service"
	"tutti/service/api"
)

// fake is a service whose campaigns follow a script. It publishes the lines of a journal with pauses, so
// that within a second a browser shows jobs, failures and evaluations.
type fake struct {
	api.Backend // nil, because the page calls no other method

	pause time.Duration // between two lines
	stop  context.CancelFunc
	ctx   context.Context
	tasks sync.WaitGroup

	mu          sync.Mutex
	campaigns   []*fakeCampaign // newest first
	feed        *feed
	requests    []service.Request
	keys        map[string]string
	createError error // returned by Create if not nil
	online      []service.SampleStatus
	failures    atomic.Int32 // number of calls of Selection and Predictions that fail
}

// fakeCampaign is a campaign of the fake, with its script and the events published so far.
type fakeCampaign struct {
	service.Campaign
	script *script
	feed   *feed
}

func newFake(t *testing.T, pause time.Duration) *fake {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	f := &fake{pause: pause, ctx: ctx, stop: stop, feed: newFeed(), keys: map[string]string{}}
	t.Cleanup(func() { stop(); f.tasks.Wait() })
	return f
}

// startTime is when the fake's campaigns start. It is relative to the current time, so that all screenshots
// show the same ages.
var startTime = time.Now().UTC().Add(-26 * time.Minute).Truncate(time.Second)

// add adds a campaign and publishes the first lines of its script, or all lines if `lines` is negative. The
// factor drift multiplies the time that its machine takes per byte.
func (f *fake) add(id, name string, state service.State, drift float64, lines int) *fakeCampaign {
	p := &fakeCampaign{
		Campaign: service.Campaign{
			ID: id, Name: name, Base: "night", Machine: "cluster B, 32 nodes of 32 cores", State: state, Exit: -1, Reason: "requested",
			Created: startTime, Started: startTime.Add(3 * time.Second), NodeHours: 40,
		},
		script: newScript(name, drift), feed: newFeed(),
	}
	if lines < 0 || lines > len(p.script.lines) {
		lines = len(p.script.lines)
	}
	for _, l := range p.script.lines[:lines] {
		f.line(p, l)
	}
	if state.Over() {
		p.Exit, p.Ended = 0, startTime.Add(19*time.Minute)
		p.Converged = state == service.Done
		p.feed.end()
	}
	f.mu.Lock()
	f.campaigns = slices.Insert(f.campaigns, 0, p)
	f.mu.Unlock()
	f.publish(p)
	return p
}

// play publishes the remaining lines of a campaign's script in the background.
func (f *fake) play(p *fakeCampaign) {
	f.tasks.Go(func() {
		for _, l := range p.script.lines[p.feed.len():] {
			select {
			case <-f.ctx.Done():
				return
			case <-time.After(f.pause):
			}
			f.line(p, l)
		}
		f.mu.Lock()
		p.State, p.Converged, p.Exit, p.Ended = service.Done, true, 0, time.Now().UTC()
		f.mu.Unlock()
		p.feed.end()
		f.publish(p)
	})
}

// line publishes one line of the script.
func (f *fake) line(p *fakeCampaign, l scripted) {
	f.mu.Lock()
	p.Progress = l.progress
	f.mu.Unlock()
	p.feed.add(l.kind, l.data)
	if l.kind == string(journal.KindEvaluation) || l.kind == string(journal.KindStop) {
		f.publish(p)
	}
}

func (f *fake) publish(p *fakeCampaign) {
	f.mu.Lock()
	data, err := json.Marshal(p.Campaign)
	f.mu.Unlock()
	if err != nil {
		panic(err)
	}
	f.feed.add("campaign", data)
}

func (f *fake) find(id string) (*fakeCampaign, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.campaigns {
		if p.ID == id {
			return p, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", service.ErrNoCampaign, id)
}

func (f *fake) Campaigns() []service.Campaign {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := []service.Campaign{}
	for _, p := range f.campaigns {
		list = append(list, p.Campaign)
	}
	return list
}

func (f *fake) Campaign(id string) (service.Campaign, error) {
	p, err := f.find(id)
	if err != nil {
		return service.Campaign{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return p.Campaign, nil
}

func (f *fake) Create(_ context.Context, r service.Request, key string) (service.Campaign, bool, error) {
	f.mu.Lock()
	f.requests = append(f.requests, r)
	createError, known := f.createError, f.keys[key]
	id := fmt.Sprintf("made%d", len(f.requests))
	if createError == nil && known == "" {
		f.keys[key] = id
	}
	f.mu.Unlock()
	if createError != nil {
		return service.Campaign{}, false, createError
	}
	if known != "" {
		c, err := f.Campaign(known)
		return c, false, err
	}
	p := f.add(id, r.Name, service.Running, 1, 0)
	f.play(p)
	c, err := f.Campaign(id)
	return c, true, err
}

func (f *fake) setState(id string, s service.State) (service.Campaign, error) {
	p, err := f.find(id)
	if err != nil {
		return service.Campaign{}, err
	}
	f.mu.Lock()
	p.State = s
	f.mu.Unlock()
	f.publish(p)
	return f.Campaign(id)
}

func (f *fake) Pause(id string) (service.Campaign, error) {
	return f.setState(id, service.Paused)
}

func (f *fake) Resume(id string) (service.Campaign, error) {
	return f.setState(id, service.Running)
}

func (f *fake) Cancel(id string) (service.Campaign, error) {
	return f.setState(id, service.Cancelled)
}

func (f *fake) Feed(_ context.Context, id string) (service.Feed, error) {
	p, err := f.find(id)
	if err != nil {
		return nil, err
	}
	return p.feed, nil
}

func (f *fake) Events() service.Feed { return f.feed }
func (f *fake) Ready() error         { return nil }

func (f *fake) Bases() []config.Base {
	return []config.Base{
		{Name: "night", Machine: "cluster B, 32 nodes of 32 cores", Runner: "slurm", Libraries: []string{"mpich", "openmpi"}, Collectives: []string{"bcast", "allreduce"}},
		{Name: "demo", Machine: "simulated machine A, 64 nodes of 36 cores", Runner: "replay", Libraries: []string{"mpich"}, Collectives: []string{"bcast", "reduce", "alltoall"}},
	}
}

func (f *fake) Schedule() []service.Scheduled {
	return []service.Scheduled{{Base: "night", Schedule: "30 2 * * 6", TimeZone: "Europe/Berlin", Next: startTime.Add(60 * time.Hour), Last: startTime.Add(-108 * time.Hour), Decision: "campaign c3: the last one ended 31 d ago"}}
}

func (f *fake) Samples() []service.SampleStatus { return f.online }

func (f *fake) NodeHours() service.NodeHours {
	return service.NodeHours{Campaign: 40, Day: 120, Spent: 83.8, Reserved: 26.2, Remaining: 10, Until: startTime.Add(14 * time.Hour)}
}

func (f *fake) Problems(context.Context, string) ([]journal.Problem, error) { return problems, nil }

func (f *fake) Selection(_ context.Context, id string, p journal.Problem) (service.Selection, error) {
	if f.failures.Add(-1) >= 0 {
		return service.Selection{}, errors.New("not now")
	}
	c, err := f.find(id)
	if err != nil {
		return service.Selection{}, err
	}
	if c.feed.len() < 40 {
		return service.Selection{}, service.ErrNotYet
	}
	return service.Selection{Problem: p, Round: c.feed.len(), Choices: c.script.choices(p, c.feed.len())}, nil
}

func (f *fake) Predictions(_ context.Context, id string, p journal.Problem) ([]service.Prediction, error) {
	if f.failures.Add(-1) >= 0 {
		return nil, errors.New("not now")
	}
	c, err := f.find(id)
	if err != nil {
		return nil, err
	}
	return c.script.predictions(p, c.feed.len()), nil
}

const tree = `{"collective":"bcast"}` + "\n"

func (f *fake) Files(id string) ([]service.File, error) {
	c, err := f.Campaign(id)
	if err != nil || !c.State.Over() {
		return nil, err
	}
	return []service.File{
		{Name: "mpich.json", Size: int64(len(tree)), Type: "application/json"}, {Name: "mpich.env", Size: 83, Type: "text/plain"},
		{Name: "openmpi.rules", Size: 7214, Type: "text/plain"}, {Name: "report.html", Size: 156154, Type: "text/html"}, {Name: "curve.csv", Size: 9028, Type: "text/csv"},
	}, nil
}

type closing struct{ *bytes.Reader }

func (closing) Close() error { return nil }

func (f *fake) Open(id, name string) (io.ReadSeekCloser, service.File, error) {
	files, err := f.Files(id)
	if err != nil {
		return nil, service.File{}, err
	}
	i := slices.IndexFunc(files, func(f service.File) bool { return f.Name == name })
	if i != 0 {
		return nil, service.File{}, fs.ErrNotExist
	}
	return closing{bytes.NewReader([]byte(tree))}, files[0], nil
}

// feed is a service.Feed that keeps its events in memory.
type feed struct {
	mu     sync.Mutex
	events []service.Event
	more   chan struct{}
	ended  bool
}

func newFeed() *feed { return &feed{more: make(chan struct{})} }

func (r *feed) add(kind string, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, service.Event{Seq: int64(len(r.events) + 1), Type: kind, Time: time.Now(), Data: data})
	r.wake()
}

func (r *feed) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	r.wake()
}

func (r *feed) wake() {
	close(r.more)
	r.more = make(chan struct{})
}

func (r *feed) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events)
}

func (r *feed) After(seq int64, limit int) ([]service.Event, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events[min(int(seq), len(r.events)):]
	if limit > 0 && len(events) > limit {
		events = events[:limit]
	}
	return events, r.more
}

func (r *feed) Last() int64 { return int64(r.len()) }

func (r *feed) Ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

func byPoint(a, b service.Choice) int {
	return cmp.Or(cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(a.PPN, b.PPN), cmp.Compare(a.MsgBytes, b.MsgBytes))
}
