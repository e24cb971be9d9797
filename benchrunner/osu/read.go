package osu

import (
	"fmt"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/coll"
)

// alone is what OSU says on standard error to a world of one rank.
const alone = "This test requires at least two processes"

// Read makes outcomes of a listing.
func (p *Program) Read(s benchrunner.Start, out benchrunner.Output) benchrunner.Reading {
	l, err := parse(out.Lines())
	if phase, text := p.unfit(s, out, l, err); text != "" {
		return benchrunner.Reading{Outcomes: benchrunner.FailedAll(s, phase, text)}
	}
	var reading benchrunner.Reading
	sec := choose(l.sections, s.Cases[0].Collective)
	reading.Outcomes = benchrunner.Outcomes(s, out, len(l.sections) > 0, func(c benchrunner.Case) (benchrunner.Outcome, bool) {
		rows := slices.DeleteFunc(slices.Clone(sec.rows), func(r row) bool { return r.bytes != c.MsgBytes })
		if len(rows) != 1 {
			return benchrunner.Failed(benchrunner.PhaseParse, fmt.Sprintf("OSU printed %d lines for the size", len(rows))), len(rows) > 1
		}
		return p.outcome(c, rows[0], &reading), true
	})
	if c := s.Cases[0].Collective; c.Reduces() && sec.datatype != "" && sec.datatype != "MPI_FLOAT" && sec.datatype != "MPI_INT" {
		reading.Warnings = append(reading.Warnings, fmt.Sprintf("osu_%s reduced elements of %s", c, sec.datatype))
	}
	for _, line := range l.damaged {
		reading.Warnings = append(reading.Warnings, fmt.Sprintf("osu: damaged line %q", line))
	}
	return reading
}

// unfit says why nothing of the output can be used; text is empty when it can.
func (p *Program) unfit(s benchrunner.Start, out benchrunner.Output, l listing, err error) (phase, text string) {
	refusal := out.Refusal()
	misplaced := ""
	if l.headers > 0 { // before that the program may not have come to start
		misplaced = out.Misplaced(s.Layout, p.opt.OneHost)
	}
	switch want := titles[s.Cases[0].Collective]; {
	case refusal != "":
		return benchrunner.PhaseRun, refusal
	case strings.Contains(string(out.Stderr)+string(out.Stdout), alone):
		return benchrunner.PhaseLaunch, fmt.Sprintf("worlds of one rank, want one of %d: the launcher is not the library's", s.Layout.Ranks())
	case err != nil:
		return benchrunner.PhaseParse, err.Error()
	case l.headers > 1:
		return benchrunner.PhaseLaunch, fmt.Sprintf("%d worlds, want one of %d ranks: the launcher is not the library's", l.headers, s.Layout.Ranks())
	case misplaced != "":
		return benchrunner.PhaseLaunch, misplaced
	case l.headers == 1 && l.title != want:
		return benchrunner.PhaseParse, fmt.Sprintf("the program measured %q, want %q", l.title, want)
	}
	return "", ""
}

// choose returns the results for the datatype that the collective is asked with,
// or the only ones there are.
func choose(sections []section, c coll.Collective) section {
	want := "MPI_CHAR"
	if c.Reduces() {
		want = "MPI_FLOAT"
	}
	for _, s := range sections {
		if s.datatype == want {
			return s
		}
	}
	if len(sections) == 1 {
		return sections[0]
	}
	return section{}
}

// outcome makes an outcome of a line and adds its time to the reading.
func (p *Program) outcome(c benchrunner.Case, r row, reading *benchrunner.Reading) benchrunner.Outcome {
	switch {
	case r.wrong:
		return benchrunner.Failed(benchrunner.PhaseRun, "OSU found wrong data in the result")
	case r.max == 0 && r.iterations == 0:
		return benchrunner.Failed(benchrunner.PhaseParse, "not the full listing: option -f had no effect")
	case !(r.max > 0):
		return benchrunner.Failed(benchrunner.PhaseParse, "OSU printed a time of 0.00 us")
	case r.min > r.avg || r.avg > r.max:
		return benchrunner.Failed(benchrunner.PhaseParse, fmt.Sprintf("times %.4g ≤ %.4g ≤ %.4g us do not hold", r.min*1e6, r.avg*1e6, r.max*1e6))
	}
	_, warmup := p.calls(c)
	timed := float64(r.iterations) * r.max
	before := float64(warmup) * r.max
	reading.MeasureSeconds += timed
	reading.WarmupSeconds += before
	if r.median > 0 && r.avg > 2*r.median {
		reading.Warnings = append(reading.Warnings, fmt.Sprintf("%v: mean %.2f us, median %.2f us: few calls were much slower than the others",
			c.Candidate, r.avg*1e6, r.median*1e6))
	}
	return benchrunner.Outcome{State: benchrunner.OutcomeDone, Seconds: r.max, Samples: r.iterations, CostSeconds: timed + before}
}
