package service

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"tutti/coll"
	"tutti/journal"
)

// What those who may only look see of a campaign is listed here: fields that are named
// and kinds of records that are known. The rest of a campaign file (variables, lines of
// shell, directives) and whatever programs printed may hold secrets.

// hidden stands where something is not shown.
const hidden = "[hidden]"

// Redacted is the campaign as those see it who may only look.
func (c Campaign) Redacted() Campaign {
	if c.Error != "" {
		c.Error = "the reason is shown to those who may operate"
	}
	return c
}

// Redacted is a feed as those see it who may only look: the same numbers and types,
// other data.
func Redacted(f Feed) Feed { return redactedFeed{f} }

type redactedFeed struct{ Feed }

func (f redactedFeed) After(seq int64, limit int) ([]Event, <-chan struct{}) {
	events, more := f.Feed.After(seq, limit)
	own := false
	for i, e := range events {
		r, changed := e.redacted()
		if !changed {
			continue
		}
		if !own { // other readers have the same events
			events, own = slices.Clone(events), true
		}
		events[i] = r
	}
	return events, more
}

// redacted is an event without what is hidden, and whether that is another one. Of a
// kind that is not listed only the kind and the time are shown.
func (e Event) redacted() (Event, bool) {
	var data any
	var err error
	switch journal.Kind(e.Type) {
	case scheduleEvent:
		return e, false
	case journal.KindBatch, journal.KindJob, journal.KindTrial, journal.KindEvaluation, journal.KindGrow, journal.KindHPO, journal.KindStop, journal.KindResume:
		if !bytes.Contains(e.Data, []byte(`"note"`)) && !bytes.Contains(e.Data, []byte(`"error"`)) {
			return e, false
		}
		data, err = redactedRecord(e.Data)
	case journal.KindHeader:
		data, err = redactedHeader(e.Data)
	case campaignEvent:
		var c Campaign
		err = json.Unmarshal(e.Data, &c)
		data = c.Redacted()
	case onlineEvent:
		var o Online
		err = json.Unmarshal(e.Data, &o)
		data = o.Redacted()
	default:
		data = bare(e)
	}
	if err != nil {
		data = bare(e)
	}
	if e.Data, err = json.Marshal(data); err != nil {
		panic(err) // what was decoded can be encoded
	}
	return e, true
}

// bare is what every event shows.
func bare(e Event) any {
	return struct {
		Kind string    `json:"kind"`
		Time time.Time `json:"time"`
	}{e.Type, e.Time}
}

// redactedRecord leaves out what programs printed.
func redactedRecord(line []byte) (journal.Record, error) {
	var r journal.Record
	if err := json.Unmarshal(line, &r); err != nil {
		return r, err
	}
	r.Note, r.HPO = "", nil
	if r.Trial != nil {
		r.Trial.Error = ""
	}
	return r, nil
}

// shownSpec is what is shown of the campaign file in the header of a journal.
type shownSpec struct {
	Name        string            `json:"name"`
	Machine     string            `json:"machine"`
	Seed        uint64            `json:"seed"`
	Libraries   []shownLibrary    `json:"libraries"`
	Collectives []coll.Collective `json:"collectives"`
	Grid        struct {
		Nodes []int   `json:"nodes,omitempty"`
		PPN   []int   `json:"ppn,omitempty"`
		Sizes []int64 `json:"sizes,omitempty"`
	} `json:"grid"`
	Runner    shownRunner     `json:"runner"`
	Benchmark json.RawMessage `json:"benchmark,omitempty"`
	Strategy  json.RawMessage `json:"strategy,omitempty"`
	Model     json.RawMessage `json:"model,omitempty"`
	Stop      json.RawMessage `json:"stop,omitempty"`
	HPO       json.RawMessage `json:"hpo,omitempty"`
	Export    json.RawMessage `json:"export,omitempty"`
}

type shownLibrary struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Env     []string `json:"env,omitempty"` // names, values hidden
}

type shownRunner struct {
	Kind  string   `json:"kind"`
	Env   []string `json:"env,omitempty"`   // names, values hidden
	Setup []string `json:"setup,omitempty"` // as many lines, all hidden
}

// redactedHeader keeps of the campaign file what shownSpec names.
func redactedHeader(line []byte) (any, error) {
	var header struct {
		Kind journal.Kind `json:"kind"`
		journal.Header
	}
	if err := json.Unmarshal(line, &header); err != nil {
		return nil, err
	}
	var spec shownSpec
	if err := json.Unmarshal(header.Spec, &spec); err != nil {
		return nil, err
	}
	for i := range spec.Libraries {
		hideValues(spec.Libraries[i].Env)
	}
	hideValues(spec.Runner.Env)
	for i := range spec.Runner.Setup {
		spec.Runner.Setup[i] = hidden
	}
	var err error
	header.Spec, err = json.Marshal(spec)
	return header, err
}

// hideValues keeps the names of variables.
func hideValues(env []string) {
	for i, v := range env {
		name, _, found := strings.Cut(v, "=")
		env[i] = hidden
		if found {
			env[i] = name + "=" + hidden
		}
	}
}
