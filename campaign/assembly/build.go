package assembly

import (
	"fmt"
	"slices"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/journal"
	"tutti/mpi"
	"tutti/selection"
)

// builder makes the problems of a campaign from its configuration.
type builder struct {
	*Campaign
	past *journal.State // of the campaign's journal
}

// release is a library that a campaign tunes, opened in its configured version.
type release struct {
	port  mpi.Library
	cat   *mpi.Catalogue // of the installed library, or of its release if err is set
	build mpi.Build
	err   error // why the installed library cannot be opened here
}

// start identifies the settings with which a program starts that measures a candidate. It returns "" for a candidate
// that cannot be forced.
func (r release) start(c coll.Candidate) string {
	f, err := mpi.Force(r.port, r.cat, c)
	if err != nil {
		return ""
	}
	return f.Start()
}

// openReleases opens the libraries. It warns of releases without a catalogue.
func (b *builder) openReleases() error {
	for _, lib := range b.Config.Libraries {
		port, cat, err := lib.Release()
		if err != nil {
			return err
		}
		r := release{port: port, cat: cat}
		if r.build, r.err = port.Open(cat, lib.Path); r.err == nil {
			r.cat = r.build.Catalogue()
		}
		b.releases[lib.Name] = r
		switch {
		case !cat.KnownSeries() && r.err != nil:
			return r.err
		case !cat.KnownSeries():
			b.warn("%s %s: no release of this series is known: the algorithms are those that the library lists; compare the files with the default by tutti verify", lib.Name, lib.Version)
		case cat.Listed != cat.Version:
			b.warn("%s %s: the algorithms are those of the nearest known release, %s", lib.Name, lib.Version, cat.Listed)
		}
	}
	b.Warnings = append(b.Warnings, SiteWarnings(b.Config.Libraries...)...)
	return nil
}

func (b *builder) addProblems() error {
	if b.Config.Runner.Live() {
		for _, lib := range b.Config.Libraries {
			if err := b.addMeasured(lib); err != nil {
				return err
			}
		}
		return nil
	}
	recorded, err := b.readData()
	if err != nil {
		return err
	}
	for _, lib := range b.Config.Libraries {
		if err := b.addRecorded(lib, recorded); err != nil {
			return err
		}
	}
	return nil
}

// setWeights computes, for every problem, how much each of its points counts.
func (b *builder) setWeights() error {
	for i, p := range b.Problems {
		weights, mean, warnings, err := weightsOf(b.Config.Grid, p.Space.Points())
		if err != nil {
			return err
		}
		b.Problems[i].Weights, b.Problems[i].MeanWeight = weights, mean
		for _, w := range warnings {
			b.warnOnce(w)
		}
	}
	return nil
}

func (b *builder) warn(format string, args ...any) {
	b.Warnings = append(b.Warnings, fmt.Sprintf(format, args...))
}

// warnOnce adds a warning unless the campaign already has it.
func (b *builder) warnOnce(warning string) {
	if !slices.Contains(b.Warnings, warning) {
		b.Warnings = append(b.Warnings, warning)
	}
}

// mergeFor returns a function that makes selection rules for one collective from the times of the algorithms at
// each point. The library must be able to express the rules.
func (b *builder) mergeFor(r release) func([]selection.Row) (activelearn.Selection, error) {
	return func(rows []selection.Row) (activelearn.Selection, error) {
		if r.err != nil {
			return activelearn.Selection{}, r.err
		}
		sel, err := mpi.Merge(r.build, rows, mpi.MergeOptions{MaxLoss: b.Config.Export.MaxLoss, OpSafe: b.Config.Export.OpSafe})
		return activelearn.Selection{Leaves: sel.Leaves(), Choose: func(p coll.Point) coll.Algorithm {
			alg, _ := sel.Select(p) // outside the tuned range this is the library's default
			return alg
		}}, err
	}
}
