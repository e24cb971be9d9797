package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/online"
	"tutti/report"
	"tutti/service"
)

// fake is a Backend that keeps its campaigns in memory. The lines of their journals come from a script.
type fake struct {
	pause time.Duration // between two lines of the journal of a new campaign; 0: the journal stays empty

	mu        sync.Mutex
	campaigns []*fakeCampaign // newest first
	made      map[string]*fakeCampaign
	requests  []service.Request // of Create
	verified  []service.Verification
	events    *feed
	measured  []service.Measurement
	reads     int // calls of Measurements
	samples   []service.SampleStatus
	files     map[string]string // contents by name, of every campaign that is over
	private   []string          // names of private files
	err       error             // returned by Create, Pause, Resume and Cancel
	failures  atomic.Int32      // number of calls of Selection and Predictions that fail
	ready     error
}

// fakeCampaign is a campaign of the fake, with its script and the events published so far.
type fakeCampaign struct {
	service.Campaign
	script *script
	feed   *feed
}

const tree = `{"collective":"bcast"}` + "\n"

// emptyFake returns a fake without campaigns.
func emptyFake() *fake {
	return &fake{events: newFeed(), made: map[string]*fakeCampaign{}, files: map[string]string{"mpich.json": tree}}
}

// newFake returns a fake with two campaigns: c1, which is done, and c2, which runs and has an empty journal.
func newFake() *fake {
	f := emptyFake()
	f.samples = []service.SampleStatus{secretSamples()}
	f.addCounted("c1", service.Done, -1)
	f.addCounted("c2", service.Running, 0)
	return f
}

// addCounted adds a campaign with fixed numbers as its progress.
func (f *fake) addCounted(id string, state service.State, lines int) *fakeCampaign {
	c := f.add(id, "night "+id, state, 1, lines)
	c.Machine, c.Started = "recorded", c.Created.Add(20*time.Second)
	c.Progress = service.Progress{
		Records: 9, Rounds: 3, Trials: 12, FailedTrials: 3, Failures: map[string]int{"launch": 2, "other": 1}, MachineSeconds: 40, NodeSeconds: 160,
		Slowdown: 1.04, Jobs: 1,
	}
	return c
}

// startTime is when the fake's campaigns start. It is relative to the current time, so that all screenshots
// show the same ages.
var startTime = time.Now().UTC().Add(-26 * time.Minute).Truncate(time.Second)

// add adds a campaign and publishes the first lines of its script, or all lines if `lines` is negative. The
// parameter `drift` is a factor by which its machine takes longer per byte.
func (f *fake) add(id, name string, state service.State, drift float64, lines int) *fakeCampaign {
	c := &fakeCampaign{
		Campaign: service.Campaign{
			ID: id, Name: name, Base: "night", Machine: "cluster B, 32 nodes of 32 cores", State: state, Exit: -1, Reason: "requested",
			Created: startTime, Started: startTime.Add(3 * time.Second), NodeHours: 40,
		},
		script: newScript(name, drift), feed: newFeed(),
	}
	if lines < 0 {
		lines = len(c.script.lines)
	}
	for _, l := range c.script.lines[:lines] {
		f.line(c, l)
	}
	if state.Over() {
		c.Exit, c.Ended, c.Converged = 0, startTime.Add(19*time.Minute), state == service.Done
		c.feed.end()
	} else {
		c.Verify = true
		c.Progress.GoesOn = []string{"mpich bcast: the averages meet the criteria, but they hold with a probability of 71.2 % only, want 80 % (stop.confidence)"}
	}
	if state == service.Done {
		c.Verdicts = []service.Verdict{fakeVerdict("mpich", report.Verified, "2026-03-01"), fakeVerdict("openmpi", report.Predicted, "")}
		c.Verified, c.Next = startTime.Add(25*time.Minute), "mpich: use the files in jobs; openmpi: compare the tuned settings with the library's defaults on the machine"
	}
	f.mu.Lock()
	f.campaigns = slices.Insert(f.campaigns, 0, c)
	f.mu.Unlock()
	f.publish(c)
	return c
}

