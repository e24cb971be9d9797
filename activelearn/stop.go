package activelearn

import (
	"time"

	"tutti/metrics"
)

// StopReason says why a campaign stopped.
type StopReason string

// The stop reasons of a campaign. Only Converged is good: the criteria held. SpaceExhausted means that
// every candidate was measured and the criteria do not hold: noise hides which algorithm is the best.
const (
	Converged      StopReason = "converged"
	Budget         StopReason = "budget"
	TimeUp         StopReason = "time"
	SpaceExhausted StopReason = "exhausted"
	Cancelled      StopReason = "cancelled"
)

// Good reports whether the campaign converged.
func (r StopReason) Good() bool { return r == Converged }

// Criteria define a good selection: both must hold for Patience evaluations in a row.
type Criteria struct {
	Slowdown float64 // average slowdown must be below
	Mistakes float64 // proportion of significant mistakes must be below
	Patience int     // 0 means 1
}

// Limits end a campaign that does not converge. A zero value means no limit.
type Limits struct {
	MachineSeconds float64
	NodeSeconds    float64
	Wall           time.Duration
}

// Watch counts the evaluations in a row that meet the criteria, and checks the limits.
type Watch struct {
	criteria Criteria
	limits   Limits
	inRow    int // evaluations that met the criteria
}

// NewWatch returns a Watch that has observed no evaluation.
func NewWatch(c Criteria, l Limits) *Watch { return &Watch{criteria: c, limits: l} }

// Observe counts the evaluation of a round and reports whether the criteria have held for Patience
// evaluations in a row. An evaluation of fewer than 1/Mistakes points does not count, because its
// proportion of mistakes could not be small enough.
func (w *Watch) Observe(s metrics.Summary) bool {
	return w.observe(float64(s.Points)*w.criteria.Mistakes >= 1 && w.Meets(s))
}

// ObserveAll is Observe for an evaluation of the whole space, which may have any number of points.
func (w *Watch) ObserveAll(s metrics.Summary) bool { return w.observe(w.Meets(s)) }

func (w *Watch) observe(meets bool) bool {
	if meets {
		w.inRow++
	} else {
		w.inRow = 0
	}
	return w.Satisfied()
}

// Satisfied reports whether the criteria have held for Patience evaluations in a row.
func (w *Watch) Satisfied() bool { return w.inRow >= max(1, w.criteria.Patience) }

// Reset forgets the evaluations that met the criteria.
func (w *Watch) Reset() { w.inRow = 0 }

// Meets reports whether an evaluation meets the criteria.
func (w *Watch) Meets(s metrics.Summary) bool {
	return s.Slowdown < w.criteria.Slowdown && s.Mistakes < w.criteria.Mistakes
}

// LimitReached returns the first limit that is reached, or "" for none. The limits are the ledger's
// machine time and node-seconds, and the elapsed wall time.
func (w *Watch) LimitReached(l *Ledger, elapsed time.Duration) StopReason {
	switch {
	case w.limits.MachineSeconds > 0 && l.CostSeconds() >= w.limits.MachineSeconds:
		return Budget
	case w.limits.NodeSeconds > 0 && l.NodeSeconds() >= w.limits.NodeSeconds:
		return Budget
	case w.limits.Wall > 0 && elapsed >= w.limits.Wall:
		return TimeUp
	}
	return ""
}
