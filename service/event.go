package service

import (
	"encoding/json"
	"time"
)

// Event is one of a numbered row that can be read again from any number. The
// events of a campaign are the lines of its journal, numbered from 1, the header:
// nothing can be lost, and a restart changes no number. The service has a row of
// its own about all campaigns, kept in a file, too.
type Event struct {
	Seq  int64           `json:"seq"`
	Type string          `json:"type"` // kind of a journal's record; "campaign", "schedule" or "online" in the service's row
	Time time.Time       `json:"time"`
	Data json.RawMessage `json:"data"`
}

// Feed is a row of events that grows. It is safe for concurrent use; readers
// share the events, which nobody changes.
type Feed interface {
	// After returns the events with a number above seq, at most limit of them when
	// that is positive, and a channel that is closed when there may be more than
	// the last returned.
	After(seq int64, limit int) ([]Event, <-chan struct{})
	// Last returns the number of the newest event, 0 for none.
	Last() int64
	// Ended reports that the row will not grow any more.
	Ended() bool
}
