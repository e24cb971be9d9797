package api

import (
	"context"
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

// caller is who sent a request.
type caller struct {
	name    string
	operate bool
}

type callerKey struct{}

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// openPath reports the paths that need no token: they tell nothing about campaigns.
func openPath(path string) bool {
	return path == "/healthz" || path == "/readyz" || path == "/login"
}

// authenticate lets through whoever has a token for what they ask, by header or
// by the session of a browser. Reading needs any token, all else the role operate.
func (a *API) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if openPath(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		who, ok := a.identify(r)
		if rec, recorded := w.(*recorder); recorded {
			rec.caller = who.name
		}
		switch {
		case !ok:
			a.refuseStranger(w, r)
			return
		case !who.operate && needsOperate(r):
			a.metrics.refused.WithLabelValues("role").Inc()
			writeProblem(w, http.StatusForbidden, "this needs a token with the role operate")
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, who)))
	})
}

// needsOperate reports what a reader may not do. Profiles hold memory, so reading
// them is no mere reading; leaving is for everybody.
func needsOperate(r *http.Request) bool {
	if strings.HasPrefix(r.URL.Path, "/debug/") {
		return true
	}
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.URL.Path != "/logout"
}

func (a *API) identify(r *http.Request) (caller, bool) {
	if a.options.Tokens == nil {
		return caller{operate: true}, true
	}
	secret, given := bearer(r)
	if !given {
		cookie, err := r.Cookie(sessionCookie)
		if err != nil {
			return caller{}, false
		}
		if secret, given = a.sessions.secret(cookie.Value); !given {
			return caller{}, false
		}
	}
	name, operate, ok := a.options.Tokens.Check(secret) // of a session, too: its token may be revoked by now
	return caller{name, operate}, ok
}

func bearer(r *http.Request) (string, bool) {
	scheme, secret, found := strings.Cut(r.Header.Get("Authorization"), " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(secret), true
}

// refuseStranger leads people to the login and tells programs what is missing.
func (a *API) refuseStranger(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == "/" && strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Redirect(w, r, "/login", http.StatusSeeOther)
		return
	}
	a.metrics.refused.WithLabelValues("auth").Inc()
	w.Header().Set("WWW-Authenticate", `Bearer realm="tutti"`)
	if _, given := bearer(r); given {
		writeProblem(w, http.StatusUnauthorized, "this token opens nothing here: it is wrong or was revoked")
		return
	}
	writeProblem(w, http.StatusUnauthorized, "this needs a token: Authorization: Bearer TOKEN, or log in at /login")
}

type me struct {
	Name  string `json:"name" doc:"Of the token; empty where none is needed"`
	Role  string `json:"role" enum:"read,operate"`
	Login bool   `json:"login" doc:"Tokens are needed here"`
}

func (a *API) authRoutes() {
	get(a, "/me", "me", "Who asks and what they may do", func(ctx context.Context, _ *struct{}) (*body[me], error) {
		c := callerOf(ctx)
		m := me{Name: c.name, Role: "read", Login: a.options.Tokens != nil}
		if c.operate {
			m.Role = "operate"
		}
		return &body[me]{m}, nil
	})
	a.mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) { showLogin(w, http.StatusOK, "") })
	a.mux.HandleFunc("POST /login", a.login)
	a.mux.HandleFunc("POST /logout", a.logout)
}

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
		id := a.sessions.begin(secret)
		http.SetCookie(w, &http.Cookie{
			Name: sessionCookie, Value: id, Path: "/", MaxAge: int(sessionLife.Seconds()),
			HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
		})
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (a *API) logout(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		a.sessions.end(cookie.Value)
	}
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil})
	http.Redirect(w, r, "/login", http.StatusSeeOther)
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
