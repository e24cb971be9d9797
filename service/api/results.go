package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

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
		Version string `json:"version" doc:"Version of tutti"`
		API     string `json:"api" doc:"Version of this interface"`
	}
)

type someProblems struct {
	ID         string `path:"id" maxLength:"100"`
	Library    string `query:"library" maxLength:"100" doc:"Only this library"`
	Collective string `query:"collective" maxLength:"100" doc:"Only this collective"`
}

// filter selects problems. An empty field matches every problem.
type filter struct{ library, collective string }

func (f filter) matches(library string, c coll.Collective) bool {
	return (f.library == "" || f.library == library) && (f.collective == "" || f.collective == string(c))
}

type oneProblem struct {
	ID         string `path:"id" maxLength:"100"`
	Library    string `query:"library" required:"true" minLength:"1" maxLength:"100"`
	Collective string `query:"collective" required:"true" minLength:"1" maxLength:"100"`
}

type pair struct {
	A string `query:"a" required:"true" minLength:"1" maxLength:"100" doc:"ID of the first campaign"`
	B string `query:"b" required:"true" minLength:"1" maxLength:"100" doc:"ID of the second campaign"`
}

func (a *API) resultRoutes() {
	get(a, "/version", "version", "Versions of the program and of this interface", func(context.Context, *struct{}) (*body[version], error) {
		return &body[version]{version{Version: a.options.Version, API: "v1"}}, nil
	})
	get(a, "/bases", "list-bases", "List the campaign files that campaigns can be created from", func(context.Context, *struct{}) (*body[baseList], error) {
		return &body[baseList]{baseList{notNil(a.backend.Bases())}}, nil
	})
	get(a, "/schedule", "schedule", "The schedule of each base and its last decision", func(context.Context, *struct{}) (*body[schedule], error) {
		return &body[schedule]{schedule{notNil(a.backend.Schedule())}}, nil
	})
	get(a, "/node-hours", "node-hours", "The node-hours that campaigns may take and have taken today", func(context.Context, *struct{}) (*body[service.NodeHours], error) {
		return &body[service.NodeHours]{a.backend.NodeHours()}, nil
	})
	get(a, "/online", "online", "The watched folders of samples and what was learned from each", a.online)
	getList[roundList](a, "rounds", "The rounds and why each candidate was chosen", a.backend.Rounds, nil)
	getList[curve](a, "curve", "The evaluations of the selection after each round", a.backend.Curve, nil)
	getList[jobList](a, "jobs", "The jobs of a campaign", a.backend.Jobs, service.Job.Redacted)
	get(a, "/campaigns/{id}/selection", "selection", "The selected algorithm at every point", a.selection)
	get(a, "/campaigns/{id}/predictions", "predictions", "The predicted time of every algorithm at every point", func(ctx context.Context, in *oneProblem) (*body[predictionList], error) {
		p, err := a.backend.Predictions(ctx, in.ID, journal.Problem{Library: in.Library, Collective: coll.Collective(in.Collective)})
		return reply(a, predictionList{notNil(p)}, err)
	})
	get(a, "/compare", "compare", "Compare the selections of two campaigns and their times", func(ctx context.Context, in *pair) (*body[service.Comparison], error) {
		c, err := a.backend.Compare(ctx, in.A, in.B)
		return reply(a, c, err)
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

// getList registers a list that grows with the journal of a campaign. Answer is an object whose only field
// has this name. Items are written one by one, so the memory does not grow with the length of the list. The
// role read sees the results of redact; nil hides nothing.
func getList[Answer, T any](a *API, name, summary string, read func(ctx context.Context, id string) ([]T, error), redact func(T) T) {
	op := operation(http.MethodGet, "/campaigns/{id}/"+name, name, summary)
	op.Errors = append(op.Errors, http.StatusNotFound)
	schema := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Answer](), true, "")
	op.Responses = map[string]*huma.Response{"200": {Description: "OK", Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}}
	huma.Register(a.huma, op, func(ctx context.Context, in *campaignID) (*huma.StreamResponse, error) {
		items, err := read(ctx, in.ID)
		if err != nil {
			return nil, a.problemOf(err)
		}
		if redact != nil && !callerOf(ctx).operate {
			for i := range items {
				items[i] = redact(items[i])
			}
		}
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			ctx.SetHeader("Content-Type", "application/json")
			if err := writeList(ctx.BodyWriter(), name, items); err != nil {
				a.log.Warn("list not sent completely", "campaign", in.ID, "list", name, "error", err)
				panic(http.ErrAbortHandler) // closes the connection, so that the client notices
			}
		}}, nil
	})
}

// writeList writes {"name":[items]} with one item on each line.
func writeList[T any](w io.Writer, name string, items []T) error {
	out := bufio.NewWriter(w)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	fmt.Fprintf(out, "{%q:[", name)
	for i, item := range items {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := encoder.Encode(item); err != nil {
			return err
		}
	}
	out.WriteString("]}\n")
	return out.Flush() // also returns errors of earlier writes
}

// notNil returns its argument, or an empty slice for nil. JSON encodes an empty slice as [].
func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
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
func (a *API) selection(ctx context.Context, in *someProblems) (*body[selectionList], error) {
	problems, err := a.backend.Problems(ctx, in.ID)
	if err != nil {
		return nil, a.problemOf(err)
	}
	out, known, notYet := selectionList{Selections: []service.Selection{}}, false, error(nil)
	for _, p := range problems {
		if !(filter{in.Library, in.Collective}).matches(p.Library, p.Collective) {
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
