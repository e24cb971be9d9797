package api

import (
	"crypto/rand"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	sessionCookie = "tutti_session"
	sessionLife   = 12 * time.Hour
	maxSessions   = 10_000
	maxLogin      = 4 << 10 // bytes of a login form
)

// login makes a session of a token sent by the form.
func (a *API) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	if err := r.ParseForm(); err != nil {
		writeProblem(w, http.StatusBadRequest, "want a form with the field token")
		return
	}
	secret := strings.TrimSpace(r.PostForm.Get("token"))
	if a.options.Tokens != nil {
		if _, _, ok := a.options.Tokens.Check(secret); !ok {
			a.metrics.refused.WithLabelValues("auth").Inc()
			if strings.Contains(r.Header.Get("Accept"), "text/html") {
				showLogin(w, http.StatusUnauthorized, "This token is not known, or no longer.")
				return
			}
			writeProblem(w, http.StatusUnauthorized, "this token is not known, or no longer")
			return
		}
		setCookie(w, r, a.sessions.begin(secret), int(sessionLife.Seconds()))
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (a *API) logout(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		a.sessions.end(cookie.Value)
	}
	setCookie(w, r, "", -1)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// setCookie gives a browser its session for so many seconds. A client that came over
// TLS sends it over TLS only.
func setCookie(w http.ResponseWriter, r *http.Request, id string, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: id, Path: "/", MaxAge: seconds,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: callerOf(r.Context()).secure,
	})
}

var loginPage = template.Must(template.New("login").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>tutti: log in</title></head><body><main><h1>tutti</h1>
{{with .}}<p role="alert">{{.}}</p>{{end}}
<form method="post" action="/login"><p><label for="token">Token</label></p>
<p><input id="token" name="token" type="password" autocomplete="current-password" required autofocus size="50"></p>
<p><button>Log in</button></p></form>
<p>Tokens are made by <code>tutti token create</code>.</p></main></body></html>
`))

func showLogin(w http.ResponseWriter, status int, fault string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = loginPage.Execute(w, fault)
}

// sessions remembers which cookie stands for which token, in memory only: after a
// restart people log in again.
type sessions struct {
	now func() time.Time

	mu   sync.Mutex
	byID map[string]session
}

type session struct {
	secret  string
	expires time.Time
}

func newSessions() *sessions { return &sessions{now: time.Now, byID: map[string]session{}} }

// begin returns the ID of a new session, 130 random bits. With too many sessions
// the one that ends first makes room.
func (s *sessions) begin(secret string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if len(s.byID) >= maxSessions {
		var first string
		for id, one := range s.byID {
			if first == "" || one.expires.Before(s.byID[first].expires) {
				first = id
			}
			if now.After(one.expires) {
				delete(s.byID, id)
			}
		}
		delete(s.byID, first)
	}
	id := rand.Text()
	s.byID[id] = session{secret, now.Add(sessionLife)}
	return id
}

func (s *sessions) secret(id string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.byID[id]
	if !ok || s.now().After(one.expires) {
		delete(s.byID, id)
		return "", false
	}
	return one.secret, true
}

func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
}
