package doctor

import (
	"slices"
)

// State says how far a check came.
type State string

// The states of a check.
const (
	OK      State = "ok"      // there, tried, works
	Found   State = "found"   // there, not tried
	Warning State = "warn"    // there, with something to know or to fix
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
	Cure    string   `json:"cure,omitzero"` // one line: how to get or fix it
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

// conclude returns the report: the checks by section, and all sets of a library, a
// launcher that starts its programs, a program built with it, and a scheduler that the
// launcher can run under. Without Options.Run, programs that were found count as usable.
func (x *examination) conclude() *Report {
	slices.SortStableFunc(x.checks, func(a, b Check) int {
		return slices.Index(sections(), a.Section) - slices.Index(sections(), b.Section)
	})
	r := &Report{Sets: []Set{}, Lacks: []Lack{}, Libraries: []Library{}, Checks: x.checks}
	for _, lib := range x.libraries.found {
		r.Libraries = append(r.Libraries, *lib)
	}
	usable := func(s State) bool { return s == OK || s == Found && !x.options.Run }
	for _, t := range x.launchers.tried {
		if !usable(t.state) {
			continue
		}
		for _, p := range x.programs.found {
			if p.library != t.library || !usable(p.state) {
				continue
			}
			for _, scheduler := range x.schedulers(t) {
				r.Sets = append(r.Sets, Set{t.library.Name, t.launcher, p.name, scheduler})
			}
		}
	}
	if len(r.Sets) == 0 {
		r.Lacks = x.lacks(usable)
	}
	for _, c := range r.Checks {
		if c.Section == Campaign && c.State == Missing {
			r.Lacks = append(r.Lacks, Lack{c.Name + ": " + c.Details[0], c.Cure})
		}
	}
	return r
}

// schedulers returns where a launcher that works can be used from here.
func (x *examination) schedulers(t trial) []string {
	var out []string
	switch {
	case !x.slurm.reachable:
	case x.slurm.job != "":
		out = append(out, "allocation")
	case x.canSubmit():
		out = append(out, "slurm")
	}
	if !t.slurm {
		out = append(out, "local")
	}
	return out
}

func (x *examination) canSubmit() bool {
	for _, c := range x.checks {
		if c.Section == Slurm && c.Name == "submitting" {
			return c.State == OK
		}
	}
	return false
}

// lacks names what is missing for a first set, most basic first.
func (x *examination) lacks(usable func(State) bool) []Lack {
	var out []Lack
	lib := slices.IndexFunc(x.libraries.found, (*Library).launchable)
	if lib < 0 {
		out = append(out, Lack{"an MPI library that programs can be built with", ""})
	}
	if !slices.ContainsFunc(x.launchers.tried, func(t trial) bool { return usable(t.state) }) {
		out = append(out, Lack{"a launcher that starts two processes of one world", ""})
	}
	if !slices.ContainsFunc(x.programs.found, func(p program) bool { return usable(p.state) && p.library != nil }) {
		lack := Lack{"a benchmark program built with the library", ""}
		if lib >= 0 {
			lack.Cure = x.buildCommand(x.libraries.found[lib], "")
		}
		out = append(out, lack)
	}
	if len(out) == 0 {
		out = append(out, Lack{"a program and a launcher of the same library", ""})
	}
	return out
}
