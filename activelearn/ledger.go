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
	repeating // done, and being measured once more
	abandoned
)

// Ledger records what became of each candidate of a space.
type Ledger struct {
	space        *coll.Space
	status       []status // of every candidate of the space, in its order
	first        []int    // point index -> its first candidate in status
	left         []int    // point index -> candidates still free
	free         int
	abandoned    int                // candidates that were given up
	measurements []coll.Measurement // in the order of their trials
	replicates   []preprocess.Replicate
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

// Grow replaces the ledger's space by a larger one with the same points. Its new candidates are
// free.
func (l *Ledger) Grow(s *coll.Space) {
	grown := NewLedger(s)
	for _, c := range l.space.Candidates() {
		_, from, _ := l.find(c)
		if l.status[from] != free {
			grown.move(c, l.status[from])
		}
	}
	grown.measurements, grown.costSeconds, grown.nodeSeconds = l.measurements, l.costSeconds, l.nodeSeconds
	grown.replicates, grown.trials, grown.failed = l.replicates, l.trials, l.failed
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

// among returns the candidates at the i-th point that have one of some statuses.
func (l *Ledger) among(i int, some ...status) []coll.Candidate {
	var out []coll.Candidate
	for k, a := range l.space.Feasible(i) {
		if slices.Contains(some, l.status[l.first[i]+k]) {
			out = append(out, coll.Candidate{Point: l.space.Points()[i], Algorithm: l.space.Algorithms()[a]})
		}
	}
	return out
}

// Space returns the space of the ledger.
func (l *Ledger) Space() *coll.Space { return l.space }

// Free returns the free candidates at the i-th point.
func (l *Ledger) Free(i int) []coll.Candidate {
	if l.left[i] == 0 {
		return nil
	}
	return l.among(i, free)
}

// IsFree reports whether a candidate is in the space and free.
func (l *Ledger) IsFree(c coll.Candidate) bool {
	_, at, ok := l.find(c)
	return ok && l.status[at] == free
}

// Missing returns the algorithms at a point that are free or pending: their times are unknown, and
// they are not given up.
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

// Left returns the number of free candidates.
func (l *Ledger) Left() int { return l.free }

// Measurements returns one measurement of each measured candidate, in the order of the trials. Of a
// candidate that was measured twice it is the first one, unless that was disturbed. Neither the
// caller nor the ledger changes the slice afterwards.
func (l *Ledger) Measurements() []coll.Measurement { return l.measurements }

// CostSeconds returns the machine time of all trials, failed ones included.
func (l *Ledger) CostSeconds() float64 { return l.costSeconds }

// NodeSeconds returns the machine time of all trials multiplied by their nodes.
func (l *Ledger) NodeSeconds() float64 { return l.nodeSeconds }

// Trials returns the number of trials that ended.
func (l *Ledger) Trials() int { return l.trials }

// Failed returns the number of trials that failed.
func (l *Ledger) Failed() int { return l.failed }

// PointsMeasured returns the number of points with a measurement.
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

// Pend marks a free candidate as pending, or a measured one as being measured again. It returns an
// error for any other candidate.
func (l *Ledger) Pend(c coll.Candidate) error {
	if !l.IsFree(c) && !l.IsDone(c) {
		return fmt.Errorf("%v cannot be measured: it is outside the space, pending or given up", c)
	}
	if l.IsDone(c) {
		l.move(c, repeating)
	} else {
		l.move(c, pending)
	}
	return nil
}

// Record enters a trial that ended. The candidate of a failed trial stays pending until it is tried
// again or abandoned.
func (l *Ledger) Record(t coll.Trial) error {
	_, at, ok := l.find(t.Candidate)
	if !ok || l.status[at] != pending && l.status[at] != repeating {
		return fmt.Errorf("%v ended, but was not pending", t.Candidate)
	}
	l.trials++
	l.costSeconds += t.CostSeconds
	l.nodeSeconds += t.NodeSeconds()
	repeated := l.status[at] == repeating
	if repeated {
		l.status[at] = done
	}
	if t.State == coll.TrialFailed {
		l.failed++
		return nil
	}
	if repeated {
		l.replicate(t.Measurement)
		return nil
	}
	l.measurements = append(l.measurements, t.Measurement)
	l.move(t.Candidate, done)
	return nil
}

// replicate enters the second measurement of a candidate. It replaces the first one if that was
// disturbed.
func (l *Ledger) replicate(m coll.Measurement) {
	at := l.place(m.Candidate)
	r := preprocess.Replicate{First: l.measurements[at], Again: m, Seen: len(l.measurements)}
	if preprocess.NoiseOf(l.replicates).Disturbed(r) {
		l.measurements = slices.Clone(l.measurements) // Measurements has returned the old slice
		l.measurements[at] = m
	}
	l.replicates = append(l.replicates, r)
}

// place returns the index of a candidate's measurement.
func (l *Ledger) place(c coll.Candidate) int {
	return slices.IndexFunc(l.measurements, func(m coll.Measurement) bool { return m.Candidate == c })
}

// Measured returns the measurement of a measured candidate.
func (l *Ledger) Measured(c coll.Candidate) coll.Measurement { return l.measurements[l.place(c)] }

// Replicates returns the pairs of measurements of one candidate, in the order of the second one.
func (l *Ledger) Replicates() []preprocess.Replicate { return l.replicates }

// IsDone reports whether a candidate is measured and is not being measured again.
func (l *Ledger) IsDone(c coll.Candidate) bool {
	_, at, ok := l.find(c)
	return ok && l.status[at] == done
}

// Abandon marks a pending candidate as given up.
func (l *Ledger) Abandon(c coll.Candidate) { l.move(c, abandoned) }

// move changes the status of a candidate.
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
