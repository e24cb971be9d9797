package config

import (
	"fmt"
	"strings"

	"tutti/benchrunner"
	"tutti/benchrunner/runners"
	"tutti/mpi/libraries"
)

// Facts returns what the kind of the runner can do.
func (r Runner) Facts() benchrunner.KindFacts { return runners.Facts(r.Kind) }

// Live reports whether the runner runs benchmarks. Otherwise it replays recorded measurements.
func (r Runner) Live() bool { return !r.Facts().Recorded }

// DefaultLauncher returns the default launcher of a library. In Slurm this is srun, because the library's own
// launcher may be missing on the nodes. If srun would need a plugin that matches the library, the default is
// the library's own launcher. A version such as 1+openmpi-4.1.4 names the MPI library below, whose launcher counts.
func (r Runner) DefaultLauncher(lib Library) string {
	port, ok := libraries.Named(lib.Name)
	if _, below, named := strings.Cut(lib.Version, "+"); ok && named && port.Facts().Preload {
		name, _, _ := strings.Cut(below, "-")
		port, ok = libraries.Named(name)
	}
	if ok {
		if own := port.Facts().Launcher; !r.hasSrun() || !own.Srun {
			return own.Kind
		}
	}
	return benchrunner.Srun
}

// hasSrun reports whether srun can start programs on the nodes.
func (r Runner) hasSrun() bool { return r.Facts().Srun && r.Hosts == "" }

// NewScheduler returns the scheduler that the runner describes. `environ` is the environment of this process. The
// function `notice`, which may be nil, receives reports of commands that do not answer.
func (c *Campaign) NewScheduler(environ []string, notice func(error)) (benchrunner.Scheduler, error) {
	kind, ok := c.Named(c.Runner.Kind)
	if !ok {
		return nil, fmt.Errorf("runner.kind %q: want one of %s", c.Runner.Kind, strings.Join(runners.Names(), ", "))
	}
	return kind.New(benchrunner.Host{Environ: environ, PPN: c.Runner.PPN, Hosts: c.Runner.Hosts, Notice: notice})
}

// kindsText describes the kinds of runners for the documentation of runner.kind.
func kindsText() string {
	var parts []string
	for _, k := range new(runners.Sections).All() {
		parts = append(parts, fmt.Sprintf("%s (%s)", k.Facts().Name, k.Facts().Doc))
	}
	return strings.Join(parts, ", ")
}

// programsText describes the benchmark programs for the documentation of benchmark.program.
func programsText() string {
	var parts []string
	for _, k := range runners.Programs() {
		text := k.Name
		if k.Doc != "" {
			text += " (" + k.Doc + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// usedBy names the benchmark programs that use a key of the section benchmark, as "osu, imb: ".
func usedBy(key string) string {
	var names []string
	for _, k := range runners.Programs() {
		if k.Uses(key) {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names, ", ") + ": "
}

// sectionFields returns the keys of the sections of the kinds of runners. Their values are stored in s.
func sectionFields(s *runners.Sections) []field {
	var out []field
	for _, kind := range s.All() {
		for _, k := range kind.Keys() {
			f := field{key: kind.Facts().Name + "." + k.Name, doc: k.Doc, initial: k.Default}
			empty := any("")
			switch at := k.At.(type) {
			case *string:
				f.value = text(at, isPrintable)
			case *[]string:
				f.value, empty = texts(at, 0, isPrintable), []any{}
			case *bool:
				f.value, empty = boolean(at), false
			case *int:
				f.value = whole(at, 1, 10000)
			}
			if f.initial == nil {
				f.initial = empty
			}
			out = append(out, f)
		}
	}
	return out
}

// eachPath calls a function for each key whose value is a path, and for the section's kind of runner.
func eachPath(s *runners.Sections, call func(kind, key string, at *string)) {
	for _, kind := range s.All() {
		for _, k := range kind.Keys() {
			if at, ok := k.At.(*string); ok && k.Path {
				call(kind.Facts().Name, kind.Facts().Name+"."+k.Name, at)
			}
		}
	}
}

// isSection reports whether a section of campaign files belongs to one kind of runner.
func isSection(name string) bool {
	k, ok := new(runners.Sections).Named(name)
	return ok && len(k.Keys()) > 0
}
