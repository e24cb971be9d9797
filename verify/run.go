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
)

// Tuned stands for the library with its file loaded; it is forced by the settings
// of the file and nothing else. The library as shipped is coll.Default.
var Tuned = coll.Algorithm{Name: "tuned"}

// Subject is a library whose files are to be proved.
type Subject interface {
	// Apply writes the files of the library with everything left to the default
	// that the entries of its verification so far condemned.
	Apply(ctx context.Context, entries []Entry) (Files, error)
}

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
	Spots   int // measured in the block
}

// ErrBudget is matched by the error of Run when a limit was reached before the end.
var ErrBudget = errors.New("the budget of the verification is used up")

// ErrNothing is matched when the files select nothing, or nothing can be measured.
var ErrNothing = errors.New("nothing to verify")

// session is the state of Run.
type session struct {
	opt     Options
	subject Subject
	log     Log
	began   time.Time

	entries []Entry // of the library, all sessions; grows
	number  int
	rules   Rules
	round   int // the last one
	spent   float64
}

// Run verifies one library. entries are those of its log so far, nil for none; a
// session among them that has not ended is gone on with under its own rules, and
// one that has ended is told again when the files still select the same.
//
// Run returns ctx.Err() once ctx is cancelled, an error matching
// benchrunner.ErrUnavailable or ErrBudget when it could not go on, each with the
// result so far; run again it goes on. When the library is seen not to obey its
// files, which the result tells, the session stops there. Other errors come from the subject, the log
// or from entries that contradict one another.
func Run(ctx context.Context, opt Options, subject Subject, entries []Entry, log Log) (Result, error) {
	if err := opt.Rules.Validate(); err != nil {
		return Result{}, err
	}
	s := &session{opt: opt, subject: subject, log: log, began: time.Now()}
	for _, e := range entries {
		if e.Library == opt.Library {
			s.entries = append(s.entries, e)
			s.number = max(s.number, e.Session)
		}
	}
	err := s.run(ctx)
	result, recallErr := Recall(s.entries, opt.Library)
	return result, errors.Join(err, recallErr)
}

// run goes on with the last session, or begins one.
func (s *session) run(ctx context.Context) error {
	files, err := s.subject.Apply(ctx, s.entries)
	if err != nil {
		return err
	}
	state := s.open(files.Problems)
	for {
		if s.mustLook() {
			if disobeyed, err := s.lookForObedience(ctx, files); err != nil || disobeyed {
				return err
			}
		}
		if state.ended() {
			return nil
		}
		changed, err := s.pass(ctx, state, files)
		if err != nil {
			return err
		}
		if changed {
			if files, err = s.subject.Apply(ctx, s.entries); err != nil {
				return err
			}
		}
		state = stateOf(s.entries, s.number)
	}
}

// open returns the state of the session that goes on, or of a new one.
func (s *session) open(problems []Problem) state {
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

// pass makes the pass that is next or was begun, and reports whether it condemned
// anything.
func (s *session) pass(ctx context.Context, state state, files Files) (changed bool, err error) {
	pass, begun := state.open()
	if !begun {
		if pass, err = s.begin(state, files.Problems); err != nil {
			return false, err
		}
		if err := s.append(Entry{Pass: &pass}); err != nil {
			return false, err
		}
	}
	verdict, err := s.examine(ctx, pass, files.Machine)
	if err != nil {
		return false, err
	}
	s.conclude(&verdict, pass)
	return !verdict.End, s.append(Entry{Verdict: &verdict})
}

// append writes an entry to the log before it counts.
func (s *session) append(e Entry) error {
	e.Library, e.Session = s.opt.Library, s.number
	if err := e.validate(); err != nil {
		return err
	}
	if err := s.log.Append(e); err != nil {
		return err
	}
	s.entries = append(s.entries, e)
	return nil
}

// begin plans the next pass.
func (s *session) begin(state state, problems []Problem) (Pass, error) {
	pass := Pass{Number: len(state.passes) + 1, FirstRound: s.round + 1, Rules: s.rules}
	proved, back := state.proved(), state.lastBack()
	for _, p := range problems {
		if pass.Number == 1 {
			pass.Spots = append(pass.Spots, plan(p, s.rules)...)
		} else {
			pass.Spots = append(pass.Spots, again(p, s.rules, proved, back)...)
		}
	}
	if len(pass.Spots) == 0 {
		return pass, fmt.Errorf("%s: %w: the files select nothing at any point", s.opt.Library, ErrNothing)
	}
	return pass, nil
}

// conclude decides what follows from the findings of a pass: points are put back,
// and where that did not help or did not end, their collective is left to the
// library. Where even that did not help, it is told.
func (s *session) conclude(v *Verdict, pass Pass) {
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
