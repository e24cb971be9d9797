package online

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"tutti/coll"
	"tutti/internal/infile"
)

// Update records an update of a table of advice that changed at least one selection.
type Update struct {
	Time    time.Time         `json:"time"`
	Changes []SelectionChange `json:"changes"`
}

// SelectionChange says that another algorithm was selected for a class of calls (similar calls of one
// collective).
type SelectionChange struct {
	coll.Point                // with the smallest size of the class
	From       coll.Algorithm `json:"from"`
	To         coll.Algorithm `json:"to"`
	Why        string         `json:"why"`
}

// updatesName is the name of the file with the updates of a table. It has a JSON line
// for each update that changed a selection.
const updatesName = "updates.jsonl"

// ReadUpdates returns the updates of the table in a folder. If the file is missing, there are none.
// It skips damaged lines, since no decision depends on them.
func ReadUpdates(folder string) ([]Update, error) {
	path := filepath.Join(folder, updatesName)
	f, err := infile.OpenUnlinked(path, infile.NoLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	var out []Update
	for line := range bytes.Lines(content) {
		var u Update
		if json.Unmarshal(line, &u) == nil {
			out = append(out, u)
		}
	}
	return out, nil
}

// Write appends the update to the file in a folder. It uses a single write operation, so that the lines of
// simultaneous updates are not mixed. If the update has no changes, nothing is written.
func (u Update) Write(folder string) error {
	if len(u.Changes) == 0 {
		return nil
	}
	line, err := json.Marshal(u)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(folder, updatesName), os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// lastChange returns the last change of the selected algorithm of a class up to the time `until`, and the time
// of the change. It returns false if there was no change.
func lastChange(updates []Update, class coll.Point, until time.Time) (change SelectionChange, at time.Time, known bool) {
	for _, u := range updates {
		if u.Time.After(until) {
			continue
		}
		for _, c := range u.Changes {
			if c.Point == class {
				change, at, known = c, u.Time, true
			}
		}
	}
	return change, at, known
}
