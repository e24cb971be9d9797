package service

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tutti/journal"
)

// Event is one event of a Feed. Events are numbered from 1 without gaps, and keep their numbers when the
// service restarts. The events of a campaign are the lines of its journal.
type Event struct {
	Seq  int64           `json:"seq"`
	Type string          `json:"type"` // kind of a journal record; "campaign", "schedule" or "online" in the service's own feed
	Time time.Time       `json:"time"`
	Data json.RawMessage `json:"data"`
}

// Feed is a sequence of events that grows. It can be read from any number, more than once. It is safe for
// concurrent use. Readers share the events and must not change them.
type Feed interface {
	// After returns the events with numbers above seq. If limit is positive, it returns at most limit of
	// them. The channel is closed when there may be more events.
	After(seq int64, limit int) ([]Event, <-chan struct{})
	// Last returns the number of the newest event, or 0 if there is none.
	Last() int64
	// Ended reports whether no more events will follow.
	Ended() bool
}

const (
	recentBytes   = 512 << 10 // size of the newest events that stay in memory; above it the older half is dropped
	eventOverhead = 128       // bytes of an event in addition to its data
	offsetStride  = 256       // lines between two stored offsets in the file
	pageEvents    = 1024      // largest number of events read from the file at once
)

// eventLog is a Feed of a growing file of JSON lines. Line n of the file is event n. All readers share the
// newest events in memory; older events are read from the file. eventLog is safe for concurrent use.
type eventLog struct {
	path string

	mu         sync.Mutex
	recent     []Event // newest events, none of an ended log; elements never change
	recentSize int     // bytes of recent
	last       int64   // number of the newest event
	size       int64   // bytes of the lines read so far
	offsets    []int64 // of the lines 1, 1+offsetStride, ...
	grown      chan struct{}
	ended      bool
}

func newEventLog(path string) *eventLog {
	return &eventLog{path: path, grown: make(chan struct{})}
}

// closedChannel is the channel that After returns if more events are already available.
var closedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// After implements Feed. If the file cannot be read, it returns fewer events.
func (l *eventLog) After(seq int64, limit int) ([]Event, <-chan struct{}) {
	seq = max(seq, 0)
	l.mu.Lock()
	grown := l.grown
	before := l.last - int64(len(l.recent)) // number of the event before recent
	if seq >= before {
		events := l.recent[min(seq-before, int64(len(l.recent))):]
		l.mu.Unlock()
		if limit > 0 && len(events) > limit {
			return events[:limit:limit], closedChannel
		}
		return events[:len(events):len(events)], grown
	}
	older := l.sectionLocked(seq + 1)
	l.mu.Unlock()
	if limit <= 0 || limit > pageEvents {
		limit = pageEvents
	}
	if events := older.read(l.path, seq, limit); len(events) > 0 {
		return events, closedChannel
	}
	return nil, grown
}

// sectionLocked returns the part of the file that contains a line. The part begins at the last stored
// offset before the line.
func (l *eventLog) sectionLocked(line int64) fileSection {
	i := min((line-1)/offsetStride, int64(len(l.offsets)-1))
	return fileSection{line: 1 + i*offsetStride, from: l.offsets[i], to: l.size}
}

// Last implements Feed.
func (l *eventLog) Last() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Ended implements Feed.
func (l *eventLog) Ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// setEnded sets whether the campaign has ended, so that no more events follow. It wakes the readers. The events
// of an ended campaign are removed from memory and read from the file.
func (l *eventLog) setEnded(ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != ended {
		l.ended, l.recent, l.recentSize = ended, nil, 0
		l.wakeLocked()
	}
}

// wakeLocked wakes all readers.
func (l *eventLog) wakeLocked() {
	close(l.grown)
	l.grown = make(chan struct{})
}

// update reads the complete lines that were appended to the file since the last call. It calls the function
// each for every event. If each returns an error, or when ctx is cancelled, the next call begins with the same
// line. A missing file has no lines. A line longer than journal.MaxLine and a file that has shrunk are errors.
// Only one call may run at a time.
func (l *eventLog) update(ctx context.Context, each func(Event) error) error {
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	if stat.Size() < l.size {
		return fmt.Errorf("%s: has become shorter: %d bytes, had %d", l.path, stat.Size(), l.size)
	}
	added := stat.Size() - l.size
	if added == 0 {
		return nil
	}
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.wakeLocked()
	}()
	lines := bufio.NewReaderSize(io.NewSectionReader(f, l.size, added), int(min(added, 64<<10)))
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := journal.ReadLine(lines, nil)
		if errors.Is(err, io.EOF) {
			return nil // the last line is incomplete
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.path, err)
		}
		event, err := parseEvent(l.last+1, line)
		if err == nil && each != nil {
			err = each(event)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", l.path, l.last+1, err)
		}
		l.add(event, int64(len(line)))
	}
}

