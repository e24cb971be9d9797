package service

import (
	"encoding/json"
	"slices"
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
	c.Verdicts = slices.Clone(c.Verdicts)
	for i := range c.Verdicts {
		c.Verdicts[i].Command = "" // a path
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
			Name: j.Name, State: j.State, ID: j.ID, Requests: j.Requests, Nodes: j.Nodes, LimitSeconds: j.LimitSeconds, Outcome: j.Outcome, Spent: j.Spent,
		}
	}
	if t := r.Trial; t != nil {
		shown.Trial = &coll.Trial{Measurement: t.Measurement, Attempt: t.Attempt, State: t.State, Phase: t.Phase}
	}
	return shown, nil
}

// shownSpec contains the keys of a campaign file that users of every role may see, one by one: a key that is not here is
// hidden. Its texts are names, and words that package config knows. The header of a journal contains the campaign file.
type shownSpec struct {
	Name        string            `json:"name"`
	Machine     string            `json:"machine"`
	Seed        uint64            `json:"seed"`
	Libraries   []shownLibrary    `json:"libraries"`
	Collectives []coll.Collective `json:"collectives"`
	Grid        struct {
		Nodes   []int    `json:"nodes,omitempty"`
		PPN     []int    `json:"ppn,omitempty"`
		Sizes   []int64  `json:"sizes,omitempty"`
		Between []string `json:"between,omitempty"`
	} `json:"grid"`
	Runner    shownRunner    `json:"runner"`
	Benchmark shownBenchmark `json:"benchmark,omitzero"`
	Method    string         `json:"method,omitempty"`
	Strategy  struct {
		Initial int     `json:"initial,omitempty"`
		Batch   int     `json:"batch,omitempty"`
		Growth  float64 `json:"growth,omitempty"`
	} `json:"strategy,omitzero"`
	Model shownModel `json:"model,omitzero"`
	Stop  shownStop  `json:"stop,omitzero"`
	HPO   struct {
		Trials int `json:"trials,omitempty"`
	} `json:"hpo,omitzero"`
	Export struct {
		MaxLoss         float64 `json:"max_loss,omitempty"`
		OpSafe          bool    `json:"op_safe,omitempty"`
		CollectiveShare float64 `json:"collective_share,omitempty"`
	} `json:"export,omitzero"`
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

type shownBenchmark struct {
	Program     string        `json:"program,omitempty"`
	Warmup      int           `json:"warmup,omitempty"`
	Iterations  int           `json:"iterations,omitempty"`
	MinSamples  int           `json:"min_samples,omitempty"`
	MaxSamples  int           `json:"max_samples,omitempty"`
	Precision   float64       `json:"precision,omitempty"`
	Slice       time.Duration `json:"slice,omitempty"`
	NoiseLimit  float64       `json:"noise_limit,omitempty"`
	AbortFactor float64       `json:"abort_factor,omitempty"`
	Check       bool          `json:"check,omitempty"`
}

type shownModel struct {
	Kind        string `json:"kind,omitempty"`
	Scaling     string `json:"scaling,omitempty"`
	Trees       int    `json:"trees,omitempty"`
	Criterion   string `json:"criterion,omitempty"`
	MaxDepth    int    `json:"max_depth,omitempty"`
	MinSplit    int    `json:"min_split,omitempty"`
	MinLeaf     int    `json:"min_leaf,omitempty"`
	MaxFeatures int    `json:"max_features,omitempty"`
	Folds       int    `json:"folds,omitempty"`
}

type shownStop struct {
	CriteriaFrom     string        `json:"criteria_from,omitempty"`
	Slowdown         float64       `json:"slowdown,omitempty"`
	Mistakes         float64       `json:"mistakes,omitempty"`
	MistakeThreshold float64       `json:"mistake_threshold,omitempty"`
	Patience         int           `json:"patience,omitempty"`
	MachineTime      time.Duration `json:"machine_time,omitempty"`
	NodeHours        float64       `json:"node_hours,omitempty"`
	WallTime         time.Duration `json:"wall_time,omitempty"`
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
	header.Rules, header.RulesSum = "", "" // a file of the operator
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
