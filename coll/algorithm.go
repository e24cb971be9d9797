package coll

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Algorithm is one way to perform a collective. It consists of the name that the library uses and of
// parameters, such as a segment size, fan-out or radix. Algorithms with different parameters are different
// algorithms, like the AlgIDs of Steiner's IOTA (2022). The zero value is no algorithm.
//
// Algorithm is comparable: it stores the parameters as one canonical string.
type Algorithm struct {
	Name   string
	params string // "k=2,segsize=8192": names ascending, no spaces
}

// Default stands for the choice that an untuned library makes. It is measured and predicted like an
// algorithm. Its name is not "default" because Open MPI has an algorithm with that name.
var Default = Algorithm{Name: "library_default"}

// Param is one parameter of an algorithm. Name and value are written in the same way as in the library.
type Param struct{ Name, Value string }

// isWord reports whether a text is a word of letters, digits and the characters ._- .
func isWord(text string) bool {
	for _, c := range []byte(text) { // strings.Trim would make a set of these characters in each call
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return text != ""
}

// NewAlgorithm returns an algorithm, with its parameters in canonical order.
//
// Names and values must be words of letters, digits and the characters ._- . A duplicate parameter is an
// error.
func NewAlgorithm(name string, params ...Param) (Algorithm, error) {
	if !isWord(name) {
		return Algorithm{}, fmt.Errorf("algorithm name %q: want letters, digits and ._-", name)
	}
	sorted := slices.Clone(params)
	slices.SortFunc(sorted, func(a, b Param) int { return strings.Compare(a.Name, b.Name) })
	parts := make([]string, len(sorted))
	for i, p := range sorted {
		if !isWord(p.Name) || !isWord(p.Value) {
			return Algorithm{}, fmt.Errorf("parameter %q=%q of %s: want letters, digits and ._-", p.Name, p.Value, name)
		}
		if i > 0 && p.Name == sorted[i-1].Name {
			return Algorithm{}, fmt.Errorf("parameter %q of %s is given twice", p.Name, name)
		}
		parts[i] = p.Name + "=" + p.Value
	}
	return Algorithm{Name: name, params: strings.Join(parts, ",")}, nil
}

// ParseAlgorithm parses an algorithm as String writes it, for example name or name(k=2,segsize=8192).
func ParseAlgorithm(s string) (Algorithm, error) {
	name, rest, found := strings.Cut(s, "(")
	if !found {
		return NewAlgorithm(name)
	}
	list, ok := strings.CutSuffix(rest, ")")
	if !ok || list == "" {
		return Algorithm{}, fmt.Errorf("algorithm %q: want name or name(key=value,...)", s)
	}
	var params []Param
	for _, part := range strings.Split(list, ",") {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return Algorithm{}, fmt.Errorf("algorithm %q: parameter %q: want key=value", s, part)
		}
		params = append(params, Param{Name: key, Value: value})
	}
	return NewAlgorithm(name, params...)
}

// String returns the form name or name(key=value,...), which ParseAlgorithm can parse.
func (a Algorithm) String() string {
	if a.params == "" {
		return a.Name
	}
	return a.Name + "(" + a.params + ")"
}

// Params returns the parameters in ascending order of names. It returns nil if the algorithm has no
// parameters.
func (a Algorithm) Params() []Param {
	if a.params == "" {
		return nil
	}
	var out []Param
	for _, part := range strings.Split(a.params, ",") {
		key, value, _ := strings.Cut(part, "=")
		out = append(out, Param{Name: key, Value: value})
	}
	return out
}

// Param returns the value of one parameter. It returns false if the algorithm does not have the parameter.
func (a Algorithm) Param(name string) (string, bool) {
	for _, p := range a.Params() {
		if p.Name == name {
			return p.Value, true
		}
	}
	return "", false
}

// IsDefault reports whether the algorithm stands for the library's own choice.
func (a Algorithm) IsDefault() bool { return a == Default }

// MarshalText returns the text of String, which UnmarshalText can parse.
func (a Algorithm) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText parses an algorithm as String writes it.
func (a *Algorithm) UnmarshalText(text []byte) error {
	parsed, err := ParseAlgorithm(string(text))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}

// CompareAlgorithms orders algorithms by name, then by parameters.
func CompareAlgorithms(a, b Algorithm) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.params, b.params))
}
