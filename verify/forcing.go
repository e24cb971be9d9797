package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/csource"
	"tutti/internal/lazyregexp"
	"tutti/mpi"
)

// ForcingCheck says whether the library obeys its selection file at one point.
type ForcingCheck struct {
	TestPoint
	State ForcingState `json:"state"`
	Note  string       `json:"note,omitzero"` // algorithm that ran instead, or why it cannot be observed
}

// ForcingState says whether the library obeyed its selection file.
type ForcingState string

// The states of a forcing check, which tests whether the library obeys its files.
const (
	Obeyed        ForcingState = "obeyed"
	Ignored       ForcingState = "ignored"
	NotObservable ForcingState = "not observable" // no other component took the call, as far as can be seen
	NotChecked    ForcingState = "not checked"    // another component may have taken the call
	NoAnswer      ForcingState = "no answer"      // the probe did not run, or printed nothing
)

// checksPerAlgorithm is the number of points at which each algorithm of a collective is checked.
const checksPerAlgorithm = 2

// probePoints returns the points to check: for each algorithm of each collective, points of different layouts. It
// prefers points inside a segment.
func probePoints(problems []Problem) []TestPoint {
	var out []TestPoint
	for _, p := range problems {
		taken := map[coll.Algorithm]int{}
		layouts := map[coll.Layout]bool{}
		for _, s := range interior(p) {
			if taken[s.Choice] < checksPerAlgorithm && (taken[s.Choice] == 0 || !layouts[s.Layout()]) {
				taken[s.Choice]++
				layouts[s.Layout()] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// interior returns the grid points at which an algorithm is selected. Points inside a segment (neighbouring sizes with
// the same algorithm) come first, then those at its ends. Both are sorted by number of ranks.
func interior(p Problem) []TestPoint {
	var out []TestPoint
	edges := map[coll.Point]int{} // of a segment, at the point
	for _, group := range groupsOfSizes(p.Grid) {
		for i, at := range group {
			alg := p.Choose(at)
			if alg.IsDefault() {
				continue
			}
			if i > 0 && p.Choose(group[i-1]) != alg {
				edges[at]++
			}
			if i+1 < len(group) && p.Choose(group[i+1]) != alg {
				edges[at]++
			}
			out = append(out, TestPoint{Point: at, Choice: alg, Kind: OnGrid})
		}
	}
	slices.SortStableFunc(out, func(a, b TestPoint) int {
		return cmp.Or(cmp.Compare(edges[a.Point], edges[b.Point]), cmp.Compare(a.Ranks(), b.Ranks()))
	})
	return out
}

// needsForcingCheck reports whether RunPass must check that the library obeys the selection files. It must if the
// files were changed after the last check, if the library ignored them in that check, or if the probe gave no answer.
func (s *Session) needsForcingCheck() bool {
	must := true
	for _, e := range s.entries {
		switch {
		case e.Session != s.number:
		case e.ForcingChecks != nil:
			must = slices.ContainsFunc(e.ForcingChecks, func(x ForcingCheck) bool { return x.State == Ignored || x.State == NoAnswer })
		case e.Outcome != nil && !e.Outcome.End:
			must = true
		}
	}
	return must
}

// checkForcing runs the probe with the selection files loaded. It reports whether the library ignored these files. The
// algorithms of nonblocking collectives are not observable.
func (s *Session) checkForcing(ctx context.Context, files Files) (ignored bool, err error) {
	points := probePoints(files.Problems)
	if len(points) == 0 || files.Probe == nil && files.NoProbe == "" {
		return false, nil
	}
	checks := []ForcingCheck{}
	if files.Probe == nil {
		for _, point := range points {
			checks = append(checks, ForcingCheck{TestPoint: point, State: NotChecked, Note: files.NoProbe})
		}
		return false, s.append(Entry{ForcingChecks: checks})
	}
	round := s.probeRound()
	trials, jobs := s.recorded(round)
	batch := benchrunner.Batch{Label: s.opt.Library + "-probe", Round: round, Jobs: jobs}
	for _, point := range points {
		c := coll.Candidate{Point: point.Point, Algorithm: Tuned}
		_, ended := trials[c]
		if point.Collective.Nonblocking() {
			continue
		}
		batch.Requests = append(batch.Requests, benchrunner.Request{Candidate: c, Attempt: 1, Ended: ended})
	}
	if len(batch.Requests) > 0 {
		if err := files.Probe.Run(ctx, batch, &blockLog{s, round, Probing, trials}); err != nil {
			return false, fmt.Errorf("%s: probing: %w", s.opt.Library, err)
		}
	}
	s.round = max(s.round, round)
	for _, point := range points {
		check := ForcingCheck{TestPoint: point, State: NotObservable, Note: "a nonblocking collective runs as a schedule, which names no algorithm"}
		if !point.Collective.Nonblocking() {
			t := trials[coll.Candidate{Point: point.Point, Algorithm: Tuned}] // without an answer, nothing is known: the job may be cancelled
			check.State, check.Note = cmp.Or(ForcingState(t.Answer), NoAnswer), t.Error
		}
		checks = append(checks, check)
		ignored = ignored || check.State == Ignored
	}
	return ignored, s.append(Entry{ForcingChecks: checks})
}

// probeRound returns the round in which to run the probe. It is the round of an interrupted probe if there is one,
// otherwise a new round.
func (s *Session) probeRound() int {
	from := 0
	for _, e := range s.entries {
		switch {
		case e.Session != s.number:
		case e.ForcingChecks != nil:
			from = 0
		case e.Stage == Probing && from == 0:
			from = e.Round
		}
	}
	return cmp.Or(from, s.round+1)
}

// BuildProbe compiles the probe with the library's compiler wrapper (mpicc). `dir` is a folder that all nodes
// see. BuildProbe returns the path of the program.
func BuildProbe(ctx context.Context, compiler, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	built, err := csource.Build(ctx, csource.Probe, compiler, filepath.Join(dir, csource.Probe.Name))
	return built.Path, err
}

// Probe is a program for a live runner. It shows which algorithm the library runs with its files loaded. A
// case is done if the algorithm that ran is the one that the files select; its time has no meaning.
//
// How the probe observes the algorithm depends on the library. It reads names of functions from the error
// of a truncated message, or the dynamic loader reports the algorithms that are called.
type Probe struct {
	Path      string // program that BuildProbe made
	Library   mpi.Measurable
	Catalogue *mpi.Catalogue
	Choose    func(coll.Point) coll.Algorithm // returns what the files select; set again when they change
}

var _ benchrunner.Program = (*Probe)(nil)

func (p *Probe) Name() string { return "probe" }

// Group gives each case a launch of its own: messages that were not received would disturb the next case.
func (p *Probe) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	return slices.Collect(slices.Chunk(cases, 1))
}

// Allowance returns a time that is longer than the probe's own time limit.
func (p *Probe) Allowance(benchrunner.Launch) time.Duration { return 30 * time.Second }

func (p *Probe) Command(s benchrunner.Launch) (benchrunner.Command, error) {
	if len(s.Cases) != 1 {
		return benchrunner.Command{}, fmt.Errorf("a probe serves one case, not %d", len(s.Cases))
	}
	c := s.Cases[0]
	return benchrunner.Command{
		Args: []string{p.Path, string(p.Library.Facts().Observation), string(c.Collective), strconv.FormatInt(c.MsgBytes, 10)},
		Env:  c.Env,
	}, nil
}

// Read returns the outcome of the case. The case is done if the selected algorithm ran.
func (p *Probe) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	var r benchrunner.Reading
	for _, c := range s.Cases {
		o := benchrunner.Outcome{State: benchrunner.OutcomeDone, Seconds: max(out.Wall.Seconds(), 1e-9), CostSeconds: out.Wall.Seconds()}
		state, note := p.compare(c.Point, out)
		if o.Answer = string(state); state != Obeyed {
			o.State, o.Phase, o.Error, o.Seconds = benchrunner.OutcomeFailed, benchrunner.PhaseRun, note, 0
		}
		r.Outcomes = append(r.Outcomes, o)
	}
	return r
}

// compare says whether the algorithm ran that the files select. Unless it did, the note names the algorithm that
// ran, or says why that is unknown.
func (p *Probe) compare(at coll.Point, out benchrunner.Output) (state ForcingState, note string) {
	c := coll.Candidate{Point: at, Algorithm: p.Choose(at)}
	if _, err := p.Catalogue.Lookup(c.Collective, c.Algorithm); err != nil {
		return NotObservable, err.Error()
	}
	stacks, why := readStacks(out.Lines())
	switch {
	case len(stacks) > 0:
	case why != "":
		return NotObservable, why
	default:
		why = "nothing was printed: " + cmp.Or(out.LastMessage(), "no output")
		if p.Library.Facts().Observation == mpi.ByTrace {
			return NotChecked, why
		}
		return NoAnswer, why
	}
	switch err := p.Library.CheckAlgorithm(p.Catalogue, c, stacks); {
	case err == nil:
		return Obeyed, ""
	case errors.Is(err, mpi.ErrOtherAlgorithm):
		return Ignored, err.Error()
	default:
		return NotObservable, err.Error()
	}
}

// frameForm matches a line of the error stack that MPICH prints when it ends a program.
var frameForm = lazyregexp.New(`^(\w+)\(\d+\)\.*: `)

// readStacks returns the functions on the stack of each process. If there are none, it returns the reason.
func readStacks(lines iter.Seq[string]) (stacks [][]string, why string) {
	var printed []string // by MPICH
	for line := range lines {
		if frame := frameForm.FindStringSubmatch(line); frame != nil {
			printed = append(printed, frame[1])
		}
		if names, ok := strings.CutPrefix(line, "saw "); ok {
			stacks = append(stacks, strings.Fields(names))
		}
		if reason, ok := strings.CutPrefix(line, "undetected "); ok && why == "" {
			why = reason
		}
	}
	if len(printed) > 0 {
		stacks = append(stacks, printed)
	}
	return stacks, why
}
