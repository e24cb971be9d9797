package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// Types of events in the service's own row.
const (
	campaignEvent = "campaign"
	scheduleEvent = "schedule"
	onlineEvent   = "online"
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
	err := j.row.advance(func(e Event) {
		var c Campaign
		if e.Type == campaignEvent && json.Unmarshal(e.Data, &c) == nil {
			j.last[c.ID] = c.State
		}
	})
	if err != nil {
		return nil, err
	}
	if j.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return nil, err
	}
	if err := j.cut(); err != nil {
		return nil, errors.Join(err, j.file.Close())
	}
	return j, nil
}

// cut takes from the file what follows its last whole line that was told.
func (j *journalOfService) cut() error { return j.file.Truncate(j.row.bytes()) }

// append writes one event and tells it. An event that cannot be written whole leaves
// nothing behind.
func (j *journalOfService) append(kind string, data any) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	line, err := json.Marshal(struct {
		Kind string    `json:"kind"`
		Time time.Time `json:"time"`
		Data any       `json:"data"`
	}{kind, j.clock.Now().UTC(), data})
	if err != nil {
		return err
	}
	_, err = j.file.Write(append(line, '\n'))
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", j.file.Name(), err), j.cut())
	}
	return j.row.advance(nil)
}

func (j *journalOfService) close() error {
	j.row.end(true)
	return j.file.Close()
}
