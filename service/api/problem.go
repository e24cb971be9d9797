package api

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"syscall"

	"github.com/danielgtaylor/huma/v2"

	"tutti/internal/config"
	"tutti/service"
)

// statuses maps errors of the service to HTTP statuses. Any other error is an internal error.
var statuses = []struct {
	err    error
	status int
}{
	{service.ErrNoCampaign, http.StatusNotFound},
	{service.ErrNotYet, http.StatusNotFound},
	{service.ErrNoProblem, http.StatusNotFound},
	{service.ErrNoFile, http.StatusNotFound},
	{fs.ErrNotExist, http.StatusNotFound},
	{service.ErrState, http.StatusConflict},
	{service.ErrKey, http.StatusConflict},
	{service.ErrQuota, http.StatusConflict},
	{service.ErrLimit, http.StatusConflict},
	{service.ErrQueueFull, http.StatusTooManyRequests},
	{service.ErrDraining, http.StatusServiceUnavailable},
	{context.Canceled, http.StatusServiceUnavailable},
	{context.DeadlineExceeded, http.StatusServiceUnavailable},
}

// internalError is what clients read about an unexpected error. They do not get the text of the error,
// because it may contain paths.
const internalError = "internal error: see the log of the service"

// problemOf converts an error of the backend into an answer. The text of an internal error appears only in
// the log, because it may contain paths.
func (a *API) problemOf(err error) error {
	if err == nil {
		return nil
	}
	if field, ok := errors.AsType[*config.FieldError](err); ok {
		location := "body."
		if field.Field == "Idempotency-Key" {
			location = "header."
		}
		return fieldProblem(location+field.Field, field.Text)
	}
	if errors.Is(err, service.ErrNoBase) {
		var names []string
		for _, b := range a.backend.Bases() {
			names = append(names, b.Name)
		}
		return fieldProblem("body.base", err.Error()+": want one of "+strings.Join(names, ", "))
	}
	for _, s := range statuses {
		if !errors.Is(err, s.err) {
			continue
		}
		p := huma.NewError(s.status, detailOf(err, s.err))
		if s.status == http.StatusTooManyRequests || s.status == http.StatusServiceUnavailable {
			return huma.ErrorWithHeaders(p, http.Header{"Retry-After": {"5"}})
		}
		return p
	}
	a.log.Error("request failed", "error", err)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return huma.NewError(http.StatusInsufficientStorage, "the disk of the service is full")
	}
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		p := huma.NewError(http.StatusServiceUnavailable, "the service has no free file descriptor")
		return huma.ErrorWithHeaders(p, http.Header{"Retry-After": {"5"}})
	}
	return huma.Error500InternalServerError(internalError)
}

// fieldProblem returns the answer to a request in which one field is wrong.
func fieldProblem(location, text string) error {
	return huma.Error422UnprocessableEntity("the request was refused", &huma.ErrorDetail{Message: text, Location: location})
}

// detailOf returns the text of an error for clients. It replaces texts of the operating system, because
// they contain paths.
func detailOf(err, known error) string {
	if errors.Is(known, fs.ErrNotExist) {
		return "no such file"
	}
	return err.Error()
}

// writeProblem writes an error answer in the format of the package huma, for handlers that do not use huma.
func writeProblem(w http.ResponseWriter, status int, detail string) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(huma.ErrorModel{Status: status, Title: http.StatusText(status), Detail: detail})
}

// notFound answers requests below /api/ that match no handler. The status is 405 if the path has a handler
// for another method, otherwise 404.
func (a *API) notFound(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		if method == r.Method {
			continue
		}
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := a.mux.Handler(other); strings.HasPrefix(pattern, method+" ") {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		writeProblem(w, http.StatusMethodNotAllowed, r.Method+" is not possible here")
		return
	}
	writeProblem(w, http.StatusNotFound, "no such page")
}
