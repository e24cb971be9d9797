// Package runners lists the kinds of runners and of benchmark programs: the values of the keys runner.kind and
// benchmark.program in campaign files.
//
//	var s runners.Sections // filled from a campaign file
//	kind, ok := s.Named("slurm")
//	scheduler, err := kind.New(benchrunner.Host{Environ: os.Environ()})
package runners

import (
	"tutti/benchrunner"
	"tutti/benchrunner/local"
	"tutti/benchrunner/pbs"
	"tutti/benchrunner/replay"
	"tutti/benchrunner/slurm"
)

// Sections has the sections of a campaign file that belong to one kind of runner each.
type Sections struct {
	Slurm slurm.Options `json:"slurm"`
	PBS   pbs.Options   `json:"pbs,omitzero"`
}

// All returns the kinds of runners. Kinds with a section store its values in s.
func (s *Sections) All() []benchrunner.Kind {
	return []benchrunner.Kind{replay.Kind{}, local.Kind{}, &s.Slurm, &s.PBS, local.AllocationKind{}}
}

// Defaults returns sections with the default of each key.
func Defaults() *Sections {
	s := &Sections{}
	for _, kind := range s.All() {
		for _, k := range kind.Keys() {
			k.SetDefault()
		}
	}
	return s
}

// Named returns the kind with the given name.
func (s *Sections) Named(name string) (benchrunner.Kind, bool) {
	for _, k := range s.All() {
		if k.Facts().Name == name {
			return k, true
		}
	}
	return nil, false
}

// Facts returns what the kind with the given name can do. For an unknown name it returns the zero value.
func Facts(name string) benchrunner.KindFacts {
	if k, ok := new(Sections).Named(name); ok {
		return k.Facts()
	}
	return benchrunner.KindFacts{}
}

// Names returns the names of all kinds.
func Names() []string {
	var out []string
	for _, k := range new(Sections).All() {
		out = append(out, k.Facts().Name)
	}
	return out
}
