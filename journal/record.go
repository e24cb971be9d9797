package journal

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/hpo"
	"tutti/mpi"
)

// Schema is the version of the journal that this package writes and reads.
const Schema = 3

// Kind says what a line of the journal contains.
type Kind string

// The kinds of journal lines. Only the first line is a header.
const (
	KindHeader     Kind = "header"
	KindBatch      Kind = "batch"      // the candidates of a round
	KindJob        Kind = "job"        // a job about to be submitted, submitted or ended
	KindTrial      Kind = "trial"      // an ended attempt to measure a candidate
	KindEvaluation Kind = "evaluation" // how good the selection is after a round
	KindSite       Kind = "site"       // settings of the machine that select algorithms, of one library
	KindCut        Kind = "cut"        // the time limit ended a round: its candidates without a trial were not measured
	KindGrow       Kind = "grow"       // algorithms and points that are added to the space
	KindHPO        Kind = "hpo"        // a trial of a hyperparameter study
	KindComparison Kind = "comparison" // of the best forest of the study with the Gaussian process
	KindConfirm    Kind = "confirm"    // from this round on, pairs are measured that let the guard pass
	KindFiles      Kind = "files"      // how good the selection of the files is, after confirmation
	KindStop       Kind = "stop"       // why the campaign, or one problem of it, stopped
	KindResume     Kind = "resume"     // a later process continued from here
	KindVerify     Kind = "verify"     // a step of verifying the selection files on the machine
	KindSpec       Kind = "spec"       // the configuration from here on: budgets or criteria have changed, so that problems that have stopped learn again
	KindReopen     Kind = "reopen"     // problems that have stopped learn again, and confirmation of all problems follows once more
)

// Header is the first line of a journal. It identifies the campaign and contains everything that is
// necessary to run it again.
type Header struct {
	Schema   int             `json:"schema"`
	Campaign string          `json:"campaign"`
	ID       string          `json:"id,omitzero"` // unique
	Version  string          `json:"version"`     // of tutti
	Created  time.Time       `json:"created"`
	Seed     uint64          `json:"seed"`
	Spec     json.RawMessage `json:"spec,omitempty"`     // the whole configuration
	Rules    string          `json:"rules,omitzero"`     // path of the selection file that is verified instead of a tuned one; "" for campaigns
	RulesSum string          `json:"rules_sum,omitzero"` // SHA-256 of that file, in hexadecimal
	Private  bool            `json:"-"`                  // Create keeps other users from reading the journal
}

// Problems returns what the campaign tunes: every pair of one of its libraries and one of its collectives.
func (h Header) Problems() (out []Problem, err error) {
	var spec struct {
		Libraries   []struct{ Name string }
		Collectives []coll.Collective
	}
	if h.Spec != nil {
		err = json.Unmarshal(h.Spec, &spec)
	}
	for _, lib := range spec.Libraries {
		for _, c := range spec.Collectives {
			out = append(out, Problem{Library: lib.Name, Collective: c})
		}
	}
	return out, err
}

// Problem identifies a tuning problem: one collective of one library.
type Problem struct {
	Library    string          `json:"library"`
	Collective coll.Collective `json:"collective"`
}

// Preflight takes the place of a collective in the batches, jobs and trials of launches that read the settings of the
// machine for a library. Each of its rounds is one launch.
const Preflight coll.Collective = "preflight"

// String returns a text such as "mpich bcast".
func (p Problem) String() string { return p.Library + " " + string(p.Collective) }

// Record is one line after the header. Kind says which of the fields Batch, Job, Trial, Evaluation, Grow,
// HPO, Comparison, Files, Stop, Verify, Site and Spec is set. Records of the kinds resume, confirm and cut have none
// of them. A record of kind reopen or spec concerns all problems: those in Reopen learn again, and all are confirmed again.
// If Reopen is empty, there is only another confirmation. Note is free text; of a record of kind cut, it says what waited.
type Record struct {
	Kind       Kind                    `json:"kind"`
	Time       time.Time               `json:"time"`
	Problem    Problem                 `json:"problem,omitzero"`
	Round      int                     `json:"round,omitzero"`
	Batch      []coll.Candidate        `json:"batch,omitempty"`
	Reasons    []activelearn.Reason    `json:"reasons,omitempty"` // of a batch, one for each candidate, or none
	Job        *coll.Job               `json:"job,omitempty"`
	Trial      *coll.Trial             `json:"trial,omitempty"`
	Evaluation *activelearn.Evaluation `json:"evaluation,omitempty"`
	Grow       []coll.Candidate        `json:"grow,omitempty"` // candidates whose algorithms and points join the space after a round
	HPO        *hpo.TrialRecord        `json:"hpo,omitempty"`
	Comparison *hpo.Comparison         `json:"comparison,omitempty"`
	Files      *activelearn.Evaluation `json:"files,omitempty"`
	Stop       string                  `json:"stop,omitempty"`
	Reopen     []Problem               `json:"reopen,omitempty"` // that learn again
	Verify     *VerifyStep             `json:"verify,omitempty"`
	Site       *Site                   `json:"site,omitempty"`
	Spec       json.RawMessage         `json:"spec,omitempty"`
	Note       string                  `json:"note,omitempty"`
}

