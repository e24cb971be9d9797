package api

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"time"

	"tutti/report"
	"tutti/service"
)

// The page consists of embedded JavaScript modules without a build step. They use the API and load nothing from
// other hosts. Modules that draw charts and maps are in package report.
//
//go:embed assets
var assets embed.FS

// pageRoutes serves the page at / and the page's files below /assets/. It panics if an embedded file cannot be
// read.
func (a *API) pageRoutes() {
	for _, folder := range []embed.FS{report.Assets, assets} {
		err := fs.WalkDir(folder, "assets", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			pattern := "GET /" + name
			if name == "assets/index.html" {
				pattern = "GET /{$}"
			}
			contents, err := folder.ReadFile(name)
			a.mux.Handle(pattern, fileHandler(name, contents))
			return err
		})
		if err != nil {
			panic(err)
		}
	}
}

// fileHandler serves a file. Browsers revalidate it by its ETag, a hash of the contents, so they never use a file of
// another version.
func fileHandler(name string, contents []byte) http.Handler {
	sum := sha256.Sum256(contents)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", service.MediaType(name))
		h.Set("Cache-Control", "no-cache")
		h.Set("Etag", tag)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(contents))
	})
}
