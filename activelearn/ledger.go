package activelearn

import (
	"fmt"
	"iter"
	"slices"
	"unique"

	"tutti/coll"
	"tutti/preprocess"
)

// status says whether a candidate is free, being measured, measured or given up.
type status uint8

const (
	free status = iota
	pending
	done
	repeating // measured, and a second measurement is in progress
	abandoned // given up after failures of its own
	noisy     // the machine was too noisy for a time
	refused   // the machine never runs its layout
)

// Ledger records the state of each candidate of a space, the measurements so far, and their cost.
type Ledger struct {
	space       *coll.Space
	status      []status // of every candidate of the space, in its order
	first       []int    // point index -> index in status of its first candidate
	left        []int    // point index -> number of free candidates
	free        int
	marked      [refused + 1]int // number of candidates that move gave each status
	entries     entries          // one for each measured candidate, in the order of their trials
	entryIndex  []int32          // index of a measured candidate in status -> index in entries
	replicates  []preprocess.Replicate
	costSeconds float64
	nodeSeconds float64
	trials      int
	failed      int
}

// entry stores a measurement in 56 bytes, because a campaign may have a million measurements. A
// coll.Measurement takes 192 bytes.
type entry struct {
	candidate                         int32 // index in status
	samples                           int32
	seconds, low, high, overall, cost float64
	origin                            unique.Handle[origin]
}

// entries is a list of entries in chunks, so that a long list grows without a copy. A copy of the list shares the
// chunks, but does not change when the original does.
type entries struct {
	chunks [][]entry // each with chunkEntries, except the last
	len    int
}

const chunkEntries = 1024

func (l *entries) add(e entry) {
	if l.len%chunkEntries == 0 {
		l.chunks = append(l.chunks, nil)
	}
	last := &l.chunks[len(l.chunks)-1]
	*last = append(*last, e)
	l.len++
}

func (l entries) at(i int32) entry { return l.chunks[i/chunkEntries][i%chunkEntries] }

func (l *entries) set(i int32, e entry) {
	l.chunks = slices.Clone(l.chunks)
	chunk := &l.chunks[i/chunkEntries]
	*chunk = slices.Clone(*chunk)
	(*chunk)[i%chunkEntries] = e
}

// origin has the fields of a coll.Measurement that are equal for many measurements of a job.
type origin struct {
	job            string
	heldNodes, rep int
	placement      coll.Placement
}

// NewLedger returns a ledger in which every candidate is free, which means neither measured nor pending.
func NewLedger(s *coll.Space) *Ledger {
	n := len(s.Points())
	l := &Ledger{space: s, status: make([]status, s.Size()), entryIndex: make([]int32, s.Size()), first: make([]int, n), left: make([]int, n), free: s.Size()}
	at := 0
	for i := range s.Points() {
		l.first[i], l.left[i] = at, len(s.Feasible(i))
		at += l.left[i]
	}
	return l
}

// Grow replaces the space of the ledger by a larger one that contains it. The additional candidates are not
// measured yet.
func (l *Ledger) Grow(s *coll.Space) {
	grown := NewLedger(s)
	for c := range l.space.All() {
		_, at, _ := l.find(c)
		grown.move(c, l.status[at])
	}
	for i := range int32(l.entries.len) {
		e := l.entries.at(i)
		_, at, _ := grown.find(l.candidate(int(e.candidate)))
		e.candidate, grown.entryIndex[at] = int32(at), i
		grown.entries.add(e)
	}
	grown.costSeconds, grown.nodeSeconds = l.costSeconds, l.nodeSeconds
	grown.replicates, grown.trials, grown.failed = l.replicates, l.trials, l.failed
	*l = *grown
}

// find returns the index of a candidate's point in the space, and the candidate's index in Ledger.status. It
// returns false if the space does not have the candidate.
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

// candidate is the inverse of find: it returns the candidate whose status is l.status[at].
func (l *Ledger) candidate(at int) coll.Candidate {
	point, first := slices.BinarySearch(l.first, at)
	if !first {
		point--
	}
	alg := l.space.Feasible(point)[at-l.first[point]]
	return coll.Candidate{Point: l.space.Points()[point], Algorithm: l.space.Algorithms()[alg]}
}

// among returns the candidates at the i-th point whose status is one of `some`.
func (l *Ledger) among(i int, some ...status) []coll.Candidate {
	var out []coll.Candidate
	for k, a := range l.space.Feasible(i) {
		if slices.Contains(some, l.status[l.first[i]+k]) {
			out = append(out, coll.Candidate{Point: l.space.Points()[i], Algorithm: l.space.Algorithms()[a]})
		}
	}
	return out
}

