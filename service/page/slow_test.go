package page_test

import (
	"context"
	"net/http"
	"net/http/httptest"
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
	"tutti/service/api"
	assets "tutti/service/page"
)

// serveThrough offers the fake behind what disturbs requests on their way.
func serveThrough(t *testing.T, f *fake, disturb func(http.ResponseWriter, *http.Request) (answered bool)) string {
	t.Helper()
	return serveBehind(t, f, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !disturb(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}

// serveBehind offers the fake behind what hands requests on to it.
func serveBehind(t *testing.T, f *fake, hand func(w http.ResponseWriter, r *http.Request, next http.Handler)) string {
	t.Helper()
	a, err := api.New(f, api.Options{Version: "test", Page: assets.Handler()})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hand(w, r, a) }))
	t.Cleanup(func() { a.Close(); server.Close() })
	return server.URL
}

// waiting holds requests back until it is closed; those of a page that has gone end.
func waiting(gate <-chan struct{}, which func(path string) bool) func(http.ResponseWriter, *http.Request) bool {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		if which(r.URL.Path) {
			select {
			case <-gate:
			case <-r.Context().Done():
			}
		}
		return false
	}
}

// halting holds an answer back after so many writes until the gate is closed, or the page gone.
type halting struct {
	http.ResponseWriter
	gate   <-chan struct{}
	gone   <-chan struct{}
	writes int
}

func (h *halting) Unwrap() http.ResponseWriter { return h.ResponseWriter }

func (h *halting) Write(b []byte) (int, error) {
	if h.writes--; h.writes < 0 {
		select {
		case <-h.gate:
		case <-h.gone:
		}
	}
	return h.ResponseWriter.Write(b)
}

func isStream(path string) bool { return strings.HasSuffix(path, "/events") }

// heard notes every text that the page shows at any time, into window.heard.
const heard = `(() => {
	window.heard = [];
	const note = () => {
		for (const e of document.querySelectorAll(".empty, .total, .loading")) {
			if (e.checkVisibility() && !window.heard.includes(e.textContent)) window.heard.push(e.textContent);
		}
	};
	new MutationObserver(note).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
})()`

// listen has every document of the tab note what it shows.
func listen(t *testing.T, ctx context.Context) {
	t.Helper()
	pagetest.Do(t, ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: heard})
		return err
	}))
}

// On a slow link the page shows the list as soon as it has it, says that it loads until
// then, and never that there is nothing.
func TestSlowList(t *testing.T) {
	f := newFake(t, time.Hour)
	f.add("c1", "first", service.Done, 1, -1)
	gate, list := make(chan struct{}), make(chan struct{})
	defer close(gate)
	streams := waiting(gate, isStream)
	lists := waiting(list, func(path string) bool { return path == "/api/v1/campaigns" })
	home := serveThrough(t, f, func(w http.ResponseWriter, r *http.Request) bool { return streams(w, r) || lists(w, r) })
	ctx := pagetest.Browse(t, home)
	listen(t, ctx)
	pagetest.Do(t, ctx, chromedp.Navigate(home+"/"))
	pagetest.Until(t, ctx, `document.querySelector(".loading")?.checkVisibility() && document.getElementById("link").textContent === "connecting"`)
	close(list)
	pagetest.Until(t, ctx, `document.querySelectorAll("tbody tr").length === 1 && document.querySelector(".loading") === null`)
	for _, text := range pagetest.Eval[[]string](t, ctx, `window.heard`) {
		if strings.Contains(text, "No campaign yet") {
			t.Errorf("the page said %q although there is a campaign", text)
		}
	}
	if got := pagetest.Eval[string](t, ctx, `document.getElementById("link").textContent`); got != "connecting" {
		t.Errorf("the stream is %q, want it still connecting", got)
	}
}

// A campaign whose journal has not come yet, or not all of it, says so, and not what an empty
// one would.
func TestSlowJournal(t *testing.T) {
	for _, writes := range []int{0, 5} {
		slowJournal(t, writes)
	}
}

