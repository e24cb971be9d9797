package catalogue

import (
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tutti/coll"
)

// The libraries of the catalogue.
const (
	MPICH    = "mpich"
	OpenMPI  = "openmpi"
	Intel    = "intel"
	MVAPICH2 = "mvapich2"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrUnknown    = errors.New("not in the catalogue")
	ErrInfeasible = errors.New("cannot run there")
)

// Entry is one algorithm of one release.
type Entry struct {
	Name     string        // the library's name: MPICH's CVAR value, Open MPI's enumerator
	ID       int           // MPI_T value of MPICH, rule number of Open MPI; compositions have numbers of their own
	Leaf     string        // MPICH: the function a JSON leaf names; empty for Open MPI
	Params   []string      // parameters; MPICH's algorithms demand all, Open MPI takes 0 for a missing one
	Requires []Requirement // what must hold for the algorithm to run as itself
	OpSafe   bool          // right for non-commutative operations without a guard
}

// Has reports whether the entry has the requirement.
func (e Entry) Has(r Requirement) bool { return slices.Contains(e.Requires, r) }

// Catalogue is what one release of one library can do.
type Catalogue struct {
	Library, Version string
	entries          map[coll.Collective][]Entry
}

// For returns the catalogue of a release. The version must be one of Versions.
func For(library, version string) (*Catalogue, error) {
	all := load()
	for _, c := range all {
		if c.Library == library && c.Version == version {
			return c, nil
		}
	}
	var known []string
	for _, c := range all {
		known = append(known, c.Library+" "+c.Version)
	}
	return nil, fmt.Errorf("%s %s: %w: want one of %s", library, version, ErrUnknown, strings.Join(known, ", "))
}

// Libraries returns the libraries that can be measured: whose algorithms can be
// forced on a benchmark.
func Libraries() []string { return []string{MPICH, OpenMPI} }

// Recorded returns the libraries that are tuned from recorded measurements alone.
// Their rows come from what is written about them, not from running them: numbers
// are the documented ones, names are the documented words, and what an algorithm
// requires of a call is largely unknown. Collectives without a row are not tuned.
func Recorded() []string { return []string{Intel, MVAPICH2} }

// Versions returns the releases known of a library, oldest first.
func Versions(library string) []string {
	var out []string
	for _, c := range load() {
		if c.Library == library {
			out = append(out, c.Version)
		}
	}
	return out
}

// Entries returns the algorithms of a collective in the order of their numbers,
// after them MPICH's compositions in the order of theirs.
func (c *Catalogue) Entries(collective coll.Collective) []Entry {
	return slices.Clone(c.entries[collective])
}

// Lookup returns the entry of an algorithm. The error matches ErrUnknown when the
// release has no such algorithm, when it has not one of the given parameters, or
// when MPICH would be left without one it needs.
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
	if e.Composition() {
		return e, c.checkParts(collective, alg)
	}
	if c.Library == MPICH {
		for _, name := range e.Params {
			if _, ok := alg.Param(name); !ok {
				return Entry{}, fmt.Errorf("%s %s %s %s: parameter %s is missing: %w",
					c.Library, c.Version, collective, alg, name, ErrUnknown)
			}
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
	return c.feasibleParts(cand)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

//go:embed algorithms.csv
var table string

// recorded holds the libraries of Recorded.
//
// Intel MPI: I_MPI_ADJUST Family Environment Variables in the Developer Reference
// of release 2019 and, for what it shares with 5.1.3 and 4.1, theirs
// (intel.com/content/www/us/en/docs/mpi-library/developer-reference-linux/2021-8/i-mpi-adjust-family-environment-variables.html
// is the page of a later release). bcast, barrier, gather, reduce, reduce_scatter and
// scatter come from the references of 4.1 and 5.1.3 and from public code that sets
// them; nobody has compared them with a library of 2019.
//
// MVAPICH2: the comments and enumerations of src/mpi/coll/*_tuning.h and .c of
// release 2.3. Numbers that a size range cannot name, or that need a second
// variable, are left out.
//
//go:embed recorded.csv
var recorded string

var load = sync.OnceValue(func() []*Catalogue {
	var all []*Catalogue
	for _, text := range []string{table, recorded} {
		part, err := parse(text)
		if err != nil {
			panic("catalogue: " + err.Error()) // the tables are part of the program
		}
		all = append(all, part...)
	}
	return all
})

func parse(text string) ([]*Catalogue, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = 9
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	var all []*Catalogue
	for i, row := range rows[1:] {
		if len(all) == 0 || all[len(all)-1].Library != row[0] || all[len(all)-1].Version != row[1] {
			all = append(all, &Catalogue{Library: row[0], Version: row[1], entries: map[coll.Collective][]Entry{}})
		}
		collective, err := coll.ParseCollective(row[2])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		e, err := parseEntry(row[3:])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		last := all[len(all)-1]
		last.entries[collective] = append(last.entries[collective], e)
	}
	return all, nil
}

func parseEntry(row []string) (Entry, error) {
	id, err := strconv.Atoi(row[1])
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Name: row[0], ID: id, Leaf: row[2], OpSafe: row[5] == "yes"}
	if row[3] != "" {
		e.Params = strings.Split(row[3], ";")
	}
	if row[4] == "" {
		return e, nil
	}
	for _, word := range strings.Split(row[4], ";") {
		req, err := parseRequirement(word)
		if err != nil {
			return Entry{}, err
		}
		e.Requires = append(e.Requires, req)
	}
	return e, nil
}