// Space returns the space whose candidates the ledger records. Grow replaces it.
func (l *Ledger) Space() *coll.Space { return l.space }

// Free returns the free candidates at the i-th point of the space; see IsFree.
func (l *Ledger) Free(i int) []coll.Candidate {
	if l.left[i] == 0 {
		return nil
	}
	return l.among(i, free)
}

// IsFree reports whether a candidate is in the space and is free: not measured, pending or given up.
func (l *Ledger) IsFree(c coll.Candidate) bool { return l.is(c, free) }

// is reports whether a candidate is in the space and has one of the given statuses.
func (l *Ledger) is(c coll.Candidate, some ...status) bool {
	_, at, ok := l.find(c)
	return ok && slices.Contains(some, l.status[at])
}

// Missing returns the algorithms that are neither measured nor given up at a point.
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

// FreeCount returns the number of free candidates in the space; see IsFree.
func (l *Ledger) FreeCount() int { return l.free }

// Measurements returns one measurement for each measured candidate, in the order of the trials. If a
// candidate was measured twice, the first measurement counts unless it was disturbed. Each call makes the
// slice, which takes 192 bytes for each measurement.
func (l *Ledger) Measurements() []coll.Measurement {
	return slices.AppendSeq(make([]coll.Measurement, 0, l.entries.len), l.All())
}

// All iterates over the measurements in the order of Measurements. It allocates no slice for them.
func (l *Ledger) All() iter.Seq[coll.Measurement] { return l.After(0) }

// After works like All, but leaves out the first n measurements.
func (l *Ledger) After(n int) iter.Seq[coll.Measurement] {
	return func(yield func(coll.Measurement) bool) {
		for i := n; i < l.entries.len; i++ {
			e := l.entries.at(int32(i))
			if !yield(e.of(l.candidate(int(e.candidate)))) {
				return
			}
		}
	}
}

// of returns the entry as a measurement of the given candidate.
func (e entry) of(c coll.Candidate) coll.Measurement {
	o := e.origin.Value()
	return coll.Measurement{
		Candidate: c, Seconds: e.seconds, Low: e.low, High: e.high, Samples: int(e.samples), Overall: e.overall, CostSeconds: e.cost,
		HeldNodes: o.heldNodes, Rep: o.rep, Job: o.job, Placement: o.placement,
	}
}

// entryOf returns the entry of a measurement. Its candidate has the index `at` in Ledger.status.
func entryOf(at int, m coll.Measurement) entry {
	return entry{
		candidate: int32(at), seconds: m.Seconds, low: m.Low, high: m.High, overall: m.Overall, cost: m.CostSeconds, samples: int32(m.Samples),
		origin: unique.Make(origin{m.Job, m.HeldNodes, m.Rep, m.Placement}),
	}
}

// CandidatesMeasured returns how many candidates have at least one measurement.
func (l *Ledger) CandidatesMeasured() int { return l.entries.len }

// CostSeconds returns the machine time of all trials in seconds, including failed trials.
func (l *Ledger) CostSeconds() float64 { return l.costSeconds }

// NodeSeconds returns the sum of machine time times nodes over all trials.
func (l *Ledger) NodeSeconds() float64 { return l.nodeSeconds }

// Trials returns the number of trials that ended, including failed trials.
func (l *Ledger) Trials() int { return l.trials }

// Failed returns the number of failed trials. A candidate that was tried again counts each time.
func (l *Ledger) Failed() int { return l.failed }

// PointsMeasured returns the number of points with at least one measurement.
func (l *Ledger) PointsMeasured() int {
	n := 0
	for i, first := range l.first {
		if slices.ContainsFunc(l.status[first:first+len(l.space.Feasible(i))], func(s status) bool { return s == done || s == repeating }) {
			n++
		}
	}
	return n
}

// Pending returns the candidates whose first measurement is in progress, in the order of the space.
func (l *Ledger) Pending() []coll.Candidate {
	var out []coll.Candidate
	for i, left := range l.left {
		if left < len(l.space.Feasible(i)) {
			out = append(out, l.among(i, pending)...)
		}
	}
	return out
}

// Pend records that a measurement of a candidate begins. A free candidate becomes pending, and a measured
// candidate is measured a second time. In any other state Pend returns an error.
func (l *Ledger) Pend(c coll.Candidate) error {
	point, at, ok := l.find(c)
	switch {
	case ok && l.status[at] == done:
		l.status[at] = repeating
	case ok && l.status[at] == free:
		l.status[at] = pending
		l.left[point]--
		l.free--
	default:
		return fmt.Errorf("%v cannot be measured: it is outside the space, pending or given up", c)
	}
	return nil
}

