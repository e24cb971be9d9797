package activelearn

import (
	"fmt"
	"slices"

	"tutti/coll"
	"tutti/preprocess"
)

// status of a candidate.
type status uint8

const (
	free status = iota
	pending
	done
	again // done, and asked for once more
	abandoned
)

// Ledger keeps what became of each candidate of a space.
type Ledger struct {
	space        *coll.Space
	status       []status // of every candidate of the space, in its order
	first        []int    // point index -> its first candidate in status
	left         []int    // point index -> candidates still free
	free         int
	abandoned    int                // candidates given up
	measurements []coll.Measurement // in the order they came
	repeats      []preprocess.Replicate
	costSeconds  float64
	nodeSeconds  float64
	trials       int
	failed       int
}

// NewLedger returns a ledger in which every candidate is free.
func NewLedger(s *coll.Space) *Ledger {
	n := len(s.Points())
	l := &Ledger{space: s, status: make([]status, s.Size()), first: make([]int, n), left: make([]int, n), free: s.Size()}
	at := 0
	for i := range s.Points() {
		l.first[i], l.left[i] = at, len(s.Feasible(i))
		at += l.left[i]
	}
	return l
}

// Grow makes the candidates of a larger space free that are not in the ledger's own. s has
// the same points.
func (l *Ledger) Grow(s *coll.Space) {
	grown := NewLedger(s)
	for _, c := range l.space.Candidates() {
		_, from, _ := l.find(c)
		if l.status[from] != free {
			grown.move(c, l.status[from])
		}
	}
	grown.measurements, grown.costSeconds, grown.nodeSeconds = l.measurements, l.costSeconds, l.nodeSeconds
	grown.repeats, grown.trials, grown.failed = l.repeats, l.trials, l.failed
	*l = *grown
}

// find returns the point and the place in status of a candidate, and whether the space
// has it.
func (l *Ledger) find(c coll.Candidate) (point, at int, ok bool) {
	point, ok = l.space.Index(c.Point)
	if !ok {
		return 0, 0, false
	}
	for k, a := range l.space.Feasible(point) {
		if l.space.Algorithms()[a] == c.Algorithm {
			return point, l.first[point] + k, true
		}
	}
	return 0, 0, false
}

// among returns the candidates at point i whose status is one of some.
func (l *Ledger) among(i int, some ...status) []coll.Candidate {
	var out []coll.Candidate
	for k, a := range l.space.Feasible(i) {
		if slices.Contains(some, l.status[l.first[i]+k]) {
			out = append(out, coll.Candidate{Point: l.space.Points()[i], Algorithm: l.space.Algorithms()[a]})
		}
	}
	return out
}

// Space returns the space the ledger is kept for.
func (l *Ledger) Space() *coll.Space { return l.space }

// Free returns the candidates at point i that may be asked for.
func (l *Ledger) Free(i int) []coll.Candidate {
	if l.left[i] == 0 {
		return nil
	}
	return l.among(i, free)
}

// IsFree reports whether a candidate is of the space and may be asked for.
func (l *Ledger) IsFree(c coll.Candidate) bool {
	_, at, ok := l.find(c)
	return ok && l.status[at] == free
}

// Missing returns the algorithms at a point that have not been measured and may
// be yet, free or pending; those given up are not missed.
func (l *Ledger) Missing(p coll.Point) []coll.Algorithm {
	i, ok := l.space.Index(p)
	if !ok {
		return nil
	}
	var out []coll.Algorithm
	for _, c := range l.among(i, free, pending) {
		out = append(out, c.Algorithm)
	}
	return out
}

// Left is the number of candidates that may be asked for.
func (l *Ledger) Left() int { return l.free }

// Measurements returns what was measured, in the order it came: of a candidate that was measured
// twice the first time, unless it was disturbed. The caller must not change it; nor does the ledger
// what it has returned.
func (l *Ledger) Measurements() []coll.Measurement { return l.measurements }

