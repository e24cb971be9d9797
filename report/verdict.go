package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"tutti/coll"
	"tutti/internal/lazyregexp"
	"tutti/metrics"
)

// Evidence says where the gain of a selection is known from.
type Evidence string

// The kinds of evidence.
const (
	Predicted Evidence = "predicted" // by the models
	Recorded  Evidence = "recorded"  // times of all candidates are known
	Measured  Evidence = "measured"  // a verification measured it, and did not prove the files
	Verified  Evidence = "verified"  // a verification proved the files
)

// SlowerTolerance is a share of time: a point counts as slower than the default if it is slower by more. It is the
// tolerance of a verification (verify.DefaultRules).
const SlowerTolerance = 0.02

// riskiest is the number of points that a verdict lists: as many as fit below it on a terminal of 24 lines.
const riskiest = 10

// Verdict is what the user of a library's selection files needs to know: gain, risk, cost and the next step.
type Verdict struct {
	Library  string       `json:"library"`
	Evidence Evidence     `json:"evidence"`
	Date     string       `json:"date,omitempty"`     // of the verification; empty without one and for recorded data
	Gain     *Gain        `json:"gain"`               // null when unknown
	NoGain   string       `json:"no_gain,omitempty"`  // why Gain is null
	Open     []string     `json:"open,omitempty"`     // why the evidence is not more: problems that did not converge, or what the verification leaves open
	Changed  int          `json:"changed"`            // points at which the files select an algorithm
	Points   int          `json:"points"`             // of the grid
	Slower   *SlowerShare `json:"slower"`             // null when unknown
	Cost     Cost         `json:"cost"`               // of the campaign and its verification
	Next     NextStep     `json:"next"`               // what to do
	Riskiest []RiskyPoint `json:"riskiest,omitempty"` // highest risk first
}

// Gain is the share of the collective time with the default that is saved, with its 95 % interval. It is negative where
// time is lost.
type Gain struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// SlowerShare says how many points are slower than the default by more than SlowerTolerance.
type SlowerShare struct {
	Points float64  `json:"points"`          // of Of points: counted, or the sum of probabilities when predicted
	Of     int      `json:"of"`              // points that were compared
	Maybe  int      `json:"maybe,omitzero"`  // further points that may be slower: their intervals contain such ratios
	Worst  float64  `json:"worst,omitzero"`  // largest tuned time over the default's; zero when predicted
	Others *float64 `json:"others,omitzero"` // of the points that were not compared, at most this share is slower (95 %); null when unknown
}

// Cost is the node time that results took, in node-seconds.
type Cost struct {
	Tuning       float64 `json:"tuning_node_seconds"`
	Verification float64 `json:"verification_node_seconds"`
}

// NextStep is a command to run. The folder of the campaign stands between Command and Options.
type NextStep struct {
	Why     string `json:"why"`
	Command string `json:"command,omitempty"` // such as "tutti verify"; empty: nothing is left to do
	File    string `json:"file,omitempty"`    // in the folder, to which the command applies
	Options string `json:"options,omitempty"`
}

// In returns the command for a campaign in a folder. The folder must be quoted for a shell. It returns "" if nothing
// is left to do.
func (n NextStep) In(folder string) string {
	if n.Command == "" {
		return ""
	}
	if n.File != "" {
		folder = strings.TrimSuffix(folder, "/") + "/" + n.File
	}
	return strings.TrimSpace(n.Command + " " + folder + " " + n.Options)
}

// RiskyPoint is a point at which the files select an algorithm that may be slower than the default.
type RiskyPoint struct {
	coll.Point
	Algorithm string   `json:"algorithm"`
	Risk      float64  `json:"risk"`     // expected share of time by which it is slower
	Ratio     float64  `json:"ratio"`    // tuned time over the default's; 0 when unknown
	Evidence  Evidence `json:"evidence"` // of Ratio
}