// IsPending reports whether a measurement of a candidate is in progress: the first one or a second one.
func (l *Ledger) IsPending(c coll.Candidate) bool { return l.is(c, pending, repeating) }

// Release ends a measurement in progress without a trial: the candidate is free, or measured, as it was before.
func (l *Ledger) Release(c coll.Candidate) {
	point, at, ok := l.find(c)
	switch {
	case ok && l.status[at] == repeating:
		l.status[at] = done
	case ok && l.status[at] == pending:
		l.status[at] = free
		l.left[point]++
		l.free++
	}
}

// Record adds the result of a trial (one attempt to measure a candidate). After a failed trial the candidate
// stays pending until it is tried again or given up.
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
		l.replicate(at, t.Measurement)
		return nil
	}
	l.entryIndex[at] = int32(l.entries.len)
	l.entries.add(entryOf(at, t.Measurement))
	l.status[at] = done
	return nil
}

// replicate adds the second measurement of a candidate, which has the index `at` in Ledger.status. If it
// shows that the first measurement was disturbed, the second one replaces the first.
func (l *Ledger) replicate(at int, m coll.Measurement) {
	r := preprocess.Replicate{First: l.entries.at(l.entryIndex[at]).of(m.Candidate), Again: m, Seen: l.entries.len}
	if preprocess.NoiseOf(l.replicates).Disturbed(r) {
		l.entries.set(l.entryIndex[at], entryOf(at, m))
	}
	l.replicates = append(l.replicates, r)
}

// Measured returns the current measurement of a candidate, which must have been measured.
func (l *Ledger) Measured(c coll.Candidate) coll.Measurement {
	_, at, _ := l.find(c)
	return l.entries.at(l.entryIndex[at]).of(c)
}

// Replicates returns the two measurements of each candidate that was measured twice, in the order of the
// second measurements.
func (l *Ledger) Replicates() []preprocess.Replicate { return l.replicates }

// IsDone reports whether a candidate has been measured and no further measurement of it is in progress.
func (l *Ledger) IsDone(c coll.Candidate) bool { return l.is(c, done) }

// IsMeasured reports whether a candidate has a measurement, even if a second one is in progress.
func (l *Ledger) IsMeasured(c coll.Candidate) bool { return l.is(c, done, repeating) }

// Abandon marks a pending candidate as given up after failures of its own.
func (l *Ledger) Abandon(c coll.Candidate) { l.move(c, abandoned) }

// MarkNoisy marks a pending candidate that the machine was too noisy for. It is not selected, says nothing about its
// algorithm at other points, and stays open: the campaign does not converge.
func (l *Ledger) MarkNoisy(c coll.Candidate) { l.move(c, noisy) }

// MarkRefused marks a pending candidate in a layout that the machine never runs. It is not selected, and says nothing
// about its algorithm at other points.
func (l *Ledger) MarkRefused(c coll.Candidate) { l.move(c, refused) }

// Noisy returns the number of candidates that the machine was too noisy for.
func (l *Ledger) Noisy() int { return l.marked[noisy] }

// LeftToLibrary returns the points that are left to the library because every candidate was given up there, or the
// default was, where the space has it. O(candidates) time if any candidate was given up.
func (l *Ledger) LeftToLibrary() []coll.Point {
	var out []coll.Point
	if l.marked[abandoned]+l.marked[noisy]+l.marked[refused] == 0 {
		return nil
	}
	for i, p := range l.space.Points() {
		if l.leftToLibrary(i) {
			out = append(out, p)
		}
	}
	return out
}

// leftToLibrary reports whether LeftToLibrary has the i-th point of the space.
func (l *Ledger) leftToLibrary(i int) bool {
	all := len(l.space.Feasible(i)) > 0
	for k, a := range l.space.Feasible(i) {
		given := l.status[l.first[i]+k] >= abandoned
		if given && l.space.Algorithms()[a].IsDefault() {
			return true
		}
		all = all && given
	}
	return all
}

// move changes the status of a candidate, and the counts of free candidates. It ignores candidates that are not
// in the space.
func (l *Ledger) move(c coll.Candidate, to status) {
	point, at, ok := l.find(c)
	if !ok {
		return
	}
	if l.status[at] == free && to != free {
		l.left[point]--
		l.free--
	}
	if l.status[at] != to {
		l.marked[to]++
	}
	l.status[at] = to
}
