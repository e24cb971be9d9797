package native

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/csource"
)

// event is a line of the program's output. A nil pointer means that the field is missing.
type event struct {
	Event string `json:"event"`

	Format     int      `json:"format"`
	Source     string   `json:"source"`
	Ranks      int      `json:"ranks"`
	Hosts      int      `json:"hosts"`
	Domains    int      `json:"domains"`
	Nodes      []node   `json:"nodes"`
	Order      string   `json:"order"` // block, cyclic, any or mixed
	Args       []string `json:"args"`
	Library    string   `json:"library"`
	Clock      string   `json:"clock"`
	ClockError float64  `json:"clock_error"`
	Latency    float64  `json:"latency"`

	Case     *int     `json:"case"`
	Form     string   `json:"form"`
	Bytes    int64    `json:"bytes"`
	Median   *float64 `json:"median"`
	Low      float64  `json:"low"`
	High     float64  `json:"high"`
	Overall  float64  `json:"overall"`
	Min      float64  `json:"min"`
	Max      float64  `json:"max"`
	Samples  int      `json:"samples"`
	Late     int      `json:"late"`
	Sync     string   `json:"sync"`
	Stop     string   `json:"stop"`
	Verified string   `json:"verified"`
	Observed string   `json:"seen"`
	Warmup   float64  `json:"warmup"`
	Measure  float64  `json:"measure"`
	Wall     float64  `json:"wall"`
	At       float64  `json:"at"`

	Step      string  `json:"step"`
	Why       string  `json:"why"`
	Rank      int     `json:"rank"`
	Cases     int     `json:"cases"`
	Measured  float64 `json:"measured"`  // seconds from the first case to the end
	Preempted float64 `json:"preempted"` // involuntary context switches of a rank, the largest number
	Stolen    float64 `json:"stolen"`    // share of a node's processor time that went to other virtual machines, the largest

	Error string `json:"error"` // the program's own report that the line is wrong
}

// anyOrder is the reported order of ranks if all orders place the ranks in the same way, for example on one
// node.
const anyOrder = "any"

type node struct {
	Host   string `json:"host"`
	Domain int    `json:"domain"`
	Ranks  int    `json:"ranks"`
}

type caseOutput struct {
	begun   bool
	at      float64 // seconds from the start of the program to the start of the case
	form    string  // form of the checked call, empty for that of the timed calls
	later   bool    // the output also contains a later case
	results []event // results and refusals
}

type listing struct {
	hellos []event
	errors []string
	cases  []caseOutput
	hung   bool
}

const opening = `{"event":`

// parse parses the lines that a launch with n cases printed. It ignores damaged lines and
// lines of other programs.
func parse(lines iter.Seq[string], n int) listing {
	l := listing{cases: make([]caseOutput, n)}
	last := -1 // the case that began last
	for line := range lines {
		at := strings.Index(line, opening)
		if at < 0 {
			continue
		}
		if e, err := decode(line[at:]); err == nil {
			l.add(e, &last)
		}
	}
	return l
}

// decode reads one JSON object. It ignores text after the object, since launchers and libraries may write
// into the same line.
func decode(text string) (event, error) {
	var e event
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	return e, d.Decode(&e)
}

// add adds an event to the listing. It ignores unknown events, and events of cases that the launch does not
// have.
func (l *listing) add(e event, last *int) {
	switch e.Event {
	case "hello":
		l.hellos = append(l.hellos, e)
	case "error":
		l.errors = append(l.errors, e.Why)
	case "hang":
		l.hung = true
	case "end":
		l.pass(last, len(l.cases))
	case "begin", "check", "result", "refused":
		if e.Case == nil || *e.Case < 0 || *e.Case >= len(l.cases) {
			return
		}
		c := &l.cases[*e.Case]
		switch e.Event {
		case "begin":
			l.pass(last, *e.Case)
			*last = *e.Case
			c.begun, c.at = true, e.At
		case "check":
			c.form = e.Form
		default:
			c.results = append(c.results, e)
		}
	}
}

func (l *listing) pass(last *int, next int) {
	if *last >= 0 && next > *last {
		l.cases[*last].later = true
	}
}

