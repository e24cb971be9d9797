package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/journal"
)

// Tuned takes the place of an algorithm in candidates. It means the library with its selection files loaded,
// and coll.Default means the library without them.
var Tuned = coll.Algorithm{Name: "tuned"}

// Files holds the selections in the current selection files of a library, and the runners that test them.
type Files struct {
	Problems []Problem
	Machine  benchrunner.Runner // measures candidates of Tuned and coll.Default
	Probe    benchrunner.Runner // runs a Probe on candidates of Tuned; nil if there is none
	NoProbe  string             // why a live library has no probe
}

// Options say by which rules and within which limits a library is verified.
type Options struct {
	Library string
	Rules   Rules
	// MachineTime is the largest cost of a session's trials; zero means no limit. Before each block (repetition
	// at all test points), the session ends if the block would exceed the limit. A block is assumed to cost as
	// much as the previous one.
	MachineTime time.Duration
	// WallTime is the largest duration of a session; zero means no limit. The session ends in the same way as
	// for MachineTime.
	WallTime time.Duration
	Again    bool        // begin a new session if the last one has ended
	Observe  func(Event) // called before each block; may be nil
}

// Event says which block of a verification begins to be measured.
type Event struct {
	Library   string
	Pass      int
	Stage     Stage
	Block     int // number of the block in its stage
	MaxBlocks int // most blocks of the stage
	Points    int // points that the block measures
}

// ErrBudget is matched by the error of RunPass after a limit of machine time or wall time was reached.
var ErrBudget = errors.New("the budget of the verification is used up")

// ErrNothing is matched by the error for files that leave every choice to the library, or whose selections
// cannot be measured.
var ErrNothing = errors.New("nothing to verify")

// Session verifies a library in several passes. Each pass compares the library's tuned files with the library's
// default at some points. The files change from pass to pass.
type Session struct {
	opt   Options
	log   func(journal.Record) error
	past  *journal.Verification // the journal's records when the session was opened
	began time.Time

	entries []Entry // of all sessions
	number  int     // of this session
	rules   Rules
	round   int // last round
	spent   float64
}

// Open returns a session for the verification of a library. It measures nothing. The parameter `past` is the
// verification in the journal, nil if there is none. The problems have the selections of the current files.
//
// If the last session has not ended, Open continues it with the same rules. An ended session is kept as long
// as the selections of the files do not change. The function `log` writes a record to the journal; the record
// is on disk when it returns nil. The error matches ErrEntry if no verification can have written the entries.
func Open(opt Options, past *journal.Verification, problems []Problem, log func(journal.Record) error) (*Session, error) {
	if err := opt.Rules.Validate(); err != nil {
		return nil, err
	}
	entries, err := Entries(past)
	if err != nil {
		return nil, err
	}
	s := &Session{opt: opt, log: log, past: past, began: time.Now(), entries: entries, rules: opt.Rules}
	for _, e := range entries {
		s.number = max(s.number, e.Session)
		s.round = max(s.round, e.Round)
	}
	st := stateOf(entries, s.number)
	if s.number == 0 || !st.matches(problems) || opt.Again && st.ended() {
		s.number++
		return s, nil
	}
	if len(st.passes) > 0 {
		s.rules = st.passes[0].Rules
	}
	for _, e := range entries {
		if e.Session == s.number && e.Trial != nil {
			s.spent += e.Trial.CostSeconds
		}
	}
	return s, nil
}

// RunPass checks whether the library obeys the files, then runs one pass. It returns true if the verification
// has ended. Otherwise, the caller must remove the points that RejectedBy returns from the files before the
// next call.
//
// It returns ctx.Err() once ctx is cancelled. If it cannot continue, the error matches
// benchrunner.ErrUnavailable or ErrBudget. A session that Open returns later then continues the verification.
// If a library ignores its files, the verification ends, and Result shows this. Other errors come from the log.
func (s *Session) RunPass(ctx context.Context, files Files) (ended bool, err error) {
	state := stateOf(s.entries, s.number)
	if s.needsForcingCheck() {
		if ignored, err := s.checkForcing(ctx, files); err != nil || ignored {
			return true, err
		}
	}
	if state.ended() {
		return true, nil
	}
	outcome, err := s.pass(ctx, state, files)
	return outcome.End, err
}

// NextPoints returns the test points of the open pass or, if there is none, of the next pass. It returns none
// if the verification has ended. It measures and writes nothing. The error matches ErrNothing if there is
// nothing to verify.
func (s *Session) NextPoints(problems []Problem) ([]TestPoint, error) {
	state := stateOf(s.entries, s.number)
	if state.ended() {
		return nil, nil
	}
	pass, _, err := s.nextPass(state, problems)
	return pass.Points, err
}

// MachineSeconds returns the cost of the session's trials in seconds of machine time.
func (s *Session) MachineSeconds() float64 { return s.spent }

// Result returns the result of the verification so far.
func (s *Session) Result() (Result, error) { return Restore(s.opt.Library, s.entries) }

