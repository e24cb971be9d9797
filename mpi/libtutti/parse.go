package libtutti

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/internal/lazyregexp"
	"tutti/mpi"
)

// Parse parses a table. It accepts the same texts as the reader in C. The error matches ErrTable.
func Parse(text []byte) (Table, error) {
	t, _, err := parse(text)
	return t, err
}

var errChecksum = errors.New("cut off, or changed: its checksum is not right")

// lineError is an error in one line of a table.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

func (e *lineError) Unwrap() error { return e.err }

// tableLines has the lines of a table's rules and mixes, in the order of the table.
type tableLines struct{ rules, mixes []int }

// parse is Parse, and returns the lines of the rules and mixes. The error of a line is a *lineError.
func parse(text []byte) (Table, tableLines, error) {
	if len(text) > MaxBytes {
		return Table{}, tableLines{}, fmt.Errorf("%w: %d bytes: want at most %d", ErrTable, len(text), MaxBytes)
	}
	last := len(text) - len(lastLine(""))
	if last < 0 || strings.ContainsRune(string(text), 0) || last > 0 && text[last-1] != '\n' || string(text[last:]) != lastLine(string(text[:last])) {
		return Table{}, tableLines{}, fmt.Errorf("%w: %w", ErrTable, errChecksum)
	}
	lines := strings.SplitAfter(string(text[:last]), "\n")
	if n := len(lines) - 1; n > maxLines {
		return Table{}, tableLines{}, fmt.Errorf("%w: %d lines: want at most %d", ErrTable, n, maxLines)
	}
	if lines[0] != firstLine+"\n" {
		return Table{}, tableLines{}, fmt.Errorf("%w: %w", ErrTable, &lineError{1, errors.New("want " + firstLine)})
	}
	p := parser{activations: map[activationKey]*Activation{}}
	for i, line := range lines[1 : len(lines)-1] {
		p.line = i + 2
		if err := p.statement(strings.TrimSuffix(line, "\n")); err != nil {
			return Table{}, tableLines{}, fmt.Errorf("%w: %w", ErrTable, &lineError{p.line, err})
		}
	}
	return p.table, p.lines, nil
}

type parser struct {
	table       Table
	line        int // of the statement that is parsed
	lines       tableLines
	activations map[activationKey]*Activation
}

type activationKey struct {
	collective coll.Collective
	algorithm  coll.Algorithm
}

func (p *parser) statement(line string) error {
	if strings.HasPrefix(line, "#") {
		return nil
	}
	if banner, ok := strings.CutPrefix(line, "for "); ok {
		return p.banner(banner)
	}
	if text, ok := strings.CutPrefix(line, "algorithm "); ok {
		return p.activation(text)
	}
	if mix, ok := strings.CutPrefix(line, "explore "); ok {
		return p.mix(mix)
	}
	return p.rule(line)
}

var bannerForm = lazyregexp.New(`^[!-~]([ -~]{0,125}[!-~])?$`)

func (p *parser) banner(text string) error {
	if p.table.For != "" || !bannerForm.MatchString(text) {
		return errors.New("want a part of the version that the MPI library reports, once, of at most 127 characters")
	}
	p.table.For = text
	return nil
}

var (
	activationForm = lazyregexp.New(`^([a-z_]+) (\S{1,127}) (\S+) (same|new)((?: \S+){1,64})$`)
	switchForm     = lazyregexp.New(`^([A-Za-z0-9_]{1,127})=(-?[0-9]{1,9})$`)
)

// activation parses a line that says how the MPI library is made to run one of its algorithms: COLLECTIVE NAME
// NEEDS same|new VARIABLE=INTEGER ...
func (p *parser) activation(text string) error {
	word := activationForm.FindStringSubmatch(text)
	if word == nil {
		return errors.New("want algorithm COLLECTIVE LIBRARY.NAME NEEDS same|new and one VARIABLE=INTEGER or more")
	}
	var key activationKey
	var err error
	if key.collective, err = parseCollective(word[1]); err != nil {
		return err
	}
	if key.algorithm, err = coll.ParseAlgorithm(word[2]); err != nil {
		return err
	}
	library, name, dotted := strings.Cut(key.algorithm.Name, ".")
	if !dotted || library == "" || name == "" || key.algorithm.String() != word[2] || p.activations[key] != nil {
		return fmt.Errorf("algorithm %q: want LIBRARY.NAME, once", word[2])
	}
	a := &Activation{New: word[4] == "new"}
	if a.Needs, err = needsOf(word[3]); err != nil {
		return err
	}
	for _, text := range strings.Fields(word[5]) {
		s := switchForm.FindStringSubmatch(text)
		if s == nil {
			return fmt.Errorf("%q: want VARIABLE=INTEGER", text)
		}
		value, err := strconv.Atoi(s[2])
		if err != nil {
			return err
		}
		a.Switches = append(a.Switches, mpi.Switch{Name: s[1], Value: value})
	}
	p.activations[key] = a
	return nil
}

// needsOf parses a list of requirements separated by commas. The text "-" means that there are none.
func needsOf(text string) ([]mpi.Requirement, error) {
	if text == "-" {
		return nil, nil
	}
	var out []mpi.Requirement
	for name := range strings.SplitSeq(text, ",") {
		if !slices.Contains(guarded, mpi.Requirement(name)) {
			return nil, fmt.Errorf("%q: want some of %v separated by commas, or -", text, guarded)
		}
		out = append(out, mpi.Requirement(name))
	}
	return out, nil
}

