// Package api serves the campaigns of a service over HTTP: JSON described by an OpenAPI
// document that is generated from the handlers, server-sent events, health and metrics.
//
// It also controls access. A token has one of two roles: operate may do and see everything,
// read sees what service.Redacted leaves and the files that are not private. Programs send
// the token in the Authorization header. Browsers log in with it once and get a signed
// cookie that names the token and expires after a day. An address that other machines can
// reach needs TLS and tokens (ErrUnprotected).
//
//	a, err := api.New(backend, api.Options{Version: "1.2.3", Log: log, Tokens: tokens})
//	if err != nil {
//		return err
//	}
//	l, err := api.Listen("127.0.0.1:8372", api.ListenOptions{Tokens: true})
//	if err != nil {
//		return err
//	}
//	return a.Serve(ctx, l) // until ctx is cancelled
package api
