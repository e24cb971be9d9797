package api

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"tutti/service"
)

const (
	// eventsAtOnce is the number of events after which the output is flushed.
	eventsAtOnce = 256
	// streamWrite is the longest time that a client may take to receive the flushed events.
	streamWrite = 30 * time.Second
)

// Position is the input of an operation that returns a stream of events.
type Position struct {
	After int64 `query:"after" minimum:"0" doc:"Only events with a higher number"`
	Last  int64 `header:"Last-Event-ID" minimum:"0" doc:"Overrides a lower after; a browser sends it when it connects again"`
}

type campaignPosition struct {
	CampaignID
	Position
}

func (a *API) streamRoutes() {
	huma.Register(a.huma, streamOperation("/campaigns/{id}/events", "campaign-events",
		"The lines of a campaign's journal. The number of an event is that of its line, event is the kind of the record, data the line. "+
			"The role read does not see values of variables, lines of shell and output of programs."),
		func(ctx context.Context, in *campaignPosition) (*huma.StreamResponse, error) {
			feed, err := a.backend.Feed(ctx, in.ID)
			if err != nil {
				return nil, a.problemOf(err)
			}
			return a.stream(ctx, feed, max(in.After, in.Last))
		})
	huma.Register(a.huma, streamOperation("/events", "events", "Changes of all campaigns: event is campaign, schedule or online."),
		func(ctx context.Context, in *Position) (*huma.StreamResponse, error) {
			return a.stream(ctx, a.backend.Events(), max(in.After, in.Last))
		})
}

func streamOperation(path, id, summary string) huma.Operation {
	op := operation(http.MethodGet, path, id, summary)
	op.Errors = append(op.Errors, http.StatusNotFound)
	op.Description = "Server-sent events, from the first or after Last-Event-ID. An idle stream sends comments. " +
		"An event named end, whose data are {\"seq\":N}, is the last one. A client connects again when a stream ends without it."
	op.Responses = map[string]*huma.Response{"200": {
		Description: "The events", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	return op
}

// stream sends a feed to a client. It removes secrets if the caller has the role "read".
func (a *API) stream(ctx context.Context, feed service.Feed, after int64) (*huma.StreamResponse, error) {
	shown := service.Event.Redacted
	if callerOf(ctx).operate {
		shown = func(e service.Event) service.Event { return e }
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		leave, ok := a.streams.enter(callerOf(r.Context()).name)
		if !ok {
			a.metrics.refused.WithLabelValues("streams").Inc()
			w.Header().Set("Retry-After", "10")
			writeProblem(w, http.StatusServiceUnavailable, "this token has too many open event streams: close one")
			return
		}
		defer leave()
		h := w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no")
		extendWrite(w, streamWrite)
		a.sendEvents(r.Context(), eventWriter{bufio.NewWriterSize(w, 4<<10), w}, feed, shown, after)
	}}, nil
}

// sendEvents writes events until the feed has ended, the client has disconnected or the service ends. The
// function `shown` removes what the client must not see. It buffers no events for a slow client.
func (a *API) sendEvents(ctx context.Context, w eventWriter, feed service.Feed, shown func(service.Event) service.Event, after int64) {
	beat := time.NewTicker(a.options.Heartbeat)
	defer beat.Stop()
	w.WriteString("retry: 2000\n\n")
	for {
		ended, last := feed.Ended(), feed.Last() // before After, so that no event is missed
		events, more := feed.After(after, eventsAtOnce)
		for _, e := range events {
			w.writeEvent(shown(e))
			a.metrics.events.Inc()
			after = e.Seq
		}
		if len(events) == 0 && after < last { // the feed cannot be read now: the client connects again
			return
		}
		if len(events) == 0 && ended {
			w.writeEvent(service.Event{Type: "end", Data: []byte(`{"seq":` + strconv.FormatInt(after, 10) + `}`)})
			w.flush()
			return
		}
		if w.flush() != nil {
			return
		}
		if len(events) > 0 {
			select {
			case <-a.closing:
				return
			default:
				continue
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-a.closing:
			return
		case <-more:
		case <-beat.C:
			w.WriteString(": heartbeat\n\n")
		}
	}
}

// eventWriter writes a stream of events (text/event-stream) to a client.
type eventWriter struct {
	*bufio.Writer
	to http.ResponseWriter
}

// writeEvent writes one event. An event with the number 0 gets no id field. Line ends in the JSON data become
// blanks, since the data must be on one line. Errors of writing are returned by flush.
func (w eventWriter) writeEvent(e service.Event) {
	if bytes.ContainsAny(e.Data, "\r\n") {
		e.Data = bytes.ReplaceAll(bytes.ReplaceAll(e.Data, []byte("\r"), nil), []byte("\n"), []byte(" "))
	}
	if e.Seq > 0 {
		w.WriteString("id: ")
		w.Write(strconv.AppendInt(w.AvailableBuffer(), e.Seq, 10))
		w.WriteByte('\n')
	}
	w.WriteString("event: ")
	w.WriteString(oneLine.Replace(e.Type))
	w.WriteString("\ndata: ")
	w.Write(e.Data)
	w.WriteString("\n\n")
}

func (w eventWriter) flush() error {
	extendWrite(w.to, streamWrite)
	if err := w.Flush(); err != nil {
		return err
	}
	return http.NewResponseController(w.to).Flush()
}

var oneLine = strings.NewReplacer("\r", "", "\n", " ")

// streams counts the open event streams of each token.
type streams struct {
	mu    sync.Mutex
	count map[string]int // by name of the token
	most  int            // of one token, 0: no limit
	all   int            // of all tokens, 0: no limit
	sum   int
}

// enter counts one more stream of a token and reports whether the token may open it. The caller must call the
// function `leave` when the stream ends. A token may not have more open streams than are still free for all tokens,
// so a few tokens cannot take all of them.
//
// Source: Choudhury and Hahne, Dynamic queue length thresholds for shared-memory packet switches (IEEE/ACM
// Transactions on Networking 6, 1998), with the factor 1.
func (s *streams) enter(token string) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.most > 0 && s.count[token] >= s.most || s.all > 0 && s.count[token] >= s.all-s.sum {
		return nil, false
	}
	s.count[token]++
	s.sum++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sum--
		if s.count[token]--; s.count[token] == 0 {
			delete(s.count, token)
		}
	}, true
}

// open returns the number of streams that are open for all tokens together.
func (s *streams) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum
}
