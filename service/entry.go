package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tutti/journal"

	"github.com/google/renameio/v2"
)

// The files of a state folder:
//
//	lock                      held by the service that uses the folder
//	events.jsonl              events of the service itself
//	schedule.json             last decision about each base
//	quota.json                spending of drift measurements
//	cookie.key                signs login cookies, see package api
//	campaigns/ID/campaign.json, log.txt, results/journal.jsonl, ...
//	drift/BASE/               output of the last drift measurement
//	online/NAME/              status of a sample folder and output of its last update
const (
	lockFile     = "lock"
	eventsFile   = "events.jsonl"
	scheduleFile = "schedule.json"
	quotaFile    = "quota.json"
	campaignsDir = "campaigns"
	campaignFile = "campaign.json"
	logFile      = "log.txt"
	resultsDir   = "results"
	driftDir     = "drift"
	onlineDir    = "online"
	statusFile   = "online.json"
	outputFile   = "output.json" // standard output of a command
)

// entry is a campaign in a queue. The lock of the queue guards the fields of an entry.
type entry struct {
	stored
	dir     string
	view    *journalView // nil until somebody reads the journal
	process process      // nil while the campaign has no process
	since   time.Time    // when the service began to follow the process
	unsaved bool         // the last attempt to write campaign.json failed
}

// stored is the content of the file campaign.json.
type stored struct {
	Campaign
	Goal         stopGoal         `json:"goal,omitempty"`          // what a stopping campaign becomes
	Process      *journal.Process `json:"process,omitempty"`       // the last process that was started
	Key          string           `json:"key,omitempty"`           // idempotency key
	MachineState *MachineState    `json:"machine_state,omitempty"` // before its first process
}

// stopGoal says why a campaign is being stopped. It determines the state of the campaign after the stop.
type stopGoal string

const (
	goalPause  stopGoal = "pause"
	goalCancel stopGoal = "cancel"
	goalQuota  stopGoal = "quota" // failed, with its jobs cancelled, because it has exceeded its budget
)

func (e *entry) results() string { return filepath.Join(e.dir, resultsDir) }

func (e *entry) journal() string { return filepath.Join(e.dir, resultsDir, journal.FileName) }

func (e *entry) log() string { return filepath.Join(e.dir, logFile) }

// begun reports whether the campaign has a journal. If the file system cannot tell, it returns true.
func (e *entry) begun() bool {
	_, err := os.Stat(e.journal())
	return !errors.Is(err, fs.ErrNotExist)
}

// measures reports whether the campaign runs benchmarks, so that it may use node-hours.
func (e *entry) measures() bool { return e.NodeHours > 0 }

// current returns the campaign with its latest known progress. This is the progress in the journal, or the
// stored progress while the journal has not been read completely since the service's start.
func (e *entry) current() Campaign {
	c := e.Campaign
	if e.view != nil {
		if p := e.view.progress(); p.Records >= c.Progress.Records {
			c.Progress = p
		}
	}
	return c
}

// spentOn returns the number of node-seconds that the campaign used on a day.
func (e *entry) spentOn(day string) float64 {
	if e.view == nil {
		return 0 // it ended before the service started
	}
	return e.view.spending().on(day)
}

// unreadable reports whether the end of the journal could not be read.
func (e *entry) unreadable() bool { return e.view != nil && e.view.failure() != nil }

func (e *entry) save() error {
	s := e.stored
	s.Campaign = e.current()
	err := writeJSON(filepath.Join(e.dir, campaignFile), s)
	e.unsaved = err != nil
	return err
}

func readEntry(dir string) (*entry, error) {
	path := filepath.Join(dir, campaignFile)
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	e := &entry{dir: dir}
	if err := d.Decode(&e.stored); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if e.ID != filepath.Base(dir) || !slices.Contains(States(), e.State) {
		return nil, fmt.Errorf("%s: id %q and state %q: want the name of the folder and one of %v", path, e.ID, e.State, States())
	}
	return e, nil
}

// writeJSON atomically writes a value as JSON into a file that only its owner can read.
func writeJSON(path string, v any) error {
	content, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return renameio.WriteFile(path, append(content, '\n'), 0o600)
}

