package api

import (
	"context"
	"io"

	"tutti/journal"
	"tutti/service"
)

// Backend is what the handlers show and command. Its methods are safe for
// concurrent use. Errors match those of package service; one that matches none of
// them is answered as an internal error and logged.
type Backend interface {
	// Campaigns returns all campaigns, newest first.
	Campaigns() []service.Campaign
	Campaign(id string) (service.Campaign, error)
	// Create makes a campaign. With a key that was used before it returns that
	// campaign and false, or service.ErrKey when the request is another.
	Create(ctx context.Context, r service.Request, key string) (c service.Campaign, fresh bool, err error)
	Pause(id string) (service.Campaign, error)
	Resume(id string) (service.Campaign, error)
	Cancel(id string) (service.Campaign, error)

	// Feed returns the journal of a campaign, Events the row of the service.
	Feed(id string) (service.Feed, error)
	Events() service.Feed

	Bases() []service.Base
	Schedule() []service.Scheduled
	NodeHours() service.NodeHours
	// Online returns the watched folders of samples.
	Online() []service.Online

	Rounds(id string) ([]service.Round, error)
	// Measurements returns at most limit of those behind line after of the journal.
	Measurements(id string, after int64, limit int) ([]service.Measurement, error)
	Curve(id string) ([]service.CurvePoint, error)
	Jobs(id string) ([]service.Job, error)

	// Problems lists those of a campaign, Selection and Predictions tell what has
	// been learnt of one: service.ErrNotYet before that.
	Problems(id string) ([]journal.Problem, error)
	Selection(ctx context.Context, id string, p journal.Problem) (service.Selection, error)
	Predictions(ctx context.Context, id string, p journal.Problem) ([]service.Prediction, error)
	Compare(ctx context.Context, a, b string) (service.Comparison, error)

	Files(id string) ([]service.File, error)
	// Open opens a file that Files lists, and no other.
	Open(id, name string) (io.ReadSeekCloser, service.File, error)

	// Ready returns why no request should come now, or nil.
	Ready() error
}