// add appends an event to the log. The parameter length is the length of the event's line in bytes.
func (l *eventLog) add(e Event, length int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last%offsetStride == 0 {
		l.offsets = append(l.offsets, l.size)
	}
	l.last, l.size = e.Seq, l.size+length
	if l.ended {
		return
	}
	l.recent = append(l.recent, e)
	l.recentSize += eventOverhead + len(e.Data)
	if l.recentSize > recentBytes {
		l.trimLocked()
	}
}

// trimLocked removes the older half of the events in memory. It does not change the old slice, which
// readers may still use.
func (l *eventLog) trimLocked() {
	drop := 0
	for ; drop < len(l.recent) && l.recentSize > recentBytes/2; drop++ {
		l.recentSize -= eventOverhead + len(l.recent[drop].Data)
	}
	l.recent = append([]Event(nil), l.recent[drop:]...)
}

// readBytes returns the number of bytes in the lines that were read so far.
func (l *eventLog) readBytes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}

// fileSection is a part of a file that begins at the start of a line.
type fileSection struct {
	line     int64 // number of the first line
	from, to int64 // bytes
}

// read returns events with numbers above seq: at most limit events, and about recentBytes of data.
func (s fileSection) read(path string, seq int64, limit int) []Event {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	lines := bufio.NewReaderSize(io.NewSectionReader(f, s.from, s.to-s.from), 64<<10)
	var out []Event
	number := s.line
	for size := 0; len(out) < limit && size < recentBytes; number++ {
		line, err := journal.ReadLine(lines, nil)
		if err != nil {
			break
		}
		if number <= seq {
			continue
		}
		event, err := parseEvent(number, line)
		if err != nil {
			break
		}
		out = append(out, event)
		size += len(event.Data)
	}
	return out
}

// parseEvent parses a line, which is a journal's header, a journal record or an event of a serviceLog.
func parseEvent(seq int64, line []byte) (Event, error) {
	var head struct {
		Kind    string          `json:"kind"`
		Time    time.Time       `json:"time"`
		Created time.Time       `json:"created"` // of a journal header
		Data    json.RawMessage `json:"data"`    // of an event of a serviceLog
	}
	line = bytes.TrimSpace(line)
	if kind, at, ok := headOfRecord(line); ok {
		return Event{Seq: seq, Type: kind, Time: at, Data: line}, nil
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return Event{}, err
	}
	if head.Time.IsZero() {
		head.Time = head.Created
	}
	if len(head.Data) > 0 {
		line = head.Data
	}
	return Event{Seq: seq, Type: head.Kind, Time: head.Time, Data: line}, nil
}

// headOfRecord reads the beginning of a record as package journal writes it. It does not check the rest of the
// line. ok is false for other lines.
func headOfRecord(line []byte) (kind string, at time.Time, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"kind":"`))
	word, rest, found := bytes.Cut(rest, []byte(`","time":"`))
	stamp, rest, closed := bytes.Cut(rest, []byte(`"`))
	if !ok || !found || !closed || bytes.HasPrefix(rest, []byte(`,"data":`)) || bytes.ContainsAny(word, `"\`) {
		return "", time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	return string(word), at, err == nil
}

// These are the types of events in the feed of the service itself.
const (
	campaignEvent = "campaign"
	scheduleEvent = "schedule"
	onlineEvent   = "online"
)

// serviceLog is the feed of the service itself, together with its file. It is safe for concurrent use.
type serviceLog struct {
	log   *eventLog
	clock clockwork.Clock

	mu    sync.Mutex
	file  *os.File
	state map[string]State // last published state of each campaign
}

// openServiceLog reads the file of the service's events. It removes an incomplete last line from the file.
func openServiceLog(path string, clock clockwork.Clock) (*serviceLog, error) {
	l := &serviceLog{log: newEventLog(path), clock: clock, state: map[string]State{}}
	err := l.log.update(context.Background(), func(e Event) error {
		var c Campaign
		if e.Type == campaignEvent && json.Unmarshal(e.Data, &c) == nil {
			l.state[c.ID] = c.State
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if l.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return nil, err
	}
	if err := l.truncate(); err != nil {
		return nil, errors.Join(err, l.file.Close())
	}
	return l, nil
}

// truncate removes an incomplete line at the end of the file.
func (l *serviceLog) truncate() error { return l.file.Truncate(l.log.readBytes()) }

// publishCampaign appends an event that contains a campaign and its state.
func (l *serviceLog) publishCampaign(c Campaign) error {
	err := l.publish(campaignEvent, c)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state[c.ID] = c.State
	return err
}

// publishedState returns the last published state of a campaign.
func (l *serviceLog) publishedState(id string) State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state[id]
}

// publish appends one event to the file. If the event cannot be written completely, publish removes it
// again.
func (l *serviceLog) publish(kind string, data any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	line, err := json.Marshal(struct {
		Kind string    `json:"kind"`
		Time time.Time `json:"time"`
		Data any       `json:"data"`
	}{kind, l.clock.Now().UTC(), data})
	if err != nil {
		return err
	}
	_, err = l.file.Write(append(line, '\n'))
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", l.file.Name(), err), l.truncate())
	}
	return l.log.update(context.Background(), nil)
}

func (l *serviceLog) close() error {
	l.log.setEnded(true)
	return l.file.Close()
}
