package mpi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
)

// The errors of catalogues. Compare with errors.Is.
var (
	ErrUnknown    = errors.New("not in the catalogue")
	ErrInfeasible = errors.New("cannot run there")
)

// Entry is one algorithm of one release.
type Entry struct {
	Name     string              // as in the library's settings or lists
	ID       int                 // the library's number for it
	Function string              // that the library enters, if its files name it; else empty
	Params   []string            // names of its parameters
	Values   map[string][]string // by parameter: values that campaigns measure; "" leaves the parameter out
	Requires []Requirement       // conditions under which it runs and is not replaced
	OpSafe   bool                // correct for every valid call, also with non-commutative operations, or guarded by the library or its files
	Segments string              // parameter without which it is OpSafe: absent or 0; else empty
	Object   string              // path of the user's shared object that defines it; else empty
	below    *Catalogue          // of the lower library, for an entry that the function Above added; else nil
}

// Has reports whether a call must meet the requirement r so that the algorithm can serve it.
func (e Entry) Has(r Requirement) bool { return slices.Contains(e.Requires, r) }

// Unsafe returns the name of an algorithm that is wrong for some valid calls, such as "ring" or "chain with
// segsize". For other algorithms it returns an empty string.
func (e Entry) Unsafe(alg coll.Algorithm) string {
	if value, ok := alg.Param(e.Segments); ok && value != "0" {
		return e.Name + " with " + e.Segments
	}
	if e.OpSafe {
		return ""
	}
	return e.Name
}

// Catalogue lists the algorithms of one release of one library. It is shared and must not be changed.
type Catalogue struct {
	Library, Version string
	Listed           string // release whose rows of the table list the algorithms
	Site             *Site  // settings of the machine; nil without any
	entries          map[coll.Collective][]Entry
	rules            Rules
}

// Rules are functions that say what a library's table of algorithms cannot express. A function may be nil.
type Rules struct {
	// Lookup returns an error if the parameters of an algorithm have invalid values. It is called only if the entry
	// has these parameters. The error matches ErrUnknown.
	Lookup func(c *Catalogue, collective coll.Collective, e Entry, alg coll.Algorithm) error

	// Check returns an error if a candidate cannot run although it meets the requirements of its entry. The
	// error matches ErrInfeasible.
	Check func(c *Catalogue, cand coll.Candidate) error

	// Variants lists the algorithms that are measured for an entry. If it is nil, the package's function
	// Variants lists them.
	Variants func(c *Catalogue, collective coll.Collective, e Entry) []coll.Algorithm

	// Ranges limits the parameter values that are tried in addition to the values of the entries.
	Ranges []coll.Range

	// Renamed reports whether an algorithm's name stands for different algorithms in two releases.
	Renamed func(alg coll.Algorithm, from, to string) bool
}

// Entries returns the algorithms of a collective in the order of the library's table. The caller must not change
// them.
func (c *Catalogue) Entries(collective coll.Collective) []Entry { return c.entries[collective] }

// Find returns the first entry of a collective for which the function `is` returns true. It returns false if there is none.
func (c *Catalogue) Find(collective coll.Collective, is func(Entry) bool) (Entry, bool) {
	if i := slices.IndexFunc(c.entries[collective], is); i >= 0 {
		return c.entries[collective][i], true
	}
	return Entry{}, false
}

// NameOf returns the name of the algorithm with a number, or the number if there is none.
func (c *Catalogue) NameOf(collective coll.Collective, id int) string {
	if e, ok := c.Find(collective, func(e Entry) bool { return e.ID == id }); ok {
		return e.Name
	}
	return strconv.Itoa(id)
}

// Only returns a copy of the catalogue with the entries for which the function `keep` returns true.
func (c *Catalogue) Only(keep func(coll.Collective, Entry) bool) *Catalogue {
	out := *c
	out.entries = map[coll.Collective][]Entry{}
	for collective, entries := range c.entries {
		out.entries[collective] = slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return !keep(collective, e) })
	}
	return &out
}

// As returns a copy of the catalogue under the version number of another release, which has the same
// algorithms.
func (c *Catalogue) As(version string) *Catalogue {
	same := *c
	same.Version = version
	return &same
}

// KnownSeries reports whether the library's table lists the algorithms of any release in the same series
// (first two numbers).
func (c *Catalogue) KnownSeries() bool {
	return c.Version == c.Listed || sameSeries(c.Listed, c.Version)
}

// Listing returns a copy of the catalogue with the algorithms that a build lists. Each has the number that the
// build gives it. The other properties come from the catalogue's entry of the same name. Without such an entry,
// the algorithm counts as unsafe (OpSafe is false).
func (c *Catalogue) Listing(listed map[coll.Collective][]Entry) *Catalogue {
	out := *c
	out.entries = map[coll.Collective][]Entry{}
	for collective, entries := range listed {
		for _, e := range entries {
			if known, ok := c.Find(collective, func(k Entry) bool { return k.Name == e.Name }); ok {
				known.ID = e.ID
				e = known
			}
			out.entries[collective] = append(out.entries[collective], e)
		}
	}
	return &out
}

