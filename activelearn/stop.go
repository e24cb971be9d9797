package activelearn

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"tutti/metrics"
)

// StopReason says why a campaign stopped.
type StopReason string

// The reasons why a campaign stops. Only Converged is a success: the stopping criteria are met. SpaceExhausted
// means that every candidate was measured but the criteria are not met, because noise hides which algorithm is
// the best. NoiseLimited means that the campaign would end in this way if it measured every candidate.
// Unmeasurable means that the criteria are met, but that at too many points the default, or every candidate, was given
// up.
const (
	Converged      StopReason = "converged"
	Budget         StopReason = "budget"
	TimeUp         StopReason = "time"
	SpaceExhausted StopReason = "exhausted"
	NoiseLimited   StopReason = "noise-limited"
	Unmeasurable   StopReason = "unmeasurable"
	Cancelled      StopReason = "cancelled"
)

// Good reports whether the campaign stopped because the stopping criteria are met.
func (r StopReason) Good() bool { return r == Converged }

// Criteria define when a selection is good enough. Both criteria must hold in Patience successive
// evaluations.
type Criteria struct {
	Slowdown float64 // average slowdown must be below
	Mistakes float64 // proportion of significant mistakes must be below
	Patience int     // 0 means 1
	// Confidence is the probability with which predictions must meet both criteria; 0 means DefaultConfidence.
	Confidence float64
}

// confidence returns Confidence or its default.
func (c Criteria) confidence() float64 { return cmp.Or(c.Confidence, DefaultConfidence) }

// Limits end a campaign that does not converge. A zero value means no limit.
type Limits struct {
	MachineSeconds float64
	NodeSeconds    float64
	Wall           time.Duration
}

// Meets reports whether a single evaluation meets the stopping criteria.
func (c Criteria) Meets(s metrics.Summary) bool {
	return s.Slowdown < c.Slowdown && s.Mistakes < c.Mistakes
}

// predicted reports whether predictions meet the criteria: on average, and with the probability Confidence. The average
// matters because a rare but large slowdown is cheap to find while it is only possible.
func (c Criteria) predicted(e Evaluation) bool {
	return e.PConverged >= c.confidence() && c.Meets(metrics.Summary{Slowdown: e.Slowdown, Mistakes: e.Mistakes})
}

// Unmet says why the criteria do not end a campaign after an evaluation. The averages may meet them while predictions
// are too uncertain, or while something must be measured again. It returns "" if the evaluation does not tell.
func (c Criteria) Unmet(e Evaluation) string {
	const met = "the averages meet the criteria, but "
	var above []string
	if !(e.Slowdown < c.Slowdown) {
		above = append(above, fmt.Sprintf("the slowdown is %.3f, want below %.3f", e.Slowdown, c.Slowdown))
	}
	if !(e.Mistakes < c.Mistakes) {
		above = append(above, fmt.Sprintf("mistakes are %.2g %%, want below %.2g %%", 100*e.Mistakes, 100*c.Mistakes))
	}
	switch {
	case e.Slowdown == 0:
		return ""
	case len(above) > 0:
		return strings.Join(above, ", and ")
	case e.Source == Predicted && e.PConverged < c.confidence():
		return fmt.Sprintf("%sthey hold with a probability of %.3g %% only, want %.3g %% (stop.confidence)", met, 100*e.PConverged, 100*c.confidence())
	case e.Audits > 0:
		return fmt.Sprintf("%schoices at %d message sizes are compared with their rivals first", met, e.Audits)
	case e.Outliers > 0:
		return fmt.Sprintf("%s%d outliers are measured again first", met, e.Outliers)
	case e.Source != Predicted && c.Patience > 1:
		return fmt.Sprintf("%sthey must hold in %d evaluations in a row (stop.patience)", met, c.Patience)
	}
	return ""
}

// Watch counts the successive evaluations that meet the stopping criteria.
type Watch struct {
	criteria Criteria
	inRow    int // number of successive evaluations that met the criteria
}

// NewWatch returns a Watch that has not observed any evaluation yet.
func NewWatch(c Criteria) *Watch { return &Watch{criteria: c} }

// Observe counts the evaluation of a round. It reports whether the last Patience evaluations all met the
// criteria. An evaluation of fewer than ruleOfThree/Mistakes points never counts as meeting them. A space with fewer
// points must be measured completely.
func (w *Watch) Observe(s metrics.Summary) bool {
	return w.observe(float64(s.Points)*w.criteria.Mistakes >= ruleOfThree && w.criteria.Meets(s))
}

// ObserveAll works like Observe for evaluations of the whole space: without a smallest number of points.
func (w *Watch) ObserveAll(s metrics.Summary) bool { return w.observe(w.criteria.Meets(s)) }

func (w *Watch) observe(meets bool) bool {
	if meets {
		w.inRow++
	} else {
		w.inRow = 0
	}
	return w.Satisfied()
}

// Satisfied reports whether the last Patience evaluations met the stopping criteria.
func (w *Watch) Satisfied() bool { return w.inRow >= max(1, w.criteria.Patience) }

// Reset sets the count of evaluations that met the stopping criteria to zero.
func (w *Watch) Reset() { w.inRow = 0 }

// Until returns the time at which the wall time of a campaign that began at the given time ends, zero without a limit.
func (m Limits) Until(began time.Time) time.Time {
	if m.Wall <= 0 {
		return time.Time{}
	}
	return began.Add(m.Wall)
}

// Afford returns how many of n candidates the next batch may have, at least 1: as many as the limits still allow if each
// costs as much as the average trial so far, also in elapsed time, in which `recent` of the ledger's trials ended. Without
// a trial it returns n.
func (m Limits) Afford(l *Ledger, elapsed time.Duration, recent, n int) int {
	for _, b := range []struct {
		used, limit float64
		trials      int
	}{
		{l.CostSeconds(), m.MachineSeconds, l.Trials()}, {l.NodeSeconds(), m.NodeSeconds, l.Trials()}, {elapsed.Seconds(), m.Wall.Seconds(), recent},
	} {
		if b.limit > 0 && b.used > 0 && b.trials > 0 {
			n = min(n, max(1, int((b.limit-b.used)/b.used*float64(b.trials))))
		}
	}
	return n
}

// Reached returns the first limit that a campaign has reached, or "" if there is none.
func (m Limits) Reached(l *Ledger, elapsed time.Duration) StopReason {
	switch {
	case m.MachineSeconds > 0 && l.CostSeconds() >= m.MachineSeconds:
		return Budget
	case m.NodeSeconds > 0 && l.NodeSeconds() >= m.NodeSeconds:
		return Budget
	case m.Wall > 0 && elapsed >= m.Wall:
		return TimeUp
	}
	return ""
}
