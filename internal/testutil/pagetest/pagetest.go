// Package pagetest drives the service's page in a headless Chromium. Only tests import it.
//
//	ctx := pagetest.Browse(t, "http://127.0.0.1:8372")
//	pagetest.Do(t, ctx, chromedp.Navigate("http://127.0.0.1:8372/"))
//	pagetest.Until(t, ctx, `document.querySelector(".pill.done") !== null`)
//	file := pagetest.Download(t, ctx, ".files a[download='mpich.json']")
package pagetest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"tutti/internal/testutil"
)

// chromium is the browser that all tests of a test binary share. Each test has its own browser profile in
// it.
var chromium struct {
	sync.Mutex
	ctx context.Context // nil before the first test and after Close
}

// Browse opens a browser tab of 1440 x 1000 px for the service at the URL `home`. The tab does not share
// cookies or storage with other tests. If there is no browser, or under go test -short, the test is
// skipped.
//
// The test fails if the page logs an error on the console or sends a request to another host. The browser
// keeps running for later tests until Close.
func Browse(t *testing.T, home string) context.Context {
	t.Helper()
	testutil.SkipShort(t)
	path, err := exec.LookPath("chromium-headless-shell") // takes half of chromium's processor time
	if err != nil {
		path, err = exec.LookPath("chromium")
	}
	if err != nil {
		testutil.NeedBrowser.Missing(t, "%v: needs apt-get install chromium-headless-shell", err)
	}
	running := testutil.Must(start(path))(t)
	ctx, stop := chromedp.NewContext(running, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	testutil.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(1440, 1000)))
	watch(t, ctx, home)
	return ctx
}

// start returns the context of the browser. It starts the browser if none runs.
func start(path string) (context.Context, error) {
	chromium.Lock()
	defer chromium.Unlock()
	if chromium.ctx != nil {
		return chromium.ctx, nil
	}
	// In the locale C, JavaScript's default language would be invalid.
	ctx, _ := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Headless, chromedp.Env("LC_ALL=en_US.UTF-8"))
	ctx, _ = chromedp.NewContext(ctx)
	if err := chromedp.Do(ctx); err != nil {
		return nil, err
	}
	chromium.ctx = ctx
	return ctx, nil
}

// Close ends the browser, if it is running.
func Close() error {
	chromium.Lock()
	defer chromium.Unlock()
	if chromium.ctx == nil {
		return nil
	}
	ctx := chromium.ctx
	chromium.ctx = nil
	return chromedp.Cancel(ctx)
}

// watch collects the tab's console messages and requests. At the end of the test it fails the test if any
// of them is not allowed.
func watch(t *testing.T, ctx context.Context, home string) {
	var mu sync.Mutex
	var faults []string
	requests := 0
	note := func(s string) {
		mu.Lock()
		defer mu.Unlock()
		faults = append(faults, s)
	}
	console, sent := chromedp.Console(ctx), chromedp.Events(ctx, network.RequestWillBeSent)
	go func() {
		for m, err := range console {
			if err != nil {
				return
			}
			if isFault(m) {
				note(m.String())
			}
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
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		if requests == 0 {
			t.Error("no request was seen: the watch does not work")
		}
		for _, f := range faults {
			t.Error(f)
		}
	})
}

// isFault reports whether a console message is an error. It ignores debug messages. It also ignores the
// browser's message about a response with an error status, because tests cause such responses.
func isFault(m chromedp.ConsoleMessage) bool {
	return m.Type != chromedp.ConsoleDebug && !(m.Source == "network" && strings.Contains(m.Text, "the server responded with a status of"))
}

// Do runs steps in the browser. If a step fails, the test fails with a message that contains the text of
// the page.
func Do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	limit, stop := context.WithTimeout(ctx, testutil.HangTimeout)
	defer stop()
	if err := chromedp.Do(limit, steps...); err != nil {
		t.Fatalf("%v\nat %s", err, shown(ctx))
	}
}

// Eval returns the value of a JavaScript expression on the page. If the value is a promise, it waits for
// the promise's result.
func Eval[T any](t *testing.T, ctx context.Context, js string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v
}

// Until waits until a JavaScript expression on the page is true.
func Until(t *testing.T, ctx context.Context, js string) {
	t.Helper()
	limit, stop := context.WithTimeout(ctx, testutil.HangTimeout)
	defer stop()
	if _, err := chromedp.Run(limit, chromedp.Poll[bool](js, chromedp.WithPollingInterval(50*time.Millisecond))); err != nil {
		t.Fatalf("never: %s: %v\nat %s", js, err, shown(ctx))
	}
}

func shown(ctx context.Context) string {
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.hash + "\n" + document.getElementById("notice")?.textContent + "\n" + document.body.innerText.slice(0, 400)`))
	if err != nil {
		return err.Error()
	}
	return text
}

// Download clicks the element with the CSS selector `link`. It returns the name and the content of the file that
// the browser saves.
func Download(t *testing.T, ctx context.Context, link string) (name string, contents []byte) {
	t.Helper()
	dir, events := t.TempDir(), true
	_, err := chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
		DownloadPath: dir, EventsEnabled: &events,
	})
	testutil.NoError(t, err)
	limit, stop := context.WithTimeout(ctx, testutil.HangTimeout)
	defer stop()
	progress := chromedp.BrowserEvents(limit, browser.DownloadProgress)
	Do(t, ctx, chromedp.Click(chromedp.CSS(link)))
	if err := saved(progress); err != nil {
		t.Fatalf("%s: %v", link, err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("downloaded %q (error %v), want one file", names, err)
	}
	return filepath.Base(names[0]), testutil.Must(os.ReadFile(names[0]))(t)
}

func saved(progress func(func(browser.EventDownloadProgress, error) bool)) error {
	for e, err := range progress {
		switch {
		case err != nil:
			return err
		case e.State == browser.DownloadProgressStateCompleted:
			return nil
		case e.State == browser.DownloadProgressStateCanceled:
			return fmt.Errorf("the browser refused the download")
		}
	}
	return fmt.Errorf("no word of the download")
}

// CheckModules checks the syntax of the JavaScript modules whose paths match `pattern`. It also runs the JavaScript
// tests in the folder `tests` with Node.js.
func CheckModules(t *testing.T, pattern, tests string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		testutil.NeedBrowser.Missing(t, "%v: needs apt-get install nodejs", err)
	}
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("modules: %v (error %v)", names, err)
	}
	for _, name := range names {
		contents := testutil.Must(os.ReadFile(name))(t)
		check := exec.Command(node, "--input-type=module", "--check")
		check.Stdin = bytes.NewReader(contents)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	out, err := exec.Command(node, "--test", tests).CombinedOutput()
	if err != nil {
		t.Errorf("node --test: %v\n%s", err, out)
	}
}
