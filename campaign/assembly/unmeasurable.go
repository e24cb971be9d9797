package assembly

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/coll"
	"tutti/journal"
)

// ErrUnmeasurable is matched when the benchmark programs of a campaign can measure none of
// its collectives.
var ErrUnmeasurable = errors.New("nothing can be measured")

// dropUnmeasurable removes the problems of which the benchmark program can measure no candidate,
// such as scan with OSU, and warns of them. Problems with records in the journal stay. It returns
// an error matching ErrUnmeasurable if none is left.
func (c *Campaign) dropUnmeasurable(past *journal.State) error {
	if !c.Config.Runner.Live() {
		return nil
	}
	var faults []error
	c.Problems = slices.DeleteFunc(c.Problems, func(p campaign.Problem) bool {
		if past.Problem(p.Problem) != nil {
			return false
		}
		program, err := c.Program(c.LibraryOf(p))
		if err != nil {
			return false // Connect returns the error
		}
		reason := refusal(program, p.Space.Candidates())
		if reason == "" {
			return false
		}
		out := LeftOut{p.Problem.String(), p.Space.Size(), p.Space.Size(), reason}
		c.unmeasurable = append(c.unmeasurable, out)
		c.warn("%v", out)
		faults = append(faults, fmt.Errorf("%s: %s", p.Problem, reason))
		return true
	})
	if len(c.Problems) == 0 {
		return fmt.Errorf("%w:\n%w", ErrUnmeasurable, errors.Join(faults...))
	}
	return nil
}

// refusal returns why a program can measure none of the candidates, by the error of the first one;
// "" if it can measure one.
func refusal(program benchrunner.Program, candidates []coll.Candidate) string {
	reason := ""
	for _, cand := range candidates {
		_, err := program.Command(benchrunner.Launch{Layout: cand.Layout(), Dir: "/", Cases: []benchrunner.Case{{Candidate: cand}}})
		if err == nil {
			return ""
		}
		if reason == "" {
			reason = strings.Replace(err.Error(), cand.String()+": ", "", 1)
		}
	}
	return reason
}