// Riskiest returns the points of a library with the highest risk, highest first. A point that a verification
// compared has the measured ratio instead of a prediction.
func Riskiest(f Facts, library string) []RiskyPoint {
	measured := f.measuredRatios(library)
	var out []RiskyPoint
	for _, p := range f.Problems {
		for _, c := range p.Cells {
			if p.Library != library || c.Algorithm == coll.Default.String() {
				continue
			}
			r := RiskyPoint{Point: c.Point, Algorithm: c.Algorithm, Risk: c.Risk, Evidence: Predicted}
			known, ok := measured[c.Point]
			switch {
			case c.Best != "" && c.Slowdown != nil && c.DefaultSlowdown != nil:
				r.Evidence, r.Ratio = Recorded, *c.Slowdown / *c.DefaultSlowdown
				r.Risk = excess(r.Ratio)
			case ok:
				r.Evidence, r.Ratio, r.Risk = Measured, known, excess(known)
			case c.Slowdown != nil && c.DefaultSlowdown != nil:
				r.Ratio = *c.Slowdown / *c.DefaultSlowdown
			}
			if r.Risk > 0 {
				out = append(out, r)
			}
		}
	}
	return HighestRisk(out)
}

// measuredRatios returns the tuned time over the default's at the points that a verification of the library compared and
// did not revert to the default.
func (f Facts) measuredRatios(library string) map[coll.Point]float64 {
	out := map[coll.Point]float64{}
	for _, v := range f.Verification {
		for _, p := range v.Points {
			if v.Library == library && p.Blocks > 0 && !p.Reverted {
				out[p.Point] = p.Ratio.Value
			}
		}
	}
	return out
}

// HighestRisk returns as many of the points as a verdict lists, those with the highest risk first.
func HighestRisk(points []RiskyPoint) []RiskyPoint {
	slices.SortStableFunc(points, func(a, b RiskyPoint) int { return cmp.Compare(b.Risk, a.Risk) })
	return points[:min(riskiest, len(points))]
}

// excess returns by which share a known ratio exceeds 1. It is 0 within metrics.TieTolerance.
func excess(ratio float64) float64 {
	if ratio <= 1+metrics.TieTolerance {
		return 0
	}
	return ratio - 1
}

// GainText returns, for example, "12.9 % [11.2 %, 14.8 %] less collective time, predicted".
func (v Verdict) GainText() string {
	if v.Gain == nil {
		return "gain unknown: " + v.NoGain
	}
	return formatGain(*v.Gain) + ", " + v.sourceText()
}

// sourceText says where the gain is known from, for example "verified on 2026-03-01".
func (v Verdict) sourceText() string {
	switch {
	case v.Evidence == Verified && v.Date != "":
		return "verified on " + v.Date
	case v.Evidence == Verified:
		return "verified with the recorded data"
	case v.Evidence == Measured:
		return strings.TrimSpace("measured, not proved " + v.Date)
	case v.Evidence == Predicted:
		return "predicted, not verified"
	}
	return string(v.Evidence)
}

func formatGain(g Gain) string {
	word := "less"
	if g.Value < 0 {
		word = "more"
		g = Gain{Value: -g.Value, Low: -g.High, High: -g.Low}
	}
	return formatInterval(FormatShare(g.Value), FormatShare(g.Low), FormatShare(g.High)) + " " + word + " collective time"
}

// SlowerText says which share of the points is slower than the default.
func (v Verdict) SlowerText() string {
	s := v.Slower
	switch {
	case v.Changed == 0:
		return "no point: the default is selected everywhere"
	case s == nil:
		return "unknown: the times of the default are not known"
	case v.Evidence == Predicted:
		return fmt.Sprintf("%s of the points expected (%s of %d)", FormatShare(s.Points/float64(s.Of)), trimmed(s.Points, 1), s.Of)
	}
	text := fmt.Sprintf("%s of the points (%s of %d compared)", FormatShare(s.Points/float64(s.Of)), trimmed(s.Points, 1), s.Of)
	if s.Maybe > 0 {
		text += fmt.Sprintf(", %d more may be", s.Maybe)
	}
	if s.Points+float64(s.Maybe) > 0 && s.Worst > 1 {
		text += ", worst " + FormatSlowdown(s.Worst)
	}
	if s.Others != nil && *s.Others > 0 {
		text += fmt.Sprintf("; of the others at most %s", FormatShare(math.Min(1, *s.Others)))
	}
	return text
}

