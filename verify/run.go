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
	"tutti/selection"
)

// Tuned stands for the library with its file loaded; it is forced by the settings
// of the file and nothing else. The library as shipped is coll.Default.
var Tuned = coll.Algorithm{Name: "tuned"}

// Files are the files of a library as they are now.
type Files struct {
	Problems []Problem
	Machine  benchrunner.Runner // measures candidates with Tuned and coll.Default
	Probe    benchrunner.Runner // runs a Probe on candidates with Tuned; nil where there is none
}

// Log takes what a verification does. It is on disk when Append returns nil.
type Log interface {
	Append(e Entry) error
}

// Options say how a library is verified.
type Options struct {
	Library string
	Rules   Rules
	// MachineTime ends a session before a further block when its trials have cost
	// so much; zero for no limit.
	MachineTime time.Duration
	// WallTime ends Run before a further block; zero for no limit.
	WallTime time.Duration
	Again    bool        // begin a new session when the last one has ended
	Observe  func(Event) // may be nil
}

// Event tells how far a verification has come.
type Event struct {
	Library string
	Pass    int
	Look    Look
	Block   int // of the look
	Most    int // blocks that the look has at most
	Spots   int // measured in the block
}

// ErrBudget is matched by the error of Run when a limit was reached before the end.
var ErrBudget = errors.New("the budget of the verification is used up")

// ErrNothing is matched when the files select nothing, or nothing can be measured.
var ErrNothing = errors.New("nothing to verify")

// Session is the verification of one library's files, which change as it goes.
type Session struct {
	opt   Options
	log   Log
	past  *journal.Verification // what the journal knew when it was opened
	began time.Time

	entries []Entry // of all sessions; grows
	number  int     // of this one, known once files were examined
	begun   bool    // number is known
	rules   Rules
	round   int // the last one
	spent   float64
}

// Open returns the verification of a library; past is what the journal knows of it,
// nil for nothing. Nothing is measured yet. A session in past that has not ended is
// gone on with under its own rules, and one that has ended is told again when the
// files still select the same. The error matches ErrEntry for a past that no
// verification has written.
func Open(opt Options, past *journal.Verification, log Log) (*Session, error) {
	if err := opt.Rules.Validate(); err != nil {
		return nil, err
	}
	entries, err := Entries(past)
	if err != nil {
		return nil, err
	}
	s := &Session{opt: opt, log: log, past: past, began: time.Now(), entries: entries}
	for _, e := range entries {
		s.number = max(s.number, e.Session)
	}
	return s, nil
}

// Examine looks at the files as they are: whether the library obeys them, then one
// pass. It reports whether the verification has ended. When it has not, what is
// Condemned by now is to be taken out of the files before the next call.
//
// It returns ctx.Err() once ctx is cancelled and an error matching
// benchrunner.ErrUnavailable or ErrBudget when it could not go on; opened again, the
// verification goes on. A library that is seen not to obey its files ends it there,
// which Result tells. Other errors come from the log.
func (s *Session) Examine(ctx context.Context, files Files) (ended bool, err error) {
	state := s.stateFor(files.Problems)
	if s.mustLook() {
		if disobeyed, err := s.lookForObedience(ctx, files); err != nil || disobeyed {
			return true, err
		}
	}
	if state.ended() {
		return true, nil
	}
	verdict, err := s.pass(ctx, state, files)
	return verdict.End, err
}

// Ahead returns the spots of the pass that is next or was begun, none where the
// verification has ended. It measures and writes nothing. The error matches ErrNothing.
func (s *Session) Ahead(problems []Problem) ([]Spot, error) {
	state := s.stateFor(problems)
	if state.ended() {
		return nil, nil
	}
	pass, begun := state.open()
	if begun {
		return pass.Spots, nil
	}
	pass, err := s.begin(state, problems)
	return pass.Spots, err
}

// Spent is the machine time that the trials of the session have cost, in seconds. It is
// known after Ahead or Examine.
func (s *Session) Spent() float64 { return s.spent }

// Condemned returns what was condemned of a collective by now, in all sessions.
func (s *Session) Condemned(c coll.Collective) selection.Rejected { return CondemnedBy(s.entries, c) }

// Result returns what the verification amounts to by now.
func (s *Session) Result() (Result, error) { return Recall(s.opt.Library, s.entries) }

// stateFor returns the state of the session. The first files decide whether the last
// one goes on.
func (s *Session) stateFor(problems []Problem) state {
	if !s.begun {
		s.begun = true
		return s.open(problems)
	}
	return stateOf(s.entries, s.number)
}

// open returns the state of the session that goes on, or of a new one.
func (s *Session) open(problems []Problem) state {
	st := stateOf(s.entries, s.number)
	if s.number == 0 || !st.fits(problems) || s.opt.Again && st.ended() {
		s.number++
		st = state{}
	}
	s.rules = s.opt.Rules
	if len(st.passes) > 0 {
		s.rules = st.passes[0].Rules
	}
	for _, e := range s.entries {
		s.round = max(s.round, e.Round)
		if e.Session == s.number && e.Trial != nil {
			s.spent += e.Trial.CostSeconds
		}
	}
	return st
}

