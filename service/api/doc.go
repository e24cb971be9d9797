// Package api serves campaigns over HTTP: JSON described by an OpenAPI document
// that is made from the handlers, server-sent events, health and metrics. It
// guards the service: who may speak to it, how much and from where.
//
//	a, err := api.New(backend, api.Options{Version: "1.2.3", Log: log, Tokens: tokens})
//	l, err := api.Listen("127.0.0.1:8080", api.Security{Tokens: true})
//	err = a.Serve(ctx, l)
package api