// Site records the settings of the machine with which the launches of a library run, also if there are none.
type Site struct {
	Library string `json:"library"`
	mpi.Site
}

// stageProbing is the VerifyStep.Stage in which the probe runs instead of the benchmark.
const stageProbing = 3

// VerifyStep records one event in the verification of one library. Exactly one of the fields from Pass on is
// set. Package verify defines what they mean.
type VerifyStep struct {
	Library       string          `json:"library"`
	Session       int             `json:"session"` // 1 for the first
	Pass          json.RawMessage `json:"pass,omitempty"`
	Round         int             `json:"round,omitzero"` // of a job or trial; counts through all sessions
	Stage         int             `json:"stage,omitzero"` // of a job or trial: screening 1, confirmation 2, probing 3
	Job           *coll.Job       `json:"job,omitempty"`
	Trial         *coll.Trial     `json:"trial,omitempty"`
	Outcome       json.RawMessage `json:"outcome,omitempty"`
	ForcingChecks json.RawMessage `json:"forcing_checks,omitempty"`
}

// Validate returns an error if the fields that are set do not fit the record's kind, or if a number is impossible.
func (r Record) Validate() error {
	fields := [...]struct {
		kind Kind
		set  bool
	}{
		{KindBatch, len(r.Batch) > 0}, {KindJob, r.Job != nil}, {KindTrial, r.Trial != nil}, {KindEvaluation, r.Evaluation != nil},
		{KindGrow, len(r.Grow) > 0}, {KindHPO, r.HPO != nil}, {KindComparison, r.Comparison != nil}, {KindFiles, r.Files != nil}, {KindStop, r.Stop != ""}, {KindVerify, r.Verify != nil},
		{KindSite, r.Site != nil}, {KindSpec, len(r.Spec) > 0}, {KindReopen, r.Kind == KindReopen || r.Kind != KindSpec && len(r.Reopen) > 0},
	}
	known := slices.Contains([]Kind{KindResume, KindConfirm, KindCut}, r.Kind)
	for _, f := range fields {
		switch {
		case f.kind == r.Kind && !f.set:
			return fmt.Errorf("record of kind %s: field %q is missing", r.Kind, f.kind)
		case f.kind != r.Kind && f.set:
			return fmt.Errorf("record of kind %q: field %q is set, want none", r.Kind, f.kind)
		}
		known = known || f.kind == r.Kind
	}
	if !known {
		return fmt.Errorf("kind %q: want batch, job, trial, evaluation, grow, hpo, comparison, confirm, files, stop, verify, site, spec, reopen or resume", r.Kind)
	}
	switch r.Kind {
	case KindBatch:
		return r.validateReasons()
	case KindJob:
		return r.Job.Validate()
	case KindTrial:
		return validateTrial(*r.Trial)
	case KindEvaluation:
		return r.Evaluation.Validate()
	case KindFiles:
		return r.Files.Validate()
	case KindVerify:
		return r.Verify.validate()
	}
	return nil
}

// validate returns an error if the library is missing, if not exactly one of the other fields is set, or if
// a number is impossible.
func (v VerifyStep) validate() error {
	set := 0
	for _, has := range []bool{len(v.Pass) > 0, v.Job != nil, v.Trial != nil, len(v.Outcome) > 0, len(v.ForcingChecks) > 0} {
		if has {
			set++
		}
	}
	switch {
	case set != 1:
		return fmt.Errorf("verify: %d contents, want one of pass, job, trial, outcome and forcing_checks", set)
	case v.Library == "" || v.Session < 1:
		return fmt.Errorf("verify: library %q, session %d: want a name and 1 or more", v.Library, v.Session)
	case (v.Job != nil || v.Trial != nil) && (v.Stage < 1 || v.Stage > stageProbing):
		return fmt.Errorf("verify: stage %d: want 1 to 3", v.Stage)
	case v.Job != nil:
		return v.Job.Validate()
	case v.Trial != nil:
		return validateTrial(*v.Trial)
	}
	return nil
}

func (r Record) validateReasons() error {
	if len(r.Reasons) != 0 && len(r.Reasons) != len(r.Batch) {
		return fmt.Errorf("batch of %d candidates with %d reasons: want one for each or none", len(r.Batch), len(r.Reasons))
	}
	for i, why := range r.Reasons {
		if err := why.Validate(); err != nil {
			return fmt.Errorf("reason for %v: %w", r.Batch[i], err)
		}
	}
	return nil
}

// validateTrial returns an error if a number in a trial is impossible. A failed trial needs no time.
func validateTrial(t coll.Trial) error {
	switch t.State {
	case coll.TrialDone:
		return t.Measurement.Validate()
	case coll.TrialFailed:
		if !(t.CostSeconds >= 0) || math.IsInf(t.CostSeconds, 0) {
			return fmt.Errorf("%v: cost %g s: want a finite number, zero or more", t.Candidate, t.CostSeconds)
		}
		return nil
	}
	return fmt.Errorf("%v: trial state %q: want %s or %s", t.Candidate, t.State, coll.TrialDone, coll.TrialFailed)
}
