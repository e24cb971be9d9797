package mpi

import (
	"cmp"
	"fmt"
	"math"

	"tutti/coll"
)

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

// UserLibrary is the name of the catalogue of users' algorithms. In other catalogues it is the prefix of their
// names.
const UserLibrary = "user"

// WithUsers returns the catalogue with algorithms of users. The rules apply to their parameters.
func (c *Catalogue) WithUsers(users []User, rules Rules) *Catalogue {
	if len(users) == 0 {
		return c
	}
	all := &Catalogue{Library: UserLibrary, Version: c.Version, entries: map[coll.Collective][]Entry{}, rules: rules}
	all.rules.Check = func(_ *Catalogue, cand coll.Candidate) error { return checkRanks(users, cand) }
	for _, u := range users {
		e := Entry{Name: u.Name, Requires: u.Needs, OpSafe: true, Object: u.Object}
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
