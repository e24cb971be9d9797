package coll

import (
	"cmp"
	"fmt"
	"math"
)

// Measurement is the result of a successful trial: the time of one candidate, and what measuring it cost.
type Measurement struct {
	Candidate
	Seconds     float64 `json:"seconds"`      // median time of one call, until the last rank has finished
	Low         float64 `json:"low,omitzero"` // lower end of the confidence interval of the median, in seconds; zero if unknown
	High        float64 `json:"high,omitzero"`
	Samples     int     `json:"samples,omitzero"`    // number of timed calls; zero when unknown
	Overall     float64 `json:"overall,omitzero"`    // time of a nonblocking call in seconds if all ranks compute for Seconds before they wait; zero if not measured
	CostSeconds float64 `json:"cost_seconds"`        // machine time spent, including the launch
	HeldNodes   int     `json:"held_nodes,omitzero"` // nodes of the job if launches ran concurrently; CostSeconds is the time of these nodes; 0 means the nodes of the point
	Rep         int     `json:"rep,omitzero"`        // number of the repetition in recorded data, from 1; 0: not repeated
	Job         string  `json:"job,omitzero"`        // name of the job that ran the trial; empty if unknown

	Placement Placement `json:"placement,omitzero"`
}

// NodeSeconds returns the node-seconds of the measurement: its machine time multiplied by the number of
// nodes that the job had meanwhile.
func (m Measurement) NodeSeconds() float64 {
	return m.CostSeconds * float64(cmp.Or(m.HeldNodes, m.Nodes))
}

// Overlap returns the share of a nonblocking call that computation hides, from 0 to 1, as the OSU Micro-Benchmarks define
// it. It returns false if this was not measured.
func (m Measurement) Overlap() (float64, bool) {
	return min(1, max(0, 2-m.Overall/m.Seconds)), m.Overall > 0 && m.Seconds > 0
}

// Validate returns an error if a time or cost is negative or not finite, or if the time is zero.
func (m Measurement) Validate() error {
	if !(m.Seconds > 0) || math.IsInf(m.Seconds, 0) {
		return fmt.Errorf("%v: time %g s: want a positive finite number", m.Candidate, m.Seconds)
	}
	if !(m.CostSeconds >= 0) || math.IsInf(m.CostSeconds, 0) {
		return fmt.Errorf("%v: cost %g s: want a finite number, zero or more", m.Candidate, m.CostSeconds)
	}
	return nil
}

// TrialState says whether a trial succeeded or failed.
type TrialState string

// The final states of a trial. A trial in any other state has not ended.
const (
	TrialDone   TrialState = "done"
	TrialFailed TrialState = "failed"
)

// Trial is a finished attempt to measure a candidate. A failed trial is also recorded. Its Error says what
// went wrong, and its CostSeconds is the machine time that it took.
type Trial struct {
	Measurement
	Attempt int        `json:"attempt"` // 1 for the first attempt at the candidate
	State   TrialState `json:"state"`
	Phase   string     `json:"phase,omitzero"` // phase in which a failed trial ended: launch, run or parse
	Error   string     `json:"error,omitzero"`
	// Evidence that the algorithm ran; empty for the default, for failed trials and for recorded data.
	Evidence Evidence `json:"evidence,omitzero"`
	Answer   string   `json:"answer,omitzero"` // what a probe found out, a verify.ForcingState; empty for benchmarks and without an answer
}

// Evidence says how it is known which algorithm a measurement ran.
type Evidence string

// Kinds of evidence, the best first. If another algorithm was seen to run, the trial has failed.
const (
	Observed    Evidence = "observed"     // the algorithm was seen to run
	Accepted    Evidence = "accepted"     // the library took the setting, and nothing that is known outranks it
	NotObserved Evidence = "not observed" // the setting was given, and nothing shows what ran
)