const number = `(0|[1-9][0-9]{0,18})`

var (
	ruleForm   = lazyregexp.New(`^([a-z_]+) ranks ` + number + `-` + number + ` ppn ` + number + `-` + number + `(?: order (block|cyclic))? bytes ` + number + `-` + number + ` (.*)$`)
	weightForm = lazyregexp.New(`^([1-9][0-9]{0,6})(?:/([1-9][0-9]{0,6}))?$`)
)

// scopeOf parses the part of a line that says which calls a rule applies to: COLLECTIVE ranks LOW-HIGH ppn
// LOW-HIGH [order block|cyclic] bytes LOW-HIGH. It also returns the rest of the line.
func scopeOf(line string) (r Scope, rest string, err error) {
	word := ruleForm.FindStringSubmatch(line)
	if word == nil {
		return r, "", errors.New("want COLLECTIVE ranks LOW-HIGH ppn LOW-HIGH [order block|cyclic] bytes LOW-HIGH ALGORITHM")
	}
	if r.Collective, err = parseCollective(word[1]); err != nil {
		return r, "", err
	}
	r.Order = coll.Order(word[6])
	ends := slices.Concat(word[2:6], word[7:9])
	for i, to := range []*Range{&r.Ranks, &r.PPN, &r.Bytes} {
		limits := [3]Range{{1, math.MaxInt32}, {1, math.MaxInt32}, {0, maxBytes}}[i]
		low, lowErr := strconv.ParseInt(ends[2*i], 10, 64)
		high, highErr := strconv.ParseInt(ends[2*i+1], 10, 64)
		*to = Range{low, high}
		if lowErr != nil || highErr != nil || low < limits.Low || high < low || high > limits.High {
			return r, "", fmt.Errorf("want a range within %d to %d, the lower end first", limits.Low, limits.High)
		}
	}
	return r, word[9], nil
}

func (p *parser) rule(line string) error {
	at, name, err := scopeOf(line)
	if err != nil {
		return err
	}
	r := Rule{Scope: at}
	if r.Algorithm, r.Activation, err = p.algorithm(r.Collective, name); err != nil {
		return err
	}
	p.table.Rules = append(p.table.Rules, r)
	p.lines.rules = append(p.lines.rules, p.line)
	return nil
}

// mix parses a line with algorithms to explore. `line` is the text after the word "explore".
func (p *parser) mix(line string) error {
	at, list, err := scopeOf(line)
	switch {
	case err != nil:
		return err
	case at.Order != "":
		return errors.New("order: want it in a rule")
	case at.Collective.SizesDiffer() && at.Bytes != (Range{0, maxBytes}):
		return fmt.Errorf("ranks of %s do not know each other's sizes: want bytes 0-%d", at.Collective, int64(maxBytes))
	}
	m := Mix{Scope: at}
	words := strings.Split(list, " ")
	if words[0] == "budget" {
		budget, ok := choiceOf(words[min(1, len(words)-1)])
		if !ok || budget.Most > 0 {
			return fmt.Errorf("budget: want a number from 1 to %d", maxWeight)
		}
		m.Budget, words = budget.Weight, words[2:]
	}
	if len(words)%2 != 0 || len(words) == 0 || len(words) > 2*maxChoices {
		return fmt.Errorf("want a weight and an algorithm, up to %d times", maxChoices)
	}
	for i := 0; i < len(words); i += 2 {
		choice, ok := choiceOf(words[i])
		if !ok || len(words[i+1]) > maxName {
			return fmt.Errorf("%q: want WEIGHT or WEIGHT/MOST, numbers from 1 to %d, and an algorithm of at most %d letters", words[i], maxWeight, maxName)
		}
		if choice.Algorithm, choice.Activation, err = p.algorithm(m.Collective, words[i+1]); err != nil {
			return err
		}
		m.Choices = append(m.Choices, choice)
	}
	p.table.Mixes = append(p.table.Mixes, m)
	p.lines.mixes = append(p.lines.mixes, p.line)
	return nil
}

func choiceOf(text string) (c Choice, ok bool) {
	word := weightForm.FindStringSubmatch(text)
	if word == nil {
		return c, false
	}
	c.Weight, _ = strconv.Atoi(word[1]) // seven digits
	if word[2] != "" {
		c.Most, _ = strconv.Atoi(word[2])
	}
	return c, c.Weight <= maxWeight && c.Most <= maxWeight
}

// algorithm parses an algorithm in the form that String writes. It must be an algorithm of libtutti or of a user, or an
// algorithm of the MPI library for which the table lists control variables.
func (p *parser) algorithm(c coll.Collective, text string) (coll.Algorithm, *Activation, error) {
	alg, err := coll.ParseAlgorithm(text)
	switch {
	case err != nil:
		return alg, nil, err
	case alg.String() != text:
		return alg, nil, fmt.Errorf("algorithm %q: want it as %s", text, alg)
	case alg.IsDefault():
		return alg, nil, nil
	}
	if a := p.activations[activationKey{c, alg}]; a != nil || isUsers(alg) {
		return alg, a, nil
	}
	_, err = releases()[0].Lookup(c, alg)
	return alg, nil, err
}
