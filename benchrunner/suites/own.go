package suites

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/lazyregexp"
)

// OwnOptions describe a timing program of the user.
type OwnOptions struct {
	Path       string // absolute path of the program on the nodes
	Args       string // its arguments, separated by blanks; placeholders are replaced
	Pattern    string // regular expression that matches the output lines with a time; see NewOwn
	Iterations int    // value of {iterations}; 1000 when zero
}

// placeholders are the texts in arguments that are replaced by properties of the measured case.
var placeholders = []string{"{collective}", "{bytes}", "{nodes}", "{ppn}", "{ranks}", "{iterations}"}

// timeUnits has the seconds in each unit. In the regular expression of a program, the group that captures the
// time is named by its unit.
var timeUnits = map[string]float64{"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

type own struct {
	OwnOptions
	pattern *regexp.Regexp
	unit    string // name of the group that captures the time
}

// NewOwn returns a timing program of the user. Each launch of the program measures one case. Each output
// line that the pattern matches holds the time of one call, or of all calls. The time of the case is the median
// of the lines.
//
// The pattern must have one group named s, ms, us or ns, which captures the time in this unit. If it has a
// group named bytes, lines for other message sizes are ignored. If it has a group named ranks, a world of
// another size is an error.
func NewOwn(opt OwnOptions) (*Program, error) {
	if err := checkArguments(opt.Args); err != nil {
		return nil, fmt.Errorf("own: arguments: %w", err)
	}
	pattern, unit, err := parsePattern(opt.Pattern)
	if err != nil {
		return nil, fmt.Errorf("own: pattern: %w", err)
	}
	opt.Iterations = cmp.Or(opt.Iterations, 1000)
	o := own{opt, pattern, unit}
	return &Program{
		name: "own", printed: "the program", command: o.command, parse: o.parse,
		follows:   func(benchrunner.Case, benchrunner.Case) bool { return false },
		size:      func(c benchrunner.Case) (int64, error) { return c.MsgBytes, nil },
		allowance: func(c benchrunner.Case) time.Duration { return benchrunner.CallsTimeout(c, opt.Iterations) },
		samples:   math.MaxInt, // nobody knows how many times the program prints
		everyRank: true,
	}, nil
}

// Own returns the kind of program own. The doctor cannot try it, because it does not know its arguments.
func Own() benchrunner.ProgramKind {
	return benchrunner.ProgramKind{
		Name: "own", Doc: "any program, with benchmark.args and benchmark.pattern",
		Keys: []string{"args", "pattern", "iterations"}, Launches: benchrunner.LaunchCandidate,
		New: func(path string, o benchrunner.ProgramOptions) (benchrunner.Program, error) {
			return NewOwn(OwnOptions{Path: path, Args: o.Args, Pattern: o.Pattern, Iterations: o.Iterations})
		},
	}
}

// parsePattern compiles a pattern and returns the name of the group that captures the time. The pattern may have the
// groups in `more`, too.
func parsePattern(text string, more ...string) (pattern *regexp.Regexp, unit string, err error) {
	if pattern, err = regexp.Compile(text); err != nil {
		return nil, "", err
	}
	for _, name := range pattern.SubexpNames() {
		switch {
		case timeUnits[name] != 0 && unit == "":
			unit = name
		case name != "" && name != "bytes" && name != "ranks" && !slices.Contains(more, name):
			return nil, "", fmt.Errorf("group %s: want one of s, ms, us, ns once, and at most bytes and ranks", name)
		}
	}
	if unit == "" {
		return nil, "", errors.New("no time: want a group such as (?P<us>[0-9.]+), named s, ms, us or ns")
	}
	return pattern, unit, nil
}

func checkArguments(args string) error {
	for _, name := range regexp.MustCompile(`\{\w*\}`).FindAllString(args, -1) {
		if !slices.Contains(placeholders, name) {
			return fmt.Errorf("%s: want one of %s", name, strings.Join(placeholders, ", "))
		}
	}
	return nil
}

func (o own) command(s benchrunner.Launch, _ []int64) benchrunner.Command {
	c := s.Cases[0]
	replace := strings.NewReplacer("{collective}", string(c.Collective), "{bytes}", strconv.FormatInt(c.MsgBytes, 10),
		"{nodes}", strconv.Itoa(c.Nodes), "{ppn}", strconv.Itoa(c.PPN), "{ranks}", strconv.Itoa(c.Ranks()), "{iterations}", strconv.Itoa(o.Iterations))
	args := []string{o.Path}
	for _, a := range strings.Fields(o.Args) {
		args = append(args, replace.Replace(a))
	}
	return benchrunner.Command{Args: args}
}

// parse returns a listing with one row: the times of the only case. Lines of different numbers of ranks are an error. A
// title above the times is ignored: words in place of a time before the first one, and one such word if the pattern has
// the size. Any other text that is no time is an error, such as N/A for a call that failed.
func (o own) parse(s benchrunner.Launch, lines iter.Seq[string]) (listing, error) {
	var l listing
	c, ranks := s.Cases[0], 0
	result := row{bytes: c.MsgBytes}
	var times []string
	titled := false
	for line := range lines {
		m := o.pattern.FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		group := func(name string) string {
			i := 2 * max(o.pattern.SubexpIndex(name), 0)
			return line[max(m[i], 0):max(m[i+1], 0)]
		}
		if err := checkWhole(o.pattern, m, line, "bytes"); err != nil {
			return listing{}, err
		}
		if o.has("bytes") && group("bytes") != strconv.FormatInt(c.MsgBytes, 10) {
			continue
		}
		time := group(o.unit)
		isWord := !likeNumber.MatchString(time)
		if isWord && len(times) == 0 && (!titled || !o.has("bytes")) {
			titled = true
			continue
		}
		if err := checkWhole(o.pattern, m, line, o.unit); err != nil {
			return listing{}, err
		}
		if o.has("ranks") {
			n, err := strconv.Atoi(group("ranks"))
			switch {
			case err != nil:
				return listing{}, fmt.Errorf("ranks %q: want a number", group("ranks"))
			case ranks > 0 && n != ranks:
				return listing{}, fmt.Errorf("lines of %d and %d ranks: want one number of ranks", ranks, n)
			}
			ranks = n
		}
		times = append(times, time)
	}
	numbers, err := coll.ParseNumbers(times...)
	if err != nil {
		return listing{}, fmt.Errorf("%d lines with a time, among them %w", len(times), err)
	}
	for i, x := range numbers {
		if !(x > 0) {
			return listing{}, fmt.Errorf("%d lines with a time, among them %q: want a time above 0", len(times), times[i])
		}
		result.samples = append(result.samples, x*timeUnits[o.unit])
	}
	if len(result.samples) > 0 {
		l.begin()
		l.sections = []section{{ranks: ranks, rows: []row{result}}}
	}
	return l, nil
}

// checkWhole returns an error if a group of a match has a part of a number: without what stands before it, or without what
// follows the match. `m` holds the indices of the match in the line.
func checkWhole(pattern *regexp.Regexp, m []int, line, group string) error {
	i := 2 * pattern.SubexpIndex(group)
	if i < 0 || m[i] < 0 || !likeNumber.MatchString(line[m[i]:m[i+1]]) {
		return nil
	}
	begin, end := m[i], m[i+1]
	number, rest := line[begin:end], line[end:]
	if line[begin] != '-' {
		begin -= len(startOfNumber.FindString(line[:begin]))
	}
	goesOn := end == m[1] && (restOfNumber.MatchString(rest) || !strings.ContainsAny(number, ".,eE") && restOfDecimal.MatchString(rest))
	if begin == m[i] && !goesOn {
		return nil
	}
	return fmt.Errorf("the pattern takes %q out of %.40q: let its group %s contain the whole number, with its sign, decimal separator and exponent", number, line[begin:end]+rest, group)
}

var (
	startOfNumber = lazyregexp.New(`([0-9]\.?|\B[-.])$`)
	restOfNumber  = lazyregexp.New(`^([0-9]|_[0-9]|[eE][-+]?[0-9]|[xX][0-9a-fA-F])`)
	restOfDecimal = lazyregexp.New(`^[.,][0-9]`)
)

func (o own) has(group string) bool { return o.pattern.SubexpIndex(group) > 0 }
