package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// Types of events in the service's own row.
const (
	campaignEvent = "campaign"
	scheduleEvent = "schedule"
)

// journalOfService is the service's own row and its file.
type journalOfService struct {
	row   *row
	clock clockwork.Clock
	mu    sync.Mutex
	file  *os.File
	last  map[string]State // by campaign, as last told
}

// openEvents reads the file of events and cuts off a line that was not finished.
func openEvents(path string, clock clockwork.Clock) (*journalOfService, error) {
	j := &journalOfService{row: newRow(path, rowBytes), clock: clock, last: map[string]State{}}
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if whole := bytes.LastIndexByte(content, '\n') + 1; whole < len(content) {
		if err := os.Truncate(path, int64(whole)); err != nil {
			return nil, err
		}
	}
	if j.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return nil, err
	}
	err = j.row.advance(func(e Event) {
		var c Campaign
		if e.Type == campaignEvent && json.Unmarshal(e.Data, &c) == nil {
			j.last[c.ID] = c.State
		}
	})
	return j, err
}

// append writes one event and tells it.
func (j *journalOfService) append(kind string, data any) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	line, err := json.Marshal(struct {
		Kind string    `json:"kind"`
		Time time.Time `json:"time"`
		Data any       `json:"data"`
	}{kind, j.clock.Now().UTC(), data})
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", j.file.Name(), err)
	}
	return j.row.advance(nil)
}

func (j *journalOfService) close() error {
	j.row.end(true)
	return j.file.Close()
}
