package api

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"tutti/service"
)

// endedFeed is a Feed with a fixed list of events, which has ended.
type endedFeed []service.Event

func (f endedFeed) After(seq int64, limit int) ([]service.Event, <-chan struct{}) {
	return f[seq:min(int(seq)+limit, len(f))], nil
}

func (f endedFeed) Last() int64 { return int64(len(f)) }
func (f endedFeed) Ended() bool { return true }

// discardWriter is a ResponseWriter that discards what is written to it.
type discardWriter struct{ header http.Header }

func (w discardWriter) Header() http.Header         { return w.header }
func (w discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w discardWriter) WriteHeader(int)             {}
func (w discardWriter) Flush()                      {}

// BenchmarkStream measures the time to send 10 000 trials of a journal to one client, for each role.
func BenchmarkStream(b *testing.B) {
	trial := json.RawMessage(`{"kind":"trial","time":"2026-03-01T12:00:00Z","problem":{"library":"mpich","collective":"bcast"},"round":7,"trial":{"collective":"bcast",` +
		`"nodes":16,"ppn":4,"msg_bytes":65536,"algorithm":"binomial","seconds":0.0000125,"cost_seconds":1.5,"attempt":1,"state":"done"}}`)
	journal := make(endedFeed, 10_000)
	for i := range journal {
		journal[i] = service.Event{Seq: int64(i + 1), Type: "trial", Data: trial}
	}
	for name, feed := range map[string]service.Feed{"operator": journal, "reader": service.Redacted(journal)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(journal) * len(trial)))
			b.ReportAllocs()
			for b.Loop() {
				w := discardWriter{http.Header{}}
				s := stream{out: bufio.NewWriter(io.Discard), control: http.NewResponseController(w), heartbeat: time.Minute, sent: func() {}}
				s.run(feed, 0)
			}
		})
	}
}
