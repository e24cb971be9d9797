package online

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tutti/coll"
)

// Update is one that changed what is selected.
type Update struct {
	Time    time.Time `json:"time"`
	Changes []Turn    `json:"changes"`
}

// Turn is a class whose selection changed.
type Turn struct {
	coll.Point                // with the least of its sizes
	From       coll.Algorithm `json:"from"`
	To         coll.Algorithm `json:"to"`
	Why        string         `json:"why"`
}

// updatesName is the file of updates in a folder of samples, one JSON line for each that changed
// something.
const updatesName = "updates.jsonl"

// ReadUpdates returns the updates of a folder of samples, none of one that has had none. Lines
// that are damaged are passed over: they are for people.
func ReadUpdates(folder string) ([]Update, error) {
	path := filepath.Join(folder, updatesName)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
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

// Write adds the update to those of a folder, by one write, so that no two that are made at
// the same time mix. One that changed nothing is not written.
func (u Update) Write(folder string) error {
	if len(u.Changes) == 0 {
		return nil
	}
	line, err := json.Marshal(u)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(folder, updatesName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// last returns the turn of a class that was the last one until a time, and when it was.
func last(updates []Update, class coll.Point, until time.Time) (turn Turn, at time.Time, known bool) {
	for _, u := range updates {
		if u.Time.After(until) {
			continue
		}
		for _, t := range u.Changes {
			if t.Point == class {
				turn, at, known = t, u.Time, true
			}
		}
	}
	return turn, at, known
}
