package mpich

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// CheckAlgorithm implements mpi.Measurable. Some compositions (plans of the ch4 device) leave no function in
// the error stack. With several nodes and several ranks on each, an algorithm in the stack may then have run
// on only a part of the communicator. This is an error.
func (library) CheckAlgorithm(cat *mpi.Catalogue, c coll.Candidate, stacks [][]string) error {
	e, err := cat.Lookup(c.Collective, c.Algorithm)
	if err != nil {
		return err
	}
	want := e.Function
	found := parseStacks(c.Collective, stacks)
	unnamed := found.device && len(found.compositions) == 0
	entered := slices.Contains(found.algorithms, want)
	switch {
	case slices.Contains(found.compositions, want):
		return nil
	case composes(e) && unnamed:
		return errors.New("the device took the call and does not name its composition")
	case unnamed && c.Nodes > 1 && c.PPN > 1 && entered:
		return fmt.Errorf("%s was entered, perhaps for a part of the communicator only: the device does not name its composition", want)
	case entered && !found.split(cat, c.Collective):
		return nil
	case len(found.algorithms) == 0 && (len(found.compositions) == 0 || !composes(e) && !found.split(cat, c.Collective)):
		return errors.New("the error names no algorithm")
	}
	return mpi.OtherAlgorithm(slices.Concat(found.compositions, found.algorithms), want)
}

// stackFacts holds what the error stacks of a call show.
type stackFacts struct {
	device       bool     // it took the call
	compositions []string // of the device
	algorithms   []string // the outermost one of each rank
}

func parseStacks(c coll.Collective, stacks [][]string) stackFacts {
	var s stackFacts
	for _, stack := range stacks {
		outermost := ""
		for _, name := range stack {
			switch {
			case strings.Contains(strings.ToLower(name), "mpidi_"+string(c)+"_intra_composition_"):
				s.compositions = append(s.compositions, name)
			case outermost == "" && isAlgorithm(name):
				outermost = name
			}
			s.device = s.device || strings.EqualFold(name, "MPID_"+string(c))
		}
		if outermost != "" {
			s.algorithms = append(s.algorithms, outermost)
		}
	}
	return s
}

// split reports whether the stacks show that the device ran a composition (a plan) that has several parts.
func (s stackFacts) split(cat *mpi.Catalogue, c coll.Collective) bool {
	flat, _ := handsOn(cat, c)
	return slices.ContainsFunc(s.compositions, func(name string) bool { return name != flat.Function })
}

// isAlgorithm reports whether a function implements an algorithm. Other functions select one, such as
// MPIR_Bcast_allcomm_auto and MPIDI_Bcast_allcomm_composition_json.
func isAlgorithm(name string) bool {
	return (strings.Contains(name, "_intra_") || strings.Contains(name, "_allcomm_")) &&
		!strings.HasSuffix(name, "_auto") && !strings.HasSuffix(name, "_composition_json")
}
