package api_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/internal/testutil/pagetest"
	"tutti/service/api"
)

func TestHandler(t *testing.T) {
	tests := []struct {
		method, path string
		status       int
		mediaType    string
	}{
		{"GET", "/", http.StatusOK, "text/html; charset=utf-8"},
		{"HEAD", "/", http.StatusOK, "text/html; charset=utf-8"},
		{"GET", "/assets/main.js", http.StatusOK, "text/javascript; charset=utf-8"},
		{"GET", "/assets/draw.css", http.StatusOK, "text/css; charset=utf-8"},
		{"GET", "/assets/icon.svg", http.StatusOK, "image/svg+xml"},
		{"GET", "/assets/vendor/uPlot.LICENSE", http.StatusOK, "text/plain; charset=utf-8"},
		{"POST", "/", http.StatusMethodNotAllowed, ""},
		{"GET", "/assets", http.StatusNotFound, ""},
		{"GET", "/assets/", http.StatusNotFound, ""},
		{"GET", "/page.go", http.StatusNotFound, ""},
		{"GET", "/etc/passwd", http.StatusNotFound, ""},
	}
	h := testutil.Must(api.New(emptyFake(), api.Options{}))(t)
	for _, tc := range tests {
		t.Run(tc.method+" "+tc.path, func(t *testing.T) {
			r := httptest.NewRequest(tc.method, "/", nil)
			r.URL.Path = tc.path
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tc.status {
				t.Fatalf("status %d, want %d", w.Code, tc.status)
			}
			if tc.status != http.StatusOK {
				return
			}
			if h := w.Header(); h.Get("Content-Type") != tc.mediaType || h.Get("Cache-Control") != "no-cache" {
				t.Errorf("headers %v, want media type %q and no-cache", h, tc.mediaType)
			}
		})
	}
}

func TestHandlerTag(t *testing.T) {
	h := testutil.Must(api.New(emptyFake(), api.Options{}))(t)
	first := httptest.NewRecorder()
	h.ServeHTTP(first, httptest.NewRequest("GET", "/assets/main.js", nil))
	r := httptest.NewRequest("GET", "/assets/main.js", nil)
	r.Header.Set("If-None-Match", first.Header().Get("Etag"))
	second := httptest.NewRecorder()
	h.ServeHTTP(second, r)
	if second.Code != http.StatusNotModified || second.Body.Len() != 0 {
		t.Errorf("asked again: status %d with %d bytes, want %d with none", second.Code, second.Body.Len(), http.StatusNotModified)
	}
}

func TestModules(t *testing.T) { pagetest.CheckModules(t, "assets/*.js", "jstest/") }

// TestSources checks that no script creates HTML from text or loads anything from other hosts. It also
// checks that the page serves every imported file.
func TestSources(t *testing.T) {
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://|javascript:`)
	namespace := "http://www.w3.org/2000/svg"
	h := testutil.Must(api.New(emptyFake(), api.Options{}))(t)
	var names []string
	for _, folder := range []string{"assets/*", "../../report/assets/*"} {
		found, err := filepath.Glob(folder)
		if err != nil || len(found) < 5 {
			t.Fatalf("%s: %v (error %v)", folder, found, err)
		}
		names = append(names, found...)
	}
	imported := regexp.MustCompile(`from '\./([^']+)'|(?:src|href)="(assets/[^"]+)"`)
	for _, name := range names {
		contents, err := os.ReadFile(name)
		if err != nil {
			continue // name is a folder
		}
		text := strings.ReplaceAll(string(contents), namespace, "")
		for i, line := range strings.Split(text, "\n") {
			if m := forbidden.FindString(line); m != "" {
				t.Errorf("%s:%d has %q", name, i+1, m)
			}
		}
		for _, m := range imported.FindAllStringSubmatch(text, -1) {
			path := m[2]
			if m[1] != "" {
				path = "assets/" + m[1]
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", "/"+path, nil))
			if w.Code != http.StatusOK {
				t.Errorf("%s imports %s, which is not served", name, path)
			}
		}
	}
	index := testutil.Must(os.ReadFile("assets/index.html"))(t)
	if m := regexp.MustCompile(`(?i)<style|style=|<script[^>]*>[^<]|\son[a-z]+=`).Find(index); m != nil {
		t.Errorf("index.html has %q, which the policy forbids", m)
	}
}
