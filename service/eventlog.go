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
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tutti/internal/infile"
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

// Feed is a sequence of events that grows. Readers can start at any event, and read events again. It is safe
// for concurrent use.
type Feed interface {
	// After returns the first events with numbers above `seq`, at most `limit` of them if `limit` is positive. If
	// there are none, it returns a channel that is closed when there may be some.
	After(seq int64, limit int) ([]Event, <-chan struct{})
	// NextBytes returns how many bytes the events have that After returns now.
	NextBytes(seq int64, limit int) int64
	// Last returns the number of the newest event, or 0 if there is none.
	Last() int64
	// Ended reports whether no more events will follow.
	Ended() bool
}

// Limits of one call of eventLog.After. It returns at least one event, however long its line is.
const (
	pageEvents = 256
	pageBytes  = 64 << 10
)

// eventLog is a Feed of a growing file of JSON lines. Line n of the file is event n. It is safe for concurrent
// use.
type eventLog struct {
	path    string
	lenient bool // a line that cannot be parsed becomes an event of the type unreadableEvent

	mu     sync.Mutex
	starts []int64 // offset of each line that was read, and of the line after the last; elements never change
	grown  bell    // rings when there may be more events
	ended  bool
}

func newEventLog(path string) *eventLog {
	return &eventLog{path: path, starts: []int64{0}, grown: newBell()}
}

// After implements Feed. If the file cannot be read, it returns fewer events.
func (l *eventLog) After(seq int64, limit int) ([]Event, <-chan struct{}) {
	starts, grown := l.page(seq, limit)
	if len(starts) == 0 {
		return nil, grown
	}
	return l.read(max(seq, 0), starts), grown
}

// NextBytes implements Feed.
func (l *eventLog) NextBytes(seq int64, limit int) int64 {
	starts, _ := l.page(seq, limit)
	if len(starts) == 0 {
		return 0
	}
	return starts[len(starts)-1] - starts[0]
}

// page returns where the lines of the events that After returns begin, and where the last one ends.
func (l *eventLog) page(seq int64, limit int) (starts []int64, grown <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := int64(len(l.starts)) - 1
	if seq = max(seq, 0); seq >= last {
		return nil, l.grown.rung
	}
	to := min(last, seq+pageEvents)
	if limit > 0 {
		to = min(to, seq+int64(limit))
	}
	for to > seq+1 && l.starts[to]-l.starts[seq] > pageBytes {
		to--
	}
	return l.starts[seq : to+1], l.grown.rung
}

// read returns the events with numbers above `seq` whose lines begin at the given offsets. The last offset is the
// end of the last line.
func (l *eventLog) read(seq int64, starts []int64) []Event {
	f, err := infile.Open(l.path, infile.NoLimit)
	if err != nil {
		return nil
	}
	defer f.Close()
	from := starts[0]
	content := make([]byte, starts[len(starts)-1]-from)
	if _, err := f.ReadAt(content, from); err != nil {
		return nil
	}
	var out []Event
	for i, end := range starts[1:] {
		event, err := l.parse(seq+int64(i)+1, content[starts[i]-from:end-from:end-from])
		if err != nil {
			break
		}
		out = append(out, event)
	}
	return out
}

// Last implements Feed.
func (l *eventLog) Last() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.starts)) - 1
}

// Ended implements Feed.
func (l *eventLog) Ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// setEnded sets whether the campaign has ended, so that no more events follow. It wakes the readers.
func (l *eventLog) setEnded(ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != ended {
		l.ended = ended
		l.grown.ring()
	}
}

// size returns the number of bytes in the lines that were read so far.
func (l *eventLog) size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.starts[len(l.starts)-1]
}

// update reads the complete lines that were appended to the file since the last call. It calls each() for every
// event. If each() returns an error, or when ctx is cancelled, the next call begins with the same line. A
// missing file has no lines. A line longer than journal.MaxLine and a file that has shrunk are errors. Only one
// call may run at a time.
func (l *eventLog) update(ctx context.Context, each func(Event) error) error {
	f, err := infile.Open(l.path, infile.NoLimit)
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
	size := l.size()
	if stat.Size() < size {
		return fmt.Errorf("%s: has become shorter: %d bytes, had %d", l.path, stat.Size(), size)
	}
	added := stat.Size() - size
	if added == 0 {
		return nil
	}
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.grown.ring()
	}()
	lines := bufio.NewReaderSize(io.NewSectionReader(f, size, added), int(min(added, 64<<10)))
	for number := l.Last() + 1; ; number++ {
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
		event, err := l.parse(number, line)
		if err == nil && each != nil {
			err = each(event)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", l.path, number, err)
		}
		size += int64(len(line))
		l.mu.Lock()
		l.starts = append(l.starts, size)
		l.mu.Unlock()
	}
}

// parse parses a line. If the log is lenient, it returns no error.
func (l *eventLog) parse(seq int64, line []byte) (Event, error) {
	e, err := parseEvent(seq, line)
	if err != nil && l.lenient {
		return Event{Seq: seq, Type: unreadableEvent, Data: json.RawMessage(fmt.Sprintf(`{"line":%d}`, seq))}, nil
	}
	return e, err
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

// headOfRecord reads the beginning of a record as package journal writes it. It does not check the rest of the line.
// The result `ok` is false for other lines.
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

	unreadableEvent = "unreadable" // a line of the file that is no event
)

// serviceLog is the feed of the service itself, together with its file. It is safe for concurrent use.
type serviceLog struct {
	log   *eventLog
	clock clockwork.Clock

	mu   sync.Mutex
	file *os.File
}

// openServiceLog reads the file of the service's events. It removes an incomplete last line from the file. A file that
// cannot be read is set aside. It also returns the last published state of each campaign.
func openServiceLog(path string, clock clockwork.Clock, log *slog.Logger) (l *serviceLog, published map[string]State, err error) {
	l = &serviceLog{clock: clock}
	if l.log, published, err = readServiceLog(path, log); err != nil {
		SetAside(path, err, log)
		if l.log, published, err = readServiceLog(path, log); err != nil {
			return nil, nil, err
		}
	}
	if l.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return nil, nil, err
	}
	if err := l.truncate(); err != nil {
		return nil, nil, errors.Join(err, l.file.Close())
	}
	return l, published, nil
}

func readServiceLog(path string, log *slog.Logger) (l *eventLog, published map[string]State, err error) {
	l, published = newEventLog(path), map[string]State{}
	l.lenient = true
	return l, published, l.update(context.Background(), func(e Event) error {
		var c Campaign
		switch {
		case e.Type == unreadableEvent:
			log.Error("event not readable", "file", path, "line", e.Seq)
		case e.Type == campaignEvent && json.Unmarshal(e.Data, &c) == nil:
			published[c.ID] = c.State
		}
		return nil
	})
}

// truncate removes an incomplete line at the end of the file.
func (l *serviceLog) truncate() error { return l.file.Truncate(l.log.size()) }

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
