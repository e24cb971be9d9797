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

// Set contains the recorded measurements of one collective on one machine.
type Set struct {
	Data       string // name of the file without .csv
	Real       bool   // measured on a real machine; the caller sets it
	Collective coll.Collective
	Truth      []coll.Measurement // median of the repetitions, in the order of coll.CompareCandidates
	Space      *coll.Space        // the recorded candidates
	recorded   []coll.Measurement // all measurements, including repetitions
}

// NewSet returns a set of measurements, which may have any order. Repetitions of a candidate differ in Rep.
// It returns an error if no point has two algorithms, because there is then nothing to select, or if all
// costs are zero.
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
		return Set{}, fmt.Errorf("%s: %s: the costs are all zero: want costs, shares of the machine time depend on them", data, s.Collective)
	}
	return s, nil
}

func (s Set) machine(opt replay.Options) (*replay.Machine, error) { return replay.New(s.recorded, opt) }

// Exhaustive returns the machine time, in seconds, of measuring every candidate once in one batch.
func (s Set) Exhaustive(l benchrunner.LaunchCost) (float64, error) {
	m, err := s.machine(replay.Options{Launch: l})
	if err != nil {
		return 0, err
	}
	return m.ExhaustiveSeconds(s.Space.Candidates()), nil
}

// Load reads files with preprocess.ReadTable. It returns a data set for each collective in each file, with
// collectives in alphabetical order. The warnings describe rows that were left out.
func Load(paths []string) (sets []Set, warnings []string, err error) {
	var names []string
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".csv")
		if slices.Contains(names, name) {
			return nil, nil, fmt.Errorf("two files are called %s: want different names, results are listed by them", name)
		}
		names = append(names, name)
		table, err := preprocess.ReadTable(path)
		if err != nil {
			return nil, nil, err
		}
		for _, w := range table.Warnings {
			warnings = append(warnings, fmt.Sprintf("%s: %v", name, w))
		}
		ms := table.Repetitions() // sorted by collective
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

// name returns Data, followed by the collective unless Data ends with it.
func (s Set) name() string {
	if strings.HasSuffix(s.Data, "_"+string(s.Collective)) {
		return s.Data
	}
	return s.Data + " " + string(s.Collective)
}
