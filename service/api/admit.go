package api

import (
	"net/http"
	"strings"
	"time"
)

// Limits of what requests hold. With 1000 connections, all limits together keep the memory that requests take below
// about 250 MiB, and the descriptors below half of those that the process may open.
const (
	// maxAnswers is the number of requests that are answered at the same time, event streams not counted. An answer
	// holds at most about 1.5 MB (1000 campaigns, or the predictions of a large problem) and one open file.
	maxAnswers = 32
	// maxTrainings is the number of requests that wait for trained models at the same time, and maxTokenTrainings those of one
	// token. Training takes some seconds.
	maxTrainings, maxTokenTrainings = 32, 8
	// answerPatience is how long a request waits for its turn.
	answerPatience = 10 * time.Second
	// longestAnswer is how long a handler may take until it writes the first part of its answer.
	longestAnswer = 10 * time.Minute
	// partTime is the longest time that a client may take to receive one part of an answer.
	partTime = 30 * time.Second
	// partBytes is the size of a part of an answer.
	partBytes = 64 << 10
	// maxLines is the memory for lines of journals that are longer than partBytes, on their way to event streams.
	maxLines = 64 << 20
)

// admit makes requests wait while too many are being answered, and refuses those that would wait long. Requests of
// event streams, of the page's files and of callers without a token are not counted: they hold little.
func (a *API) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, route := callerOf(r.Context()), a.route(r)
		if !who.known || isLight(route) {
			next.ServeHTTP(w, r)
			return
		}
		c := http.NewResponseController(w)
		_ = c.SetWriteDeadline(time.Now().Add(longestAnswer))
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			_ = c.SetReadDeadline(time.Time{}) // at its end, net/http would cancel the request
		}
		leave, ok := a.answers.await(r.Context(), who.name, answerPatience)
		if !ok {
			a.refuseBusy(w, "answers", "too many requests of this token are being answered: read their answers, or try again")
			return
		}
		defer leave()
		if isTraining(route) {
			leave, ok := a.trainings.enter(who.name)
			if !ok {
				a.refuseBusy(w, "training", "too many requests of this token wait for trained models: try again")
				return
			}
			defer leave()
		}
		next.ServeHTTP(w, r)
	})
}

// isLight reports whether the answers of a route hold little memory and no file. Event streams have limits of their
// own.
func isLight(route string) bool {
	return isPublic(route) || route == "/{$}" || route == "/logout" || route == "other" || strings.HasPrefix(route, "/assets/") || strings.HasSuffix(route, "/events")
}

// isTraining reports whether requests of a route may wait until models are trained.
func isTraining(route string) bool {
	return strings.HasSuffix(route, "}/selection") || strings.HasSuffix(route, "}/predictions")
}

// refuseBusy refuses a request because the service, or the share of the token, is busy.
func (a *API) refuseBusy(w http.ResponseWriter, cause, text string) {
	a.metrics.refused.WithLabelValues(cause).Inc()
	w.Header().Set("Retry-After", "5")
	writeProblem(w, http.StatusServiceUnavailable, text)
}

// extend gives the client the time partTime to receive the next part of an answer.
func extend(w http.ResponseWriter) {
	c := http.NewResponseController(w)
	until := time.Now().Add(partTime)
	_ = c.SetReadDeadline(until)
	_ = c.SetWriteDeadline(until)
}
