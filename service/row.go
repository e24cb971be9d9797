package service

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"tutti/journal"
)

// How much a row keeps in memory, and how far apart its marks in the file are.
const (
	rowBytes  = 512 << 10 // of the youngest events; halved when exceeded
	rowEvent  = 128       // bytes that an event takes beside its data
	rowStride = 256       // lines from one mark to the next
	rowPage   = 1024      // events read from the file at once
)

// row is a file of JSON lines that grows at its end, as a Feed: event n is line n.
// The youngest events are in memory and shared by all readers; older ones are
// read from the file. It is safe for concurrent use.
type row struct {
	path  string
	youth int // bytes of events kept in memory

	reading sync.Mutex // of advance: one at a time

	mu    sync.Mutex
	young []Event // those after first, never changed
	held  int     // bytes that young takes
	last  int64   // number of the last event
	size  int64   // bytes of its whole lines
	marks []int64 // offsets of lines 1, 1+rowStride, ...
	grown chan struct{}
	ended bool
}

func newRow(path string, youth int) *row {
	return &row{path: path, youth: youth, grown: make(chan struct{})}
}

// closed is what After returns when there is more already.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// After implements Feed. What cannot be read from the file ends the answer: the
// events before it are returned.
func (r *row) After(seq int64, limit int) ([]Event, <-chan struct{}) {
	seq = max(seq, 0)
	r.mu.Lock()
	grown := r.grown
	first := r.last - int64(len(r.young)) // young begins after it
	if seq >= first {
		events := r.young[min(seq-first, int64(len(r.young))):]
		r.mu.Unlock()
		if limit > 0 && len(events) > limit {
			return events[:limit:limit], closed
		}
		return events[:len(events):len(events)], grown
	}
	old := r.before(seq + 1)
	r.mu.Unlock()
	if limit <= 0 || limit > rowPage {
		limit = rowPage
	}
	if events := old.read(r.path, seq, limit); len(events) > 0 {
		return events, closed
	}
	return nil, grown // the file cannot be read now: look again later
}

// before returns the file from the nearest mark at or before a line on. It needs the lock.
func (r *row) before(line int64) stretch {
	i := min((line-1)/rowStride, int64(len(r.marks)-1))
	return stretch{line: 1 + i*rowStride, from: r.marks[i], to: r.size}
}

// Last implements Feed.
func (r *row) Last() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// Ended implements Feed.
func (r *row) Ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// end says whether the row grows no more, and wakes the readers.
func (r *row) end(ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended != ended {
		r.ended = ended
		r.wake()
	}
}

func (r *row) wake() {
	close(r.grown)
	r.grown = make(chan struct{})
}

// advance reads the whole lines that the file has got since the last call and
// tells each of them. A file that is not there yet has none. Lines that were cut
// off again, as a journal does after a failed write, are gone: the numbers go on
// from what is there. A line longer than journal.MaxLine is an error.
func (r *row) advance(each func(Event)) error {
	r.reading.Lock()
	defer r.reading.Unlock()
	f, err := os.Open(r.path)
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
	if stat.Size() < r.size {
		return fmt.Errorf("%s: has become shorter: %d bytes, had %d", r.path, stat.Size(), r.size)
	}
	grown := stat.Size() - r.size
	if grown == 0 {
		return nil
	}
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.wake()
	}()
	lines := bufio.NewReaderSize(io.NewSectionReader(f, r.size, grown), int(min(grown, 64<<10)))
	for {
		line, err := journal.ReadLine(lines, nil)
		if errors.Is(err, io.EOF) {
			return nil // the rest is not whole yet
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.path, err)
		}
		event, err := eventOf(r.last+1, line)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", r.path, r.last+1, err)
		}
		if each != nil {
			each(event)
		}
		r.take(event, int64(len(line)))
	}
}

// take appends one event that takes so many bytes of the file.
func (r *row) take(e Event, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last%rowStride == 0 {
		r.marks = append(r.marks, r.size)
	}
	r.last, r.size = e.Seq, r.size+bytes
	r.young = append(r.young, e)
	r.held += rowEvent + len(e.Data)
	if r.held > r.youth {
		r.forget()
	}
}

// forget drops the older half. Readers may still hold the old slice.
func (r *row) forget() {
	drop := 0
	for ; drop < len(r.young) && r.held > r.youth/2; drop++ {
		r.held -= rowEvent + len(r.young[drop].Data)
	}
	r.young = append([]Event(nil), r.young[drop:]...)
}

// count is the number of the last event.
func (r *row) count() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// bytes is the size of the whole lines that were read.
func (r *row) bytes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size
}

// stretch is a part of the file of a row: whole lines, the first of which has a number.
type stretch struct {
	line     int64
	from, to int64 // bytes
}

// read returns events after seq: at most limit of them, and no more once they have
// rowBytes.
func (p stretch) read(path string, seq int64, limit int) []Event {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	lines := bufio.NewReaderSize(io.NewSectionReader(f, p.from, p.to-p.from), 64<<10)
	var out []Event
	number := p.line
	for held := 0; len(out) < limit && held < rowBytes; number++ {
		line, err := journal.ReadLine(lines, nil)
		if err != nil {
			break
		}
		if number <= seq {
			continue
		}
		event, err := eventOf(number, line)
		if err != nil {
			break
		}
		out = append(out, event)
		held += len(event.Data)
	}
	return out
}

// eventOf makes an event of a line: a record of a journal, its header, or an event
// as the service writes it.
func eventOf(seq int64, line []byte) (Event, error) {
	var head struct {
		Kind    string          `json:"kind"`
		Time    time.Time       `json:"time"`
		Created time.Time       `json:"created"` // of a header
		Data    json.RawMessage `json:"data"`    // of an event of the service
	}
	line = bytes.TrimSpace(line)
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
