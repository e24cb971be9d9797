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

// ErrEntry is matched by errors about journal entries that no verification can have written.
var ErrEntry = errors.New("not an entry of a verification")

// Entry is one step of the verification of one library, as the campaign's journal stores it. Exactly one of
// the fields Pass, Job, Trial, Outcome and ForcingChecks is set.
type Entry struct {
	Library       string
	Session       int // from 1; a new session begins when the files select differently
	Pass          *Pass
	Round         int   // of a job or trial; counted through all sessions
	Stage         Stage // of a job or trial
	Job           *coll.Job
	Trial         *coll.Trial
	Outcome       *PassOutcome
	ForcingChecks []ForcingCheck
}

// Stage says for which step of a verification a measurement is made.
type Stage int

// The stages of a verification. Screening finds points that may be slower, confirmation decides about these points,
// and probing checks whether the library obeys its files.
const (
	Screening    Stage = 1
	Confirmation Stage = 2
	Probing      Stage = 3
)

// Pass is the plan of one pass of a verification: the points to test, and the rules of the test.
type Pass struct {
	Number     int         `json:"number"`
	FirstRound int         `json:"first_round"`
	Rules      Rules       `json:"rules"`
	Points     []TestPoint `json:"points"`

	Fixed         bool    `json:"fixed,omitzero"` // slower points are not reverted
	Changed       int     `json:"changed"`        // grid points at which the files select an algorithm
	ChangedWeight float64 `json:"changed_weight"` // their share of the weight of all grid points
	Selection     string  `json:"selection"`      // checksum of the selections at all grid points
}

// TestPoint is a point at which the tuned library is compared with its default. It has the algorithm that
// the files select at this point.
type TestPoint struct {
	coll.Point
	Choice coll.Algorithm `json:"choice"`
	Kind   PointKind      `json:"kind"`
	Weight float64        `json:"weight,omitzero"` // share of the weight of all grid points; of Risky and Random
}

func compareTestPoints(a, b TestPoint) int { return coll.ComparePoints(a.Point, b.Point) }

// PointKind says why a point is tested.
type PointKind string

// The kinds of test points.
const (
	OnGrid  PointKind = "grid"    // grid point where a probe checks the selection
	Risky   PointKind = "risky"   // grid point where the selection may be slower, by what the campaign knows
	Random  PointKind = "random"  // grid point of a random sample of all others with a selection
	Control PointKind = "control" // grid point where the file leaves the choice to the library
	Switch  PointKind = "switch"  // size at which the file switches to another algorithm
	Between PointKind = "between" // size or layout between those of the grid
	Retest  PointKind = "retest"  // point that was reverted to the default, or a neighbour of one
)

// PassOutcome is the result of one pass. The points and collectives that it lists as reverted use the library's
// default from then on.
type PassOutcome struct {
	Number              int               `json:"number"`                         // number of the pass
	Suspects            int               `json:"suspects"`                       // number of points that had a confirmation
	Reverted            []Finding         `json:"reverted"`                       // points that are reverted
	RevertedCollectives []coll.Collective `json:"reverted_collectives,omitempty"` // collectives that are reverted as a whole
	Slower              []Finding         `json:"slower,omitempty"`               // points still slower although their collective was reverted, or slower with fixed files
	End                 bool              `json:"end,omitzero"`                   // true if no pass follows in this verification; the next one may go on
	Exhausted           string            `json:"exhausted,omitempty"`            // the limit that ended the pass before its points were decided
}

// Finding is a test point at which the library with its file is slower than the default or fails.
type Finding struct {
	TestPoint
	Reason Reason   `json:"reason"`
	Ratio  Interval `json:"ratio"`          // tuned time over default time in the confirmation; zero when all blocks failed
	P      float64  `json:"p"`              // p-value of the confirmation, without Holm's correction
	Blocks int      `json:"blocks"`         // blocks of the confirmation that have both times
	Error  string   `json:"error,omitzero"` // error of the last failure
}

// Reason says why a test point counts as slower or failing.
type Reason string

// The reasons of findings.
const (
	Slower Reason = "slower"
	Fails  Reason = "fails" // the tuned library fails where the default does not
)

// Record returns the entry as a record of the campaign's journal. The error matches ErrEntry if no
// verification can have made the entry.
func (e Entry) Record() (journal.Record, error) {
	step := journal.VerifyStep{
		Library: e.Library, Session: e.Session, Round: e.Round, Stage: int(e.Stage), Job: e.Job, Trial: e.Trial,
	}
	var err error
	if e.Pass != nil {
		step.Pass, err = json.Marshal(e.Pass)
	}
	if e.Outcome != nil && err == nil {
		step.Outcome, err = json.Marshal(e.Outcome)
	}
	if e.ForcingChecks != nil && err == nil {
		step.ForcingChecks, err = json.Marshal(e.ForcingChecks)
	}
	r := journal.Record{Kind: journal.KindVerify, Verify: &step}
	if err == nil {
		err = r.Validate()
	}
	if err != nil {
		return journal.Record{}, fmt.Errorf("%w: %w", ErrEntry, err)
	}
	return r, nil
}

// Entries returns the entries of a verification in the journal. It returns none if past is nil. The error
// matches ErrEntry if no verification can have written such entries.
func Entries(past *journal.Verification) ([]Entry, error) {
	if past == nil {
		return nil, nil
	}
	var out []Entry
	for step, err := range past.Steps() {
		if err != nil {
			return nil, err
		}
		e := Entry{Library: step.Library, Session: step.Session, Round: step.Round, Stage: Stage(step.Stage), Job: step.Job, Trial: step.Trial}
		err := errors.Join(decode(step.Pass, &e.Pass), decode(step.Outcome, &e.Outcome), decode(step.ForcingChecks, &e.ForcingChecks))
		if err != nil {
			return nil, fmt.Errorf("verification of %s, step %d: %w: %w", past.Library, len(out)+1, ErrEntry, err)
		}
		out = append(out, e)
	}
	return out, nil
}

// decode decodes JSON into *to and rejects unknown fields. It does nothing if `raw` is empty.
func decode(raw json.RawMessage, to any) error {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// RejectedBy returns the points of collective c at which a verification, whose entries are given, replaces the
// selected algorithm by the default.
func RejectedBy(entries []Entry, c coll.Collective) selection.Rejected {
	var out selection.Rejected
	for _, e := range entries {
		if e.Outcome == nil {
			continue
		}
		for _, f := range e.Outcome.Reverted {
			if f.Collective == c {
				out.Points = append(out.Points, f.Point)
			}
		}
		out.All = out.All || slices.Contains(e.Outcome.RevertedCollectives, c)
	}
	slices.SortFunc(out.Points, coll.ComparePoints)
	out.Points = slices.Compact(out.Points)
	return out
}
