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

// row is a feed of events that has ended.
type row []service.Event

func (r row) After(seq int64, limit int) ([]service.Event, <-chan struct{}) {
	return r[seq:min(int(seq)+limit, len(r))], nil
}

func (r row) Last() int64 { return int64(len(r)) }
func (r row) Ended() bool { return true }

// nowhere takes what a stream writes.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n nowhere) WriteHeader(int)             {}
func (n nowhere) Flush()                      {}

// BenchmarkStream writes 10 000 trials of a journal to one client, as an operator and as
// somebody who may only look sees them.
func BenchmarkStream(b *testing.B) {
	trial := json.RawMessage(`{"kind":"trial","time":"2026-03-01T12:00:00Z","problem":{"library":"mpich","collective":"bcast"},"round":7,"trial":{"collective":"bcast",` +
		`"nodes":16,"ppn":4,"msg_bytes":65536,"algorithm":"binomial","seconds":0.0000125,"cost_seconds":1.5,"attempt":1,"state":"done"}}`)
	journal := make(row, 10_000)
	for i := range journal {
		journal[i] = service.Event{Seq: int64(i + 1), Type: "trial", Data: trial}
	}
	for name, feed := range map[string]service.Feed{"operator": journal, "reader": service.Redacted(journal)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(journal) * len(trial)))
			b.ReportAllocs()
			for b.Loop() {
				w := nowhere{http.Header{}}
				s := stream{out: bufio.NewWriter(io.Discard), control: http.NewResponseController(w), heartbeat: time.Minute, sent: func() {}}
				s.run(feed, 0)
			}
		})
	}
}
