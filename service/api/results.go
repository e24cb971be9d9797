package api

import (
	"context"
	"errors"

	"tutti/coll"
	"tutti/service"
	"tutti/store"
)

// Lists are objects, so that they can grow fields.
type (
	baseList struct {
		Bases []service.Base `json:"bases"`
	}
	schedule struct {
		Schedule []service.Scheduled `json:"schedule"`
	}
	roundList struct {
		Rounds []service.Round `json:"rounds"`
	}
	curve struct {
		Curve []service.CurvePoint `json:"curve"`
	}
	jobList struct {
		Jobs []service.Job `json:"jobs"`
	}
	selectionList struct {
		Selections []service.Selection `json:"selections"`
	}
	predictionList struct {
		Predictions []service.Prediction `json:"predictions"`
	}
	version struct {
		Version string `json:"version" doc:"Of tutti"`
		API     string `json:"api" doc:"Of this interface"`
	}
)

type someProblems struct {
	ID         string `path:"id" maxLength:"100"`
	Library    string `query:"library" maxLength:"100" doc:"Only this library"`
	Collective string `query:"collective" maxLength:"100" doc:"Only this collective"`
}

// filter is what problems are chosen by; empty ones choose all.
type filter struct{ library, collective string }

func (f filter) has(library string, c coll.Collective) bool {
	return (f.library == "" || f.library == library) && (f.collective == "" || f.collective == string(c))
}

type oneProblem struct {
	ID         string `path:"id" maxLength:"100"`
	Library    string `query:"library" required:"true" minLength:"1" maxLength:"100"`
	Collective string `query:"collective" required:"true" minLength:"1" maxLength:"100"`
}

type pair struct {
	A string `query:"a" required:"true" minLength:"1" maxLength:"100" doc:"ID of the one campaign"`
	B string `query:"b" required:"true" minLength:"1" maxLength:"100" doc:"ID of the other"`
}

func (a *API) resultRoutes() {
	get(a, "/version", "version", "Versions of the program and of this interface", func(context.Context, *struct{}) (*body[version], error) {
		return &body[version]{version{Version: a.options.Version, API: "v1"}}, nil
	})
	get(a, "/bases", "list-bases", "List the campaign files that campaigns can be made from", func(context.Context, *struct{}) (*body[baseList], error) {
		return &body[baseList]{baseList{list(a.backend.Bases())}}, nil
	})
	get(a, "/schedule", "schedule", "What the schedule did and will do", func(context.Context, *struct{}) (*body[schedule], error) {
		return &body[schedule]{schedule{list(a.backend.Schedule())}}, nil
	})
	get(a, "/node-hours", "node-hours", "The node-hours that campaigns may take of machines, and what is left today", func(context.Context, *struct{}) (*body[service.NodeHours], error) {
		return &body[service.NodeHours]{a.backend.NodeHours()}, nil
	})
	get(a, "/campaigns/{id}/rounds", "rounds", "What each round measured and why", func(_ context.Context, in *campaignID) (*body[roundList], error) {
		rounds, err := a.backend.Rounds(in.ID)
		return reply(a, roundList{list(rounds)}, err)
	})
	get(a, "/campaigns/{id}/curve", "curve", "How good the selection was after each round", func(_ context.Context, in *campaignID) (*body[curve], error) {
		points, err := a.backend.Curve(in.ID)
		return reply(a, curve{list(points)}, err)
	})
	get(a, "/campaigns/{id}/jobs", "jobs", "The jobs of a campaign", func(_ context.Context, in *campaignID) (*body[jobList], error) {
		jobs, err := a.backend.Jobs(in.ID)
		return reply(a, jobList{list(jobs)}, err)
	})
	get(a, "/campaigns/{id}/selection", "selection", "What is chosen at every point", a.selection)
	get(a, "/campaigns/{id}/predictions", "predictions", "The time of every algorithm at every point", func(ctx context.Context, in *oneProblem) (*body[predictionList], error) {
		p, err := a.backend.Predictions(ctx, in.ID, store.Problem{Library: in.Library, Collective: coll.Collective(in.Collective)})
		return reply(a, predictionList{list(p)}, err)
	})
	get(a, "/compare", "compare", "Two campaigns side by side: what each chooses and what that takes", func(ctx context.Context, in *pair) (*body[service.Comparison], error) {
		c, err := a.backend.Compare(ctx, in.A, in.B)
		return reply(a, c, err)
	})
}

// list makes an empty slice of nil, for JSON.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// reply wraps what the backend returned, or says what is wrong.
func reply[T any](a *API, v T, err error) (*body[T], error) {
	if err != nil {
		return nil, a.problemOf(err)
	}
	return &body[T]{v}, nil
}

// selection tells of the problems that are asked for, those left out of which
// nothing has been learnt yet unless that is all of them.
func (a *API) selection(ctx context.Context, in *someProblems) (*body[selectionList], error) {
	problems, err := a.backend.Problems(in.ID)
	if err != nil {
		return nil, a.problemOf(err)
	}
	out, known, none := selectionList{Selections: []service.Selection{}}, false, error(nil)
	for _, p := range problems {
		if !(filter{in.Library, in.Collective}).has(p.Library, p.Collective) {
			continue
		}
		known = true
		s, err := a.backend.Selection(ctx, in.ID, p)
		switch {
		case errors.Is(err, service.ErrNotYet):
			none = err
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
		return nil, a.problemOf(none)
	}
	return &body[selectionList]{out}, nil
}
