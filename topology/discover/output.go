package discover

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// ErrOutput is matched by errors about output that no machine can be known from.
var ErrOutput = errors.New("not a measurement of pairs")

// The stages of a start.
const (
	Inside  = "inside"  // the ranks of each node
	Between = "between" // the first ranks of the nodes, in a tournament
	Chosen  = "chosen"  // the same, in pairs that the plan names
)

// Endpoint is where a rank runs.
type Endpoint struct {
	Host string
	Rank int // among those of its node
	Core int // that it was bound to; -1 for none
}

// Measurement is what one pair took in one pass. All times are of round trips, in seconds.
type Measurement struct {
	Stage              string
	Pass, Round        int
	A, B               Endpoint
	Small, SmallMedian float64 // of empty messages: the shortest and the median
	Large, LargeMedian float64 // of the large message of the plan
}

// Stage is how a stage ended.
type Stage struct {
	Name    string
	Passes  int     // that were finished
	Spread  float64 // of what a pair takes, relative; -1 when there were too few passes
	Seconds float64 // that it took
}

// Example is everything that was measured of one pair with messages of one size.
type Example struct {
	Class                    string
	Bytes                    int
	RoundTrip, Send, Receive float64   // seconds
	Rows                     []float64 // seconds of 10 messages in a row, of 20, and so on
}

// Measurements is what one start printed.
type Measurements struct {
	Hosts    []string // of the nodes, in the order of their ranks
	Library  string   // what it says of itself
	Pairs    []Measurement
	Stages   []Stage
	Examples []Example
	Ended    bool // it came to its end
	Damaged  int  // lines that cannot be read
}

// event is a line of the program.
type event struct {
	Event   string `json:"event"`
	Library string `json:"library"`
	Nodes   []struct {
		Host string `json:"host"`
	} `json:"nodes"`

	Stage       string  `json:"stage"`
	Pass        int     `json:"pass"`
	Round       int     `json:"round"`
	A           string  `json:"a"`
	RankA       int     `json:"rank_a"`
	CoreA       int     `json:"core_a"`
	B           string  `json:"b"`
	RankB       int     `json:"rank_b"`
	CoreB       int     `json:"core_b"`
	Small       float64 `json:"small"`
	SmallMedian float64 `json:"small_median"`
	Large       float64 `json:"large"`
	LargeMedian float64 `json:"large_median"`

	Passes int     `json:"passes"`
	Spread float64 `json:"spread"`
	Took   float64 `json:"took"`

	Class     string    `json:"class"`
	Bytes     int       `json:"bytes"`
	RoundTrip float64   `json:"round_trip"`
	Send      float64   `json:"send"`
	Receive   float64   `json:"receive"`
	Rows      []float64 `json:"rows"`

	Why   string `json:"why"`
	Error string `json:"error"` // the program found its own line to be wrong
}

const opening = `{"event":`

// ReadOutput reads the lines of a start. What is not the program's is passed over.
//
// It returns an error matching ErrOutput when the program says why it measured nothing,
// or when two nodes have one name: they cannot be told apart.
func ReadOutput(lines []string) (Measurements, error) {
	var r Measurements
	for _, line := range lines {
		at := strings.Index(line, opening)
		if at < 0 {
			continue
		}
		var e event
		if err := json.NewDecoder(strings.NewReader(line[at:])).Decode(&e); err != nil || e.Error != "" {
			r.Damaged++
			continue
		}
		if e.Event == "error" {
			return r, fmt.Errorf("%w: %s", ErrOutput, e.Why)
		}
		r.add(e)
	}
	for i, host := range r.Hosts {
		if slices.Contains(r.Hosts[:i], host) {
			return r, fmt.Errorf("%w: two nodes are called %s", ErrOutput, host)
		}
	}
	return r, nil
}

func (r *Measurements) add(e event) {
	switch e.Event {
	case "hello":
		r.Library = e.Library
		for _, n := range e.Nodes {
			r.Hosts = append(r.Hosts, n.Host)
		}
	case "pair":
		p := Measurement{
			Stage: e.Stage, Pass: e.Pass, Round: e.Round,
			A: Endpoint{e.A, e.RankA, e.CoreA}, B: Endpoint{e.B, e.RankB, e.CoreB},
			Small: e.Small, SmallMedian: e.SmallMedian, Large: e.Large, LargeMedian: e.LargeMedian,
		}
		if !p.sound() {
			r.Damaged++
			return
		}
		r.Pairs = append(r.Pairs, p)
	case "stage":
		r.Stages = append(r.Stages, Stage{e.Stage, e.Passes, e.Spread, e.Took})
	case "example":
		r.Examples = append(r.Examples, Example{e.Class, e.Bytes, e.RoundTrip, e.Send, e.Receive, e.Rows})
	case "end":
		r.Ended = true
	}
}

// sound reports whether the times can be those of two ranks.
func (p Measurement) sound() bool {
	for _, x := range []float64{p.Small, p.SmallMedian, p.Large, p.LargeMedian} {
		if !(x > 0) || math.IsInf(x, 0) {
			return false
		}
	}
	return p.A.Host != "" && p.B.Host != "" && p.Pass >= 0 && (p.A.Host != p.B.Host || p.A.Rank != p.B.Rank)
}

// Of returns the pairs of a stage.
func (r Measurements) Of(stage string) []Measurement {
	return slices.DeleteFunc(slices.Clone(r.Pairs), func(p Measurement) bool { return p.Stage != stage })
}
