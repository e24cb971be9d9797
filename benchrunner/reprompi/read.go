package reprompi

import (
	"fmt"

	"tutti/benchrunner"
	"tutti/metrics"
)

// Read makes outcomes of a listing, raw, verbose or a summary.
func (p *Program) Read(s benchrunner.Start, out benchrunner.Output) benchrunner.Reading {
	l, err := parse(out.Lines())
	if phase, text := p.unfit(s, out, l, err); text != "" {
		return benchrunner.Reading{Outcomes: benchrunner.FailedAll(s, phase, text)}
	}
	var reading benchrunner.Reading
	reading.Outcomes = benchrunner.Outcomes(s, out, l.columns, func(c benchrunner.Case) (benchrunner.Outcome, bool) {
		r := l.find(c)
		if r == nil {
			return benchrunner.Outcome{}, false
		}
		cut := !out.Ended || out.TimedOut || out.Exit != 0
		if cut && len(r.seconds) > 0 && len(r.seconds)+r.invalid < p.opt.Repetitions {
			return benchrunner.Outcome{}, false // cut off among its calls
		}
		o := outcome(r)
		reading.MeasureSeconds += o.CostSeconds
		if o.State == benchrunner.OutcomeDone && r.invalid > 0 {
			reading.Warnings = append(reading.Warnings, fmt.Sprintf("%v: %d of %d calls were not synchronised", c.Candidate, r.invalid, r.invalid+o.Samples))
		}
		return o, true
	})
	for _, line := range l.damaged {
		reading.Warnings = append(reading.Warnings, fmt.Sprintf("reprompi: damaged line %q", line))
	}
	return reading
}

// unfit says why nothing of the output can be used; text is empty when it can.
func (p *Program) unfit(s benchrunner.Start, out benchrunner.Output, l listing, err error) (phase, text string) {
	refusal, want := out.Refusal(), s.Layout.Ranks()
	misplaced := ""
	if l.worlds > 0 { // before that the program may not have come to start
		misplaced = out.Misplaced(s.Layout, p.opt.OneHost)
	}
	switch {
	case refusal != "":
		return benchrunner.PhaseRun, refusal
	case err != nil:
		return benchrunner.PhaseParse, err.Error()
	case l.worlds > 1 || l.worlds == 1 && l.ranks == 1 && want > 1:
		return benchrunner.PhaseLaunch, fmt.Sprintf("%d worlds of %d ranks, want one of %d: the launcher is not the library's", max(l.worlds, want), l.ranks, want)
	case l.worlds == 1 && l.ranks != want:
		return benchrunner.PhaseLaunch, fmt.Sprintf("a world of %d ranks, want %d", l.ranks, want)
	case misplaced != "":
		return benchrunner.PhaseLaunch, misplaced
	}
	return "", ""
}

// find returns what was printed for a case, nil when nothing was.
func (l *listing) find(c benchrunner.Case) *result {
	want, err := sizeOf(c)
	if err != nil {
		return nil
	}
	for k, r := range l.results {
		if k.call == calls[c.Collective] && (!c.Collective.Sized() || l.bytes(k.count) == want) {
			return r
		}
	}
	return nil
}

// level is the probability that the interval holds the median.
const level = 0.95

func outcome(r *result) benchrunner.Outcome {
	o := benchrunner.Outcome{State: benchrunner.OutcomeDone, Seconds: r.median, Samples: r.valid, CostSeconds: r.median * float64(r.valid)}
	if len(r.seconds) > 0 {
		median, interval, err := metrics.MedianInterval(r.seconds, level)
		if err != nil {
			return benchrunner.Failed(benchrunner.PhaseParse, err.Error())
		}
		o.Seconds, o.Low, o.High = median, interval.Low, interval.High
		o.Samples, o.CostSeconds = len(r.seconds), sum(r.seconds)
	}
	switch {
	case o.Samples == 0:
		return benchrunner.Failed(benchrunner.PhaseRun, fmt.Sprintf("all %d calls were not synchronised", r.invalid))
	case !(o.Seconds > 0):
		return benchrunner.Failed(benchrunner.PhaseParse, fmt.Sprintf("a median time of %g s", o.Seconds))
	}
	return o
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

var _ benchrunner.Program = (*Program)(nil)
