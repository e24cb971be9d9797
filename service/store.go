package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tutti/internal/infile"

	"github.com/google/renameio/v2"
)

// The files of a state folder:
//
//	lock                      held by the service that uses the folder
//	events.jsonl              events of the service itself
//	schedule.json             last decision about each base
//	quota.json                spending of drift measurements and of deleted campaigns
//	notices.json              last event for each receiver of notices
//	cookie.key                signs login cookies, see package api
//	campaigns/ID/campaign.json, log.txt, results/journal.jsonl, ...
//	deleted/                  campaigns that are being deleted
//	drift/BASE/               output of the last drift measurement
//	online/NAME/              status of a sample folder and output of its last update
//	*.unreadable              files that the service could not read
const (
	lockFile     = "lock"
	eventsFile   = "events.jsonl"
	scheduleFile = "schedule.json"
	quotaFile    = "quota.json"
	noticesFile  = "notices.json"
	campaignsDir = "campaigns"
	deletedDir   = "deleted"
	campaignFile = "campaign.json"
	logFile      = "log.txt"
	resultsDir   = "results"
	driftDir     = "drift"
	onlineDir    = "online"
	statusFile   = "online.json"
	outputFile   = "output.json" // standard output of a command
	asideSuffix  = ".unreadable"
)

// maxStateFile limits the size of the files that the service itself writes as JSON, in bytes.
const maxStateFile = 64 << 20

// store reads and writes the campaigns of a state folder.
type store struct {
	state string                             // folder
	write func(path string, value any) error // writeJSON
}

// load reads all campaigns. What cannot be read becomes a campaign in the state Unreadable.
func (s store) load() ([]*entry, error) {
	if err := os.RemoveAll(filepath.Join(s.state, deletedDir)); err != nil {
		return nil, err
	}
	folder := filepath.Join(s.state, campaignsDir)
	dirs, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var out []*entry
	for _, d := range dirs {
		dir := filepath.Join(folder, d.Name())
		e, err := readEntry(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && isEmpty(dir):
			continue // the service died before it wrote campaign.json
		case err != nil:
			e = unreadableEntry(dir, err)
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b *entry) int { return a.Created.Compare(b.Created) })
	return out, nil
}

// isEmpty reports whether a folder has no files but temporary ones.
func isEmpty(dir string) bool {
	files, err := os.ReadDir(dir)
	return err == nil && !slices.ContainsFunc(files, func(f fs.DirEntry) bool { return !strings.HasPrefix(f.Name(), ".") })
}

// unreadableEntry returns an entry for something in the folder of campaigns that cannot be read as a campaign.
func unreadableEntry(dir string, reason error) *entry {
	c := Campaign{ID: filepath.Base(dir), State: Unreadable, Exit: ExitUnknown, Error: reason.Error()}
	if about, err := os.Lstat(dir); err == nil {
		c.Created = about.ModTime().UTC()
	}
	return &entry{dir: dir, stored: stored{Campaign: c}}
}

func readEntry(dir string) (*entry, error) {
	path := filepath.Join(dir, campaignFile)
	content, err := infile.Read(path, maxStateFile)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	e := &entry{dir: dir}
	if err := d.Decode(&e.stored); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: text after the JSON object", path)
	}
	if e.ID != filepath.Base(dir) {
		return nil, fmt.Errorf("%s: id %q: want %q, the name of the folder", path, e.ID, filepath.Base(dir))
	}
	if !slices.Contains(States(), e.State) || e.State == Unreadable {
		return nil, fmt.Errorf("%s: state %q: want one of %v", path, e.State, States()[:len(States())-1])
	}
	if goals := []stopGoal{goalPause, goalCancel, goalQuota}; e.State == Stopping && !slices.Contains(goals, e.Goal) {
		return nil, fmt.Errorf("%s: goal %q of a stopping campaign: want one of %v", path, e.Goal, goals)
	}
	if e.State != Stopping {
		e.Goal = ""
	}
	e.WaitsFor = ""
	return e, nil
}

// create creates the folder of a new campaign.
func (s store) create(c stored) (*entry, error) {
	e := &entry{dir: filepath.Join(s.state, campaignsDir, c.ID), stored: c}
	if err := os.Mkdir(e.dir, 0o700); err != nil {
		return nil, err
	}
	if err := s.save(e.dir, c); err != nil {
		return nil, errors.Join(err, os.RemoveAll(e.dir))
	}
	return e, nil
}

func (s store) save(dir string, c stored) error { return s.write(filepath.Join(dir, campaignFile), c) }

// remove deletes a campaign with all its files. If it returns nil, the campaign does not come back, even if files
// remain.
func (s store) remove(e *entry) error {
	folder := filepath.Join(s.state, deletedDir)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return os.Rename(e.dir, filepath.Join(folder, e.ID))
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
	content, err := infile.Read(path, maxStateFile)
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

// readOrSetAside reads a value like readJSON. If the file cannot be read, it logs the reason and renames the file, and
// the value is empty. The service does not need the file.
func readOrSetAside[T any](path string, log *slog.Logger) (value T, readable bool) {
	err := readJSON(path, &value)
	if err == nil {
		return value, true
	}
	var empty T
	SetAside(path, err, log)
	return empty, false
}

// SetAside renames a file that the service could not read, so that the service can write a new one.
func SetAside(path string, reason error, log *slog.Logger) {
	aside := fmt.Sprintf("%s%s-%s", path, asideSuffix, time.Now().UTC().Format("20060102T150405.000000000"))
	err := os.Rename(path, aside)
	log.Error("file not readable: set aside", "file", path, "reason", reason, "now", aside, "error", err)
}

// diskUse returns the number of bytes of all files in a folder. It leaves out what it cannot read.
func diskUse(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // removed since ReadDir
		}
		if about, err := d.Info(); err == nil && d.Type().IsRegular() {
			bytes += about.Size()
		}
		return nil
	})
	return bytes
}
