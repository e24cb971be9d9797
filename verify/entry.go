package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"tutti/coll"
	"tutti/store"
)

// ErrEntry is matched by errors about entries that no verification can have written.
var ErrEntry = errors.New("not an entry of a verification")

// Entry is one step of the verification of one library, as the journal of the
// campaign keeps it. Exactly one of Pass, Job, Trial, Verdict and Sights is set.
type Entry struct {
	Library string      `json:"library"`
	Session int         `json:"session"` // 1 for the first; a new one begins when the files select differently
	Pass    *Pass       `json:"pass,omitempty"`
	Round   int         `json:"round,omitzero"` // of a job or trial; counts through all sessions
	Look    Look        `json:"look,omitzero"`  // of a job or trial
	Job     *coll.Job   `json:"job,omitempty"`
	Trial   *coll.Trial `json:"trial,omitempty"`
	Verdict *Verdict    `json:"verdict,omitempty"`
	Sights  []Sight     `json:"sights,omitempty"`
}

// Look says what a measurement counts for.
type Look int

// The looks: the first makes suspects, the second condemns them or not; probing is
// about obedience alone.
const (
	FirstLook  Look = 1
	SecondLook Look = 2
	Probing    Look = 3
)

// Pass says what a pass compares.
type Pass struct {
	Number     int    `json:"number"`
	FirstRound int    `json:"first_round"`
	Rules      Rules  `json:"rules"`
	Spots      []Spot `json:"spots"`
}

// Spot is a point that is looked at, and what the file selects there.
type Spot struct {
	coll.Point
	Choice coll.Algorithm `json:"choice"`
	Why    Why            `json:"why"`
}

// Why says what a spot stands for.
type Why string

// The reasons for a spot.
const (
	OnGrid  Why = "grid"    // a point of the grid where the file selects an algorithm
	Control Why = "control" // one where it leaves the choice to the library
	Switch  Why = "switch"  // a size at which the file goes over to another algorithm
	Between Why = "between" // a size or layout between those of the grid
	Again   Why = "again"   // put back to the default, or a neighbour of such a point
)

// Verdict ends a pass.
type Verdict struct {
	Number  int               `json:"number"`           // of the pass
	Suspect int               `json:"suspect"`          // spots that had a second look
	PutBack []Finding         `json:"put_back"`         // left to the library's default from now on
	Left    []coll.Collective `json:"left,omitempty"`   // whole collectives left to the library from now on
	Slower  []Finding         `json:"slower,omitempty"` // still slower with nothing left to put back
	End     bool              `json:"end,omitzero"`     // no further pass follows
}

// Finding is a spot where the library with its file is slower or fails.
type Finding struct {
	Spot
	Reason Reason   `json:"reason"`
	Ratio  Interval `json:"ratio"`          // tuned over default, of the second look; zero when it failed
	P      float64  `json:"p"`              // of the second look, uncorrected
	Blocks int      `json:"blocks"`         // of the second look, with both times
	Error  string   `json:"error,omitzero"` // of the last failure
}

// Reason says what is wrong at a spot.
type Reason string

// The reasons of findings.
const (
	Slower Reason = "slower"
	Fails  Reason = "fails" // where the library as shipped does not
)

// validate reports an entry that has not exactly one content, or numbers that
// cannot be.
func (e Entry) validate() error {
	set := 0
	for _, has := range []bool{e.Pass != nil, e.Job != nil, e.Trial != nil, e.Verdict != nil, e.Sights != nil} {
		if has {
			set++
		}
	}
	switch {
	case set != 1:
		return fmt.Errorf("%w: %d contents, want one of pass, job, trial, verdict and sights", ErrEntry, set)
	case e.Library == "" || e.Session < 1:
		return fmt.Errorf("%w: library %q, session %d: want a name and 1 or more", ErrEntry, e.Library, e.Session)
	case (e.Trial != nil || e.Job != nil) && (e.Look < FirstLook || e.Look > Probing):
		return fmt.Errorf("%w: look %d: want 1 to 3", ErrEntry, e.Look)
	case e.Trial != nil && e.Trial.State == coll.TrialDone:
		if err := e.Trial.Validate(); err != nil {
			return fmt.Errorf("%w: %w", ErrEntry, err)
		}
	case e.Job != nil:
		if err := e.Job.Validate(); err != nil {
			return fmt.Errorf("%w: %w", ErrEntry, err)
		}
	}
	return nil
}

// Record returns the entry as a record of the campaign's journal.
func (e Entry) Record() (store.Record, error) {
	if err := e.validate(); err != nil {
		return store.Record{}, err
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return store.Record{}, fmt.Errorf("entry of a verification: %w", err)
	}
	return store.Record{Kind: store.KindVerify, Verify: raw}, nil
}

// Entries returns the entries among the records of a journal. The error matches
// ErrEntry.
func Entries(records []store.Record) ([]Entry, error) {
	var out []Entry
	for i, r := range records {
		if r.Kind != store.KindVerify {
			continue
		}
		e, err := parse(r.Verify)
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", i+1, err)
		}
		out = append(out, e)
	}
	return out, nil
}

func parse(raw []byte) (Entry, error) {
	var e Entry
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrEntry, err)
	}
	return e, e.validate()
}