// readJSON reads a value from a file. If the file is missing, the value stays as it is.
func readJSON(path string, v any) error {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// load reads all campaigns in the state folder. No other goroutine may use the queue at that time.
func (q *queue) load() error {
	if err := readJSON(filepath.Join(q.opt.State, quotaFile), &q.drift); err != nil {
		return err
	}
	folder := filepath.Join(q.opt.State, campaignsDir)
	dirs, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, d := range dirs {
		e, err := readEntry(filepath.Join(folder, d.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the service died before it wrote campaign.json
		}
		if err != nil {
			return err
		}
		q.addLocked(e)
	}
	slices.SortStableFunc(q.order, func(a, b *entry) int { return a.Created.Compare(b.Created) })
	q.loadSpending()
	return nil
}

// loadSpending reads the spending of today from the journals. It runs before other goroutines use the
// queue.
func (q *queue) loadSpending() {
	today := dayOf(q.opt.Clock.Now())
	for _, e := range q.order {
		if !e.measures() || !e.begun() || e.State.Over() && dayOf(e.Ended) < today {
			continue
		}
		if err := q.viewLocked(e).update(context.Background()); err != nil {
			q.opt.Log.Warn("journal not read: the campaign counts with its whole budget", "campaign", e.ID, "error", err)
		}
	}
}

func (q *queue) addLocked(e *entry) {
	q.campaigns[e.ID] = e
	q.order = append(q.order, e)
	if e.Key != "" {
		q.keys[e.Key] = e
	}
}

// createLocked creates the folder of a new campaign, adds the campaign to the queue and publishes it.
func (q *queue) createLocked(c Campaign, key string) (*entry, error) {
	for c.ID = journal.NewID(); q.campaigns[c.ID] != nil; {
		c.ID = journal.NewID()
	}
	c.Created = q.opt.Clock.Now().UTC()
	e := &entry{dir: filepath.Join(q.opt.State, campaignsDir, c.ID), stored: stored{Campaign: c, Key: key}}
	if err := os.Mkdir(e.dir, 0o700); err != nil {
		return nil, err
	}
	if err := e.save(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(e.dir))
	}
	q.addLocked(e)
	q.publishLocked(e)
	return e, nil
}

// isFrom reports whether a request equals the one by which the campaign was created.
func (c Campaign) isFrom(r Request) bool {
	return c.Base == r.Base && c.Name == r.Name && c.From == r.From && maps.Equal(c.Set, r.Set)
}

// viewLocked returns the summary of a campaign's journal, and creates it if necessary. The caller must hold the
// lock of the queue.
func (q *queue) viewLocked(e *entry) *journalView {
	if e.view == nil {
		e.view = newJournalView(e.journal(), q.opt.Clock)
		e.view.log.setEnded(e.State.Over())
	}
	return e.view
}

// view returns the summary of a campaign's journal. If the campaign has no process, view reads the journal
// until ctx is cancelled. Otherwise it returns the summary that the last poll made.
func (q *queue) view(ctx context.Context, id string) (*journalView, error) {
	q.mu.Lock()
	e, err := q.entryLocked(id)
	if err != nil {
		q.mu.Unlock()
		return nil, err
	}
	v := q.viewLocked(e)
	polled := e.process != nil && v.log.Last() > 0
	q.mu.Unlock()
	if polled {
		return v, nil
	}
	return v, v.update(ctx)
}

func (q *queue) resultsOf(id string) (string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, err := q.entryLocked(id)
	if err != nil {
		return "", err
	}
	return e.results(), nil
}

// finished describes the newest completed campaign that was created from a base (a campaign file of the
// service).
type finished struct {
	id      string
	ended   time.Time
	results string        // folder
	machine *MachineState // nil when unknown
}

// lastOf returns the newest completed campaign that was created from a base (a campaign file), and one that
// has not ended. Each result is nil if there is no such campaign.
func (q *queue) lastOf(base string) (last *finished, open *Campaign) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.order {
		switch {
		case e.Base != base:
		case e.State == Done && (last == nil || e.Ended.After(last.ended)):
			last = &finished{e.ID, e.Ended, e.results(), e.MachineState}
		case !e.State.Over():
			c := e.Campaign
			open = &c
		}
	}
	return last, open
}