func slowJournal(t *testing.T, writes int) {
	f := newFake(t, time.Hour)
	f.add("c1", "first", service.Done, 1, -1)
	gate := make(chan struct{})
	home := serveBehind(t, f, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if isStream(r.URL.Path) {
			w = &halting{w, gate, r.Context().Done(), writes}
		}
		next.ServeHTTP(w, r)
	})
	ctx := pagetest.Browse(t, home)
	listen(t, ctx)
	pagetest.Do(t, ctx, chromedp.Navigate(home+"/#/campaigns/c1"))
	pagetest.Until(t, ctx, `document.querySelector(".loading")?.checkVisibility() && document.querySelector("h1")?.textContent === "first"`)
	time.Sleep(500 * time.Millisecond) // longer than the page waits before it draws
	close(gate)
	pagetest.Until(t, ctx, drawn+` && document.querySelector(".loading") === null`)
	wrong := []string{"The charts begin with the first evaluation.", "no batch yet", "No job yet.", "The campaign uses recorded measurements and submits no jobs.", "This problem has no measurements yet.", "Files are written when the campaign ends."}
	for _, text := range pagetest.Eval[[]string](t, ctx, `window.heard`) {
		if slices.Contains(wrong, text) {
			t.Errorf("the page said %q of a campaign that is done", text)
		}
	}
}

// A campaign that waits has no journal to load.
func TestQueuedCampaign(t *testing.T) {
	f := newFake(t, time.Hour)
	f.add("c1", "first", service.Queued, 1, 0)
	home := serve(t, f, nil)
	ctx := pagetest.Browse(t, home)
	pagetest.Do(t, ctx, chromedp.Navigate(home+"/#/campaigns/c1"))
	pagetest.Until(t, ctx, `document.querySelector(".loading")?.textContent === "The campaign has not started yet."`)
}

// What cannot be loaded is told, with a way to try again that leads to the view.
func TestTryAgain(t *testing.T) {
	f := newFake(t, time.Hour)
	f.add("c1", "first", service.Done, 1, -1)
	f.add("c2", "second", service.Done, 1, -1)
	var broken atomic.Bool
	home := serveThrough(t, f, func(w http.ResponseWriter, r *http.Request) bool {
		if !broken.Load() || !strings.HasPrefix(r.URL.Path, "/api/v1/") || r.URL.Path == "/api/v1/me" {
			return false
		}
		http.Error(w, "no upstream", http.StatusBadGateway) // as a proxy says it
		return true
	})
	ctx := pagetest.Browse(t, home)
	for _, view := range []struct{ hash, ready string }{
		{"#/", `document.querySelectorAll("tbody tr").length === 2`}, {"#/campaigns/c1", drawn},
		{"#/compare/c1/c2", `document.querySelectorAll("td.c[data-point]").length > 100`},
	} {
		broken.Store(true)
		pagetest.Do(t, ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(home+"/"+view.hash))
		pagetest.Until(t, ctx, `document.querySelector("main [role=alert]")?.textContent.includes("answered 502") && document.querySelector("main .again")?.checkVisibility()`)
		if pagetest.Eval[bool](t, ctx, `document.body.innerText.includes("No campaign yet")`) {
			t.Errorf("%s: the page says that there is no campaign", view.hash)
		}
		pagetest.Do(t, ctx, chromedp.Click(chromedp.CSS("main .again"))) // still broken
		pagetest.Until(t, ctx, `document.querySelector("main .again")?.checkVisibility()`)
		broken.Store(false)
		pagetest.Do(t, ctx, chromedp.Click(chromedp.CSS("main .again")))
		pagetest.Until(t, ctx, view.ready+` && document.querySelector("main .again") === null`)
	}
	// The service does not answer at all.
	pagetest.Eval[any](t, ctx, `(() => { window.real = window.fetch; window.fetch = () => Promise.reject(new TypeError("no")); location.hash = "#/"; })()`)
	pagetest.Until(t, ctx, `document.querySelector("main [role=alert]")?.textContent === "The service cannot be reached."`)
	pagetest.Eval[any](t, ctx, `(() => { window.fetch = window.real; })()`)
	pagetest.Do(t, ctx, chromedp.Click(chromedp.CSS("main .again")))
	pagetest.Until(t, ctx, `document.querySelectorAll("tbody tr").length === 2`)
}
