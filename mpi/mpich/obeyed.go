package mpich

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// Obeyed implements mpi.Measurable. Some compositions leave no function in the stack. On nodes with several
// ranks, an algorithm in the stack may then have run on a part of the communicator only.
func (library) Obeyed(cat *mpi.Catalogue, c coll.Candidate, stacks [][]string) error {
	e, err := cat.Lookup(c.Collective, c.Algorithm)
	if err != nil {
		return err
	}
	want := e.Function
	saw := sightOf(c.Collective, stacks)
	unnamed := saw.device && len(saw.compositions) == 0
	entered := slices.Contains(saw.algorithms, want)
	switch {
	case slices.Contains(saw.compositions, want):
		return nil
	case composes(e) && unnamed:
		return errors.New("the device took the call and does not name its composition")
	case unnamed && c.Nodes > 1 && c.PPN > 1 && entered:
		return fmt.Errorf("%s was entered, perhaps for a part of the communicator only: the device does not name its composition", want)
	case entered && !saw.split(cat, c.Collective):
		return nil
	case len(saw.algorithms) == 0 && len(saw.compositions) == 0:
		return errors.New("the error names no algorithm")
	}
	return mpi.Disobeyed(slices.Concat(saw.compositions, saw.algorithms), want)
}

// sight is what the error stacks of a call show.
type sight struct {
	device       bool     // it took the call
	compositions []string // of the device
	algorithms   []string // the outermost one of each rank
}

func sightOf(c coll.Collective, stacks [][]string) sight {
	var s sight
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

// split reports whether the stacks show a composition that has parts.
func (s sight) split(cat *mpi.Catalogue, c coll.Collective) bool {
	flat, _ := handsOn(cat, c)
	return slices.ContainsFunc(s.compositions, func(name string) bool { return name != flat.Function })
}

// isAlgorithm reports whether a function implements an algorithm. Other functions select one.
func isAlgorithm(name string) bool {
	return (strings.Contains(name, "_intra_") || strings.Contains(name, "_allcomm_")) && !strings.HasSuffix(name, "_auto")
}
