package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"tutti/coll"
	"tutti/journal"
	"tutti/selection"
)

// ErrEntry is matched by errors about entries that no verification can have written.
var ErrEntry = errors.New("not an entry of a verification")

// Entry is one step of the verification of one library, as the journal of the
// campaign keeps it. Exactly one of Pass, Job, Trial, Verdict and Sights is set.
type Entry struct {
	Library string
	Session int // 1 for the first; a new one begins when the files select differently
	Pass    *Pass
	Round   int  // of a job or trial; counts through all sessions
	Look    Look // of a job or trial
	Job     *coll.Job
	Trial   *coll.Trial
	Verdict *Verdict
	Sights  []Sight
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

// Record returns the entry as a record of the campaign's journal. The error matches
// ErrEntry for one that no verification makes.
func (e Entry) Record() (journal.Record, error) {
	step := journal.VerifyStep{
		Library: e.Library, Session: e.Session, Round: e.Round, Look: int(e.Look), Job: e.Job, Trial: e.Trial,
	}
	for _, content := range []struct {
		is   bool
		from any
		to   *json.RawMessage
	}{{e.Pass != nil, e.Pass, &step.Pass}, {e.Verdict != nil, e.Verdict, &step.Verdict}, {e.Sights != nil, e.Sights, &step.Sights}} {
		if !content.is {
			continue
		}
		raw, err := json.Marshal(content.from)
		if err != nil {
			return journal.Record{}, fmt.Errorf("entry of a verification: %w", err)
		}
		*content.to = raw
	}
	r := journal.Record{Kind: journal.KindVerify, Verify: &step}
	if err := errors.Join(r.Validate(), e.validateLook()); err != nil {
		return journal.Record{}, fmt.Errorf("%w: %w", ErrEntry, err)
	}
	return r, nil
}

func (e Entry) validateLook() error {
	if (e.Trial != nil || e.Job != nil) && (e.Look < FirstLook || e.Look > Probing) {
		return fmt.Errorf("look %d: want 1 to 3", e.Look)
	}
	return nil
}

// Entries returns what a journal knows of a verification, nothing for nil. The error
// matches ErrEntry.
func Entries(past *journal.Verification) ([]Entry, error) {
	if past == nil {
		return nil, nil
	}
	out := make([]Entry, len(past.Steps))
	for i, step := range past.Steps {
		var err error
		if out[i], err = entryOf(step); err != nil {
			return nil, fmt.Errorf("verification of %s, step %d: %w: %w", past.Library, i+1, ErrEntry, err)
		}
	}
	return out, nil
}

func entryOf(step journal.VerifyStep) (Entry, error) {
	e := Entry{Library: step.Library, Session: step.Session, Round: step.Round, Look: Look(step.Look), Job: step.Job, Trial: step.Trial}
	return e, errors.Join(decode(step.Pass, &e.Pass), decode(step.Verdict, &e.Verdict), decode(step.Sights, &e.Sights), e.validateLook())
}

// decode reads one content of a step strictly; nothing where there is none.
func decode(raw json.RawMessage, to any) error {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// CondemnedBy returns what entries, of all sessions, condemned of a collective.
func CondemnedBy(entries []Entry, c coll.Collective) selection.Rejected {
	var out selection.Rejected
	for _, e := range entries {
		if e.Verdict == nil {
			continue
		}
		for _, f := range e.Verdict.PutBack {
			if f.Collective == c {
				out.Points = append(out.Points, f.Point)
			}
		}
		out.All = out.All || slices.Contains(e.Verdict.Left, c)
	}
	slices.SortFunc(out.Points, coll.ComparePoints)
	out.Points = slices.Compact(out.Points)
	return out
}
