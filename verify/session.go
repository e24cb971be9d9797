package verify

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
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
	// MachineTime is the largest cost of a verification's trials; zero means no limit. Test points are chosen so that
	// their expected cost fits. A block (repetition at all test points) that would exceed the limit ends the
	// verification; a later one goes on, with the same limit for itself.
	MachineTime time.Duration
	// BlockSeconds returns the expected machine time of a block at the given points. If it is nil, all points are
	// taken to fit into the limit, and a block to cost as much as the previous one.
	BlockSeconds func([]TestPoint) float64
	// WallTime is the largest duration of a verification; zero means no limit. It ends in the same way as for
	// MachineTime.
	WallTime time.Duration
	Again    bool        // begin a new session if the last one has ended
	Fixed    bool        // the files stay as they are: points that are slower are reported and not reverted
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

	// Expected cost of what is left of the block, and of the pass with this block. The unit is a second of machine time;
	// without Options.BlockSeconds, the cost of measuring a point.
	Cost, Ahead float64
}

// errBudget means that a limit of machine time or wall time was reached.
var errBudget = errors.New("the limit is used up")

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
	round   int     // last round
	spent   float64 // machine seconds of this verification
	goesOn  bool    // the last verification ended without a proof, and this one goes on
}

// Open returns a session for the verification of a library. It measures nothing. `past` is the
// verification in the journal, nil if there is none. The problems have the selections of the current files.
//
// If the last session has not ended, Open continues it with the same rules. An ended session is kept as long
// as the selections of the files do not change. If it proves nothing yet, the next pass goes on with it.
//
// The function `log` writes a record to the journal; the record is on disk when it returns nil. The error matches
// ErrEntry if no verification can have written the entries.
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
		switch {
		case e.Session != s.number:
		case e.Trial != nil:
			s.spent += e.Trial.CostSeconds
		case e.Outcome != nil && e.Outcome.End:
			s.spent = 0
		}
	}
	s.goesOn = st.ended()
	return s, nil
}

// RunPass checks whether the library obeys the files, then runs one pass. It returns true if the verification
// has ended. Otherwise, the caller must remove the points that RejectedBy returns from the files before the
// next call.
//
// It returns ctx.Err() once ctx is cancelled. If it cannot continue, the error matches benchrunner.ErrUnavailable. A
// session that Open returns later then continues the verification.
// If a library ignores its files, the verification ends, and Result shows this. Other errors come from the log.
func (s *Session) RunPass(ctx context.Context, files Files) (ended bool, err error) {
	state := stateOf(s.entries, s.number)
	if s.needsForcingCheck() {
		if ignored, err := s.checkForcing(ctx, files); err != nil || ignored {
			return true, err
		}
	}
	if state.ended() && !s.goesOn {
		return true, nil
	}
	s.goesOn = false
	outcome, err := s.pass(ctx, state, files)
	return outcome.End, err
}

// Preview returns what the open pass or, if there is none, the next pass tests and can show. It has no points if the
// verification has ended. It measures and writes nothing. The error matches ErrNothing if there is nothing to verify.
func (s *Session) Preview(problems []Problem) (Preview, error) {
	state := stateOf(s.entries, s.number)
	if state.ended() && !s.goesOn {
		return Preview{}, nil
	}
	pass, _, err := s.nextPass(state, problems)
	if err != nil {
		return Preview{}, err
	}
	tested := state.tested()
	for _, point := range pass.Points {
		tested[point.Point] = point
	}
	x := &plan{rules: s.rules, problems: problems}
	p := Preview{Points: pass.Points, Changed: pass.Changed, Others: len(x.population(tested))}
	known, err := s.known()
	if err != nil {
		return Preview{}, err
	}
	for _, point := range pass.Points {
		if point.Kind == Random {
			known.points++
		}
	}
	p.Share = known.bound()
	if s.opt.BlockSeconds != nil && len(p.Points) > 0 {
		p.Seconds = plannedBlocks * float64(s.rules.MinBlocks) * s.opt.BlockSeconds(p.Points)
	}
	return p, nil
}

// MachineSeconds returns the cost of this verification's trials in seconds of machine time.
func (s *Session) MachineSeconds() float64 { return s.spent }

// Result returns the result of the verification so far.
func (s *Session) Result() (Result, error) { return Restore(s.opt.Library, s.entries) }

