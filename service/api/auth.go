package api

import (
	"context"
	"net/http"
	"strings"
)

// caller is who sent a request and from where.
type caller struct {
	sender
	name    string // of the token
	operate bool
	known   bool // has a token, or needs none
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

// recognise finds out who sent a request, by header or by the session of a browser.
func (a *API) recognise(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := a.identify(r)
		who.sender = a.options.Proxies.sender(r)
		if rec, recorded := w.(*recorder); recorded {
			rec.caller = who
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, who)))
	})
}

// payer is whom a request is counted for: the token, whose holder may sit at many
// places, else the address.
func (c caller) payer() string {
	if c.name != "" {
		return "token " + c.name
	}
	return "address " + c.client
}

// authorise lets through whoever has a token for what they ask. Reading needs any
// token, all else the role operate.
func (a *API) authorise(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := callerOf(r.Context())
		switch {
		case openPath(r.URL.Path):
		case !who.known:
			a.refuseStranger(w, r)
			return
		case !who.operate && needsOperate(r):
			a.metrics.refused.WithLabelValues("role").Inc()
			writeProblem(w, http.StatusForbidden, "this needs a token with the role operate")
			return
		}
		next.ServeHTTP(w, r)
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

func (a *API) identify(r *http.Request) caller {
	if a.options.Tokens == nil {
		return caller{operate: true, known: true}
	}
	secret, given := bearer(r)
	if !given {
		cookie, err := r.Cookie(sessionCookie)
		if err != nil {
			return caller{}
		}
		if secret, given = a.sessions.secret(cookie.Value); !given {
			return caller{}
		}
	}
	name, operate, ok := a.options.Tokens.Check(secret) // of a session, too: its token may be revoked by now
	if !ok {
		return caller{}
	}
	return caller{name: name, operate: operate, known: true}
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
