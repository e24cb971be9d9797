package service

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"

	"tutti/journal"
)

// What a state folder holds:
//
//	lock                      while a service has it
//	events.jsonl              the service's own events
//	schedule.json             when each base was looked at last
//	campaigns/ID/campaign.json, log.txt, results/journal.jsonl, ...
//	probes/BASE/              the last probe of drift
//	online/NAME/online.json, log.txt, ...  what a watched folder taught
const (
	lockName      = "lock"
	eventsName    = "events.jsonl"
	scheduleName  = "schedule.json"
	campaignsDir  = "campaigns"
	campaignName  = "campaign.json"
	logName       = "log.txt"
	resultsDir    = "results"
	probesDir     = "probes"
	probeFileName = "drift.json"
)

// entry is a campaign in the care of a service. Its fields are guarded by the lock
// of the service.
type entry struct {
	kept
	dir   string
	track *track   // nil until somebody looks into the journal
	spent spending // as the track knew it that was forgotten

	process process // while it has one
}

// kept is what campaign.json holds.
type kept struct {
	Campaign
	Want    want             `json:"want,omitempty"`
	Process *journal.Process `json:"process,omitempty"` // the last one that was started
	Key     string           `json:"key,omitempty"`     // of idempotency
	Asked   string           `json:"asked,omitempty"`   // digest of the request with the key
	Seen    *Seen            `json:"seen,omitempty"`    // of the machine when it began
}

// want is what a stopping campaign is to become.
type want string

const (
	wantPause  want = "pause"
	wantCancel want = "cancel"
	wantHalt   want = "halt" // failed, its jobs cancelled: it has taken all its node-hours
)

func (e *entry) results() string { return filepath.Join(e.dir, resultsDir) }

func (e *entry) journal() string { return filepath.Join(e.dir, resultsDir, journal.FileName) }

// begun reports whether there is a journal to go on with.
func (e *entry) begun() bool {
	_, err := os.Stat(e.journal())
	return err == nil
}

// show returns the campaign as others see it. A track that is not read to its end
// yet knows less than what was kept.
func (e *entry) show() Campaign {
	c := e.Campaign
	if e.track != nil {
		if p := e.track.digest.Progress(); p.Records >= c.Progress.Records {
			c.Progress = p
		}
	}
	return c
}

// forget drops the track; what it amounts to stays.
func (e *entry) forget() {
	e.Campaign = e.show()
	if own := e.track.digest.spending(); own.Day >= e.spent.Day {
		e.spent = own
	}
	e.track = nil
}

// save writes campaign.json in one step.
func (e *entry) save() error {
	k := e.kept
	k.Campaign = e.show()
	content, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	return renameio.WriteFile(filepath.Join(e.dir, campaignName), append(content, '\n'), 0o600)
}

// load reads all campaigns of the state folder, the service's events and what the
// schedule remembers.
func (s *Service) load() error {
	folder := filepath.Join(s.opt.State, campaignsDir)
	dirs, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, d := range dirs {
		e, err := readEntry(filepath.Join(folder, d.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // died before it was made
		}
		if err != nil {
			return err
		}
		s.add(e)
	}
	slices.SortStableFunc(s.order, func(a, b *entry) int { return a.Created.Compare(b.Created) })
	if s.events, err = openEvents(filepath.Join(s.opt.State, eventsName), s.clock); err != nil {
		return err
	}
	if err := errors.Join(s.loadSchedule(), s.loadOnline()); err != nil {
		return err
	}
	s.loadSpending()
	return nil
}

// add needs the lock, or that nobody else has the service yet.
func (s *Service) add(e *entry) {
	s.campaigns[e.ID] = e
	s.order = append(s.order, e)
	if e.Key != "" {
		s.keys[e.Key] = e
	}
}

func readEntry(dir string) (*entry, error) {
	path := filepath.Join(dir, campaignName)
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	e := &entry{dir: dir}
	if err := d.Decode(&e.kept); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if e.ID != filepath.Base(dir) || !slices.Contains(States(), e.State) {
		return nil, fmt.Errorf("%s: id %q and state %q: want the name of the folder and one of %v", path, e.ID, e.State, States())
	}
	return e, nil
}

// digestOf tells requests apart.
func digestOf(r Request) string {
	content, err := json.Marshal(r)
	if err != nil {
		panic(err) // strings only
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
