package page_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"testing"

	"tutti/internal/testutil/pagetest"
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

// serve offers the fake as the service does, the page with it.
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
