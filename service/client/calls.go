package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"tutti/journal"
	"tutti/service"
)

// Version returns the version of the service.
func (c *Client) Version(ctx context.Context) (string, error) {
	v, err := get[struct{ Version string }](ctx, c, nil, "version")
	return v.Version, err
}

// Bases returns the campaign files that campaigns can be made from.
func (c *Client) Bases(ctx context.Context) ([]service.Base, error) {
	v, err := get[struct{ Bases []service.Base }](ctx, c, nil, "bases")
	return v.Bases, err
}

// Schedule returns what the schedule did and will do.
func (c *Client) Schedule(ctx context.Context) ([]service.Scheduled, error) {
	v, err := get[struct{ Schedule []service.Scheduled }](ctx, c, nil, "schedule")
	return v.Schedule, err
}

// NodeHours returns what campaigns may take of machines, and what is left of today.
func (c *Client) NodeHours(ctx context.Context) (service.NodeHours, error) {
	return get[service.NodeHours](ctx, c, nil, "node-hours")
}

// Campaigns returns all campaigns in a state, newest first; "" is any state.
func (c *Client) Campaigns(ctx context.Context, state service.State) ([]service.Campaign, error) {
	query := url.Values{"limit": {"1000"}}
	if state != "" {
		query.Set("state", string(state))
	}
	out := []service.Campaign{} // none is [] in JSON
	for {
		v, err := get[struct {
			Campaigns []service.Campaign
			Next      string
		}](ctx, c, query, "campaigns")
		if err != nil {
			return nil, err
		}
		out = append(out, v.Campaigns...)
		if v.Next == "" {
			return out, nil
		}
		query.Set("after", v.Next)
	}
}

// Campaign returns one campaign.
func (c *Client) Campaign(ctx context.Context, id string) (service.Campaign, error) {
	return get[service.Campaign](ctx, c, nil, "campaigns", id)
}

// Create makes a campaign. The key tells this request from others: with the same
// one it can be sent again, by a later process as well. An empty one is made up.
func (c *Client) Create(ctx context.Context, r service.Request, key string) (service.Campaign, error) {
	if key == "" {
		key = rand.Text()
	}
	body, err := json.Marshal(r)
	if err != nil {
		return service.Campaign{}, err
	}
	var out service.Campaign
	err = c.fetch(ctx, request{
		method: http.MethodPost, path: "/campaigns", body: body, header: http.Header{"Idempotency-Key": {key}}, repeat: true,
	}, &out)
	return out, err
}

// Pause stops a campaign so that it can be resumed.
func (c *Client) Pause(ctx context.Context, id string) (service.Campaign, error) {
	return c.turn(ctx, id, "pause")
}

// Resume lets a campaign go on.
func (c *Client) Resume(ctx context.Context, id string) (service.Campaign, error) {
	return c.turn(ctx, id, "resume")
}

// Cancel stops a campaign for good and cancels its jobs.
func (c *Client) Cancel(ctx context.Context, id string) (service.Campaign, error) {
	return c.turn(ctx, id, "cancel")
}

// turn is sent once: a repetition may come when the campaign is in another state.
func (c *Client) turn(ctx context.Context, id, verb string) (service.Campaign, error) {
	var out service.Campaign
	err := c.fetch(ctx, request{method: http.MethodPost, path: join([]string{"campaigns", id, verb})}, &out)
	return out, err
}

// Rounds returns what each round measured and why.
func (c *Client) Rounds(ctx context.Context, id string) ([]service.Round, error) {
	v, err := get[struct{ Rounds []service.Round }](ctx, c, nil, "campaigns", id, "rounds")
	return v.Rounds, err
}

// Measurements returns at most limit of those behind line after of the journal,
// and the line to go on from, 0 at the end.
func (c *Client) Measurements(ctx context.Context, id string, after int64, limit int) (part []service.Measurement, next int64, err error) {
	query := url.Values{"after": {strconv.FormatInt(after, 10)}, "limit": {strconv.Itoa(limit)}}
	v, err := get[struct {
		Measurements []service.Measurement
		Next         int64
	}](ctx, c, query, "campaigns", id, "measurements")
	return v.Measurements, v.Next, err
}

// Curve returns how good the selection was after each round.
func (c *Client) Curve(ctx context.Context, id string) ([]service.CurvePoint, error) {
	v, err := get[struct{ Curve []service.CurvePoint }](ctx, c, nil, "campaigns", id, "curve")
	return v.Curve, err
}

// Jobs returns the jobs of a campaign.
func (c *Client) Jobs(ctx context.Context, id string) ([]service.Job, error) {
	v, err := get[struct{ Jobs []service.Job }](ctx, c, nil, "campaigns", id, "jobs")
	return v.Jobs, err
}

// Selection returns what is chosen at every point, for the problems that match:
// an empty library or collective matches all.
func (c *Client) Selection(ctx context.Context, id string, p journal.Problem) ([]service.Selection, error) {
	v, err := get[struct{ Selections []service.Selection }](ctx, c, problemQuery(p), "campaigns", id, "selection")
	return v.Selections, err
}

// Predictions returns the time of every algorithm at every point of a problem.
func (c *Client) Predictions(ctx context.Context, id string, p journal.Problem) ([]service.Prediction, error) {
	v, err := get[struct{ Predictions []service.Prediction }](ctx, c, problemQuery(p), "campaigns", id, "predictions")
	return v.Predictions, err
}

func problemQuery(p journal.Problem) url.Values {
	query := url.Values{}
	if p.Library != "" {
		query.Set("library", p.Library)
	}
	if p.Collective != "" {
		query.Set("collective", string(p.Collective))
	}
	return query
}

// Compare holds two campaigns against each other.
func (c *Client) Compare(ctx context.Context, a, b string) (service.Comparison, error) {
	return get[service.Comparison](ctx, c, url.Values{"a": {a}, "b": {b}}, "compare")
}

// Files returns the files of a campaign that can be downloaded.
func (c *Client) Files(ctx context.Context, id string) ([]service.File, error) {
	v, err := get[struct{ Files []service.File }](ctx, c, nil, "campaigns", id, "files")
	return v.Files, err
}

// Download writes a file of a campaign to w. An error may come after a part of it.
func (c *Client) Download(ctx context.Context, id, name string, w io.Writer) error {
	resp, err := c.do(ctx, request{method: http.MethodGet, path: join([]string{"campaigns", id, "files", name}), repeat: true})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
