package service

import (
	"tutti/coll"
	"tutti/journal"
)

// Choice is what is selected at a point and what that is expected to be worth.
type Choice struct {
	Nodes     int     `json:"nodes"`
	PPN       int     `json:"ppn"`
	Bytes     int64   `json:"bytes"`
	Algorithm string  `json:"algorithm"`       // chosen; library_default leaves it to the library
	Default   string  `json:"default"`         // what the library runs by itself, as far as known
	Seconds   float64 `json:"seconds"`         // predicted, or measured; 0 where nothing was measured at the point
	Gain      float64 `json:"gain"`            // time of the default over that of the choice; 0 when unknown
	Measured  bool    `json:"measured"`        // all that can be was
	Tie       bool    `json:"tie,omitempty"`   // another one is as fast as far as can be told
	Rival     string  `json:"rival,omitempty"` // the next fastest
	Doubt     float64 `json:"doubt,omitempty"` // probability of losing more than the mistake threshold
}

// Selection is what a campaign has learnt of one problem.
type Selection struct {
	Problem journal.Problem `json:"problem"`
	Round   int             `json:"round"`
	Choices []Choice        `json:"choices"` // at every point, by nodes, ppn, bytes
}

// Prediction is one algorithm at one point.
type Prediction struct {
	Nodes     int     `json:"nodes"`
	PPN       int     `json:"ppn"`
	Bytes     int64   `json:"bytes"`
	Algorithm string  `json:"algorithm"`
	Seconds   float64 `json:"seconds"`  // 0 where nothing was measured at the point
	Slowdown  float64 `json:"slowdown"` // beside the fastest at the point, 1 for that
	Measured  bool    `json:"measured"`
}

// Round is one round of a problem.
type Round struct {
	Problem    journal.Problem     `json:"problem"`
	Round      int                 `json:"round"`
	Batch      []Asked             `json:"batch"`
	Done       int                 `json:"done"`
	Failed     int                 `json:"failed"`
	Evaluation *journal.Evaluation `json:"evaluation,omitempty"` // nil while it is measured
}

// Asked is a candidate of a batch and why it was chosen.
type Asked struct {
	coll.Candidate
	Reason *journal.Reason `json:"reason,omitempty"`
}

// File is one that can be downloaded.
type File struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	Type string `json:"type"` // of the media
	// Private files are for those who may operate: they may hold secrets, or quote
	// programs that do.
	Private bool `json:"private,omitempty"`
}
