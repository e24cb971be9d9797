package page_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"tutti/internal/testutil/pagetest"
	"tutti/service"
	"tutti/service/api"
	"tutti/service/page"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := pagetest.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// serve serves the API of the fake and the page, and returns its URL.
func serve(t *testing.T, f *fake, tokens *api.TokenStore) string {
	t.Helper()
	a, err := api.New(f, api.Options{Version: "test", Page: page.Handler(), Tokens: tokens})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a)
	t.Cleanup(func() { a.Close(); server.Close() })
	return server.URL
}

// browse serves the fake without tokens and opens a browser.
func browse(t *testing.T, f *fake) (home string, ctx context.Context) {
	t.Helper()
	home = serve(t, f, nil)
	return home, pagetest.Browse(t, home)
}

// browseRunning is browse with a fake whose only campaign c1 is running.
func browseRunning(t *testing.T) (f *fake, home string, ctx context.Context) {
	t.Helper()
	f = newFake(t, time.Hour)
	f.add("c1", "first", service.Running, 1, 560)
	home, ctx = browse(t, f)
	return f, home, ctx
}
