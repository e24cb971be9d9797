package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"tutti/service"
)

// body is an HTTP response that has a body and sets no headers of its own.
type body[T any] struct{ Body T }

// CampaignID is a part of the input of operations on one campaign. It is exported because package huma ignores
// other embedded types.
type CampaignID struct {
	ID string `path:"id" maxLength:"100" doc:"ID of the campaign"`
}

type listInput struct {
	State string `query:"state" enum:"queued,running,stopping,paused,done,failed,cancelled,unreadable" doc:"Only campaigns in this state"`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Campaigns on a page"`
	After string `query:"after" maxLength:"100" doc:"The field next of the previous page"`
}

type campaignList struct {
	Campaigns []service.Campaign `json:"campaigns" doc:"Newest first"`
	Next      string             `json:"next,omitempty" doc:"Value of after for the next page; absent on the last one"`
	Seq       int64              `json:"seq" doc:"Number of the last event of /events that the list includes"`
}

type createInput struct {
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"A repeated request with the same key returns the campaign of the first one"`
	Body service.Request
}

type verifyInput struct {
	CampaignID
	Body *service.Verification
}

type createOutput struct {
	Status   int
	Location string `header:"Location"`
	Body     service.Campaign
}

func (a *API) campaignRoutes() {
	get(a, "/campaigns", "list-campaigns", "List the campaigns", a.listCampaigns)
	get(a, "/campaigns/{id}", "show-campaign", "Show a campaign", func(ctx context.Context, in *CampaignID) (*body[service.Campaign], error) {
		c, err := a.backend.Campaign(in.ID)
		return reply(a, redacted(ctx, c), err)
	})
	create := operation(http.MethodPost, "/campaigns", "create-campaign", "Create a campaign; it waits for its machine")
	create.DefaultStatus = http.StatusCreated
	create.MaxBodyBytes = maxRequest
	create.Errors = append(create.Errors, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests)
	create.Responses = map[string]*huma.Response{"200": {
		Description: "The campaign that an earlier request with this Idempotency-Key created",
		Content:     map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Campaign"}}},
	}}
	huma.Register(a.huma, create, a.create)
	const one = "/campaigns/{id}"
	a.control(operation(http.MethodPost, one+"/pause", "pause-campaign", "Stop a campaign so that it can be resumed"), a.backend.Pause)
	a.control(operation(http.MethodPost, one+"/resume", "resume-campaign", "Put a paused or failed campaign into the queue"), a.backend.Resume)
	a.control(operation(http.MethodPost, one+"/cancel", "cancel-campaign", "Stop a campaign for good and cancel its jobs"), a.backend.Cancel)
	verify := operation(http.MethodPost, one+"/verify", "verify-campaign", "Verify the files of a campaign: as soon as it is done, or again if it is")
	verify.DefaultStatus = http.StatusOK
	verify.MaxBodyBytes = maxRequest
	verify.Errors = append(verify.Errors, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests)
	huma.Register(a.huma, verify, func(_ context.Context, in *verifyInput) (*body[service.Campaign], error) {
		var v service.Verification
		if in.Body != nil {
			v = *in.Body
		}
		c, err := a.backend.Verify(in.ID, v)
		return reply(a, c, err)
	})
	a.control(operation(http.MethodDelete, one, "delete-campaign", "Remove a campaign that has ended, with its files"), a.backend.Delete)
}

// control registers an operation that calls the function `do` with the ID of a campaign.
func (a *API) control(op huma.Operation, do func(id string) (service.Campaign, error)) {
	op.DefaultStatus = http.StatusOK
	op.Errors = append(op.Errors, http.StatusConflict, http.StatusTooManyRequests)
	huma.Register(a.huma, op, func(_ context.Context, in *CampaignID) (*body[service.Campaign], error) {
		c, err := do(in.ID)
		return reply(a, c, err)
	})
}

func (a *API) listCampaigns(ctx context.Context, in *listInput) (*body[campaignList], error) {
	out := campaignList{Campaigns: []service.Campaign{}, Seq: a.backend.Events().Last()}
	all := a.backend.Campaigns()
	if in.After != "" {
		at := slices.IndexFunc(all, func(c service.Campaign) bool { return c.ID == in.After })
		if at < 0 {
			return nil, fieldProblem("query.after", service.ErrNoCampaign.Error())
		}
		all = all[at+1:]
	}
	for _, c := range all {
		if in.State != "" && string(c.State) != in.State {
			continue
		}
		if len(out.Campaigns) == in.Limit {
			out.Next = out.Campaigns[in.Limit-1].ID
			break
		}
		out.Campaigns = append(out.Campaigns, redacted(ctx, c))
	}
	return &body[campaignList]{out}, nil
}

// redacted returns the part of a campaign that the caller's role may see.
func redacted(ctx context.Context, c service.Campaign) service.Campaign {
	if callerOf(ctx).operate {
		return c
	}
	return c.Redacted()
}

func (a *API) create(ctx context.Context, in *createInput) (*createOutput, error) {
	c, created, err := a.backend.Create(ctx, in.Body, in.Key)
	if err != nil {
		return nil, a.problemOf(err)
	}
	status := http.StatusCreated
	if !created {
		status = http.StatusOK
	}
	return &createOutput{Status: status, Location: root + "/campaigns/" + c.ID, Body: c}, nil
}
