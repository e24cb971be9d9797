package doctor

import "slices"

// conclude finds what goes together: a library, a launcher that starts its
// programs, a program built with it, and a scheduler that the launcher can run
// under. What was not tried counts when nothing was to be tried.
func (x *examiner) conclude() {
	good := OK
	if !x.options.Run {
		good = Found
	}
	usable := func(s State) bool { return s == good || s == OK }
	for _, t := range x.tried {
		if !usable(t.state) {
			continue
		}
		for _, p := range x.programs {
			if p.library != t.library || !usable(p.state) {
				continue
			}
			for _, scheduler := range x.schedulers(t) {
				x.report.Sets = append(x.report.Sets, Set{t.library.Name, t.launcher, p.name, scheduler})
			}
		}
	}
	if len(x.report.Sets) == 0 {
		x.report.Lacks = x.lacks(usable)
	}
	for _, c := range x.report.Checks {
		if c.Section == Campaign && c.State == Missing {
			x.report.Lacks = append(x.report.Lacks, Lack{c.Name + ": " + c.Details[0], c.Cure})
		}
	}
}

// schedulers returns where a launcher that works can be used from here.
func (x *examiner) schedulers(t trial) []string {
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

func (x *examiner) canSubmit() bool {
	for _, c := range x.report.Checks {
		if c.Section == Slurm && c.Name == "submitting" {
			return c.State == OK
		}
	}
	return false
}

// lacks names what is missing for a first set, most basic first.
func (x *examiner) lacks(usable func(State) bool) []Lack {
	var out []Lack
	lib := slices.IndexFunc(x.libraries, (*Library).launchable)
	if lib < 0 {
		out = append(out, Lack{"an MPI library that programs can be built with", ""})
	}
	if !slices.ContainsFunc(x.tried, func(t trial) bool { return usable(t.state) }) {
		out = append(out, Lack{"a launcher that starts two processes of one world", ""})
	}
	if !slices.ContainsFunc(x.programs, func(p program) bool { return usable(p.state) && p.library != nil }) {
		lack := Lack{"a benchmark program built with the library", ""}
		if lib >= 0 {
			lack.Cure = x.buildNative(x.libraries[lib], "")
		}
		out = append(out, lack)
	}
	if len(out) == 0 {
		out = append(out, Lack{"a program and a launcher of the same library", ""})
	}
	return out
}
