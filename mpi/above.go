package mpi

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tutti/coll"
)

// Above returns the catalogue of library c when it runs on top of the library `other`. It has the entries of c, and
// the entries of `other` for which the function `keep` returns true. The names of the entries of `other` get the
// library's name as a prefix, as in "mpich.binomial". These entries keep the rules of their library, but lose the
// parameter Segments, with which an algorithm may be unsafe. An entry that is not safe for all operations then
// requires a predefined operation, which the upper library checks. The ranges of c's parameters also apply to
// algorithms of `other` that have these parameters.
func (c *Catalogue) Above(other *Catalogue, version string, keep func(coll.Collective, Entry) bool) *Catalogue {
	out := &Catalogue{Library: c.Library, Version: version, Listed: version, entries: map[coll.Collective][]Entry{}, rules: c.rules}
	for _, collective := range coll.Collectives() {
		list := slices.Clone(c.entries[collective])
		for _, e := range other.entries[collective] {
			if keep(collective, e) {
				e.Name, e.below = other.Library+"."+e.Name, other
				e.Params = slices.DeleteFunc(slices.Clone(e.Params), func(p string) bool { return p == e.Segments })
				if !e.OpSafe {
					e.Requires, e.OpSafe = append(slices.Clone(e.Requires), BuiltinOp), true
				}
				list = append(list, e)
			}
		}
		out.entries[collective] = list
	}
	return out
}

// Below removes the prefix that the function Above added to an algorithm's name, such as "mpich." for the
// library mpich. It returns false if the name does not begin with this prefix.
func Below(library string, alg coll.Algorithm) (coll.Algorithm, bool) {
	name, ok := strings.CutPrefix(alg.Name, library+".")
	if !ok || name == "" {
		return alg, false
	}
	alg.Name = name
	return alg, true
}

// User is an algorithm that a user has written for libtutti. The array tutti_algorithms of a shared object
// describes it; see csource/runtime/tutti_algorithm.h.
type User struct {
	Object     string          `json:"object"` // path of the shared object
	Collective coll.Collective `json:"collective"`
	Name       string          `json:"name"` // in catalogues and tables it follows "user."
	Parameter  string          `json:"parameter,omitempty"`
	Needs      []Requirement   `json:"needs,omitempty"`
	MinRanks   int             `json:"min_ranks,omitempty"`
	MaxRanks   int             `json:"max_ranks,omitempty"` // 0: no limit
}

// UserLibrary is the name of the library in the catalogue of users' algorithms. In other catalogues it is the
// prefix of these algorithms' names, as in user.NAME.
const UserLibrary = "user"

// WithUsers returns the catalogue extended by algorithms of users. The map `values` has the values of their
// parameters. The function `lookup` checks these parameters; see Rules.Lookup.
func (c *Catalogue) WithUsers(users []User, values map[string][]string, lookup func(*Catalogue, coll.Collective, Entry, coll.Algorithm) error) *Catalogue {
	if len(users) == 0 {
		return c
	}
	check := func(_ *Catalogue, cand coll.Candidate) error { return checkRanks(users, cand) }
	all := &Catalogue{Library: UserLibrary, Version: c.Version, entries: map[coll.Collective][]Entry{}, rules: Rules{Lookup: lookup, Check: check}}
	for _, u := range users {
		e := Entry{Name: u.Name, Values: values, Requires: u.Needs, OpSafe: true, Object: u.Object}
		if u.Parameter != "" {
			e.Params = []string{u.Parameter}
		}
		all.entries[u.Collective] = append(all.entries[u.Collective], e)
	}
	out := c.Above(all, c.Version, func(coll.Collective, Entry) bool { return true })
	out.Listed = c.Listed
	return out
}

func checkRanks(users []User, cand coll.Candidate) error {
	for _, u := range users {
		most := cmp.Or(u.MaxRanks, math.MaxInt32)
		if n := cand.Ranks(); u.Collective == cand.Collective && u.Name == cand.Algorithm.Name && (n < u.MinRanks || n > most) {
			return fmt.Errorf("%v: %w: needs %d to %d ranks", cand, ErrInfeasible, u.MinRanks, most)
		}
	}
	return nil
}
