package service

import (
	"time"

	"tutti/coll"
)

// OnlineReport is what tutti online update says of a folder of samples: what applications
// have learnt by now, what that cost and what it is worth.
type OnlineReport struct {
	Time    time.Time     `json:"time"` // of the update
	Calls   int           `json:"calls" doc:"Timed calls that count"`
	Jobs    []OnlineJob   `json:"jobs" doc:"The last 20, in the order in which they began"`
	AllJobs int           `json:"all_jobs"`
	Price   OnlinePrice   `json:"price"`
	Classes []OnlineClass `json:"classes"`
	Turns   []OnlineTurn  `json:"turns" doc:"Times that changed, of an algorithm or of all calls of a job"`
	Drift   []OnlineDrift `json:"drift" doc:"Beside each source of measurements"`
}

// OnlineJob is one that has left samples.
type OnlineJob struct {
	File  string    `json:"file"`
	Begun time.Time `json:"begun"`
	Last  time.Time `json:"last" doc:"When it last left samples"`
	Calls int       `json:"calls"`
}

// OnlinePrice is what exploring cost and what is gained with it, as shares of the time of
// collectives, for jobs that explore so large a share of calls. The uncertainties are intervals of 95 %.
type OnlinePrice struct {
	Explore float64 `json:"explore" doc:"Share of calls that explore"`
	Cost    float64 `json:"cost" doc:"Time that explored calls took longer than what was selected would have, as a share of all"`
	// Zero where no call of the default was timed.
	OverDefault float64 `json:"over_default,omitzero" doc:"Time of all calls over that of the default, exploring included"`
	Low         float64 `json:"low,omitzero"`
	High        float64 `json:"high,omitzero"`
}

// OnlineClass is a place in the table.
type OnlineClass struct {
	coll.Point
	Low      int64          `json:"low" doc:"Bytes from"`
	High     int64          `json:"high" doc:"Bytes to"`
	Calls    int            `json:"calls"`
	Selected coll.Algorithm `json:"selected"`
	Faster   float64        `json:"faster" doc:"Expected time of the default over that of the selected"`
	// Zero where one of the two was never timed.
	FasterLow  float64        `json:"faster_low,omitzero"`
	FasterHigh float64        `json:"faster_high,omitzero"`
	Explored   int            `json:"explored" doc:"Algorithms that are explored"`
	Of         int            `json:"of"`
	Since      time.Time      `json:"since,omitzero" doc:"When the selection changed last"`
	Before     coll.Algorithm `json:"before,omitzero"`
	Why        string         `json:"why,omitempty"`
}

// OnlineTurn is a change of times: from a job on an algorithm takes Factor times as long in
// a class, or all calls of one job take so many times as long.
type OnlineTurn struct {
	Job       string         `json:"job"`
	Begun     time.Time      `json:"begun"`
	Point     *coll.Point    `json:"point,omitempty"` // nil: all calls of the job
	Algorithm coll.Algorithm `json:"algorithm,omitzero"`
	Factor    float64        `json:"factor"`
}

// OnlineDrift holds what applications timed against a source of earlier measurements.
type OnlineDrift struct {
	Source     string  `json:"source"`
	Candidates int     `json:"candidates"` // that both have timed
	Change     float64 `json:"change"`     // median of |time now over time then - 1|
	Ratio      float64 `json:"ratio"`      // geometric mean of time now over time then
}