// Lookup returns the entry of an algorithm. The error matches ErrUnknown if the release
// does not have the algorithm, or if the library does not take its parameters.
func (c *Catalogue) Lookup(collective coll.Collective, alg coll.Algorithm) (Entry, error) {
	e, ok := c.Find(collective, func(e Entry) bool { return e.Name == alg.Name })
	if !ok {
		var names []string
		for _, e := range c.entries[collective] {
			names = append(names, e.Name)
		}
		return Entry{}, fmt.Errorf("%s %s %s %s: %w: want one of %s",
			c.Library, c.Version, collective, alg, ErrUnknown, strings.Join(names, ", "))
	}
	for _, p := range alg.Params() {
		if !slices.Contains(e.Params, p.Name) {
			return Entry{}, fmt.Errorf("%s %s %s %s: parameter %s: %w: want %s",
				c.Library, c.Version, collective, alg, p.Name, ErrUnknown, orNone(e.Params))
		}
	}
	var err error
	switch {
	case e.below != nil:
		inner, _ := Below(e.below.Library, alg)
		_, err = e.below.Lookup(collective, inner)
	case c.rules.Lookup != nil:
		err = c.rules.Lookup(c, collective, e, alg)
	}
	if err != nil {
		return Entry{}, err
	}
	return e, nil
}

// Check returns an error if a candidate cannot be measured. The error matches ErrUnknown or ErrInfeasible.
// The library's default can always run.
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
			return fmt.Errorf("%v: %w: needs %s", cand, ErrInfeasible, r.Text())
		}
	}
	if c.rules.Check != nil {
		if err := c.rules.Check(c, cand); err != nil {
			return err
		}
	}
	if e.below != nil {
		cand.Algorithm, _ = Below(e.below.Library, cand.Algorithm)
		return e.below.Check(cand)
	}
	return nil
}

// ValidFrom reports whether a candidate's measurement with the release `measured` is also valid for this release. The
// candidate must be able to run here, and its name must stand for the same algorithm in both releases.
func (c *Catalogue) ValidFrom(cand coll.Candidate, measured string) bool {
	return c.Check(cand) == nil && (c.rules.Renamed == nil || !c.rules.Renamed(cand.Algorithm, measured, c.Version))
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// Algorithms returns the algorithms of a collective that a campaign can measure, each with a few values of its
// parameters, without the library's default. Check reports which of them can run at a point. Algorithms for
// calls with MPI_IN_PLACE only are omitted, since no benchmark makes such calls.
func (c *Catalogue) Algorithms(collective coll.Collective) []coll.Algorithm {
	var out []coll.Algorithm
	for _, e := range c.entries[collective] {
		if !e.Has(InPlace) {
			out = append(out, c.variants(collective, e)...)
		}
	}
	return out
}

func (c *Catalogue) variants(collective coll.Collective, e Entry) []coll.Algorithm {
	switch {
	case e.below != nil:
		name, cat := e.Name, e.below
		e.Name, e.below = strings.TrimPrefix(name, cat.Library+"."), nil
		list := cat.variants(collective, e)
		for i := range list {
			list[i].Name = name
		}
		return list
	case c.rules.Variants != nil:
		return c.rules.Variants(c, collective, e)
	}
	return Variants(e)
}

// Ranges returns the ranges in which further values of an algorithm's parameters are worth trying. It
// returns nil for an unknown algorithm.
func (c *Catalogue) Ranges(collective coll.Collective, alg coll.Algorithm) []coll.Range {
	e, err := c.Lookup(collective, alg)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.rules.Ranges), func(r coll.Range) bool { return !slices.Contains(e.Params, r.Parameter) })
}

// Variants returns the algorithms of an entry: one for every combination of its Values. It omits a parameter
// without values, so the library chooses that parameter's value.
func Variants(e Entry) []coll.Algorithm {
	lists := [][]coll.Param{nil}
	for _, name := range e.Params {
		if len(e.Values[name]) == 0 {
			continue
		}
		var longer [][]coll.Param
		for _, value := range e.Values[name] {
			for _, l := range lists {
				if value != "" {
					l = append(slices.Clone(l), coll.Param{Name: name, Value: value})
				}
				longer = append(longer, l)
			}
		}
		lists = longer
	}
	var out []coll.Algorithm
	for _, params := range lists {
		a, err := coll.NewAlgorithm(e.Name, params...)
		if err != nil {
			panic("mpi: " + err.Error()) // names and values are part of the program
		}
		out = append(out, a)
	}
	slices.SortFunc(out, coll.CompareAlgorithms)
	return out
}
