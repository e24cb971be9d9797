package imb

import (
	"fmt"

	"tutti/benchrunner"
)

// Read makes outcomes of a listing.
func (p *Program) Read(s benchrunner.Start, out benchrunner.Output) benchrunner.Reading {
	l := parse(out.Lines())
	if phase, text := p.unfit(s, out, l); text != "" {
		return benchrunner.Reading{Outcomes: benchrunner.FailedAll(s, phase, text)}
	}
	var reading benchrunner.Reading
	rows := l.rows(benchmarks[s.Cases[0].Collective], s.Layout.Ranks())
	reading.Outcomes = benchrunner.Outcomes(s, out, l.worlds > 0, func(c benchrunner.Case) (benchrunner.Outcome, bool) {
		var own []row
		for _, r := range rows {
			if r.bytes == length(c) || !c.Collective.Sized() {
				own = append(own, r)
			}
		}
		if len(own) != 1 {
			return benchrunner.Failed(benchrunner.PhaseParse, fmt.Sprintf("IMB printed %d lines for the size", len(own))), len(own) > 1
		}
		o := outcome(own[0])
		reading.MeasureSeconds += o.CostSeconds
		return o, true
	})
	for _, line := range l.damaged {
		reading.Warnings = append(reading.Warnings, fmt.Sprintf("imb: damaged line %q", line))
	}
	return reading
}

// unfit says why nothing of the output can be used; text is empty when it can.
func (p *Program) unfit(s benchrunner.Start, out benchrunner.Output, l listing) (phase, text string) {
	want := s.Layout.Ranks()
	if refusal := out.Refusal(); refusal != "" {
		return benchrunner.PhaseRun, refusal
	}
	if l.worlds == 0 { // the program may not have come to start
		return "", ""
	}
	if l.worlds > 1 {
		return benchrunner.PhaseLaunch, fmt.Sprintf("%d worlds, want one of %d ranks: the launcher is not the library's", l.worlds, want)
	}
	for _, sec := range l.sections {
		if sec.ranks != want && sec.benchmark == benchmarks[s.Cases[0].Collective] {
			return benchrunner.PhaseLaunch, fmt.Sprintf("a world of %d ranks, want %d", sec.ranks, want)
		}
	}
	if misplaced := out.Misplaced(s.Layout, p.opt.OneHost); misplaced != "" {
		return benchrunner.PhaseLaunch, misplaced
	}
	return "", ""
}

// rows returns the lines of a benchmark with a number of ranks.
func (l listing) rows(benchmark string, ranks int) []row {
	var out []row
	for _, s := range l.sections {
		if s.benchmark == benchmark && s.ranks == ranks {
			out = append(out, s.rows...)
		}
	}
	return out
}

func outcome(r row) benchrunner.Outcome {
	switch {
	case r.excuse != "":
		return benchrunner.Failed(benchrunner.PhaseRun, "IMB left the size out: "+r.excuse)
	case !(r.max > 0):
		return benchrunner.Failed(benchrunner.PhaseParse, "IMB printed a time of 0.00 us")
	case r.min > r.max || r.avg > r.max || r.avg < r.min:
		return benchrunner.Failed(benchrunner.PhaseParse, fmt.Sprintf("times %.4g ≤ %.4g ≤ %.4g us do not hold", r.min*1e6, r.avg*1e6, r.max*1e6))
	}
	return benchrunner.Outcome{State: benchrunner.OutcomeDone, Seconds: r.max, Samples: r.repetitions, CostSeconds: r.max * float64(r.repetitions)}
}
