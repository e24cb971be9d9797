package api

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"tutti/service"
)

// eventsAtOnce is the number of events after which the output is flushed.
const eventsAtOnce = 256

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
			a.refuseBusy(w, "streams", "this token has too many open event streams: close one")
			return
		}
		defer leave()
		h := w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no")
		a.sendEvents(r, eventWriter{bufio.NewWriterSize(w, 4<<10), w}, feed, shown, after)
	}}, nil
}

// sendEvents writes events until the feed has ended, the client has disconnected, its token is revoked or the service
// ends. The function `shown` removes what the client must not see. It buffers no events for a slow client.
func (a *API) sendEvents(r *http.Request, w eventWriter, feed service.Feed, shown func(service.Event) service.Event, after int64) {
	beat := time.NewTicker(a.options.Heartbeat)
	defer beat.Stop()
	w.WriteString("retry: 2000\n\n")
	for a.mayGoOn(r) {
		ended, last := feed.Ended(), feed.Last() // before After, so that no event is missed
		events, more := a.sendPage(r.Context(), w, feed, shown, after)
		after += int64(events)
		if events == 0 && after < last { // the feed cannot be read now: the client connects again
			return
		}
		if events == 0 && ended {
			w.writeEvent(service.Event{Type: "end", Data: []byte(`{"seq":` + strconv.FormatInt(after, 10) + `}`)})
			w.flush()
			return
		}
		if w.flush() != nil {
			return
		}
		if events > 0 {
			select {
			case <-a.closing:
				return
			default:
				continue
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-a.closing:
			return
		case <-more:
		case <-beat.C:
			w.WriteString(": heartbeat\n\n")
		}
	}
}

// mayGoOn reports whether the caller of a request still has the token or login, and the role, with which the request
// began.
func (a *API) mayGoOn(r *http.Request) bool {
	then, now := callerOf(r.Context()), a.identify(r)
	return now.known && now.name == then.name && (now.operate || !then.operate)
}

// sendPage writes the next events that there are and returns their number. While long lines are on their way to other
// clients, it waits.
func (a *API) sendPage(ctx context.Context, w eventWriter, feed service.Feed, shown func(service.Event) service.Event, after int64) (n int, more <-chan struct{}) {
	if size := min(4*feed.NextBytes(after, eventsAtOnce), maxLines); size > 4*partBytes {
		if a.lines.Acquire(ctx, size) != nil {
			return 0, nil
		}
		defer a.lines.Release(size)
		defer w.Flush() // before other clients may use the memory
	}
	events, more := feed.After(after, eventsAtOnce)
	for _, e := range events {
		w.writeEvent(shown(e))
		a.metrics.events.Inc()
	}
	return len(events), more
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
	extend(w.to)
	if err := w.Flush(); err != nil {
		return err
	}
	return http.NewResponseController(w.to).Flush()
}

var oneLine = strings.NewReplacer("\r", "", "\n", " ")