// CostSeconds is the machine time of all trials, failed ones included.
func (l *Ledger) CostSeconds() float64 { return l.costSeconds }

// NodeSeconds is the same weighted by the nodes each trial used.
func (l *Ledger) NodeSeconds() float64 { return l.nodeSeconds }

// Trials is the number of attempts that ended, Failed that of those that failed.
func (l *Ledger) Trials() int { return l.trials }

// Failed is the number of attempts that failed.
func (l *Ledger) Failed() int { return l.failed }

// PointsMeasured is the number of points with a measurement.
func (l *Ledger) PointsMeasured() int {
	seen := map[coll.Point]bool{}
	for _, m := range l.measurements {
		seen[m.Point] = true
	}
	return len(seen)
}

// Pending returns the candidates that are being measured for the first time, in the order of
// the space.
func (l *Ledger) Pending() []coll.Candidate {
	var out []coll.Candidate
	for i, left := range l.left {
		if left < len(l.space.Feasible(i)) {
			out = append(out, l.among(i, pending)...)
		}
	}
	return out
}

// Pend marks a candidate as asked for. It returns an error unless it was free.
func (l *Ledger) Pend(c coll.Candidate) error {
	if !l.IsFree(c) && !l.IsDone(c) {
		return fmt.Errorf("%v cannot be asked for: it is outside the space, pending or ended", c)
	}
	if l.IsDone(c) {
		l.move(c, again)
	} else {
		l.move(c, pending)
	}
	return nil
}

// Record enters a trial that ended. A failed one leaves its candidate pending,
// to be tried again or abandoned.
func (l *Ledger) Record(t coll.Trial) error {
	_, at, ok := l.find(t.Candidate)
	if !ok || l.status[at] != pending && l.status[at] != again {
		return fmt.Errorf("%v ended, but was not pending", t.Candidate)
	}
	l.trials++
	l.costSeconds += t.CostSeconds
	l.nodeSeconds += t.NodeSeconds()
	repeated := l.status[at] == again
	if repeated {
		l.status[at] = done
	}
	if t.State == coll.TrialFailed {
		l.failed++
		return nil
	}
	if repeated {
		l.repeat(t.Measurement)
		return nil
	}
	l.measurements = append(l.measurements, t.Measurement)
	l.move(t.Candidate, done)
	return nil
}

// repeat enters the second measurement of a candidate. It takes the place of a first one that was
// disturbed.
func (l *Ledger) repeat(m coll.Measurement) {
	at := l.place(m.Candidate)
	r := preprocess.Replicate{First: l.measurements[at], Again: m, Seen: len(l.measurements)}
	if preprocess.NoiseOf(l.repeats).Disturbed(r) {
		l.measurements = slices.Clone(l.measurements) // others may hold them
		l.measurements[at] = m
	}
	l.repeats = append(l.repeats, r)
}

// place is where in measurements that of a candidate is.
func (l *Ledger) place(c coll.Candidate) int {
	return slices.IndexFunc(l.measurements, func(m coll.Measurement) bool { return m.Candidate == c })
}

// Measured is the measurement of a candidate that is done.
func (l *Ledger) Measured(c coll.Candidate) coll.Measurement { return l.measurements[l.place(c)] }

// Repeats are the candidates that were measured twice, in the order of the second time.
func (l *Ledger) Repeats() []preprocess.Replicate { return l.repeats }

// IsDone reports whether a candidate was measured and is not asked for again.
func (l *Ledger) IsDone(c coll.Candidate) bool {
	_, at, ok := l.find(c)
	return ok && l.status[at] == done
}

// Abandon gives up a pending candidate.
func (l *Ledger) Abandon(c coll.Candidate) { l.move(c, abandoned) }

func (l *Ledger) move(c coll.Candidate, to status) {
	point, at, ok := l.find(c)
	if !ok {
		return
	}
	if l.status[at] == free && to != free {
		l.left[point]--
		l.free--
	}
	if l.status[at] != abandoned && to == abandoned {
		l.abandoned++
	}
	l.status[at] = to
}
