package api

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"tutti/coll"
	"tutti/journal"
	"tutti/service"
)

type measurementInput struct {
	Problems
	After  int64  `query:"after" minimum:"0" doc:"Only those after this line of the journal"`
	Limit  int    `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"Measurements on a page; CSV is complete"`
	Format string `query:"format" enum:"json,csv" doc:"Overrides the Accept header"`
	Accept string `header:"Accept"`
}

type measurementPage struct {
	Measurements []service.Measurement `json:"measurements" doc:"In the order of the journal"`
	Next         int64                 `json:"next,omitempty" doc:"Value of after for the next page; absent on the last one"`
}

func (a *API) measurementRoutes() {
	op := operation(http.MethodGet, "/campaigns/{id}/measurements", "measurements", "The measurements, as pages of JSON or as one CSV")
	page := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[measurementPage](), true, "MeasurementPage")
	op.Responses = map[string]*huma.Response{"200": {
		Description: "OK",
		Content: map[string]*huma.MediaType{
			"application/json": {Schema: page},
			"text/csv":         {Schema: &huma.Schema{Type: huma.TypeString, Description: "Columns " + strings.Join(csvColumns, ",")}},
		},
	}}
	huma.Register(a.huma, op, a.measurements)
}

func (a *API) measurements(ctx context.Context, in *measurementInput) (*huma.StreamResponse, error) {
	problems, err := a.backend.Problems(ctx, in.ID)
	if err != nil {
		return nil, a.problemOf(err)
	}
	all := func(func(service.Measurement, error) bool) {}
	if slices.ContainsFunc(problems, func(p journal.Problem) bool { return in.matches(p.Library, p.Collective) }) {
		if all, err = a.backend.Measurements(ctx, in.ID, in.After); err != nil {
			return nil, a.problemOf(err)
		}
	}
	if in.Format == "csv" || in.Format == "" && strings.Contains(in.Accept, "text/csv") {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			_, w := humago.Unwrap(ctx)
			h := w.Header()
			h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
			h.Set("Content-Disposition", attachment(in.ID+".csv"))
			if err := writeCSV(w, all, in.Problems); err != nil {
				a.abort(in.ID, err)
			}
		}}, nil
	}
	for _, err := range all { // an error before the first byte becomes an answer
		if err != nil {
			return nil, a.problemOf(err)
		}
		break
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "application/json")
		if err := writePage(bufio.NewWriterSize(ctx.BodyWriter(), 4<<10), all, in); err != nil {
			a.abort(in.ID, err)
		}
	}}, nil
}

// abort closes the connection of an answer that cannot be completed: a client would not notice that it is short.
func (a *API) abort(campaign string, err error) {
	a.log.Warn("measurements not sent completely", "campaign", campaign, "error", err)
	panic(http.ErrAbortHandler)
}

// writePage writes a measurementPage part by part, so that it needs little memory.
func writePage(w *bufio.Writer, all iter.Seq2[service.Measurement, error], in *measurementInput) error {
	w.WriteString(`{"measurements":[`)
	n, last, next := 0, int64(0), int64(0)
	for m, err := range all {
		if err != nil {
			return err
		}
		if !in.matches(m.Library, m.Collective) {
			continue
		}
		if n == in.Limit {
			next = last
			break
		}
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if n > 0 {
			w.WriteByte(',')
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		n, last = n+1, m.Seq
	}
	w.WriteByte(']')
	if next > 0 {
		fmt.Fprintf(w, `,"next":%d`, next)
	}
	w.WriteString("}\n")
	return w.Flush()
}

// csvColumns are the columns of recorded data, followed by the columns for library, round and journal line.
var csvColumns = slices.Concat([]string{"collective", "algorithm"}, coll.AxisNames(), []string{"time_us", "cost_s", "low_us", "high_us", "samples", "overall_us", "library", "round", "seq"})

func writeCSV(w io.Writer, all iter.Seq2[service.Measurement, error], wanted Problems) error {
	c := csv.NewWriter(w)
	if err := c.Write(csvColumns); err != nil {
		return err
	}
	var row []string
	for m, err := range all {
		if err == nil && wanted.matches(m.Library, m.Collective) {
			row = csvRow(row[:0], m)
			err = c.Write(row)
		}
		if err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// csvRow appends the cells of one measurement to `row`. The cell of an unknown value is empty.
func csvRow(row []string, m service.Measurement) []string {
	micro := func(seconds float64) string {
		if seconds == 0 {
			return ""
		}
		return strconv.FormatFloat(seconds*1e6, 'g', -1, 64)
	}
	samples := ""
	if m.Samples > 0 {
		samples = strconv.Itoa(m.Samples)
	}
	row = append(append(row, string(m.Collective), m.Algorithm.String()), coll.AxisTexts(m.Point)...)
	return append(row,
		micro(m.Seconds), strconv.FormatFloat(m.CostSeconds, 'g', -1, 64), micro(m.Low), micro(m.High), samples, micro(m.Overall),
		m.Library, strconv.Itoa(m.Round), strconv.FormatInt(m.Seq, 10))
}
