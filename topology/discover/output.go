package discover

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
)

// ErrOutput is the error for output that contains no usable measurements. errors.Is finds it.
var ErrOutput = errors.New("not a measurement of pairs")

// The stages in which the pair benchmark measures.
const (
	Inside  = "inside"  // pairs of ranks inside each node
	Between = "between" // pairs of nodes, by their first ranks, in a round-robin tournament
	Chosen  = "chosen"  // pairs of nodes that the plan names, by their first ranks
)

// Endpoint is one rank of a pair.
type Endpoint struct {
	Host string `json:"host"`
	Rank int    `json:"rank"` // number of the rank within its node
	Core int    `json:"core"` // core that the rank is bound to; -1 without binding
}

// String returns the node and the number of the rank on it, such as n1/0.
func (p Endpoint) String() string { return fmt.Sprintf("%s/%d", p.Host, p.Rank) }

// Measurement holds the round-trip times, in seconds, that one pass measured for one pair.
type Measurement struct {
	Stage              string
	Pass, Round        int
	A, B               Endpoint
	Small, SmallMedian float64 // shortest and median time of empty messages
	Large, LargeMedian float64 // shortest and median time of messages of Plan.Bytes
}

// Stage is the summary of one stage in one run of the benchmark program.
type Stage struct {
	Name    string
	Passes  int     // number of complete passes
	Seconds float64 // duration of the stage
}

// Example holds the measurements of one pair with messages of one size. The PLogP parameters of the pair's
// class are fitted to its examples.
type Example struct {
	Class string
	SizeTimes
}

// firstRow is the number of messages that the benchmark sends one after another in its first row. Each further row has
// twice as many messages as the previous one. The benchmark stops when the mean times of two rows agree within 1 %.
const firstRow = 10

// gap returns the mean time per message in the last row of consecutive messages. `rows` has the
// time of each row. Without rows, gap returns 0.
func gap(rows []float64) float64 {
	last := len(rows) - 1
	if last < 0 {
		return 0
	}
	return rows[last] / float64(int(firstRow)<<min(last, 30))
}

// Measurements holds the output of one run of the pair benchmark.
type Measurements struct {
	Hosts    []string // node names, by rank
	Library  string   // version string of the MPI library
	Pairs    []Measurement
	Stages   []Stage
	Examples []Example
	Ended    bool // the launch ran to its end
	Damaged  int  // number of unreadable lines
}

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
	Took   float64 `json:"took"`

	Class string `json:"class"`
	SizeTimes
	Rows []float64 `json:"rows"` // seconds

	Why   string `json:"why"`
	Error string `json:"error"` // the benchmark marks this line as invalid
}

const jsonStart = `{"event":`

// ReadOutput parses the output lines of one run of the benchmark. It ignores lines of other programs.
//
// The error matches ErrOutput if the benchmark reports an error, or if two nodes have the same name.
func ReadOutput(lines iter.Seq[string]) (Measurements, error) {
	var r Measurements
	for line := range lines {
		at := strings.Index(line, jsonStart)
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
		if !p.valid() {
			r.Damaged++
			return
		}
		r.Pairs = append(r.Pairs, p)
	case "stage":
		r.Stages = append(r.Stages, Stage{e.Stage, e.Passes, e.Took})
	case "example":
		e.Gap = gap(e.Rows)
		r.Examples = append(r.Examples, Example{e.Class, e.SizeTimes})
	case "end":
		r.Ended = true
	}
}

func (p Measurement) valid() bool {
	for _, x := range []float64{p.Small, p.SmallMedian, p.Large, p.LargeMedian} {
		if !(x > 0) || math.IsInf(x, 0) {
			return false
		}
	}
	return p.A.Host != "" && p.B.Host != "" && p.Pass >= 0 && (p.A.Host != p.B.Host || p.A.Rank != p.B.Rank)
}

// PairsOf returns the measurements of the stage with this name.
func (r Measurements) PairsOf(stage string) []Measurement {
	return slices.DeleteFunc(slices.Clone(r.Pairs), func(p Measurement) bool { return p.Stage != stage })
}
