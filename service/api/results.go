package api

import (
	"context"
	"errors"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/service"
)

// These answers contain lists. Each answer is an object, so that later versions can add fields.
type (
	baseList struct {
		Bases []config.Base `json:"bases"`
	}
	schedule struct {
		Schedule []service.Scheduled `json:"schedule"`
	}
	onlineList struct {
		Online []service.SampleStatus `json:"online"`
	}
	selectionList struct {
		Selections []service.Selection `json:"selections"`
	}
	predictionList struct {
		Predictions []service.Prediction `json:"predictions"`
	}
	version struct {
		Version string `json:"version" doc:"Version of tutti"`
		API     string `json:"api" doc:"Version of this interface"`
	}
)

// Problems selects problems of a campaign. An empty Library or Collective matches every problem.
type Problems struct {
	CampaignID
	Library    string `query:"library" maxLength:"100" doc:"Only this library"`
	Collective string `query:"collective" maxLength:"100" doc:"Only this collective"`
}

func (p Problems) matches(library string, c coll.Collective) bool {
	return (p.Library == "" || p.Library == library) && (p.Collective == "" || p.Collective == string(c))
}

type oneProblem struct {
	CampaignID
	Library    string `query:"library" required:"true" minLength:"1" maxLength:"100"`
	Collective string `query:"collective" required:"true" minLength:"1" maxLength:"100"`
}

func (a *API) resultRoutes() {
	get(a, "/version", "version", "Versions of the program and of this interface", func(context.Context, *struct{}) (*body[version], error) {
		return &body[version]{version{Version: a.options.Version, API: "v1"}}, nil
	})
	get(a, "/bases", "list-bases", "List the campaign files that campaigns can be created from", func(context.Context, *struct{}) (*body[baseList], error) {
		return &body[baseList]{baseList{a.backend.Bases()}}, nil
	})
	get(a, "/schedule", "schedule", "The schedule of each base and its last decision", func(context.Context, *struct{}) (*body[schedule], error) {
		return &body[schedule]{schedule{a.backend.Schedule()}}, nil
	})
	get(a, "/node-hours", "node-hours", "The node-hours that campaigns may take and have taken today", func(context.Context, *struct{}) (*body[service.NodeHours], error) {
		return &body[service.NodeHours]{a.backend.NodeHours()}, nil
	})
	get(a, "/online", "online", "The watched folders of samples and what was learned from each", a.online)
	get(a, "/campaigns/{id}/selection", "selection", "The selected algorithm at every point", a.selection)
	get(a, "/campaigns/{id}/predictions", "predictions", "The predicted time of every algorithm at every point", func(ctx context.Context, in *oneProblem) (*body[predictionList], error) {
		p, err := a.backend.Predictions(ctx, in.ID, journal.Problem{Library: in.Library, Collective: coll.Collective(in.Collective)})
		return reply(a, predictionList{p}, err)
	})
}

// online returns the status of the watched folders of samples.
func (a *API) online(ctx context.Context, _ *struct{}) (*body[onlineList], error) {
	out := onlineList{Online: []service.SampleStatus{}}
	for _, o := range a.backend.Samples() {
		if !callerOf(ctx).operate {
			o = o.Redacted()
		}
		out.Online = append(out.Online, o)
	}
	return &body[onlineList]{out}, nil
}

// reply converts a result of the backend into a response.
func reply[T any](a *API, v T, err error) (*body[T], error) {
	if err != nil {
		return nil, a.problemOf(err)
	}
	return &body[T]{v}, nil
}

// selection returns the selections of the requested problems. It leaves out problems without an evaluation.
// If no problem has an evaluation, the error is service.ErrNotYet.
func (a *API) selection(ctx context.Context, in *Problems) (*body[selectionList], error) {
	problems, err := a.backend.Problems(ctx, in.ID)
	if err != nil {
		return nil, a.problemOf(err)
	}
	out, known, notYet := selectionList{Selections: []service.Selection{}}, false, error(nil)
	for _, p := range problems {
		if !in.matches(p.Library, p.Collective) {
			continue
		}
		known = true
		s, err := a.backend.Selection(ctx, in.ID, p)
		switch {
		case errors.Is(err, service.ErrNotYet):
			notYet = err
		case err != nil:
			return nil, a.problemOf(err)
		default:
			out.Selections = append(out.Selections, s)
		}
	}
	if !known {
		return nil, a.problemOf(service.ErrNoProblem)
	}
	if len(out.Selections) == 0 {
		return nil, a.problemOf(notYet)
	}
	return &body[selectionList]{out}, nil
}