// Text returns what the results cost, for example "3.2 node h, 2.1 node h of it for the verification".
func (c Cost) Text() string {
	all := FormatNodeSeconds(c.Tuning + c.Verification)
	if c.Verification == 0 {
		return all + ", no verification yet"
	}
	return all + ", " + FormatNodeSeconds(c.Verification) + " of it for the verification"
}

// Verdicts returns the verdicts of all libraries.
func (f Facts) Verdicts() []Verdict {
	var out []Verdict
	for _, l := range f.Libraries {
		if l.Verdict != nil {
			out = append(out, *l.Verdict)
		}
	}
	return out
}

// VerdictText returns the verdict of a library as lines of at most `width` columns. The folder of the campaign must be
// quoted for a shell.
func VerdictText(v Verdict, folder string, width int) string {
	var b strings.Builder
	line := func(name, text string) { b.WriteString(Wrap(name+text, width)) }
	line(v.Library+": ", v.GainText())
	for _, text := range v.Open {
		line("  open: ", text)
	}
	line("  slower than the default: ", v.SlowerText())
	line("  cost: ", v.Cost.Text())
	line("  next: ", v.Next.Why)
	if command := v.Next.In(folder); command != "" {
		fmt.Fprintf(&b, "    %s\n", command)
	}
	return b.String()
}

// RiskTable returns the points with the highest risk as a text table without colours. It returns "" if there are none.
func RiskTable(verdicts []Verdict) string {
	t := NewTable([]any{"riskiest points", "collective", "point", "algorithm", "tuned/default"}, 5)
	for _, v := range verdicts {
		for _, r := range v.Riskiest {
			t.AppendRow([]any{v.Library, r.Collective, r.Where(), r.Algorithm, r.RatioText()})
		}
	}
	return render(t)
}

// RatioText returns the tuned time over the default's, with its source where it is not predicted.
func (r RiskyPoint) RatioText() string {
	text := fmt.Sprintf("risk %s", FormatShare(r.Risk))
	if r.Ratio > 0 {
		text = FormatSlowdown(r.Ratio)
	}
	if r.Evidence != Predicted {
		text += " " + string(r.Evidence)
	}
	return text
}

// Wrap returns text in lines of at most `width` columns that break between words, but not before a unit that follows a
// number. Lines after the first are indented by two more blanks. A longer word has a line of its own.
func Wrap(line string, width int) string {
	lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
	var b strings.Builder
	at := 0
	for i, word := range joinUnits(strings.Fields(line)) {
		n := text.StringWidthWithoutEscSequences(word)
		switch {
		case i == 0:
			b.WriteString(lead)
			at = len(lead)
		case at+1+n > width:
			b.WriteString("\n" + lead + "  ")
			at = len(lead) + 2
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String() + "\n"
}

// unitWord matches a unit after a number, with punctuation behind it.
var unitWord = lazyregexp.New(`^(%|µs|ms|s|min|h|node)[])}.,;:]*$`)

// joinUnits joins numbers and the units that follow them to one word.
func joinUnits(words []string) []string {
	var out []string
	for _, word := range words {
		last := len(out) - 1
		if last >= 0 && unitWord.MatchString(word) && endsWithNumber(out[last]) {
			out[last] += " " + word
			continue
		}
		out = append(out, word)
	}
	return out
}

// endsWithNumber reports whether a text ends with a digit, or with a digit and the word node of a unit such as node h.
func endsWithNumber(text string) bool {
	text = strings.TrimSuffix(text, " node")
	return text != "" && text[len(text)-1] >= '0' && text[len(text)-1] <= '9'
}
