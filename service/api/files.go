package api

import (
	"context"
	"mime"
	"net/http"
	"path"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"tutti/service"
)

type fileList struct {
	Files []service.File `json:"files"`
}

type fileInput struct {
	CampaignID
	Name string `path:"name" maxLength:"500" doc:"Name in the list of files; it may contain slashes"`
}

func (a *API) fileRoutes() {
	get(a, "/campaigns/{id}/files", "files", "List the files that can be downloaded", func(ctx context.Context, in *CampaignID) (*body[fileList], error) {
		files, err := a.backend.Files(in.ID)
		if !callerOf(ctx).operate {
			files = slices.DeleteFunc(files, func(f service.File) bool { return f.Private })
		}
		return reply(a, fileList{files}, err)
	})
	op := operation(http.MethodGet, "/campaigns/{id}/files/{name}", "download", "Download a file")
	op.Responses = map[string]*huma.Response{"200": {
		Description: "The file",
		Content:     map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
	}}
	huma.Register(a.huma, op, a.download)
}

// download sends a file as an attachment. A browser therefore saves the file and never shows it as a page
// of this site.
func (a *API) download(ctx context.Context, in *fileInput) (*huma.StreamResponse, error) {
	f, info, err := a.backend.Open(in.ID, in.Name)
	if err != nil {
		return nil, a.problemOf(err)
	}
	if info.Private && !callerOf(ctx).operate {
		f.Close()
		a.metrics.refused.WithLabelValues("role").Inc()
		return nil, huma.Error403Forbidden("this file needs a token with the role operate")
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		defer f.Close()
		r, w := humago.Unwrap(ctx)
		h := w.Header()
		h.Set("Content-Disposition", attachment(path.Base(in.Name)))
		h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
		h.Set("Content-Type", "application/octet-stream")
		if info.Type != "" {
			h.Set("Content-Type", info.Type)
		}
		http.ServeContent(w, r, "", time.Time{}, f)
	}}, nil
}

func attachment(name string) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": name})
}
