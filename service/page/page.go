package page

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"tutti/report"
)

//go:embed assets
var assets embed.FS // files of the page; report.Assets has the shared ones

// file is an embedded file with its HTTP headers.
type file struct {
	contents  []byte
	mediaType string
	tag       string // ETag, a hash of the contents
}

// Handler serves the page at / and the page's files below /assets/. For any other path it answers "not
// found". Browsers revalidate each file by its ETag, so they never use a file of another version. Package api sets the
// headers that protect the page.
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
		h.Set("Cache-Control", "no-cache")
		h.Set("Etag", f.tag)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(f.contents))
	})
}

// mediaTypes maps file extensions to media types. The tables of operating systems are not used because they
// differ.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// load returns the embedded files, keyed by name. It panics if a file cannot be read.
func load() map[string]file {
	files := map[string]file{}
	for _, folder := range []embed.FS{report.Assets, assets} {
		err := fs.WalkDir(folder, "assets", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			contents, err := folder.ReadFile(name)
			if err != nil {
				return err
			}
			mediaType := cmp.Or(mediaTypes[path.Ext(name)], "text/plain; charset=utf-8")
			sum := sha256.Sum256(contents)
			files[name] = file{contents, mediaType, `"` + hex.EncodeToString(sum[:8]) + `"`}
			return nil
		})
		if err != nil {
			panic("page: " + err.Error())
		}
	}
	return files
}
