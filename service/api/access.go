package api

import (
	"context"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"
)

// caller is who sent a request, and what that sender may do.
type caller struct {
	name    string // of the token; empty if requests need no token
	operate bool   // the role is operate
	known   bool   // the request has a valid token, or needs none
}

type callerKey struct{}

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// stranger stands for all callers without a valid token where places are divided among tokens. No token has this name.
const stranger = "?"

// authenticate finds the caller of a request and stores the caller in the request's context. It refuses the request if
// too many requests of the caller are in progress.
func (a *API) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := a.identify(r)
		if rec, recorded := w.(*recorder); recorded {
			rec.caller = who
		}
		if c := connectionOf(r.Context()); c != nil {
			defer c.begin(who.known)()
		}
		share := who.name
		if !who.known {
			share = stranger
		}
		leave, ok := a.requests.enter(share)
		if !ok {
			w.Header().Set("Connection", "close")
			a.refuseBusy(w, "requests", "too many requests of this token are in progress")
			return
		}
		defer leave()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, who)))
	})
}

// identify finds the caller of a request. It reads the token in the Authorization header. If there is no
// such header, it uses the login cookie.
func (a *API) identify(r *http.Request) caller {
	if a.options.Tokens == nil {
		return caller{operate: true, known: true}
	}
	var t Token
	var ok bool
	if secret, given := bearer(r); given {
		t, ok = a.options.Tokens.Check(secret)
	} else {
		t, ok = a.cookieToken(r)
	}
	if !ok {
		return caller{}
	}
	return caller{name: t.Name, operate: t.Role == Operate, known: true}
}

func bearer(r *http.Request) (string, bool) {
	scheme, secret, found := strings.Cut(r.Header.Get("Authorization"), " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(secret), true
}

// authorise refuses requests that the caller's role does not allow. A token of any role may read. All other
// requests need the role "operate".
func (a *API) authorise(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := callerOf(r.Context())
		switch {
		case isPublic(r.URL.Path):
		case !who.known:
			a.unauthorized(w, r)
			return
		case !who.operate && needsOperate(r):
			a.metrics.refused.WithLabelValues("role").Inc()
			writeProblem(w, http.StatusForbidden, "this needs a token with the role operate")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isPublic reports whether a path needs no token. Public paths reveal nothing about campaigns.
func isPublic(path string) bool {
	return path == "/healthz" || path == "/readyz" || path == "/login" || slices.Contains(loginFiles, path)
}

// needsOperate reports whether a request needs the role "operate". Requests for profiles of the process need
// it, because profiles contain parts of its memory.
func needsOperate(r *http.Request) bool {
	if strings.HasPrefix(r.URL.Path, "/debug/") {
		return true
	}
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.URL.Path != "/logout"
}

// unauthorized answers a request without a valid token. It redirects browsers to the login page; other
// programs get status 401.
func (a *API) unauthorized(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == "/" && strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Redirect(w, r, "/login", http.StatusSeeOther)
		return
	}
	a.metrics.refused.WithLabelValues("auth").Inc()
	w.Header().Set("WWW-Authenticate", `Bearer realm="tutti"`)
	if _, given := bearer(r); given {
		writeProblem(w, http.StatusUnauthorized, invalidToken)
		return
	}
	writeProblem(w, http.StatusUnauthorized, "this needs a token: send Authorization: Bearer TOKEN, or log in at /login")
}

const invalidToken = "invalid or revoked token"

type me struct {
	Name  string `json:"name" doc:"Name of the token; empty where no token is needed"`
	Role  Role   `json:"role" enum:"read,operate"`
	Login bool   `json:"login" doc:"Whether the service needs tokens"`
}

func (a *API) accessRoutes() {
	get(a, "/me", "me", "The caller and his role", func(ctx context.Context, _ *struct{}) (*body[me], error) {
		c := callerOf(ctx)
		m := me{Name: c.name, Role: Read, Login: a.options.Tokens != nil}
		if c.operate {
			m.Role = Operate
		}
		return &body[me]{m}, nil
	})
	a.mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) { writeLoginPage(w, http.StatusOK, "") })
	a.mux.HandleFunc("POST /login", a.login)
	a.mux.HandleFunc("POST /logout", a.logout)
}

