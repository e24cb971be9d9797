package api_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tutti/internal/testutil"
	"tutti/journal"
	"tutti/service"
	"tutti/service/api"
)

// TestUnreadAnswers checks that answers that nobody reads do not keep other tokens from being served, and that the
// service refuses what one token asks for beyond its share.
func TestUnreadAnswers(t *testing.T) {
	testutil.SkipShort(t)
	f := newFake()
	f.measure(200_000) // about 30 MB, more than the buffers of a connection
	s := serve(t, f, api.Options{Tokens: someTokens(t)})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	statuses := make(chan int, 40)
	for range cap(statuses) {
		go func() {
			r, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/api/v1/campaigns/c1/measurements?format=csv", nil)
			if err != nil {
				panic(err)
			}
			r.Header.Set("Authorization", "Bearer look")
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				return
			}
			statuses <- answer.StatusCode
			<-ctx.Done() // without reading the body
			answer.Body.Close()
		}()
	}
	got := map[int]int{}
	for range cap(statuses) {
		got[<-statuses]++
	}
	if got[200] < 8 || got[503] < 8 || got[200]+got[503] != cap(statuses) {
		t.Errorf("answers by status %v, want some begun and the others refused", got)
	}
	if other := ask(t, s, "GET", "/api/v1/campaigns", "", "Authorization: Bearer do"); other.status != 200 {
		t.Errorf("another token gets %d %s", other.status, other.body)
	}
}

// TestStreamEndsWithItsToken checks that an open event stream delivers nothing after its token was revoked.
func TestStreamEndsWithItsToken(t *testing.T) {
	for _, cause := range []string{"an event", "the heartbeat"} {
		t.Run(cause, func(t *testing.T) {
			f, tokens := newFake(), someTokens(t)
			s := serve(t, f, api.Options{Tokens: tokens, Heartbeat: 20 * time.Millisecond})
			resp := open(t, s, "/api/v1/campaigns/c2/events", "Authorization: Bearer look")
			if _, err := resp.Body.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			testutil.NoError(t, tokens.Revoke("grafana"))
			if cause == "an event" {
				f.journal("c2").grow(3, false)
			}
			if rest := testutil.Must(io.ReadAll(resp.Body))(t); strings.Contains(string(rest), "data:") {
				t.Errorf("after the revocation: %s", rest)
			}
		})
	}
}

// TestLogBounds checks that neither long paths nor many requests without a token fill the log.
func TestLogBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // all requests at one instant
		var log bytes.Buffer
		a := testutil.Must(api.New(newFake(), api.Options{Tokens: someTokens(t), Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
		long := "/" + strings.Repeat("%01", 1000)
		for range 1000 {
			a.ServeHTTP(recordAnswer(), testutil.Must(http.NewRequestWithContext(t.Context(), "GET", long, nil))(t))
		}
		lines := strings.Count(log.String(), "\n")
		if size := log.Len(); lines == 0 || lines > 500 || size > lines*2000 {
			t.Errorf("%d lines of %d bytes, want short lines, and few for callers without a token", lines, size)
		}
	})
}

func recordAnswer() http.ResponseWriter { return discard{http.Header{}} }

// discard is a ResponseWriter that forgets the answer.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

// TestManyTrainings checks that one token cannot have many requests for models at once.
func TestManyTrainings(t *testing.T) {
	b := &slowModels{fake: newFake(), release: make(chan struct{})}
	a := testutil.Must(api.New(b, api.Options{Tokens: someTokens(t)}))(t)
	statuses := make(chan int, 20)
	for i := range cap(statuses) {
		go func() {
			r, err := http.NewRequestWithContext(t.Context(), "GET", fmt.Sprintf("/api/v1/campaigns/c1/predictions?library=mpich&collective=bcast%d", i), nil)
			if err != nil {
				panic(err)
			}
			r.Header.Set("Authorization", "Bearer look")
			w := &statusOnly{discard: discard{http.Header{}}, status: 200}
			a.ServeHTTP(w, r)
			statuses <- w.status
		}()
	}
	refused := 0
	for range cap(statuses) - 8 {
		if status := <-statuses; status == http.StatusServiceUnavailable {
			refused++
		}
	}
	close(b.release)
	if refused != cap(statuses)-8 {
		t.Errorf("%d refused, want %d", refused, cap(statuses)-8)
	}
}

// slowModels is a backend whose models are trained when release is closed.
type slowModels struct {
	*fake
	release chan struct{}
}

func (b *slowModels) Predictions(ctx context.Context, id string, p journal.Problem) ([]service.Prediction, error) {
	<-b.release
	return b.fake.Predictions(ctx, id, p)
}

type statusOnly struct {
	discard
	status int
}

func (s *statusOnly) WriteHeader(status int) { s.status = status }
