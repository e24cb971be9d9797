package api

import (
	"context"
	"io"

	"tutti/internal/config"
	"tutti/journal"
	"tutti/service"
)

// Backend is the service behind the handlers. Its methods are safe for concurrent use. An error
// that matches none of package service is logged and answered as an internal error.
type Backend interface {
	// Campaigns returns all campaigns, newest first.
	Campaigns() []service.Campaign
	Campaign(id string) (service.Campaign, error)
	// Create makes a campaign. With a key that was used before it returns the campaign of then
	// and false, or service.ErrKey when the request differs.
	Create(ctx context.Context, r service.Request, key string) (c service.Campaign, created bool, err error)
	Pause(id string) (service.Campaign, error)
	Resume(id string) (service.Campaign, error)
	Cancel(id string) (service.Campaign, error)

	// Feed returns the lines of a campaign's journal, Events the service's own feed.
	Feed(id string) (service.Feed, error)
	Events() service.Feed

	Bases() []config.Base
	Schedule() []service.Scheduled
	NodeHours() service.NodeHours
	// Online returns the watched folders of samples.
	Samples() []service.SampleStatus

	Rounds(id string) ([]service.Round, error)
	// Measurements returns at most limit measurements after a line of the journal.
	Measurements(id string, after int64, limit int) ([]service.Measurement, error)
	Curve(id string) ([]service.CurvePoint, error)
	Jobs(id string) ([]service.Job, error)

	// Selection and Predictions return service.ErrNotYet before the first evaluation.
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
