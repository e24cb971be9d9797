package page_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"tutti/service/api"
	"tutti/service/page"
)

// serve offers the fake as the service does, the page with it.
func serve(t *testing.T, f *fake, tokens api.Tokens) string {
	t.Helper()
	a, err := api.New(f, api.Options{Version: "test", Page: page.Handler(), Tokens: tokens})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a)
	t.Cleanup(func() { a.Close(); server.Close() })
	return server.URL
}

// browse opens a tab of a headless Chromium; without one the test is skipped.
// At the end of the test it fails for every fault that the console told and for every
// request to another host.
func browse(t *testing.T, home string) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a browser")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("REQUIRE_BROWSER") == "1" {
			t.Fatal("needs apt-get install chromium: ", err)
		}
		t.Skip("needs apt-get install chromium: ", err)
	}
	chromium.start.Do(func() {
		chromium.ctx, _ = chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Headless)
		chromium.ctx, _ = chromedp.NewContext(chromium.ctx)
		chromium.err = chromedp.Do(chromium.ctx)
	})
	if chromium.err != nil {
		t.Fatal(chromium.err)
	}
	ctx, stop := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1440, 1000)); err != nil {
		t.Fatal(err)
	}
	check := watch(t, ctx, home)
	t.Cleanup(func() {
		check()
		stop()
	})
	return ctx
}

// chromium is the one browser of all tests; each has a profile of its own in it.
var chromium struct {
	start sync.Once
	ctx   context.Context
	err   error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if chromium.ctx != nil {
		if err := chromedp.Cancel(chromium.ctx); err != nil {
			fmt.Fprintln(os.Stderr, "browser:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// watch collects what the console says and where requests go.
func watch(t *testing.T, ctx context.Context, home string) (check func()) {
	var mu sync.Mutex
	var faults []string
	requests := 0
	note := func(s string) { mu.Lock(); faults = append(faults, s); mu.Unlock() }
	console, sent := chromedp.Console(ctx), chromedp.Events(ctx, network.RequestWillBeSent)
	go func() {
		for m, err := range console {
			if err != nil {
				return
			}
			// The browser itself writes a line for every answer that is an error.
			if m.Source == "network" && strings.Contains(m.Text, "the server responded with a status of") || m.Type == chromedp.ConsoleDebug {
				continue
			}
			note(m.String())
		}
	}()
	go func() {
		for e, err := range sent {
			if err != nil {
				return
			}
			mu.Lock()
			requests++
			mu.Unlock()
			if u := e.Request.URL; !strings.HasPrefix(u, home+"/") && !strings.HasPrefix(u, "about:") {
				note("request to " + u)
			}
		}
	}()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if requests == 0 {
			t.Error("no request was seen: the watch does not work")
		}
		for _, f := range faults {
			t.Error(f)
		}
	}
}

func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	limit, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	if err := chromedp.Do(limit, steps...); err != nil {
		where, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`location.hash + "\n" + document.body.innerText.slice(0, 300)`))
		t.Fatalf("%v\nat %s", err, where)
	}
}

func eval[T any](t *testing.T, ctx context.Context, js string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v
}

// until waits for an expression to be true.
func until(t *testing.T, ctx context.Context, js string) {
	t.Helper()
	limit, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	if _, err := chromedp.Run(limit, chromedp.Poll[bool](js, chromedp.WithPollingInterval(50*time.Millisecond))); err != nil {
		where, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`location.hash + "\n" + document.body.innerText.slice(0, 300)`))
		t.Fatalf("never: %s: %v\nat %s", js, err, where)
	}
}
