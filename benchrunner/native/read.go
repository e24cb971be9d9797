package native

import (
	"fmt"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/csource"
)

// Read implements benchrunner.Program. It returns one outcome for each case.
func (p *Program) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	l := parse(out.Lines(), len(s.Cases))
	r := benchrunner.Reading{Warnings: slices.Concat(l.warnings(), l.starts(), p.disturbances(l))}
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
	i, unverified, begun := -1, 0, false
	for _, c := range l.cases {
		begun = begun || c.begun || len(c.results) > 0
	}
	r.Outcomes = benchrunner.Outcomes(s, out, begun, func(c benchrunner.Case) (benchrunner.Outcome, bool) {
		i++ // Outcomes calls the function for the cases in order
		o, ok := p.outcome(l.cases[i], c, &r)
		if ok && o.State == benchrunner.OutcomeDone && l.cases[i].results[0].Verified == verifiedNot && !c.Algorithm.IsDefault() {
			unverified++
		}
		return o, ok
	})
	p.blame(l, out, &r)
	if unverified > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("native: the library does not let us see which algorithm ran in %d of %d cases", unverified, len(s.Cases)))
	}
	return r
}

func (p *Program) outcome(c caseOutput, asked benchrunner.Case, r *benchrunner.Reading) (benchrunner.Outcome, bool) {
	if len(c.results) == 0 {
		return benchrunner.Failed(benchrunner.PhaseParse, "its line is missing or damaged"), c.later
	}
	e := c.results[0]
	if len(c.results) > 1 {
		return benchrunner.Failed(benchrunner.PhaseParse, fmt.Sprintf("%d lines about one case", len(c.results))), true
	}
	if err := e.check(); err != nil {
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
	if limit := p.opt.NoiseLimit; limit > 0 && e.Stop != "abort_factor" && high-low > limit**e.Median {
		o.State, o.Phase = benchrunner.OutcomeFailed, benchrunner.PhaseParse
		o.Error = fmt.Sprintf("too noisy: the interval of the median, %.3g s, is %.3g to %.3g s, wider than benchmark.noise_limit, %g, allows", *e.Median, low, high, limit)
		return o, true
	}
	o.Seconds, o.Low, o.High, o.Samples = *e.Median, e.Low, e.High, e.Samples
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

// starts returns a warning if some cases began at agreed times and others after a barrier. Times after a
// barrier are longer, because they include the end of the barrier.
func (l listing) starts() []string {
	barriers, all := 0, 0
	for _, c := range l.cases {
		for _, e := range c.results {
			if e.Event == "result" {
				all++
				barriers += rank(e.Sync == "barrier")
			}
		}
	}
	if barriers == 0 || barriers == all {
		return nil
	}
	return []string{fmt.Sprintf("native: %d of %d cases were started by barriers, since agreed starts came late: small times of both kinds do not compare well", barriers, all)}
}

// timeSlice is the time in seconds for which another program runs after it preempted a rank. It is
// base_slice_ns of Linux's scheduler: 0.7 ms · (1 + log2 of the number of processors, at most 8).
const timeSlice = 0.0028

// disturbances returns a warning if other programs or virtual machines took a larger share of the ranks' time
// than the precision of the measurements.
func (p *Program) disturbances(l listing) (out []string) {
	if l.end == nil || !(l.end.Measured > 0) {
		return nil
	}
	if lost := l.end.Preempted * timeSlice / l.end.Measured; lost > p.opt.Precision {
		out = append(out, fmt.Sprintf("native: a rank was preempted %.0f times in %.3g s: other programs run on its node, or it has fewer cores than ranks", l.end.Preempted, l.end.Measured))
	}
	if l.end.Stolen > p.opt.Precision {
		out = append(out, fmt.Sprintf("native: other virtual machines took %.0f %% of a node's processor time", 100*l.end.Stolen))
	}
	return out
}

// warnings returns the problems that a launch reported but that do not change the outcome of a case.
func (l listing) warnings() []string {
	var out []string
	for i, line := range l.damaged {
		if i == maxDamaged {
			out = append(out, fmt.Sprintf("native: %d more damaged lines", len(l.damaged)-i))
			break
		}
		out = append(out, "native: damaged line: "+line)
	}
	for _, h := range l.hellos[:min(1, len(l.hellos))] {
		if h.Source != csource.Bench.Checksum() {
			out = append(out, fmt.Sprintf("native: the program was built from another source (%.12s): run tutti build benchmark", h.Source))
		}
	}
	return out
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
