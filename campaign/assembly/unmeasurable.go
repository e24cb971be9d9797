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

// ErrUnmeasurable is matched by the error for a campaign whose benchmark programs cannot measure any of its
// collectives.
var ErrUnmeasurable = errors.New("nothing can be measured")

// dropUnmeasurable removes problems that the benchmark program cannot measure, such as scan with OSU, and
// adds a warning for each. It keeps problems with records in the journal. It returns an error matching
// ErrUnmeasurable if no problem remains.
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
		reason := refusal(program, p.Space)
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

// refusal returns the reason why a program cannot measure any candidate of the space, taken from the first
// candidate. The result is "" if the program can measure at least one of them.
func refusal(program benchrunner.Program, space *coll.Space) string {
	reason := ""
	for cand := range space.All() {
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
