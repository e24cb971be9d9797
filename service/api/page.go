package api

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

// The page consists of embedded JavaScript modules without a build step. They use the API and load nothing from
// other hosts. Modules that draw charts and maps are in package report.
//
//go:embed assets
var assets embed.FS

// asset is an embedded file of the page with its HTTP headers.
type asset struct {
	contents  []byte
	mediaType string
	tag       string // ETag, a hash of the contents
}

// pageHandler serves the page at / and the page's files below /assets/. For any other path it answers "not
// found". Browsers revalidate each file by its ETag, so they never use a file of another version.
func pageHandler() http.Handler {
	files := loadAssets()
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

// mediaTypes maps file extensions to media types. The MIME tables of operating systems differ, so they are not
// used.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// loadAssets returns the embedded files, keyed by name. It panics if a file cannot be read.
func loadAssets() map[string]asset {
	files := map[string]asset{}
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
			files[name] = asset{contents, mediaType, `"` + hex.EncodeToString(sum[:8]) + `"`}
			return nil
		})
		if err != nil {
			panic(err)
		}
	}
	return files
}
