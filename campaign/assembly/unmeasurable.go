package assembly

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/config"
)

// ErrUnmeasurable is matched by the error for a campaign whose benchmark programs cannot measure any of its
// collectives.
var ErrUnmeasurable = errors.New("nothing can be measured")

// dropUnmeasurable removes problems that the benchmark program cannot measure, such as scan with OSU, and
// adds a warning for each. It keeps problems with records in the journal. It returns an error matching
// ErrUnmeasurable if no problem remains.
func (b *builder) dropUnmeasurable() error {
	if !b.Config.Runner.Live() {
		return nil
	}
	var faults []error
	b.Problems = slices.DeleteFunc(b.Problems, func(p campaign.Problem) bool {
		if b.past.Problem(p.Problem) != nil {
			return false
		}
		at := slices.IndexFunc(b.Config.Libraries, func(l config.Library) bool { return l.Name == p.Library })
		program, err := b.Program(b.Config.Libraries[at])
		if err != nil {
			return false // Connect returns the error
		}
		reason := refusal(program, p.Space)
		if reason == "" {
			return false
		}
		out := LeftOut{p.Problem.String(), p.Space.Size(), p.Space.Size(), reason}
		b.unmeasurable = append(b.unmeasurable, out)
		b.warn("%v", out)
		faults = append(faults, fmt.Errorf("%s: %s", p.Problem, reason))
		return true
	})
	if len(b.Problems) == 0 {
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
