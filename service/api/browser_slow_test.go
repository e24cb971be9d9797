package api_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"tutti/internal/testutil/pagetest"
	"tutti/service"
)

// serveIntercepted starts a server for the fake. The function `intercept` gets every request first, and may
// answer it.
func serveIntercepted(t *testing.T, f *fake, intercept func(http.ResponseWriter, *http.Request) (answered bool)) string {
	t.Helper()
	return serveWrapped(t, f, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !intercept(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}

// holdRequests returns a function that blocks the requests whose path satisfies the function `match`. They
// continue when the gate is closed or the client has disconnected.
func holdRequests(gate <-chan struct{}, match func(path string) bool) func(http.ResponseWriter, *http.Request) bool {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		if match(r.URL.Path) {
			select {
			case <-gate:
			case <-r.Context().Done():
			}
		}
		return false
	}
}

// gatedWriter is a ResponseWriter that blocks after some number of writes. It continues when the gate is
// closed or the client has disconnected.
type gatedWriter struct {
	http.ResponseWriter
	gate   <-chan struct{}
	closed <-chan struct{}
	writes int
}

func (h *gatedWriter) Unwrap() http.ResponseWriter { return h.ResponseWriter }

func (h *gatedWriter) Write(b []byte) (int, error) {
	if h.writes--; h.writes < 0 {
		select {
		case <-h.gate:
		case <-h.closed:
		}
	}
	return h.ResponseWriter.Write(b)
}

func isStream(path string) bool { return strings.HasSuffix(path, "/events") }

// textRecorder is a script. It stores every status text that the page shows in window.shownTexts.
const textRecorder = `(() => {
	window.shownTexts = [];
	const note = () => {
		for (const e of document.querySelectorAll(".empty, .total, .loading")) {
			if (e.checkVisibility() && !window.shownTexts.includes(e.textContent)) window.shownTexts.push(e.textContent);
		}
	};
	new MutationObserver(note).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
})()`

// recordTexts runs the script textRecorder in every document of the tab.
func recordTexts(t *testing.T, ctx context.Context) {
	t.Helper()
	pagetest.Do(t, ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: textRecorder})
		return err
	}))
}

// TestSlowList checks the page on a slow link. It must show a loading text until the list arrives, and
// never the text for an empty list.
func TestSlowList(t *testing.T) {
	f := emptyFake()
	f.add("c1", "first", service.Done, 1, -1)
	gate, list := make(chan struct{}), make(chan struct{})
	defer close(gate)
	streams := holdRequests(gate, isStream)
	lists := holdRequests(list, func(path string) bool { return path == "/api/v1/campaigns" })
	home := serveIntercepted(t, f, func(w http.ResponseWriter, r *http.Request) bool { return streams(w, r) || lists(w, r) })
	ctx := pagetest.Browse(t, home)
	recordTexts(t, ctx)
	visit(t, ctx, home+"/", `document.querySelector(".loading")?.checkVisibility() && document.getElementById("link").textContent === "connecting"`)
	close(list)
	pagetest.Until(t, ctx, `document.querySelectorAll("tbody tr").length === 1 && document.querySelector(".loading") === null`)
	for _, text := range pagetest.Eval[[]string](t, ctx, `window.shownTexts`) {
		if strings.Contains(text, "No campaign yet") {
			t.Errorf("the page said %q although there is a campaign", text)
		}
	}
	if got := pagetest.Eval[string](t, ctx, `document.getElementById("link").textContent`); got != "connecting" {
		t.Errorf("the stream is %q, want it still connecting", got)
	}
}

// TestSlowJournal checks the page while a journal arrives slowly. It must show a loading text until the
// whole journal has arrived, and never the texts for an empty campaign.
func TestSlowJournal(t *testing.T) {
	for _, writes := range []int{0, 5} {
		slowJournal(t, writes)
	}
}

