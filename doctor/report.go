package doctor

import (
	"slices"
)

// State is the result of a check, for example OK or Missing.
type State string

// States of a check.
const (
	OK      State = "ok"      // present, tried and working
	Found   State = "found"   // present, but not tried
	Warning State = "warn"    // working, with advice
	Missing State = "missing" // absent or not working
)

// Section is the title of a group of checks in the report.
type Section string

// The sections, in the order in which the report prints them.
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

// Check is the result for one program, library, folder or setting.
type Check struct {
	Section Section  `json:"section"`
	Name    string   `json:"name"`
	State   State    `json:"state"`
	Details []string `json:"details"`      // the first one is the summary
	Fix     string   `json:"fix,omitzero"` // one line of advice
}

// Set contains a library, a launcher, a benchmark program and a scheduler that work together in a campaign.
type Set struct {
	Library   string `json:"library"`
	Launcher  string `json:"launcher"`
	Program   string `json:"program"`
	Scheduler string `json:"scheduler"`
}

// MissingPart is a part, such as a compiler or a launcher, that this machine needs before a campaign can run.
type MissingPart struct {
	What string `json:"what"`
	Fix  string `json:"fix,omitzero"` // one line of advice
}

// Report is the result of an examination: all checks, and the combinations of parts that work together.
type Report struct {
	Sets         []Set         `json:"sets"` // all working combinations
	MissingParts []MissingPart `json:"missing"`
	Libraries    []Library     `json:"libraries"`
	Checks       []Check       `json:"checks"`
}

// Ready reports whether the campaign in the options could run on this machine. Without a campaign in the
// options, it reports whether any campaign could run.
func (r *Report) Ready() bool {
	return len(r.Sets) > 0 && !slices.ContainsFunc(r.Checks, func(c Check) bool {
		return c.Section == Campaign && c.State == Missing
	})
}

func ok(s Section, name string, details ...string) Check {
	return Check{Section: s, Name: name, State: OK, Details: details}
}

func (c Check) with(state State, fix string) Check {
	c.State, c.Fix = state, fix
	return c
}

func (c Check) withDetail(detail string) Check {
	c.Details = append(slices.Clip(c.Details), detail)
	return c
}

// conclude returns the report. Its sets are combinations of a library, a launcher, a benchmark program and
// a scheduler that work together. Without Options.Run, programs that were not tried count as working.
func (x *examination) conclude() *Report {
	slices.SortStableFunc(x.checks, func(a, b Check) int {
		return slices.Index(sections(), a.Section) - slices.Index(sections(), b.Section)
	})
	r := &Report{Sets: []Set{}, MissingParts: []MissingPart{}, Libraries: []Library{}, Checks: x.checks}
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
				r.Sets = append(r.Sets, Set{t.library.Name, t.launcher, p.kind.Name, scheduler})
			}
		}
	}
	if len(r.Sets) == 0 {
		r.MissingParts = x.missingParts(usable)
	}
	for _, c := range r.Checks {
		if c.Section == Campaign && c.State == Missing {
			r.MissingParts = append(r.MissingParts, MissingPart{c.Name + ": " + c.Details[0], c.Fix})
		}
	}
	return r
}

func (x *examination) schedulers(t trial) []string {
	var out []string
	switch {
	case !x.slurm.reachable:
	case x.slurm.job != "":
		out = append(out, "allocation")
	case x.slurm.accepts:
		out = append(out, "slurm")
	}
	if !t.slurm {
		out = append(out, "local")
	}
	return out
}

// missingParts returns the parts that are missing for a working Set, the most basic part first.
func (x *examination) missingParts(usable func(State) bool) []MissingPart {
	var out []MissingPart
	lib := slices.IndexFunc(x.libraries.found, (*Library).launchable)
	if lib < 0 {
		out = append(out, MissingPart{"an MPI library that programs can be built with", ""})
	}
	if !slices.ContainsFunc(x.launchers.tried, func(t trial) bool { return usable(t.state) }) {
		out = append(out, MissingPart{"a launcher that starts two processes of one world", ""})
	}
	if !slices.ContainsFunc(x.programs.found, func(p program) bool { return usable(p.state) && p.library != nil }) {
		part := MissingPart{"a benchmark program built with the library", ""}
		if lib >= 0 {
			part.Fix = x.buildCommand(x.libraries.found[lib], "")
		}
		out = append(out, part)
	}
	if len(out) == 0 {
		out = append(out, MissingPart{"a program and a launcher of the same library", ""})
	}
	return out
}
