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

// addVariable adds a row of variables.csv to its library, whose algorithms are known.
func addVariable(all []*library, row map[string]string) error {
	collective, err := coll.ParseCollective(row["collective"])
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(l *library) bool { return l.facts.Name == row["library"] })
	if i < 0 {
		return fmt.Errorf("library %q: want one of libraries.csv", row["library"])
	}
	v := variable{
		name: row["variable"], algorithm: row["algorithm"], value: row["value"], bytes: row["bytes"],
		from: mpi.ReleaseNumbers(row["from"]), before: mpi.ReleaseNumbers(row["before"]),
	}
	if err := v.check(row); err != nil {
		return err
	}
	if v.param() != "" || row["range"] != "" {
		low, high, _ := strings.Cut(row["range"], "-")
		var lowErr, highErr error
		v.low, lowErr = strconv.ParseInt(low, 10, 64)
		v.high, highErr = strconv.ParseInt(high, 10, 64)
		if lowErr != nil || highErr != nil || v.high < v.low || v.param() == "" {
			return fmt.Errorf("range %q with the value %q: want LOW-HIGH for one {PARAMETER} of the value", row["range"], v.value)
		}
	}
	if err := all[i].checkAlgorithm(collective, v); err != nil {
		return err
	}
	for _, o := range all[i].variables[collective] {
		if o.name == v.name && o.algorithm == v.algorithm && o.overlaps(v) {
			return fmt.Errorf("a row above sets it for %s in the same releases", collective)
		}
	}
	all[i].variables[collective] = append(all[i].variables[collective], v)
	return nil
}

var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check checks the fields that need no library.
func (v variable) check(row map[string]string) error {
	switch v.bytes {
	case messageBytes, allRanks, noSize:
	default:
		return fmt.Errorf("bytes %q: want %s, %s or %s", v.bytes, messageBytes, allRanks, noSize)
	}
	for _, column := range []string{"from", "before"} {
		if row[column] != "" && mpi.ReleaseNumbers(row[column]) == nil {
			return fmt.Errorf("release %q: want numbers like 2021.6", row[column])
		}
	}
	switch {
	case v.from != nil && v.before != nil && slices.Compare(v.from, v.before) >= 0:
		return fmt.Errorf("from %s, before %s: no release has it", row["from"], row["before"])
	case !variableName.MatchString(v.name):
		return fmt.Errorf("variable %q: want a name of letters, digits and underscores", v.name)
	case v.param() != "" && strings.Count(v.value, "{") > 1:
		return fmt.Errorf("value %q: want one parameter, or {id} and {name}", v.value)
	}
	return nil
}

// checkAlgorithm checks that some release has the algorithm and the parameter of a variable. A release of variables.csv that
// the table of algorithms does not have is no fault: it is where variables begin or end.
func (l *library) checkAlgorithm(collective coll.Collective, v variable) error {
	var names, params []string
	for _, cat := range l.releases {
		for _, e := range cat.Entries(collective) {
			if names = append(names, e.Name); v.algorithm == "" || v.algorithm == e.Name {
				params = append(params, e.Params...)
			}
		}
	}
	slices.Sort(names)
	slices.Sort(params)
	switch name := v.param(); {
	case v.algorithm != "" && !slices.Contains(names, v.algorithm):
		return fmt.Errorf("algorithm %q: algorithms.csv has %s for %s", v.algorithm, strings.Join(slices.Compact(names), ", "), collective)
	case name != "" && !slices.Contains(params, name):
		return fmt.Errorf("value %q: want {id}, {name} or a parameter in algorithms.csv (%s)", v.value, strings.Join(slices.Compact(params), ", "))
	}
	return nil
}

// overlaps reports whether a release can have both variables.
func (v variable) overlaps(o variable) bool {
	ends := func(before, from []int) bool {
		return before != nil && from != nil && slices.Compare(before, from) <= 0
	}
	return !ends(v.before, o.from) && !ends(o.before, v.from)
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
