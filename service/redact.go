package service

import (
	"encoding/json"
	"strings"
	"time"

	"tutti/coll"
	"tutti/journal"
)

// This file lists what users with the role "read" may see. Other parts of a campaign file may contain secrets:
// environment variables, shell commands and directives. The output of programs may also contain secrets.

const (
	hidden      = "[hidden]" // replaces a value
	hiddenError = "the role operate can read the reason"
)

// Redacted returns the campaign without the data that users with the role "read" must not see.
func (c Campaign) Redacted() Campaign {
	if c.Error != "" {
		c.Error = hiddenError
	}
	return c
}

// Redacted returns the event without the data that may contain secrets, for users with the role "read". Its
// number and type stay the same. Of an event of an unknown kind, only the kind and the time remain.
func (e Event) Redacted() Event {
	var data any
	var err error
	switch journal.Kind(e.Type) {
	case scheduleEvent:
		return e
	case journal.KindBatch, journal.KindJob, journal.KindTrial, journal.KindEvaluation, journal.KindGrow, journal.KindHPO, journal.KindComparison, journal.KindStop, journal.KindResume:
		data, err = redactedRecord(e.Data)
	case journal.KindHeader:
		data, err = redactedHeader(e.Data)
	case campaignEvent:
		var c Campaign
		err = json.Unmarshal(e.Data, &c)
		data = c.Redacted()
	case onlineEvent:
		var status SampleStatus
		err = json.Unmarshal(e.Data, &status)
		data = status.Redacted()
	default:
		data = kindAndTime(e)
	}
	if err != nil {
		data = kindAndTime(e)
	}
	if e.Data, err = json.Marshal(data); err != nil {
		panic(err) // decoded data can be encoded
	}
	return e
}

// kindAndTime returns the kind and the time of an event, which every role may see.
func kindAndTime(e Event) any {
	return struct {
		Kind string    `json:"kind"`
		Time time.Time `json:"time"`
	}{e.Type, e.Time}
}

// redactedRecord returns the fields of a record that every user may see. It removes nodes, libraries and the
// output of programs from jobs and trials.
func redactedRecord(line []byte) (journal.Record, error) {
	var r journal.Record
	if err := json.Unmarshal(line, &r); err != nil {
		return r, err
	}
	shown := journal.Record{
		Kind: r.Kind, Time: r.Time, Problem: r.Problem, Round: r.Round, Batch: r.Batch, Reasons: r.Reasons,
		Evaluation: r.Evaluation, Grow: r.Grow, Comparison: r.Comparison, Stop: r.Stop,
	}
	if j := r.Job; j != nil {
		shown.Job = &coll.Job{
			Name: j.Name, State: j.State, ID: j.ID, Carries: j.Carries, Nodes: j.Nodes, LimitSeconds: j.LimitSeconds, Outcome: j.Outcome, Spent: j.Spent,
		}
	}
	if t := r.Trial; t != nil {
		shown.Trial = &coll.Trial{Measurement: t.Measurement, Attempt: t.Attempt, State: t.State, Phase: t.Phase}
	}
	return shown, nil
}

// shownSpec contains the fields of a campaign file that users of every role may see. The header of a journal
// contains the campaign file.
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
	Env     []string `json:"env,omitempty"` // the values are hidden
}

type shownRunner struct {
	Kind  string   `json:"kind"`
	Env   []string `json:"env,omitempty"`   // the values are hidden
	Setup []string `json:"setup,omitempty"` // every line is hidden
}

// redactedHeader returns the header of a journal with only those fields of the campaign file that shownSpec
// has.
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

func hideValues(env []string) {
	for i, v := range env {
		name, _, found := strings.Cut(v, "=")
		env[i] = hidden
		if found {
			env[i] = name + "=" + hidden
		}
	}
}
