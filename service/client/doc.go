// Package client speaks to a service of campaigns. Requests that change nothing,
// and those that an idempotency key makes harmless, are sent again when the
// service cannot be reached or is busy; a stream of events is taken up where it
// broke.
//
//	c, err := client.New("http://localhost:8080", client.Options{Token: secret})
//	made, err := c.Create(ctx, service.Request{Base: "night"}, "")
//	err = c.Watch(ctx, made.ID, 0, func(e service.Event) error { ... })
package client
