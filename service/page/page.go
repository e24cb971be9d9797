package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed assets
var assets embed.FS

// Policy is what the page's documents may load and do: what comes from the service
// itself and nothing else, no script or style in the markup.
const Policy = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// file is one that is served, ready.
type file struct {
	contents  []byte
	mediaType string
	tag       string // of its contents
}

// Handler serves the page at / and its files below /assets/. Everything else is not
// found. Files are asked for anew by their tag each time, so that a new version of the
// service is never seen beside an old page.
func Handler() http.Handler {
	files := load()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "" {
			name = "assets/index.html"
		}
		f, ok := files[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD are possible here", http.StatusMethodNotAllowed)
			return
		}
		h := w.Header()
		h.Set("Content-Type", f.mediaType)
		h.Set("Content-Security-Policy", Policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		h.Set("Etag", f.tag)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(f.contents))
	})
}

// mediaTypes are spelled out: the tables of a system differ.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// load reads the embedded files. They are part of the program, so that a fault is one
// of the program.
func load() map[string]file {
	files := map[string]file{}
	err := fs.WalkDir(assets, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		contents, err := assets.ReadFile(name)
		if err != nil {
			return err
		}
		mediaType := mediaTypes[path.Ext(name)]
		if mediaType == "" {
			mediaType = "text/plain; charset=utf-8"
		}
		sum := sha256.Sum256(contents)
		files[name] = file{contents, mediaType, `"` + hex.EncodeToString(sum[:8]) + `"`}
		return nil
	})
	if err != nil {
		panic("page: " + err.Error())
	}
	return files
}