// pass makes the pass that is next or was begun.
func (s *Session) pass(ctx context.Context, state state, files Files) (Verdict, error) {
	pass, begun := state.open()
	if !begun {
		var err error
		if pass, err = s.begin(state, files.Problems); err != nil {
			return Verdict{}, err
		}
		if err := s.append(Entry{Pass: &pass}); err != nil {
			return Verdict{}, err
		}
	}
	verdict, err := s.twoLooks(ctx, pass, files.Machine)
	if err != nil {
		return Verdict{}, err
	}
	s.follow(&verdict, pass)
	return verdict, s.append(Entry{Verdict: &verdict})
}

// append writes an entry to the log before it counts.
func (s *Session) append(e Entry) error {
	e.Library, e.Session = s.opt.Library, s.number
	if err := s.log.Append(e); err != nil {
		return err
	}
	s.entries = append(s.entries, e)
	return nil
}

// begin returns the next pass.
func (s *Session) begin(state state, problems []Problem) (Pass, error) {
	pass := Pass{Number: len(state.passes) + 1, FirstRound: s.round + 1, Rules: s.rules}
	proved, back := state.proved(), state.lastBack()
	for _, p := range problems {
		if pass.Number == 1 {
			pass.Spots = append(pass.Spots, firstSpots(p, s.rules)...)
		} else {
			pass.Spots = append(pass.Spots, again(p, s.rules, proved, back)...)
		}
	}
	if len(pass.Spots) == 0 {
		return pass, fmt.Errorf("%s: %w: the files select nothing at any point", s.opt.Library, ErrNothing)
	}
	return pass, nil
}

// follow decides what follows from the findings of a pass: points are put back,
// and where that did not help or did not end, their collective is left to the
// library. Where even that did not help, it is told.
func (s *Session) follow(v *Verdict, pass Pass) {
	left := stateOf(s.entries, s.number).left()
	found := v.PutBack
	v.Number, v.PutBack = pass.Number, []Finding{}
	for _, f := range found {
		switch {
		case slices.Contains(left, f.Collective):
			v.Slower = append(v.Slower, f)
			continue
		case f.Choice.IsDefault() || pass.Number >= s.rules.Passes:
			if !slices.Contains(v.Left, f.Collective) {
				v.Left = append(v.Left, f.Collective)
			}
		}
		v.PutBack = append(v.PutBack, f)
	}
	slices.Sort(v.Left)
	v.End = len(v.PutBack) == 0 && len(v.Left) == 0
}

// state is what the entries of one session say.
type state struct {
	passes   []Pass
	verdicts []Verdict
}

func stateOf(entries []Entry, session int) state {
	var st state
	for _, e := range entries {
		switch {
		case e.Session != session:
		case e.Pass != nil:
			st.passes = append(st.passes, *e.Pass)
		case e.Verdict != nil:
			st.verdicts = append(st.verdicts, *e.Verdict)
		}
	}
	return st
}

func (st state) ended() bool {
	return len(st.verdicts) > 0 && st.verdicts[len(st.verdicts)-1].End
}

// open returns the pass that has begun and has no verdict.
func (st state) open() (Pass, bool) {
	if len(st.passes) > len(st.verdicts) {
		return st.passes[len(st.passes)-1], true
	}
	return Pass{}, false
}

// left returns the collectives that were left to the library.
func (st state) left() []coll.Collective {
	var out []coll.Collective
	for _, v := range st.verdicts {
		out = append(out, v.Left...)
	}
	return out
}

// lastBack returns what the last verdict put back.
func (st state) lastBack() []coll.Point {
	var out []coll.Point
	if n := len(st.verdicts); n > 0 {
		for _, f := range st.verdicts[n-1].PutBack {
			out = append(out, f.Point)
		}
	}
	return out
}

// proved returns the selections that were looked at and stand.
func (st state) proved() map[coll.Point]coll.Algorithm {
	out := map[coll.Point]coll.Algorithm{}
	for i, v := range st.verdicts {
		for _, s := range st.passes[i].Spots {
			out[s.Point] = s.Choice
		}
		for _, f := range v.PutBack {
			delete(out, f.Point)
		}
		maps.DeleteFunc(out, func(p coll.Point, _ coll.Algorithm) bool { return slices.Contains(v.Left, p.Collective) })
	}
	return out
}

// fits reports whether the session is about these files: its open pass compares
// what they select, or it has ended and another pass would find nothing new.
// Between passes anything fits: the next one looks at whatever changed.
func (st state) fits(problems []Problem) bool {
	pass, open := st.open()
	proved := st.proved()
	for _, p := range problems {
		switch {
		case open:
			for _, s := range pass.Spots {
				if s.Collective == p.Collective && p.Choose(s.Point) != s.Choice {
					return false
				}
			}
		case st.ended() && len(again(p, st.passes[0].Rules, proved, nil)) > 0:
			return false
		}
	}
	return true
}
