package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"tutti/internal/testutil"
	"tutti/internal/testutil/pagetest"
	"tutti/service"
	"tutti/service/api"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := pagetest.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// serveWrapped starts a server and returns its URL. The function `wrap` handles each request and may call `next`,
// the handler of the fake.
func serveWrapped(t *testing.T, f *fake, wrap func(w http.ResponseWriter, r *http.Request, next http.Handler)) string {
	t.Helper()
	a := testutil.Must(api.New(f, api.Options{}))(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { wrap(w, r, a) }))
	t.Cleanup(func() { a.Close(); server.Close() })
	return server.URL
}

// browse starts a server without tokens for the fake, and opens a browser.
func browse(t *testing.T, f *fake) (home string, ctx context.Context) {
	t.Helper()
	home = serve(t, f, api.Options{}).URL
	return home, pagetest.Browse(t, home)
}

// browseRunning starts a server and a browser for a fake whose only campaign, c1, is running.
func browseRunning(t *testing.T) (f *fake, home string, ctx context.Context) {
	t.Helper()
	f = emptyFake()
	f.add("c1", "first", service.Running, 1, 560)
	home, ctx = browse(t, f)
	return f, home, ctx
}

// visit opens an address as a new document. It waits until a JavaScript expression, `ready`, is
// true.
func visit(t *testing.T, ctx context.Context, address, ready string) {
	t.Helper()
	pagetest.Do(t, ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(address))
	pagetest.Until(t, ctx, ready)
}