func (s *Session) pass(ctx context.Context, state state, files Files) (PassOutcome, error) {
	pass, begun, err := s.nextPass(state, files.Problems)
	if err == nil && !begun {
		err = s.append(Entry{Pass: &pass})
	}
	if err != nil {
		return PassOutcome{}, err
	}
	outcome, err := s.measurePass(ctx, pass, files.Machine)
	if err != nil {
		return PassOutcome{}, err
	}
	s.decideNext(&outcome, pass)
	return outcome, s.append(Entry{Outcome: &outcome})
}

// append writes an entry to the log, then adds it to the entries in memory.
func (s *Session) append(e Entry) error {
	e.Library, e.Session = s.opt.Library, s.number
	r, err := e.Record()
	if err != nil {
		return err
	}
	if err := s.log(r); err != nil {
		return err
	}
	s.entries = append(s.entries, e)
	return nil
}

// nextPass returns the pass that has begun and has no outcome. If there is none, it returns a new one. The error
// matches ErrNothing if the files select nothing.
func (s *Session) nextPass(state state, problems []Problem) (pass Pass, begun bool, err error) {
	if pass, begun = state.openPass(); begun {
		return pass, true, nil
	}
	pass = Pass{Number: len(state.passes) + 1, FirstRound: s.round + 1, Rules: s.rules}
	proved, back := state.provedChoices(), state.lastReverted()
	for _, p := range problems {
		if pass.Number == 1 {
			pass.Points = append(pass.Points, firstPoints(p, s.rules)...)
		} else {
			pass.Points = append(pass.Points, retestPoints(p, s.rules, proved, back)...)
		}
	}
	if len(pass.Points) == 0 {
		return pass, false, fmt.Errorf("%s: %w: the files select nothing at any point", s.opt.Library, ErrNothing)
	}
	return pass, false, nil
}

// decideNext decides what follows from the points at which a pass found the tuned files slower or failing. Such a point
// gets the library's default. The whole collective gets it if the point already has the default, or if this was
// the last allowed pass. If even the collective already has it, the point is only listed in v.Slower.
func (s *Session) decideNext(v *PassOutcome, pass Pass) {
	left := stateOf(s.entries, s.number).revertedCollectives()
	found := v.Reverted
	v.Number, v.Reverted = pass.Number, []Finding{}
	for _, f := range found {
		switch {
		case slices.Contains(left, f.Collective):
			v.Slower = append(v.Slower, f)
			continue
		case f.Choice.IsDefault() || pass.Number >= s.rules.Passes:
			if !slices.Contains(v.RevertedCollectives, f.Collective) {
				v.RevertedCollectives = append(v.RevertedCollectives, f.Collective)
			}
		}
		v.Reverted = append(v.Reverted, f)
	}
	slices.Sort(v.RevertedCollectives)
	v.End = len(v.Reverted) == 0 && len(v.RevertedCollectives) == 0
}

// state contains the passes and outcomes of one session, restored from its entries.
type state struct {
	passes   []Pass
	outcomes []PassOutcome
}

func stateOf(entries []Entry, session int) state {
	var st state
	for _, e := range entries {
		switch {
		case e.Session != session:
		case e.Pass != nil:
			st.passes = append(st.passes, *e.Pass)
		case e.Outcome != nil:
			st.outcomes = append(st.outcomes, *e.Outcome)
		}
	}
	return st
}

func (st state) ended() bool {
	return len(st.outcomes) > 0 && st.outcomes[len(st.outcomes)-1].End
}

// openPass returns the pass that has begun and has no outcome yet.
func (st state) openPass() (Pass, bool) {
	if len(st.passes) > len(st.outcomes) {
		return st.passes[len(st.passes)-1], true
	}
	return Pass{}, false
}

func (st state) revertedCollectives() []coll.Collective {
	var out []coll.Collective
	for _, v := range st.outcomes {
		out = append(out, v.RevertedCollectives...)
	}
	return out
}

func (st state) lastReverted() []coll.Point {
	var out []coll.Point
	if n := len(st.outcomes); n > 0 {
		for _, f := range st.outcomes[n-1].Reverted {
			out = append(out, f.Point)
		}
	}
	return out
}

// provedChoices returns the selected algorithms that were tested and not reverted, by point.
func (st state) provedChoices() map[coll.Point]coll.Algorithm {
	out := map[coll.Point]coll.Algorithm{}
	for i, v := range st.outcomes {
		for _, s := range st.passes[i].Points {
			out[s.Point] = s.Choice
		}
		for _, f := range v.Reverted {
			delete(out, f.Point)
		}
		maps.DeleteFunc(out, func(p coll.Point, _ coll.Algorithm) bool { return slices.Contains(v.RevertedCollectives, p.Collective) })
	}
	return out
}

// matches reports whether the session can continue with files that have these selections. A pass that has begun
// can continue only with the selections that it compares. A session that has ended matches if another pass would
// test nothing new. Between two passes every selection matches, because the next pass tests what changed.
func (st state) matches(problems []Problem) bool {
	pass, open := st.openPass()
	proved := st.provedChoices()
	for _, p := range problems {
		switch {
		case open:
			for _, s := range pass.Points {
				if s.Collective == p.Collective && p.Choose(s.Point) != s.Choice {
					return false
				}
			}
		case st.ended() && len(retestPoints(p, st.passes[0].Rules, proved, nil)) > 0:
			return false
		}
	}
	return true
}