const (
	loginCookie   = "tutti_login"
	loginLifetime = 24 * time.Hour
	maxLoginForm  = 4 << 10 // bytes
)

// login is the signed content of a login cookie. It names a token but does not contain the token's secret.
// Browsers do not separate cookies by port, so services of other users on the same host also receive the
// cookie.
type login struct {
	Token       string `json:"token"`       // name
	Fingerprint string `json:"fingerprint"` // of the secret; a new token of the same name does not make an old cookie valid
}

// cookieToken returns the token that is named in the login cookie of a request.
func (a *API) cookieToken(r *http.Request) (Token, bool) {
	cookie, err := r.Cookie(loginCookie)
	if err != nil {
		return Token{}, false
	}
	var l login
	if a.cookies.Decode(loginCookie, cookie.Value, &l) != nil {
		return Token{}, false
	}
	t, ok := a.options.Tokens.Lookup(l.Token)
	return t, ok && t.Fingerprint() == l.Fingerprint
}

// login checks the token in the login form and gives the browser a login cookie for this token.
func (a *API) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxLoginForm)
	if err := r.ParseForm(); err != nil {
		writeProblem(w, http.StatusBadRequest, "want a form with the field token")
		return
	}
	if a.options.Tokens != nil {
		t, ok := a.options.Tokens.Check(strings.TrimSpace(r.PostForm.Get("token")))
		if !ok {
			a.metrics.refused.WithLabelValues("auth").Inc()
			if strings.Contains(r.Header.Get("Accept"), "text/html") {
				writeLoginPage(w, http.StatusUnauthorized, "Invalid or revoked token.")
				return
			}
			writeProblem(w, http.StatusUnauthorized, invalidToken)
			return
		}
		value, err := a.cookies.Encode(loginCookie, login{Token: t.Name, Fingerprint: t.Fingerprint()})
		if err != nil {
			a.log.Error("login cookie not made", "error", err)
			writeProblem(w, http.StatusInternalServerError, internalError)
			return
		}
		a.setCookie(w, r, value, int(loginLifetime.Seconds()))
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// logout deletes the login cookie of the browser.
func (a *API) logout(w http.ResponseWriter, r *http.Request) {
	a.setCookie(w, r, "", -1)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// setCookie sets the login cookie for maxAge seconds; a negative maxAge deletes it.
func (a *API) setCookie(w http.ResponseWriter, r *http.Request, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: loginCookie, Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: a.isHTTPS(r),
	})
}

// isHTTPS reports whether browsers reach the service by HTTPS. If the service has a public address, it
// decides by the scheme of that address, otherwise by the connection of the request.
func (a *API) isHTTPS(r *http.Request) bool {
	if p := a.options.PublicAddress; p != nil {
		return p.Scheme == "https"
	}
	return r.TLS != nil
}

// loginFiles are the files of the page that the login page shows.
var loginFiles = []string{"/assets/icon.svg", "/assets/draw.css", "/assets/views.css"}

var loginPage = template.Must(template.New("login").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>tutti: log in</title>
<link rel="icon" type="image/svg+xml" href="assets/icon.svg">
<link rel="stylesheet" href="assets/draw.css">
<link rel="stylesheet" href="assets/views.css">
</head>
<body>
<header class="bar"><span class="brand"><img src="assets/icon.svg" alt="" width="22" height="22"> tutti</span></header>
<main>
<dialog open aria-labelledby="login-title">
  <form method="post" action="/login">
    <h1 id="login-title">Log in</h1>
    <p>This service needs a token. <code>tutti token create</code> creates one. A login lasts one day.</p>
    <input type="text" autocomplete="username" value="tutti" hidden>
    <label for="token">Token</label>
    <input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
    {{with .}}<p class="wrong" role="alert">{{.}}</p>{{end}}
    <button class="main">Log in</button>
  </form>
</dialog>
</main>
</body>
</html>
`))

func writeLoginPage(w http.ResponseWriter, status int, fault string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = loginPage.Execute(w, fault)
}