// fakeVerdict returns the verdict about a library. Its next command is a secret.
func fakeVerdict(library string, evidence report.Evidence, date string) service.Verdict {
	v := report.Verdict{
		Library: library, Evidence: evidence, Date: date, Gain: &report.Gain{Value: 0.129, Low: 0.112, High: 0.148}, Changed: 120, Points: 448,
		Slower: &report.SlowerShare{Of: 62}, Cost: report.Cost{Tuning: 40000, Verification: 21000},
		Next: report.NextStep{Why: "compare the tuned settings with the library's defaults on the machine", Command: "tutti verify"},
		Riskiest: []report.RiskyPoint{
			{Point: coll.Point{Collective: coll.Bcast, Nodes: 16, PPN: 32, MsgBytes: 65536}, Algorithm: "scatter_ring_allgather", Risk: 0.03, Ratio: 1.03, Evidence: report.Measured},
			{Point: coll.Point{Collective: coll.Allreduce, Nodes: 2, PPN: 1, MsgBytes: 8}, Algorithm: "recursive_doubling", Risk: 0.002, Evidence: report.Predicted},
		},
	}
	return service.Verdict{Verdict: v, GainText: v.GainText(), SlowerText: v.SlowerText(), CostText: v.Cost.Text(), Command: v.Next.In("/srv/secret/campaigns/c1/results")}
}

// play publishes the lines of a campaign's script in the background.
func (f *fake) play(c *fakeCampaign) {
	go func() {
		for _, l := range c.script.lines {
			time.Sleep(f.pause)
			f.line(c, l)
		}
		f.mu.Lock()
		c.State, c.Converged, c.Exit, c.Ended = service.Done, true, 0, time.Now().UTC()
		f.mu.Unlock()
		c.feed.end()
		f.publish(c)
	}()
}

// line performs one line of the script: it sets the campaign's progress and publishes the line's event.
func (f *fake) line(c *fakeCampaign, l scripted) {
	f.mu.Lock()
	c.Progress = l.progress
	f.mu.Unlock()
	c.feed.add(l.kind, l.data)
	if l.kind == string(journal.KindEvaluation) || l.kind == string(journal.KindStop) {
		f.publish(c)
	}
}

func (f *fake) publish(c *fakeCampaign) {
	f.mu.Lock()
	data, err := json.Marshal(c.Campaign)
	f.mu.Unlock()
	if err != nil {
		panic(err)
	}
	f.events.add("campaign", data)
}

