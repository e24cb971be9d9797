package assembly

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/preprocess"
)

// readData reads the recorded data of all files. Each candidate must be in one of them, with one
// or several repetitions.
func (c *Campaign) readData() ([]coll.Measurement, error) {
	var all []coll.Measurement
	from := map[coll.Candidate]int{} // file
	for i, path := range c.Config.Runner.Data {
		table, err := preprocess.ReadTable(path)
		if err != nil {
			return nil, err
		}
		for _, w := range table.Warnings {
			c.warn("%s: %v", filepath.Base(path), w)
		}
		for _, m := range table.Repetitions() {
			if other, known := from[m.Candidate]; known && other != i {
				return nil, fmt.Errorf("%v is recorded in %s and in %s", m.Candidate, c.Config.Runner.Data[other], path)
			}
			from[m.Candidate] = i
			all = append(all, m)
		}
	}
	return all, nil
}

// addRecorded adds the problems of one library: the recorded data with the library's names and
// default, limited to the grid and to what the library can run.
func (c *Campaign) addRecorded(lib config.Library, recorded []coll.Measurement) error {
	port, cat, err := libraries.Release(lib.Name, lib.Version)
	if err != nil {
		return err
	}
	named, err := c.named(lib, recorded)
	if err != nil {
		return err
	}
	byDefault, err := c.byDefault(lib, recorded)
	if err != nil {
		return err
	}
	named = slices.Concat(named, byDefault)
	check, fit := c.checker(port, cat), c.fitFor(lib, port, cat)
	for _, name := range c.Config.Collectives {
		collective, err := coll.ParseCollective(name)
		if err != nil {
			return err
		}
		p, err := c.problem(lib, collective, named, check)
		if err != nil {
			return err
		}
		p.Fit = fit
		c.Problems = append(c.Problems, p)
	}
	return nil
}

var errOutside = errors.New("outside the grid")

// named returns the recorded data with the algorithm names of a library.
func (c *Campaign) named(lib config.Library, recorded []coll.Measurement) ([]coll.Measurement, error) {
	path := c.Config.Runner.Names
	if path == "" {
		return recorded, nil
	}
	names, err := preprocess.ReadNames(path)
	if err != nil {
		return nil, err
	}
	if err := mustHold(path, "library", names.Libraries(), lib.Name); err != nil {
		return nil, err
	}
	c.warnOfUnnamed(names, recorded)
	out, _ := names.Translate(recorded, lib.Name)
	return out, nil
}

// byDefault returns the times of a library's own choices, nil if no file has these.
func (c *Campaign) byDefault(lib config.Library, recorded []coll.Measurement) ([]coll.Measurement, error) {
	path := c.Config.Runner.Defaults
	if path == "" {
		return nil, nil
	}
	defaults, err := preprocess.ReadDefaults(path)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(
		mustHold(path, "library", defaults.Libraries(), lib.Name),
		mustHold(path, "machine", defaults.Machines(), c.Config.Runner.Recorded),
	); err != nil {
		return nil, err
	}
	return defaults.Rows(recorded, c.Config.Runner.Recorded, lib.Name), nil
}

// mustHold returns an error if a file does not have a library or machine: all its rows would be
// ignored.
func mustHold(path, what string, known []string, name string) error {
	if slices.Contains(known, name) {
		return nil
	}
	return fmt.Errorf("%s: no row for the %s %q: it has %s", path, what, name, strings.Join(known, ", "))
}

// checker returns a function that accepts the candidates of the grid that the library can run.
func (c *Campaign) checker(port mpi.Library, cat *mpi.Catalogue) func(coll.Candidate) error {
	g := c.Config.Grid
	safe := c.Config.Export.OpSafe && !port.Facts().Guards
	return func(cand coll.Candidate) error {
		if len(g.Nodes) > 0 && !slices.Contains(g.Nodes, cand.Nodes) ||
			len(g.PPN) > 0 && !slices.Contains(g.PPN, cand.PPN) ||
			len(g.Sizes) > 0 && cand.Collective.Sized() && !slices.Contains(g.Sizes, cand.MsgBytes) {
			return errOutside
		}
		if err := cat.Check(cand); err != nil {
			return err
		}
		if safe && !cand.Algorithm.IsDefault() {
			if e, err := cat.Lookup(cand.Collective, cand.Algorithm); err != nil || !e.OpSafe {
				return errors.New("wrong for some valid calls, and rules cannot guard it")
			}
		}
		return nil
	}
}

// problem returns one problem of recorded data. check accepts its candidates, see checker.
func (c *Campaign) problem(lib config.Library, collective coll.Collective, named []coll.Measurement, check func(coll.Candidate) error) (campaign.Problem, error) {
	recorded, left := usable(collective, named, check)
	if left.unknown > 0 {
		c.warn("%s %s has no %s algorithm %s: %d recorded rows left out", lib.Name, lib.Version, collective, strings.Join(left.algorithms, ", "), left.unknown)
	}
	id := journal.Problem{Library: lib.Name, Collective: collective}
	machine, err := replay.New(recorded, c.replayed())
	if err != nil {
		return campaign.Problem{}, fmt.Errorf("%s: %w", id, err)
	}
	sp := machine.Space()
	if sp.Size() == 0 {
		return campaign.Problem{}, fmt.Errorf("%s %s %s: no recorded measurement lies on the grid and can run there: %v",
			lib.Name, lib.Version, collective, left)
	}
	return campaign.Problem{
		Problem: id, Space: sp, Runner: machine, Truth: machine.Truths(),
		ExhaustiveSeconds: machine.ExhaustiveSeconds(sp.Candidates()),
	}, nil
}

// usable returns the measurements of a collective that a problem can use, and the counts of the
// others.
func usable(collective coll.Collective, named []coll.Measurement, check func(coll.Candidate) error) ([]coll.Measurement, *leftOut) {
	var out []coll.Measurement
	var left leftOut
	for _, m := range named {
		if m.Collective != collective {
			continue
		}
		if err := check(m.Candidate); err != nil {
			left.add(m, err)
			continue
		}
		out = append(out, m)
	}
	return out, &left
}

// replayed returns the options of the replay.
func (c *Campaign) replayed() replay.Options {
	r := c.Config.Runner
	return replay.Options{
		Seed:        c.Config.Seed,
		Noise:       replay.Noise{Sigma: r.Noise, TailProbability: r.Tail},
		JobNoise:    r.JobNoise,
		FailureRate: r.Failures,
		Launch: benchrunner.LaunchCost{
			Model:          benchrunner.LaunchModel(r.Launch.Model),
			Seconds:        r.Launch.Time.Seconds(),
			SecondsPerNode: r.Launch.TimePerNode.Seconds(),
		},
	}
}
