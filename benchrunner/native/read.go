package native

import (
	"cmp"
	"fmt"
	"strings"

	"tutti/benchrunner"
)

// Read implements benchrunner.Program. It returns one outcome for each case.
func (p *Program) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	l := parse(out.Lines(), len(s.Cases))
	var r benchrunner.Reading
	if len(l.hellos) > 0 {
		r.Library = l.hellos[0].Library
	}
	if wrong := l.world(s); wrong != "" {
		r.Outcomes = benchrunner.FailedAll(s, benchrunner.PhaseLaunch, wrong)
		return r
	}
	if l.hung {
		out.Ended, out.TimedOut = true, false
	}
	i, begun := -1, false
	for _, c := range l.cases {
		begun = begun || c.begun || len(c.results) > 0
	}
	r.Outcomes = benchrunner.Outcomes(s, out, begun, func(c benchrunner.Case) (benchrunner.Outcome, bool) {
		i++ // Outcomes calls the function for the cases in order
		return p.outcome(l.cases[i], c, out, &r)
	})
	p.blame(l, out, &r)
	return r
}

func (p *Program) outcome(c caseOutput, asked benchrunner.Case, out benchrunner.Output, r *benchrunner.Reading) (benchrunner.Outcome, bool) {
	if len(c.results) == 0 {
		return benchrunner.Failed(benchrunner.PhaseParse, "its line is missing or damaged"), c.later
	}
	e := c.results[0]
	if len(c.results) > 1 {
		return benchrunner.Failed(benchrunner.PhaseParse, fmt.Sprintf("%d lines about one case", len(c.results))), true
	}
	if err := cmp.Or(e.check(), out.Fits(r.WarmupSeconds+r.MeasureSeconds+e.Wall)); err != nil {
		return benchrunner.Failed(benchrunner.PhaseParse, err.Error()), true
	}
	r.WarmupSeconds += e.Warmup
	r.MeasureSeconds += e.Wall - e.Warmup
	o := benchrunner.Outcome{State: benchrunner.OutcomeDone, CostSeconds: e.Wall}
	if e.Event == "refused" {
		o.State, o.Phase, o.Error = benchrunner.OutcomeFailed, benchrunner.PhaseRun, oneLine(e.Step+": "+e.Why)
		return o, true
	}
	if text := e.contradicts(asked); text != "" {
		o.State, o.Phase, o.Error = benchrunner.OutcomeFailed, benchrunner.PhaseRun, text
		return o, true
	}
	low, high := e.interval()
	// A case that the abort factor ended is accepted even if it is noisy: the lower end of its interval is far above the
	// best time.
	if limit := p.opt.NoiseLimit; limit > 0 && e.Stop != "abort_factor" && high-low > limit**e.Median {
		o.State, o.Phase = benchrunner.OutcomeFailed, benchrunner.PhaseNoise
		o.Error = fmt.Sprintf("too noisy: the interval of the median, %.3g s, is %.3g to %.3g s, wider than benchmark.noise_limit, %g, allows", *e.Median, low, high, limit)
		return o, true
	}
	o.Seconds, o.Low, o.High, o.Samples, o.Overall, o.Evidence = *e.Median, e.Low, e.High, e.Samples, e.Overall, e.evidence(asked)
	return o, true
}

// blame charges the time of a case that crashed or hung to this case, and adds it to the time of the launch.
func (p *Program) blame(l listing, out benchrunner.Output, r *benchrunner.Reading) {
	for i, c := range l.cases {
		o := &r.Outcomes[i]
		if !c.begun || c.later || len(c.results) > 0 || o.State != benchrunner.OutcomeFailed {
			continue
		}
		if l.hung {
			o.Error = fmt.Sprintf("hung: not done after %.0f s", p.hang().Seconds())
		}
		if c.form != "" {
			o.Error = fmt.Sprintf("a call %s: %s", c.form, o.Error)
		}
		if spent := out.Wall.Seconds() - c.at; spent > 0 {
			o.CostSeconds = spent
			r.MeasureSeconds += spent
		}
	}
}

// oneLine shortens a library's error message to one line. The message contains a stack with a line for
// every function.
func oneLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	if len(lines) > 2 {
		lines = []string{lines[0], "...", lines[len(lines)-1]}
	}
	return strings.Join(lines, " ")
}
