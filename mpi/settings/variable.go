package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/internal/lazyregexp"
	"tutti/mpi"
)

// variable holds one row of variables.csv: an environment variable that selects algorithms of a collective.
type variable struct {
	name         string
	from, before []int  // first release that has it, first release that does not; nil: any
	algorithm    string // the only algorithm that sets it; "" for all
	value        string // with {id}, {name} and {PARAMETER} to be replaced; "" if the syntax has ranges
	low, high    int64  // limits of the parameter in value
	bytes        string // message, allRanks or noSize
}

// The kinds of message size by which the value of a variable selects algorithms.
const (
	messageBytes = "message"   // bytes of the buffer, or of one rank's part of it
	allRanks     = "all-ranks" // bytes of all ranks' parts
	noSize       = "none"
)

func addVariable(all []*library, row map[string]string) error {
	collective, err := coll.ParseCollective(row["collective"])
	if err != nil {
		return err
	}
	v := variable{
		name: row["variable"], algorithm: row["algorithm"], value: row["value"], bytes: row["bytes"],
		from: mpi.ReleaseNumbers(row["from"]), before: mpi.ReleaseNumbers(row["before"]),
	}
	switch v.bytes {
	case messageBytes, allRanks, noSize:
	default:
		return fmt.Errorf("bytes %q: want %s, %s or %s", v.bytes, messageBytes, allRanks, noSize)
	}
	for name, text := range map[string][]int{row["from"]: v.from, row["before"]: v.before} {
		if name != "" && text == nil {
			return fmt.Errorf("release %q: want numbers like 2021.6", name)
		}
	}
	if v.param() != "" {
		low, high, _ := strings.Cut(row["range"], "-")
		v.low, err = strconv.ParseInt(low, 10, 64)
		if v.high, _ = strconv.ParseInt(high, 10, 64); err != nil || v.high < v.low {
			return fmt.Errorf("range %q: want LOW-HIGH for %s", row["range"], v.value)
		}
	}
	i := slices.IndexFunc(all, func(l *library) bool { return l.facts.Name == row["library"] })
	if i < 0 {
		return fmt.Errorf("library %q: want one of libraries.csv", row["library"])
	}
	all[i].variables[collective] = append(all[i].variables[collective], v)
	return nil
}

var placeholder = lazyregexp.New(`\{(\w+)\}`)

// param returns the name of the parameter in the variable's value, "" if there is none.
func (v variable) param() string {
	m := placeholder.FindStringSubmatch(v.value)
	if m == nil || m[1] == "id" || m[1] == "name" {
		return ""
	}
	return m[1]
}

// has reports whether a release of the library has the variable.
func (v variable) has(release string) bool {
	return (v.from == nil || mpi.AtLeast(release, v.from...)) && (v.before == nil || !mpi.AtLeast(release, v.before...))
}

// set returns the variable's value for an algorithm, and false if the algorithm does not set it.
func (v variable) set(e mpi.Entry, alg coll.Algorithm) (string, bool) {
	if v.algorithm != "" && v.algorithm != alg.Name {
		return "", false
	}
	with := map[string]string{"id": strconv.Itoa(e.ID), "name": alg.Name}
	if name := v.param(); name != "" {
		value, given := alg.Param(name)
		if !given {
			return "", false
		}
		with[name] = value
	}
	return placeholder.ReplaceAllStringFunc(v.value, func(s string) string { return with[strings.Trim(s, "{}")] }), true
}

// of returns the variables of a collective that the release of the build has.
func (b build) of(collective coll.Collective) []variable {
	return slices.DeleteFunc(slices.Clone(b.lib.variables[collective]), func(v variable) bool { return !v.has(b.cat.Version) })
}

// variable returns the only variable of a collective, for syntaxes with ranges. It returns false if the release has none.
func (b build) variable(collective coll.Collective) (variable, bool) {
	list := b.of(collective)
	if len(list) == 0 {
		return variable{}, false
	}
	return list[0], true
}

// checkParams implements mpi.Rules.Lookup. A parameter must be a whole number in the range of its variable, and an
// algorithm that sets the variable alone needs it.
func (l *library) checkParams(cat *mpi.Catalogue, collective coll.Collective, _ mpi.Entry, alg coll.Algorithm) error {
	for _, v := range (build{l, cat}).of(collective) {
		name := v.param()
		text, given := alg.Param(name)
		switch {
		case name == "" || v.algorithm != "" && v.algorithm != alg.Name || v.algorithm == "" && !given:
			continue
		case !given:
			return fmt.Errorf("%s %s %s %s: parameter %s is missing: %w: %s takes a whole number of %d to %d",
				cat.Library, cat.Version, collective, alg, name, mpi.ErrUnknown, v.name, v.low, v.high)
		}
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < v.low || n > v.high {
			return fmt.Errorf("%s %s %s %s: parameter %s=%s: %w: %s takes a whole number of %d to %d",
				cat.Library, cat.Version, collective, alg, name, text, mpi.ErrUnknown, v.name, v.low, v.high)
		}
	}
	return nil
}

// checkVariable implements mpi.Rules.Check. A release without a variable for a collective cannot force its algorithms.
func (l *library) checkVariable(cat *mpi.Catalogue, c coll.Candidate) error {
	if _, ok := (build{l, cat}).variable(c.Collective); !ok {
		return fmt.Errorf("%v: %w: %s %s has no variable for %s", c, mpi.ErrInfeasible, l.facts.Title, cat.Version, c.Collective)
	}
	return nil
}

// tuned returns the value of a variable in a list of settings, and false if it has none or that of the site.
func (b build) tuned(set []mpi.Setting, name string) (string, bool) {
	i := slices.IndexFunc(set, func(s mpi.Setting) bool { return s.Name == name })
	if i < 0 {
		return "", false
	}
	site, kept := b.cat.Site.Value(name)
	return set[i].Value, !kept || site.Value != set[i].Value
}

// selectsByRange implements syntax.selects for a syntax whose variable has ranges. `find` returns the number of the
// algorithm that a value selects for a communicator and a message size, and false if the library decides there.
func selectsByRange(b build, set []mpi.Setting, p coll.Point, alg coll.Algorithm, find func(value string, ranks int, bytes int64) (int, bool, error)) error {
	v, _ := b.variable(p.Collective)
	value, decided := b.tuned(set, v.name)
	decided = decided || value != "" && !alg.IsDefault() // the tuned value is that of the site
	got := 0
	if decided {
		var err error
		if got, decided, err = find(value, p.Ranks(), b.lib.Size(p)); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
	}
	if alg.IsDefault() {
		if decided {
			return fmt.Errorf("the settings select algorithm %d: want the library's choice", got)
		}
		return nil
	}
	want, err := b.cat.Lookup(p.Collective, alg)
	switch {
	case err != nil:
		return err
	case !decided:
		return fmt.Errorf("the settings leave the choice to the library: want algorithm %d (%v)", want.ID, alg)
	case got != want.ID:
		return fmt.Errorf("the settings select algorithm %d: want %d (%v)", got, want.ID, alg)
	}
	return nil
}

// one returns the setting of the only variable of a collective, none for an empty value.
func (b build) one(collective coll.Collective, value string) ([]mpi.Setting, error) {
	v, ok := b.variable(collective)
	switch {
	case value == "":
		return nil, nil
	case !ok:
		return nil, fmt.Errorf("%s %s: no variable for %s", b.cat.Library, b.cat.Version, collective)
	}
	return []mpi.Setting{{Name: v.name, Value: value}}, nil
}
