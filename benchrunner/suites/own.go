package suites

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"

	"tutti/benchrunner"
	"tutti/metrics"
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

// timeUnits maps the names of the pattern's groups for a time to the units of this time, in seconds.
var timeUnits = map[string]float64{"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

// Own is a timing program of the user. It implements benchrunner.Program.
type Own struct {
	opt     OwnOptions
	pattern *regexp.Regexp
	unit    string // name of the group that captures the time
}

// NewOwn checks the options and returns the program. Each launch of the program measures one case. Each output
// line that the pattern matches holds the time of one call, or of all calls. The time of the case is the median
// of the lines.
//
// The pattern must have one group named s, ms, us or ns, which captures the time in this unit. If it has a
// group named bytes, lines for other message sizes are ignored. If it has a group named ranks, a world of
// another size is an error.
func NewOwn(opt OwnOptions) (*Own, error) {
	if err := checkArguments(opt.Args); err != nil {
		return nil, fmt.Errorf("own: arguments: %w", err)
	}
	pattern, unit, err := parsePattern(opt.Pattern)
	if err != nil {
		return nil, fmt.Errorf("own: pattern: %w", err)
	}
	if opt.Iterations == 0 {
		opt.Iterations = 1000
	}
	return &Own{opt, pattern, unit}, nil
}

// parsePattern compiles a pattern and returns the name of the group that captures the time.
func parsePattern(text string) (pattern *regexp.Regexp, unit string, err error) {
	if pattern, err = regexp.Compile(text); err != nil {
		return nil, "", err
	}
	for _, name := range pattern.SubexpNames() {
		switch {
		case timeUnits[name] != 0 && unit == "":
			unit = name
		case name != "" && name != "bytes" && name != "ranks":
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

// Name returns own.
func (*Own) Name() string { return "own" }

// Group implements benchrunner.Program. Each case gets its own launch.
func (*Own) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	return slices.Collect(slices.Chunk(cases, 1))
}

// Allowance implements benchrunner.Program.
func (p *Own) Allowance(s benchrunner.Launch) time.Duration {
	return sumAllowance(s, func(c benchrunner.Case) time.Duration { return benchrunner.CallsTimeout(c, p.opt.Iterations) })
}

// Command implements benchrunner.Program. The launch must have one case.
func (p *Own) Command(s benchrunner.Launch) (benchrunner.Command, error) {
	if len(s.Cases) != 1 {
		return benchrunner.Command{}, fmt.Errorf("own: %d cases in a launch, want one", len(s.Cases))
	}
	c := s.Cases[0]
	replace := strings.NewReplacer("{collective}", string(c.Collective), "{bytes}", strconv.FormatInt(c.MsgBytes, 10),
		"{nodes}", strconv.Itoa(c.Nodes), "{ppn}", strconv.Itoa(c.PPN), "{ranks}", strconv.Itoa(c.Ranks()), "{iterations}", strconv.Itoa(p.opt.Iterations))
	args := []string{p.opt.Path}
	for _, a := range strings.Fields(p.opt.Args) {
		args = append(args, replace.Replace(a))
	}
	return benchrunner.ReportHosts(s.Dir, benchrunner.Command{Args: args, Env: c.Env}), nil
}

// Read implements benchrunner.Program.
func (p *Own) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	var reading benchrunner.Reading
	seconds, ranks, damaged := p.parse(s.Cases[0], out.Lines())
	if phase, text := checkWorld(s, out, min(len(seconds), 1), ranks, nil); text != "" {
		return benchrunner.Reading{Outcomes: benchrunner.FailedAll(s, phase, text)}
	}
	reading.Outcomes = benchrunner.Outcomes(s, out, len(seconds) > 0, func(benchrunner.Case) (benchrunner.Outcome, bool) {
		cut := !out.Ended || out.TimedOut || out.Exit != 0
		if len(seconds) == 0 || cut {
			return benchrunner.Outcome{}, false
		}
		o := medianOutcome(seconds)
		reading.MeasureSeconds += o.CostSeconds
		return o, true
	})
	reading.Warnings = damagedLines("own", damaged)
	return reading
}

// parse returns the times of a case, in seconds. It also returns the number of ranks in the last line, 0 if no
// line has this number, and the lines in which a captured text is not a number.
func (p *Own) parse(c benchrunner.Case, lines []string) (seconds []float64, ranks int, damaged []string) {
	for _, line := range lines {
		m := p.pattern.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		group := func(name string) string { return m[max(p.pattern.SubexpIndex(name), 0)] }
		if p.has("bytes") && group("bytes") != strconv.FormatInt(c.MsgBytes, 10) {
			continue
		}
		x, err := strconv.ParseFloat(group(p.unit), 64)
		if p.has("ranks") && err == nil {
			ranks, err = strconv.Atoi(group("ranks"))
		}
		if err != nil || !(x >= 0) || math.IsInf(x, 0) {
			damaged = append(damaged[:min(len(damaged), maxDamaged-1)], line)
			continue
		}
		seconds = append(seconds, x*timeUnits[p.unit])
	}
	return seconds, ranks, damaged
}

func (p *Own) has(group string) bool { return p.pattern.SubexpIndex(group) > 0 }

const medianConfidence = 0.95

func medianOutcome(seconds []float64) benchrunner.Outcome {
	median, interval, err := metrics.MedianInterval(seconds, medianConfidence)
	switch {
	case err != nil:
		return benchrunner.Failed(benchrunner.PhaseParse, err.Error())
	case !(median > 0):
		return benchrunner.Failed(benchrunner.PhaseParse, fmt.Sprintf("a median time of %g s", median))
	}
	return benchrunner.Outcome{
		State: benchrunner.OutcomeDone, Seconds: median, Low: interval.Low, High: interval.High,
		Samples: len(seconds), CostSeconds: floats.Sum(seconds),
	}
}