func (s *Session) pass(ctx context.Context, state state, files Files) (PassOutcome, error) {
	pass, begun, err := s.nextPass(state, files.Problems)
	if err != nil {
		return PassOutcome{}, err
	}
	if !begun {
		if len(pass.Points) == 0 && state.ended() {
			return PassOutcome{End: true}, nil // nothing is left to test
		}
		if err := s.append(Entry{Pass: &pass}); err != nil {
			return PassOutcome{}, err
		}
	}
	outcome, err := s.measurePass(ctx, pass, files.Machine)
	switch {
	case errors.Is(err, errBudget):
		outcome = PassOutcome{Number: pass.Number, Reverted: []Finding{}, Exhausted: err.Error(), End: true}
		return outcome, s.append(Entry{Outcome: &outcome})
	case err != nil:
		return PassOutcome{}, err
	}
	if len(pass.Points) == 0 {
		outcome.Exhausted = errBudget.Error() // no point fits
	}
	if err := s.decideNext(&outcome, pass, files.Problems); err != nil {
		return PassOutcome{}, err
	}
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
	pass = Pass{Number: len(state.passes) + 1, FirstRound: s.round + 1, Rules: s.rules, Fixed: s.opt.Fixed, Selection: checksum(problems)}
	x := &plan{rules: s.rules, problems: problems, block: s.opt.BlockSeconds, chosen: map[coll.Point]bool{}}
	for _, c := range x.population(nil) {
		pass.Changed++
		pass.ChangedWeight += c.Weight
	}
	if most := s.opt.MachineTime.Seconds(); most > 0 {
		x.limit = max(most-s.spent, 1e-9)
	}
	if pass.Number == 1 {
		x.first()
		if len(x.points) == 0 {
			return pass, false, fmt.Errorf("%s: %w: the files select nothing at any point", s.opt.Library, ErrNothing)
		}
	} else {
		open, err := s.open(state)
		if err != nil {
			return pass, false, err
		}
		known, err := s.known()
		if err != nil {
			return pass, false, err
		}
		x.next(state, open, known)
	}
	pass.Points = x.points
	slices.SortFunc(pass.Points, compareTestPoints)
	return pass, false, nil
}

// open returns the points that have no verdict, if the last verification ended with them.
func (s *Session) open(state state) ([]TestPoint, error) {
	if !state.ended() {
		return nil, nil
	}
	r, _, err := restorePoints(s.opt.Library, s.entries)
	var open []TestPoint
	for _, p := range r.Open() {
		open = append(open, p.TestPoint)
	}
	return open, err
}

// known returns the random sample so far.
func (s *Session) known() (sample, error) {
	r, _, err := restorePoints(s.opt.Library, s.entries)
	if err != nil {
		return sample{}, err
	}
	return r.sample(), nil
}

// checksum identifies the selections at all grid points.
func checksum(problems []Problem) string {
	h := fnv.New64a()
	for _, p := range problems {
		for _, at := range p.Grid {
			fmt.Fprintln(h, at, p.Choose(at))
		}
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// decideNext decides what follows from the points at which a pass found the tuned files slower or failing. Fixed files stay
// as they are: their points are only listed in v.Slower, and the verification ends. Otherwise, such a point
// gets the library's default. The whole collective gets it if the point already has the default, or if this was
// the last allowed pass. If even the collective already has it, the point is only listed in v.Slower. If nothing is
// reverted, another pass tests more random points, as long as too few are known to be right and some remain.
func (s *Session) decideNext(v *PassOutcome, pass Pass, problems []Problem) error {
	st := stateOf(s.entries, s.number)
	left := st.revertedCollectives()
	found := v.Reverted
	v.Number, v.Reverted = pass.Number, []Finding{}
	for _, f := range found {
		switch {
		case pass.Fixed || slices.Contains(left, f.Collective):
			v.Slower = append(v.Slower, f)
			continue
		case f.Choice.IsDefault() || pass.Number-st.lastEnd() >= s.rules.Passes:
			if !slices.Contains(v.RevertedCollectives, f.Collective) {
				v.RevertedCollectives = append(v.RevertedCollectives, f.Collective)
			}
		}
		v.Reverted = append(v.Reverted, f)
	}
	slices.Sort(v.RevertedCollectives)
	v.End = len(v.Reverted) == 0 && len(v.RevertedCollectives) == 0
	if v.End && v.Exhausted == "" && len(v.Slower) == 0 && pass.Number-st.lastEnd() < s.rules.Passes {
		known, err := s.knownAfter(*v)
		if err != nil {
			return err
		}
		x := &plan{rules: s.rules, problems: problems}
		v.End = known.bound() <= s.rules.Share || len(x.population(st.tested())) == 0
	}
	return nil
}

// knownAfter returns the random sample as it is once the outcome of the open pass is written.
func (s *Session) knownAfter(v PassOutcome) (sample, error) {
	after := *s
	v.End = true
	after.entries = append(slices.Clone(s.entries), Entry{Library: s.opt.Library, Session: s.number, Outcome: &v})
	return after.known()
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

// lastEnd returns the number of the last pass after which a verification ended, 0 for none.
func (st state) lastEnd() int {
	for i, outcome := range slices.Backward(st.outcomes) {
		if outcome.End {
			return i + 1
		}
	}
	return 0
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

// tested returns the latest test of each point, also those of the open pass.
func (st state) tested() map[coll.Point]TestPoint {
	out := map[coll.Point]TestPoint{}
	for _, pass := range st.passes {
		for _, s := range pass.Points {
			out[s.Point] = s
		}
	}
	return out
}

// matches reports whether the session can continue with files that have these selections. A pass that has begun, and a
// session that has ended, hold only for the selections at which they were made. Between two passes every selection
// matches, because the next pass tests what changed.
func (st state) matches(problems []Problem) bool {
	_, open := st.openPass()
	if !open && !st.ended() {
		return true
	}
	return len(st.passes) > 0 && st.passes[len(st.passes)-1].Selection == checksum(problems)
}
