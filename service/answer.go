package service

import (
	"time"

	"tutti/coll"
	"tutti/journal"
)

// Measurement is one that a campaign made, with its place in the journal.
type Measurement struct {
	Seq     int64  `json:"seq"` // line of the journal
	Library string `json:"library"`
	Round   int    `json:"round"`
	coll.Measurement
}

// CurvePoint is how good the selection for one problem was after a round.
type CurvePoint struct {
	Problem journal.Problem `json:"problem"`
	journal.Evaluation
}

// Comparison holds two campaigns against each other, by problem that both have.
type Comparison struct {
	A        string         `json:"a"` // IDs of the campaigns
	B        string         `json:"b"`
	Problems []ProblemDrift `json:"problems"`
}

// ProblemDrift is what changed for one problem, at every point that both
// campaigns choose for, by nodes, ppn, bytes.
type ProblemDrift struct {
	Problem journal.Problem `json:"problem"`
	Points  []Drift         `json:"points"`
}

// Drift is what two campaigns choose at one point and what they expect it to take.
type Drift struct {
	Nodes    int     `json:"nodes"`
	PPN      int     `json:"ppn"`
	Bytes    int64   `json:"bytes"`
	A        string  `json:"a"` // algorithms
	B        string  `json:"b"`
	SecondsA float64 `json:"seconds_a"` // of the own choice, 0 when unknown
	SecondsB float64 `json:"seconds_b"`
	Ratio    float64 `json:"ratio"` // SecondsB over SecondsA, 0 when unknown
}

// Job is what a campaign had a scheduler run.
type Job struct {
	Problem journal.Problem `json:"problem"`
	Round   int             `json:"round"`
	Begun   time.Time       `json:"begun"`   // when it was about to be submitted
	Changed time.Time       `json:"changed"` // when its state was last heard of
	coll.Job
}