func slowJournal(t *testing.T, writes int) {
	f := emptyFake()
	f.add("c1", "first", service.Done, 1, -1)
	gate := make(chan struct{})
	home := serveWrapped(t, f, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if isStream(r.URL.Path) {
			w = &gatedWriter{w, gate, r.Context().Done(), writes}
		}
		next.ServeHTTP(w, r)
	})
	ctx := pagetest.Browse(t, home)
	recordTexts(t, ctx)
	visit(t, ctx, home+"/#/campaigns/c1", `document.querySelector(".loading")?.checkVisibility() && document.querySelector("h1")?.textContent === "first"`)
	time.Sleep(500 * time.Millisecond) // longer than the page's delay before drawing
	close(gate)
	pagetest.Until(t, ctx, drawn+` && document.querySelector(".loading") === null`)
	emptyTexts := []string{"The charts begin with the first evaluation.", "no batch yet", "No job yet.", "The campaign uses recorded measurements and submits no jobs.", "This problem has no measurements yet.", "Files are written when the campaign ends."}
	for _, text := range pagetest.Eval[[]string](t, ctx, `window.shownTexts`) {
		if slices.Contains(emptyTexts, text) {
			t.Errorf("the page said %q of a campaign that is done", text)
		}
	}
}

// TestQueuedCampaign checks that the page of a queued campaign says that the campaign has not started.
func TestQueuedCampaign(t *testing.T) {
	f := emptyFake()
	f.add("c1", "first", service.Queued, 1, 0)
	home, ctx := browse(t, f)
	visit(t, ctx, home+"/#/campaigns/c1", `document.querySelector(".loading")?.textContent === "The campaign has not started yet."`)
}

// TestTryAgain checks that the page shows an error after a failed request. A button must load the view
// again.
func TestTryAgain(t *testing.T) {
	f := emptyFake()
	f.add("c1", "first", service.Done, 1, -1)
	f.add("c2", "second", service.Done, 1, -1)
	var failing atomic.Bool
	home := serveIntercepted(t, f, func(w http.ResponseWriter, r *http.Request) bool {
		if !failing.Load() || !strings.HasPrefix(r.URL.Path, "/api/v1/") || r.URL.Path == "/api/v1/me" {
			return false
		}
		http.Error(w, "no upstream", http.StatusBadGateway) // as a proxy answers
		return true
	})
	ctx := pagetest.Browse(t, home)
	for _, view := range []struct{ hash, ready string }{
		{"#/", `document.querySelectorAll("tbody tr").length === 2`}, {"#/campaigns/c1", drawn},
		{"#/compare/c1/c2", `document.querySelectorAll("td.c[data-point]").length > 100`},
	} {
		failing.Store(true)
		visit(t, ctx, home+"/"+view.hash, `document.querySelector("main [role=alert]")?.textContent.includes("answered 502") && document.querySelector("main .again")?.checkVisibility()`)
		if pagetest.Eval[bool](t, ctx, `document.body.innerText.includes("No campaign yet")`) {
			t.Errorf("%s: the page says that there is no campaign", view.hash)
		}
		pagetest.Do(t, ctx, chromedp.Click(chromedp.CSS("main .again"))) // fails again
		pagetest.Until(t, ctx, `document.querySelector("main .again")?.checkVisibility()`)
		failing.Store(false)
		pagetest.Do(t, ctx, chromedp.Click(chromedp.CSS("main .again")))
		pagetest.Until(t, ctx, view.ready+` && document.querySelector("main .again") === null`)
	}
	// From here on, requests fail without an answer.
	pagetest.Eval[any](t, ctx, `(() => { window.real = window.fetch; window.fetch = () => Promise.reject(new TypeError("no")); location.hash = "#/"; })()`)
	pagetest.Until(t, ctx, `document.querySelector("main [role=alert]")?.textContent === "The service cannot be reached."`)
	pagetest.Eval[any](t, ctx, `(() => { window.fetch = window.real; })()`)
	pagetest.Do(t, ctx, chromedp.Click(chromedp.CSS("main .again")))
	pagetest.Until(t, ctx, `document.querySelectorAll("tbody tr").length === 2`)
}
