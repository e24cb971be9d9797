// Package api serves the campaigns of a service over HTTP: JSON described by an OpenAPI
// document that is generated from the handlers, server-sent events, health and metrics. It
// also serves a web page: the list of campaigns, a live view of a campaign, the comparison of
// two campaigns, and online learning in applications.
//
// It also controls access. A token has one of two roles. The role "operate" may do and see everything. The role "read" sees files
// that are not private, and other data without what the methods Redacted of package service remove. Programs send the token in the
// Authorization header. Browsers log in with it once and get a signed cookie that names the token and expires after a day.
//
//	a, err := api.New(backend, api.Options{Version: "1.2.3", Log: log, Tokens: tokens})
//	if err != nil {
//		return err
//	}
//	l, err := api.Listen("127.0.0.1:8372", api.ListenOptions{})
//	if err != nil {
//		return err
//	}
//	return a.Serve(ctx, l) // until ctx is cancelled
package api
