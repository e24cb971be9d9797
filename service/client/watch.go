package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"tutti/journal"
	"tutti/service"
)

const (
	// silence is how long a stream may say nothing, not even that it is alive,
	// before it is taken for dead.
	silence = time.Minute
	// maxEvent is the longest line of a stream, bytes: the data are a line of a journal.
	maxEvent = journal.MaxLine + 16
)

// stopError is what ends a Watch: no connection, or the caller's function said so.
type stopError struct{ error }

func (e *stopError) Unwrap() error { return e.error }

// fruitless is how many short connections without an event in a row end a Watch.
const fruitless = 10

// Watch hands every event of a campaign behind the line after to each, in order
// and once, until there will be no more: then it returns nil. A stream that
// breaks is connected again and goes on behind the last event, as long as the
// service can be reached within the client's patience; without patience the error
// is returned. An error of each ends it. The events have no Time: their data say
// when it was.
func (c *Client) Watch(ctx context.Context, id string, after int64, each func(service.Event) error) error {
	return c.watch(ctx, join([]string{"campaigns", id, "events"}), after, each)
}

// WatchAll is Watch for what happens to all campaigns; it does not end by itself.
func (c *Client) WatchAll(ctx context.Context, after int64, each func(service.Event) error) error {
	return c.watch(ctx, "/events", after, each)
}

func (c *Client) watch(ctx context.Context, path string, after int64, each func(service.Event) error) error {
	for failures := 0; ; {
		before, begin := after, time.Now()
		ended, err := c.stream(ctx, path, &after, each)
		var stop *stopError
		switch {
		case errors.As(err, &stop):
			return stop.error
		case ended:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		}
		failures++
		if after > before || time.Since(begin) > 10*time.Second {
			failures = 0
		}
		if failures == fruitless || c.patience < 0 {
			return err
		}
		if after == before { // nothing new: do not hurry
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(c.pause):
			}
		}
	}
}

// stream reads one connection. It moves after on with every event.
func (c *Client) stream(ctx context.Context, path string, after *int64, each func(service.Event) error) (ended bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	header := http.Header{"Accept": {"text/event-stream"}}
	if *after > 0 {
		header.Set("Last-Event-ID", strconv.FormatInt(*after, 10))
	}
	resp, err := c.do(ctx, request{method: http.MethodGet, path: path, header: header, repeat: true})
	if err != nil {
		return false, &stopError{err}
	}
	defer resp.Body.Close()
	dead := time.AfterFunc(silence, cancel)
	defer dead.Stop()
	in := reader{lines: bufio.NewReaderSize(resp.Body, 16<<10), heard: func() { dead.Reset(silence) }}
	for {
		e, err := in.next()
		switch {
		case err != nil:
			return false, err
		case e.Type == "end":
			return true, nil
		case e.Seq <= *after: // known already
			continue
		case e.Seq != *after+1:
			return false, fmt.Errorf("event %d follows %d", e.Seq, *after) // connect again: it is asked for
		}
		if err := each(e); err != nil {
			return false, &stopError{err}
		}
		*after = e.Seq
	}
}

// reader takes server-sent events from a stream of lines.
type reader struct {
	lines *bufio.Reader
	heard func() // called for every line
}

// next returns the next event that has data. Comments and fields it does not know
// are skipped.
func (r *reader) next() (service.Event, error) {
	var e service.Event
	var data []byte
	has := false
	for {
		line, err := r.line()
		if err != nil {
			return e, err
		}
		r.heard()
		if len(line) == 0 {
			if !has {
				e = service.Event{}
				continue
			}
			e.Data = json.RawMessage(data)
			return e, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "id":
			if e.Seq, err = strconv.ParseInt(string(value), 10, 64); err != nil {
				return e, fmt.Errorf("event id %q: %w", value, err)
			}
		case "event":
			e.Type = string(value)
		case "data":
			if has {
				data = append(data, '\n')
			}
			data, has = append(data, value...), true
		}
	}
}

// line returns one without its end, whole even when it is longer than the buffer.
func (r *reader) line() ([]byte, error) {
	var long []byte
	for {
		part, err := r.lines.ReadSlice('\n')
		switch {
		case err == nil && long == nil:
			return bytes.TrimRight(part, "\r\n"), nil
		case err == nil:
			return bytes.TrimRight(append(long, part...), "\r\n"), nil
		case errors.Is(err, io.EOF):
			return nil, io.ErrUnexpectedEOF // a stream ends with the event end
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(long) > maxEvent:
			return nil, fmt.Errorf("an event of more than %d MiB", maxEvent>>20)
		}
		long = append(long, part...)
	}
}
