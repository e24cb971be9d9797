package mpi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tutti/coll"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrUnknown    = errors.New("not in the catalogue")
	ErrInfeasible = errors.New("cannot run there")
)

// Entry is one algorithm of one release.
type Entry struct {
	Name     string        // as the library's settings or its own lists spell it
	ID       int           // the library's number for it
	Function string        // that the library enters, where its files name that; else empty
	Params   []string      // parameters that it takes
	Requires []Requirement // what must hold for the algorithm to run as itself
	OpSafe   bool          // right for every valid call without a guard, operations that do not commute among them
}

// Has reports whether the entry has the requirement.
func (e Entry) Has(r Requirement) bool { return slices.Contains(e.Requires, r) }

// Catalogue is what one release of one library can do. Callers share it and must
// not change it.
type Catalogue struct {
	Library, Version string
	entries          map[coll.Collective][]Entry
	rules            Rules
}

// Rules are what a library adds to the rows of its table. Functions that are nil
// add nothing.
type Rules struct {
	// Lookup reports what is wrong with the parameters of an algorithm, none of which
	// the entry lacks. The error matches ErrUnknown.
	Lookup func(c *Catalogue, collective coll.Collective, e Entry, alg coll.Algorithm) error

	// Check reports why a candidate cannot run though the requirements of its entry
	// hold. The error matches ErrInfeasible.
	Check func(c *Catalogue, cand coll.Candidate) error

	// Variants lists what can be measured of an entry: by default the entry itself,
	// without parameters.
	Variants func(c *Catalogue, collective coll.Collective, e Entry) []coll.Algorithm

	// Ranges says where values of an entry's parameters are worth trying that Variants does
	// not list: by default nowhere.
	Ranges func(c *Catalogue, collective coll.Collective, e Entry) []coll.Range

	// Renamed reports whether an algorithm of one release, though another has one of
	// that name, too, is not the same there.
	Renamed func(alg coll.Algorithm, from, to string) bool
}

// Entries returns the algorithms of a collective in the order of the library's
// table.
func (c *Catalogue) Entries(collective coll.Collective) []Entry {
	return slices.Clone(c.entries[collective])
}

// As returns the catalogue under the name of another release that can do the same.
func (c *Catalogue) As(version string) *Catalogue {
	same := *c
	same.Version = version
	return &same
}

// Lookup returns the entry of an algorithm. The error matches ErrUnknown when the
// release has no such algorithm, or when its parameters are not those that the
// library takes.
func (c *Catalogue) Lookup(collective coll.Collective, alg coll.Algorithm) (Entry, error) {
	entries := c.entries[collective]
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == alg.Name })
	if i < 0 {
		names := make([]string, len(entries))
		for k, e := range entries {
			names[k] = e.Name
		}
		return Entry{}, fmt.Errorf("%s %s %s %s: %w: want one of %s",
			c.Library, c.Version, collective, alg, ErrUnknown, strings.Join(names, ", "))
	}
	e := entries[i]
	for _, p := range alg.Params() {
		if !slices.Contains(e.Params, p.Name) {
			return Entry{}, fmt.Errorf("%s %s %s %s: parameter %s: %w: want %s",
				c.Library, c.Version, collective, alg, p.Name, ErrUnknown, orNone(e.Params))
		}
	}
	if c.rules.Lookup != nil {
		if err := c.rules.Lookup(c, collective, e, alg); err != nil {
			return Entry{}, err
		}
	}
	return e, nil
}

// Check reports why a candidate cannot be measured: an error that matches
// ErrUnknown or ErrInfeasible. The library's default can always run.
func (c *Catalogue) Check(cand coll.Candidate) error {
	if cand.Algorithm.IsDefault() {
		return nil
	}
	e, err := c.Lookup(cand.Collective, cand.Algorithm)
	if err != nil {
		return err
	}
	for _, r := range e.Requires {
		if !r.Holds(cand.Point) {
			return fmt.Errorf("%v: %w: needs %s", cand, ErrInfeasible, r)
		}
	}
	if c.rules.Check != nil {
		return c.rules.Check(c, cand)
	}
	return nil
}

// Carries reports whether a candidate that was measured with another release of the
// library can run with this one and means the same there.
func (c *Catalogue) Carries(cand coll.Candidate, measured string) bool {
	return c.Check(cand) == nil && (c.rules.Renamed == nil || !c.rules.Renamed(cand.Algorithm, measured, c.Version))
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
