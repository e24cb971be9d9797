// Package api serves campaigns over HTTP: JSON described by an OpenAPI document
// that is made from the handlers, server-sent events, health and metrics.
//
// It guards the service. Whoever holds a token with the role operate may do and
// see all; one with the role read sees what service.Redacted leaves, and the files
// that are not private. Requests are counted for their token, else for the address
// they come from, by the word of Proxies where there are some. An address that
// strangers can reach demands TLS and tokens (ErrOpen).
//
//	a, err := api.New(backend, api.Options{Version: "1.2.3", Log: log, Tokens: tokens})
//	if err != nil {
//		return err
//	}
//	l, err := api.Listen("127.0.0.1:8372", api.Security{Tokens: true})
//	if err != nil {
//		return err
//	}
//	return a.Serve(ctx, l) // until ctx ends
package api
