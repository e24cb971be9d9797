package doctor

import "slices"

// State says how far a check came.
type State string

// The states of a check.
const (
	OK      State = "ok"      // there, tried, works
	Found   State = "found"   // there, not tried
	Warning State = "warn"    // there, with something to know or to mend
	Missing State = "missing" // not there, or it does not work
)

// Section is a group of checks.
type Section string

// The sections, in the order of a report.
const (
	Libraries Section = "MPI libraries"
	Launchers Section = "Launchers"
	Programs  Section = "Benchmark programs"
	Slurm     Section = "Slurm"
	Host      Section = "This machine"
	Campaign  Section = "Campaign file"
	Network   Section = "Network"
)

func sections() []Section {
	return []Section{Libraries, Launchers, Programs, Slurm, Host, Campaign, Network}
}

// Check is what was seen of one thing.
type Check struct {
	Section Section  `json:"section"`
	Name    string   `json:"name"`
	State   State    `json:"state"`
	Details []string `json:"details"`       // the first is the summary
	Cure    string   `json:"cure,omitzero"` // one line: how to get or mend it
}

// Set is everything a campaign needs, by name.
type Set struct {
	Library   string `json:"library"`
	Launcher  string `json:"launcher"`
	Program   string `json:"program"`
	Scheduler string `json:"scheduler"`
}

// Lack is what is missing for a first set.
type Lack struct {
	What string `json:"what"`
	Cure string `json:"cure,omitzero"` // one line
}

// Report is what an examination found.
type Report struct {
	Sets      []Set     `json:"sets"` // all that go together
	Lacks     []Lack    `json:"lacks"`
	Libraries []Library `json:"libraries"`
	Checks    []Check   `json:"checks"`
}

// Ready reports whether a campaign could run here: the one that was named, else
// any.
func (r *Report) Ready() bool {
	return len(r.Sets) > 0 && !slices.ContainsFunc(r.Checks, func(c Check) bool {
		return c.Section == Campaign && c.State == Missing
	})
}

// ok returns a check that passed.
func ok(s Section, name string, details ...string) Check {
	return Check{Section: s, Name: name, State: OK, Details: details}
}

// with returns the check with another state and a cure.
func (c Check) with(state State, cure string) Check {
	c.State, c.Cure = state, cure
	return c
}
