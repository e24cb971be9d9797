package online

import (
	"fmt"
	"slices"
	"strings"

	"tutti/coll"
)

// policy decides for an application as it runs. Classes and algorithms are those of the
// problem, by their places; the times that it is told are all it knows of them.
type policy interface {
	// begin tells that a run is about to start.
	begin()
	// choose returns the algorithm of the next call of a class, and whether it was chosen
	// to learn something.
	choose(class int) (algorithm int, explores bool)
	// observe tells how long the call took that was just chosen, and returns whether that
	// shows a change.
	observe(class, algorithm int, seconds float64) (alarm bool)
	// end tells that a run is over: the time to learn from all of them.
	end() error
	// tuned returns what it holds to be best by now; before begin and after end, too.
	tuned(class int) int
}

// The policies. Default and oracle bound the others: never anything but the library's own
// choice, and the fastest algorithm at every call.
const (
	PolicyIOTA    = "iota"
	PolicyShare   = "share"
	PolicyExplore = "explore"
	PolicyStar    = "star"
	PolicyTutti   = "tutti"
	PolicyOracle  = "oracle"
	PolicyDefault = "default"
)

// Policies returns the names of all policies.
func Policies() []string {
	return []string{PolicyIOTA, PolicyShare, PolicyExplore, PolicyStar, PolicyTutti, PolicyOracle, PolicyDefault}
}

// ParsePolicies returns the policies in a list separated by commas, each once.
func ParsePolicies(list string) ([]string, error) {
	var out []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(Policies(), name) {
			return nil, fmt.Errorf("policy %q: want one of %s", name, strings.Join(Policies(), ", "))
		}
		if slices.Contains(out, name) {
			return nil, fmt.Errorf("policy %s is given twice", name)
		}
		out = append(out, name)
	}
	return out, nil
}

// newPolicy returns a policy that knows of each source of earlier times what it said.
func newPolicy(name string, p Problem, earlier [][]coll.Measurement, opt Options) (policy, error) {
	switch name {
	case PolicyIOTA:
		return newWeighted(p, earlier, opt, 1)
	case PolicyShare:
		return newWeighted(p, earlier, opt, opt.Explore)
	case PolicyExplore:
		return newAdvised(p, earlier, opt)
	case PolicyStar:
		return newStar(p, opt), nil
	case PolicyTutti:
		return newBelieving(p, earlier, opt)
	case PolicyDefault:
		return fixed{func(int) int { return 0 }}, nil
	case PolicyOracle: // told of changes by simulate
		return fixed{func(class int) int { return p.Classes[class].Best() }}, nil
	}
	_, err := ParsePolicies(name)
	return nil, err
}

// fixed learns nothing.
type fixed struct{ choice func(class int) int }

func (fixed) begin()                         {}
func (f fixed) choose(class int) (int, bool) { return f.choice(class), false }
func (fixed) observe(int, int, float64) bool { return false }
func (fixed) end() error                     { return nil }
func (f fixed) tuned(class int) int          { return f.choice(class) }
