package lab

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/coll"
	"tutti/preprocess"
)

// Set is everything recorded of one collective on one machine.
type Set struct {
	Data       string // where it comes from: the file's name without .csv
	Real       bool   // measured on a real machine, as far as the caller says
	Collective coll.Collective
	Truth      []coll.Measurement // without noise, of repetitions the median, in the order of coll.CompareCandidates
	Space      *coll.Space        // the recorded candidates
	recorded   []coll.Measurement // with every repetition
}

// NewSet returns the set of measurements of one collective in any order, each candidate
// once or as repetitions told apart by their Rep. It is an error when no point has two algorithms, since
// nothing can be selected then, and when measuring everything costs no time.
func NewSet(data string, ms []coll.Measurement) (Set, error) {
	if len(ms) == 0 {
		return Set{}, fmt.Errorf("%s: no measurements", data)
	}
	s := Set{Data: data, Collective: ms[0].Collective, recorded: slices.Clone(ms)}
	machine, err := s.machine(replay.Options{})
	if err != nil {
		return Set{}, fmt.Errorf("%s: %w", data, err)
	}
	s.Truth = machine.Truths()
	for _, m := range s.Truth {
		if m.Collective != s.Collective {
			return Set{}, fmt.Errorf("%s: measurements of %s and of %s, want one collective", data, s.Collective, m.Collective)
		}
	}
	s.Space = machine.Space()
	switch {
	case s.Space.Size() == len(s.Space.Points()):
		return Set{}, fmt.Errorf("%s: %s: one algorithm at every point: nothing to select", data, s.Collective)
	case machine.ExhaustiveSeconds(s.Space.Candidates()) == 0:
		return Set{}, fmt.Errorf("%s: %s: the costs are all zero: no share of the machine time can be told", data, s.Collective)
	}
	return s, nil
}

// machine answers from the set.
func (s Set) machine(opt replay.Options) (*replay.Machine, error) { return replay.New(s.recorded, opt) }

// Exhaustive is the machine time of measuring every candidate once, in one batch; its
// starts side by side on so many nodes, or for 0 one after another.
func (s Set) Exhaustive(l benchrunner.LaunchCost, nodes int) (float64, error) {
	m, err := s.machine(replay.Options{Launch: l, Nodes: nodes})
	if err != nil {
		return 0, err
	}
	return m.ExhaustiveSeconds(s.Space.Candidates()), nil
}

// Load reads tables of measurements, see preprocess.ReadTable, and returns one set
// for each collective in each file: files in the order given, collectives in
// alphabetical order. The warnings name rows that were left out.
func Load(paths []string) (sets []Set, warnings []string, err error) {
	var names []string
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".csv")
		if slices.Contains(names, name) {
			return nil, nil, fmt.Errorf("two files are called %s: results could not be told apart", name)
		}
		names = append(names, name)
		table, err := preprocess.ReadTable(path)
		if err != nil {
			return nil, nil, err
		}
		for _, w := range table.Warnings {
			warnings = append(warnings, fmt.Sprintf("%s: %v", name, w))
		}
		ms := table.Repetitions() // in order, so that collectives are runs
		for len(ms) > 0 {
			end := slices.IndexFunc(ms, func(m coll.Measurement) bool { return m.Collective != ms[0].Collective })
			if end < 0 {
				end = len(ms)
			}
			set, err := NewSet(name, ms[:end])
			if err != nil {
				return nil, nil, err
			}
			sets = append(sets, set)
			ms = ms[end:]
		}
	}
	return sets, warnings, nil
}