func (f *fake) find(id string) (*fakeCampaign, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.campaigns {
		if c.ID == id {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", service.ErrNoCampaign, id)
}

// journal returns the events of the campaign with this ID, which must exist.
func (f *fake) journal(id string) *feed {
	c, err := f.find(id)
	if err != nil {
		panic(err)
	}
	return c.feed
}

func (f *fake) Campaigns() []service.Campaign {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := []service.Campaign{}
	for _, c := range f.campaigns {
		list = append(list, c.Campaign)
	}
	return list
}

func (f *fake) Campaign(id string) (service.Campaign, error) {
	c, err := f.find(id)
	if err != nil {
		return service.Campaign{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return c.Campaign, nil
}

func (f *fake) Create(_ context.Context, r service.Request, key string) (service.Campaign, bool, error) {
	f.mu.Lock()
	f.requests = append(f.requests, r)
	err, old, id := f.err, f.made[key], fmt.Sprintf("made%d", len(f.requests))
	f.mu.Unlock()
	switch {
	case err != nil:
		return service.Campaign{}, false, err
	case !slices.ContainsFunc(f.Bases(), func(b config.Base) bool { return b.Name == r.Base }):
		return service.Campaign{}, false, fmt.Errorf("%w: %q", service.ErrNoBase, r.Base)
	case old != nil && (old.Name != r.Name || !reflect.DeepEqual(old.Set, r.Set)):
		return service.Campaign{}, false, service.ErrKey
	case old != nil:
		c, err := f.Campaign(old.ID)
		return c, false, err
	}
	made := f.add(id, r.Name, service.Running, 1, 0)
	f.mu.Lock()
	made.Set = r.Set
	if key != "" {
		f.made[key] = made
	}
	f.mu.Unlock()
	if f.pause > 0 {
		f.play(made)
	}
	c, err := f.Campaign(id)
	return c, true, err
}

func (f *fake) setState(id string, from, to service.State) (service.Campaign, error) {
	c, err := f.find(id)
	if err != nil {
		return service.Campaign{}, err
	}
	f.mu.Lock()
	if c.State != from {
		err = fmt.Errorf("%w: campaign %s is %s", service.ErrState, id, c.State)
	} else {
		c.State = to
	}
	err = errors.Join(f.err, err)
	f.mu.Unlock()
	if err != nil {
		return service.Campaign{}, err
	}
	f.publish(c)
	return f.Campaign(id)
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

func (f *fake) Verify(id string, v service.Verification) (service.Campaign, error) {
	f.mu.Lock()
	f.verified = append(f.verified, v)
	f.mu.Unlock()
	return f.setState(id, service.Done, service.Queued)
}

func (f *fake) Delete(id string) (service.Campaign, error) {
	return f.setState(id, service.Done, service.Deleted)
}

func (f *fake) Feed(_ context.Context, id string) (service.Feed, error) {
	c, err := f.find(id)
	if err != nil {
		return nil, err
	}
	return c.feed, nil
}

func (f *fake) Events() service.Feed { return f.events }
func (f *fake) Ready() error         { return f.ready }

func (f *fake) Bases() []config.Base {
	return []config.Base{
		{Name: "night", Machine: "cluster B, 32 nodes of 32 cores", Runner: "slurm", Libraries: []string{"mpich", "openmpi"}, Collectives: []string{"bcast", "allreduce"}, File: "/etc/secret/night.yaml"},
		{Name: "demo", Machine: "simulated machine A, 64 nodes of 36 cores", Runner: "replay", Libraries: []string{"mpich"}, Collectives: []string{"bcast", "reduce", "alltoall"}},
	}
}

func (f *fake) Schedule() []service.Scheduled {
	return []service.Scheduled{{Base: "night", Schedule: "30 2 * * 6", TimeZone: "Europe/Berlin", Next: startTime.Add(60 * time.Hour), Last: startTime.Add(-108 * time.Hour), Decision: "campaign c3: the last one ended 31 d ago"}}
}

func (f *fake) Samples() []service.SampleStatus { return f.samples }

// secretSamples returns the status of a folder of samples with the text hunter2 wherever it may have a secret.
func secretSamples() service.SampleStatus {
	return service.SampleStatus{
		SampleFolder: config.SampleFolder{Name: "production", Folder: "/hunter2/learned", Base: "small"}, Error: "open /hunter2/learned: permission denied",
		Report: &online.Report{
			Time: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Calls: 120, AllJobs: 2, Price: online.Price{Cost: 0.02, OverDefault: 0.75}, Jobs: []online.JobReport{{File: "hunter2-4711-1-0.samples", Calls: 60}},
			TimeChanges: []online.TimeChange{{Job: "hunter2-4711-1-0.samples", Factor: 2}},
			Classes:     []online.ClassReport{{Point: candidate(1).Point, Calls: 120, Selected: candidate(1).Algorithm, Faster: 1.5, Of: 4}},
			Drift:       []online.SourceDrift{{Source: "/hunter2/measured.csv", Candidates: 3, Change: 0.2, Ratio: 1.1}},
		},
	}
}

func (f *fake) NodeHours() service.NodeHours {
	return service.NodeHours{Campaign: 40, Day: 120, Spent: 83.8, Reserved: 26.2, Remaining: 10, Until: startTime.Add(14 * time.Hour)}
}

func candidate(i int) coll.Candidate {
	return coll.Candidate{
		Point:     coll.Point{Collective: "bcast", Nodes: 2, PPN: 4, MsgBytes: int64(8 * (i + 1))},
		Algorithm: coll.Algorithm{Name: "binomial"},
	}
}

func (f *fake) Measurements(_ context.Context, id string, after int64) (iter.Seq2[service.Measurement, error], error) {
	f.reads++
	_, err := f.find(id)
	return func(yield func(service.Measurement, error) bool) {
		for _, m := range f.measured {
			if m.Seq > after && !yield(m, nil) {
				return
			}
		}
	}, err
}

// measure adds n measurements to the fake, alternately for two libraries.
func (f *fake) measure(n int) {
	for i := range n {
		m := service.Measurement{Seq: int64(3 + 2*i), Library: []string{"mpich", "openmpi"}[i%2], Round: 1 + i/10}
		m.Candidate = candidate(i)
		m.Seconds, m.CostSeconds, m.Samples = 1e-6*float64(i+1), 0.5, 0
		f.measured = append(f.measured, m)
	}
}

func (f *fake) Problems(_ context.Context, id string) ([]journal.Problem, error) {
	_, err := f.find(id)
	return problems, err
}

// learned returns the campaign with this ID. It returns an error if there is no such campaign, or if it has no
// results for the problem yet.
func (f *fake) learned(id string, p journal.Problem) (*fakeCampaign, error) {
	c, err := f.find(id)
	switch {
	case err != nil:
		return nil, err
	case f.failures.Add(-1) >= 0:
		return nil, errors.New("not now")
	case !slices.Contains(problems, p):
		return nil, service.ErrNoProblem
	case c.feed.Last() < 40:
		return nil, service.ErrNotYet
	}
	return c, nil
}

func (f *fake) Selection(_ context.Context, id string, p journal.Problem) (service.Selection, error) {
	c, err := f.learned(id, p)
	if err != nil {
		return service.Selection{}, err
	}
	line := int(c.feed.Last())
	return service.Selection{Problem: p, Round: line, Cells: c.script.cells(p, line)}, nil
}

func (f *fake) Predictions(_ context.Context, id string, p journal.Problem) ([]service.Prediction, error) {
	c, err := f.learned(id, p)
	if err != nil {
		return nil, err
	}
	return c.script.predictions(p, int(c.feed.Last())), nil
}

func (f *fake) Files(id string) ([]service.File, error) {
	c, err := f.Campaign(id)
	if err != nil || !c.State.Over() {
		return []service.File{}, err
	}
	files := []service.File{}
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		files = append(files, service.File{Name: name, Size: int64(len(f.files[name])), Type: "text/html", Private: slices.Contains(f.private, name)})
	}
	return files, nil
}

type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }

func (f *fake) Open(id, name string) (io.ReadSeekCloser, service.File, error) {
	files, err := f.Files(id)
	for _, file := range files {
		if file.Name == name {
			return memoryFile{bytes.NewReader([]byte(f.files[name]))}, file, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("%w: %q", service.ErrNoFile, name)
	}
	return nil, service.File{}, err
}

// feed is a service.Feed that keeps its events in memory.
type feed struct {
	mu    sync.Mutex
	all   []service.Event
	more  chan struct{}
	ended bool

	unreadable bool // After returns no events
}

func newFeed() *feed { return &feed{more: make(chan struct{})} }

func (f *feed) After(seq int64, limit int) ([]service.Event, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	part := f.all[min(int(seq), len(f.all)):]
	if f.unreadable {
		part = nil
	}
	if limit > 0 && len(part) > limit {
		part = part[:limit]
	}
	return part, f.more
}

func (f *feed) NextBytes(seq int64, limit int) (n int64) {
	events, _ := f.After(seq, limit)
	for _, e := range events {
		n += int64(len(e.Data))
	}
	return n
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

func (f *feed) add(kind string, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, service.Event{Seq: int64(len(f.all) + 1), Type: kind, Time: time.Now(), Data: data})
	f.wakeLocked()
}

func (f *feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.wakeLocked()
}

func (f *feed) wakeLocked() {
	close(f.more)
	f.more = make(chan struct{})
}

// grow adds n events to the feed. If `end` is true, it then ends the feed.
func (f *feed) grow(n int, end bool) {
	for range n {
		f.add("trial", fmt.Appendf(nil, `{"kind":"trial","n":%d}`, f.Last()+1))
	}
	if end {
		f.end()
	}
}