func (e event) check() error {
	switch {
	case e.Error != "":
		return fmt.Errorf("the program says: %s", e.Error)
	case !seconds(e.Warmup) || !seconds(e.Measure) || !seconds(e.Wall) || e.Warmup+e.Measure > e.Wall*1.01+1e-6:
		return fmt.Errorf("warm-up %g s and measuring %g s of %g s", e.Warmup, e.Measure, e.Wall)
	case e.Event == "refused" && e.Why == "":
		return fmt.Errorf("refused without a reason")
	case e.Event == "refused":
		return nil
	}
	switch {
	case e.Median == nil:
		return errors.New("no median")
	case coll.CheckCall(*e.Median) != nil:
		return coll.CheckCall(*e.Median)
	case e.Samples < 1 || !(e.Min > 0) || e.Min > *e.Median:
		return fmt.Errorf("%d samples with a minimum of %g s and a median of %g s", e.Samples, e.Min, *e.Median)
	case float64(e.Samples)**e.Median/2 > e.Wall:
		return fmt.Errorf("%d samples of %g s in %g s", e.Samples, *e.Median, e.Wall)
	case e.Overall != 0 && coll.CheckCall(e.Overall) != nil:
		return fmt.Errorf("with computation: %w", coll.CheckCall(e.Overall))
	case e.Low == 0 && e.High == 0:
		return nil
	case !(e.Low > 0 && e.Low <= *e.Median && e.High >= *e.Median && seconds(e.High)):
		return fmt.Errorf("interval from %g to %g s about %g s", e.Low, e.High, *e.Median)
	}
	return nil
}

// interval returns the 95 % confidence interval of the median. Fewer than 6 samples have no such interval; for
// them it returns the smallest and the largest sample.
func (e event) interval() (low, high float64) {
	if e.High == 0 {
		return e.Min, e.Max
	}
	return e.Low, e.High
}

func seconds(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }

// Ways in which the program observed the algorithm that ran.
const (
	verifiedNot   = "no"
	verifiedStack = "error stack" // functions in MPICH's error stack, outermost first
	verifiedEnum  = "enumeration" // Open MPI's name of the algorithm's number
	verifiedFunc  = "function"    // the function of Open MPI that ran the algorithm
	verifiedOwn   = "libtutti"    // libtutti's name of the algorithm, as in its table
)

// contradicts returns how the observed algorithm differs from the requested one. It returns ""
// if they agree or if nothing was observed.
func (e event) contradicts(c benchrunner.Case) string {
	want := c.Algorithm.Name
	if _, name, below := strings.Cut(want, "."); below { // of the MPI library below libtutti
		want = name
	}
	switch {
	case e.Verified == verifiedNot || c.Algorithm.IsDefault():
		return ""
	case e.Verified == verifiedEnum && e.Observed == want, e.Verified == verifiedOwn && e.Observed == c.LibtuttiAlgorithm.String():
		return ""
	case e.Verified == verifiedFunc && plain(e.Observed) == plain(c.Function):
		return ""
	case e.Verified == verifiedStack:
		outermost, _, _ := strings.Cut(e.Observed, " ")
		for _, kind := range []string{"_intra_", "_allcomm_", "_intra_composition_"} {
			if strings.HasSuffix(outermost, kind+want) {
				return ""
			}
		}
		if c.Parts && !strings.Contains(e.Observed, "_composition_") {
			return "" // the error came from one part of a composed algorithm, which does not identify the whole
		}
	}
	return fmt.Sprintf("the library ran %s instead", e.Observed)
}

// evidence returns how the output shows that the requested algorithm ran. The program reads back the settings that it
// writes, and refuses a case that another component of the library could serve.
func (e event) evidence(c benchrunner.Case) coll.Evidence {
	switch {
	case c.Algorithm.IsDefault():
		return ""
	case e.Verified == verifiedNot && len(c.Switches) == 0: // nothing can be read back
		return coll.NotObserved
	case e.Verified == verifiedNot || e.Verified == verifiedEnum:
		return coll.Accepted
	}
	return coll.Observed
}

// plain removes underscores from the name of a function. Some of Open MPI's names for one algorithm differ only there.
func plain(name string) string { return strings.ReplaceAll(strings.ReplaceAll(name, "_", ""), "-", "") }

// world returns how the processes of the MPI world differ from the layout, or "" if they agree.
func (l listing) world(s benchrunner.Launch) string {
	if len(l.errors) > 0 {
		return l.errors[0]
	}
	if len(l.hellos) > 1 {
		return fmt.Sprintf("%d worlds, want one of %d ranks: the launcher is not the library's", len(l.hellos), s.Layout.Ranks())
	}
	for _, h := range l.hellos {
		switch {
		case h.Format != csource.BenchFormat:
			return fmt.Sprintf("the program speaks format %d, want %d: build it again", h.Format, csource.BenchFormat)
		case h.Ranks != s.Layout.Ranks() || len(h.Nodes) != s.Layout.Nodes:
			return fmt.Sprintf("%d ranks on %d nodes, want %v", h.Ranks, len(h.Nodes), s.Layout)
		case h.Order != "" && h.Order != anyOrder && s.Order != "" && h.Order != string(s.Order):
			return fmt.Sprintf("ranks in %s order over the nodes, want %s: runner.order of the campaign says which", h.Order, s.Order)
		}
		for _, n := range h.Nodes {
			if n.Ranks != s.Layout.PPN {
				return fmt.Sprintf("%d ranks on %s, want %d on each of %d nodes", n.Ranks, n.Host, s.Layout.PPN, s.Layout.Nodes)
			}
		}
	}
	return ""
}
