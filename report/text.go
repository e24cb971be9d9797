package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"gonum.org/v1/gonum/stat"

	"tutti/internal/lazyregexp"
	"tutti/metrics"
	"tutti/verify"
)

func scoreOf(p ProblemFacts, name string) *Score {
	for _, s := range p.Scores {
		if s.Name == name {
			return &s
		}
	}
	return nil
}

// Notes returns lines that explain the sources of the scores, the share of machine time and whether tuning
// pays off, and which models were compared. It also states the cost of leaving out unsafe algorithms (wrong for some
// valid calls).
func (f Facts) Notes() []string {
	var sources, details []string
	for _, p := range f.Problems {
		for _, s := range p.Scores {
			sources = append(sources, s.Source)
		}
		if len(p.Scores) > 0 && p.Scores[0].Source == "recorded" && p.Scores[0].Points < p.Points {
			details = append(details, fmt.Sprintf("%s %s: figures of the %d of %d points with a recorded default", p.Library, p.Collective, p.Scores[0].Points, p.Points))
		}
		if u := p.Unsafe; u != nil {
			text := fmt.Sprintf("%s %s: without %s (export.op_safe: wrong for some valid calls); ", p.Library, p.Collective, strings.Join(u.Algorithms, ", "))
			if u.Slowdown == nil {
				text += "their times are not measured"
			} else {
				text += fmt.Sprintf("compared with them, too: tuned %s, mistakes %s", FormatSlowdown(*u.Slowdown), FormatShare(*u.Mistakes))
			}
			details = append(details, text)
		}
	}
	notes := SourceTexts(sources)
	if share, ok := f.medianTimeShare(); ok {
		notes = append(notes, fmt.Sprintf("machine time: %s of the time of measuring everything once, median of the problems", FormatShare(share)))
	}
	for _, l := range f.Libraries {
		if f.NotGuarded(l.Library) {
			details = append(details, l.Library+": "+notGuarded)
		}
		if text := f.LeftTo(l.Library).String(); text != "" {
			details = append(details, l.Library+": "+text)
		}
		if l.Benefit != nil {
			details = append(details, l.Library+": "+l.Benefit.text(l.Verified))
		}
	}
	return slices.Concat(notes, details, modelLines(f))
}

const notGuarded = "not guarded: no default was measured, or export.guard is false; the selection is as predicted and may be slower than the default"

// LeftGain is the predicted gain that is left to a library because it is not measured.
type LeftGain struct {
	Points, Of int     // that keep the default although another algorithm is predicted to be faster, of all
	Saved      float64 // share of collective time that they may save
	Seconds    float64 // machine time of measuring them, without launches
}

// LeftTo returns the predicted gain that is left to a library.
func (f Facts) LeftTo(library string) LeftGain {
	var out LeftGain
	gain := 0.0
	for _, p := range f.Problems {
		if p.Library != library {
			continue
		}
		out.Of += p.Points
		if u := p.Unconfirmed; u != nil {
			out.Points, out.Seconds, gain = out.Points+u.Points, out.Seconds+u.Seconds, gain+u.Gain*float64(p.Points)
		}
	}
	out.Saved = 1 - math.Exp(-gain/max(1, float64(out.Of)))
	return out
}

// String says how much gain is left, and what measuring it takes. It returns "" if nothing is left.
func (l LeftGain) String() string {
	if l.Points == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d points keep the default although another algorithm is predicted to be faster: measuring them takes another %s and may save %s of collective time",
		l.Points, l.Of, FormatSeconds(l.Seconds), FormatShare(l.Saved))
}

// text says what tuning cost and saves, and after how much collective time it has paid off. proved says whether a
// verification proved the files.
func (b *Benefit) text(proved bool) string {
	cost := "measuring took " + FormatNodeSeconds(b.NodeSeconds)
	share, source := FormatShare(b.Saved), "not verified"
	if b.Verified != nil {
		share, source = formatInterval(share, FormatShare(b.Verified.Low), FormatShare(b.Verified.High)), "measured, not proved"
		if proved {
			source = "verified"
		}
	}
	switch {
	case b.BreakEven == nil && b.Verified != nil && b.Verified.High > 0:
		return fmt.Sprintf("%s, the files are not distinguishable from the default at a noise of %s: %s of collective time saved (%s)", cost, FormatShare(b.Noise), share, source)
	case b.BreakEven == nil && b.Verified == nil && b.Saved == 0:
		return fmt.Sprintf("%s, the files keep the default: other algorithms are not distinguishable from it at a noise of %s", cost, FormatShare(b.Noise))
	case b.BreakEven == nil:
		return cost + ", the files save no collective time: tuning does not pay off"
	}
	saved := fmt.Sprintf("%s, the files save %s of collective time (%s; %s): break-even after %s of it", cost, share, b.Workload, source, FormatNodeSeconds(*b.BreakEven))
	if b.CollectiveShare == 0 {
		return saved
	}
	return fmt.Sprintf("%s, or %s of applications with %s in collectives (%s saved an hour)", saved,
		FormatNodeSeconds(*b.BreakEven/b.CollectiveShare), FormatShare(b.CollectiveShare), FormatSeconds(3600*b.CollectiveShare*b.Saved))
}

// medianTimeShare returns the machine time of a problem divided by the time of measuring everything, as the
// median over all problems. It returns false if the time of measuring everything is unknown for a problem.
func (f Facts) medianTimeShare() (float64, bool) {
	var shares []float64
	for _, p := range f.Problems {
		if !(p.ExhaustiveSeconds > 0) {
			return 0, false
		}
		shares = append(shares, p.MachineSeconds/p.ExhaustiveSeconds)
	}
	if len(shares) == 0 {
		return 0, false
	}
	return metrics.Median(shares), true
}

var sourceMeanings = map[string]string{
	"recorded":        "recorded time of the choice over that of the fastest allowed algorithm",
	"reference":       "recorded time of the model's choice over that of the fastest algorithm",
	"predicted":       "expected by the model, from the measurements and their noise",
	"measured":        "expected from the times of all candidates and their noise",
	"cross-validated": "of the model's choices at measured points that it did not see",
}

// SourceTexts returns a line for each distinct source of scores, such as "figures predicted: expected by ...".
func SourceTexts(sources []string) (texts []string) {
	for _, s := range sources {
		if text := "figures " + s + ": " + sourceMeanings[s]; sourceMeanings[s] != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// Summary returns a text table without colours. It has a row for each problem, in
// the order of f. The column measured is the share of measured candidates. The columns tuned and default are
// average slowdowns. The column mistakes is the share of mistakes of the tuned selection.
func Summary(f Facts) string {
	t := NewTable([]any{"library", "collective", "stop", "measured", "machine time", "tuned", "default", "mistakes"}, 4, 5, 6, 7, 8)
	for _, p := range f.Problems {
		measured := 0.0 // when there are no candidates
		if p.Candidates > 0 {
			measured = float64(p.Trials-p.Failed-p.Replicates) / float64(p.Candidates)
		}
		tuned, mistakes := scoreTexts(p, "tuned")
		byDefault, _ := scoreTexts(p, "default")
		t.AppendRow(table.Row{
			p.Library, p.Collective, cmp.Or(p.Stop, "running"), FormatShare(measured), FormatSeconds(p.MachineSeconds), tuned, byDefault, mistakes,
		})
	}
	return t.Render() + "\n"
}

func scoreTexts(p ProblemFacts, name string) (slowdown, mistakes string) {
	s := scoreOf(p, name)
	if s == nil {
		return absent, absent
	}
	return FormatSlowdown(s.Slowdown), FormatShare(s.Mistakes)
}

// modelLines returns a line for each kind of model (Gaussian process or forest). It says how many problems have
// this final model. It also gives the average losses, at held-out points, of the Gaussian process and of the best
// forest.
func modelLines(f Facts) (lines []string) {
	for _, model := range []string{"gp", "forest"} {
		var gaussian, forest []float64
		trials := 0
		for _, p := range f.Problems {
			if h := p.HeldOut; h != nil && p.Model == model {
				gaussian, forest, trials = append(gaussian, h.GP), append(forest, h.Forest), max(trials, h.Trials)
			}
		}
		if trials == 0 {
			continue
		}
		lines = append(lines, fmt.Sprintf("final model %s in %d of %d problems; loss at held-out points: gp %s, forest %s (best of %d)", model, len(forest), len(f.Problems),
			FormatShare(stat.Mean(gaussian, nil)), FormatShare(stat.Mean(forest, nil)), trials))
	}
	return lines
}

// EvidenceLines returns a line for each library that says in how many measurements the forced algorithm was seen to run.
func EvidenceLines(f Facts) string {
	var b strings.Builder
	for _, e := range f.Evidence {
		fmt.Fprintf(&b, "%s: forced algorithms observed in %d measurements, accepted in %d, not observed in %d\n", e.Library, e.Observed, e.Accepted, e.NotObserved)
	}
	return b.String()
}

// VerificationTable returns the results of verifications as a text table without colours. It has a row for
// each library and collective. It returns "" if there is no verification.
func VerificationTable(f Facts) string {
	t := NewTable([]any{"library", "collective", "changed", "speed-up [95 %]", "unchanged [95 %]", "reverted", "slower", "obedience"}, 3, 4, 5, 6, 7)
	for _, v := range f.Verification {
		for _, c := range v.Collectives {
			view := newVerified(v, c)
			t.AppendRow(table.Row{v.Library, c.Collective, fmt.Sprintf("%d of %d", c.ChangedPoints, c.Points), view.Speedup, view.Unchanged, view.Reverted, view.Slower, view.Obedience})
		}
	}
	return render(t)
}

// cellWidths maps headers to the widths of columns whose cells are wrapped. With these widths, typical
// tables fit into 80 columns.
var cellWidths = map[string]int{
	"all": 8, "collective": 14, "idle": 9, "launch": 9, "machine time": 8, "measuring": 9, "obedience": 11, "problem": 22,
	"reverted": 8, "selected": 16, "since": 10, "speed-up [95 %]": 8, "stop": 10, "unchanged [95 %]": 9, "warm-up": 9, "with": 20,
}

// NewTable returns a table without colours and borders. `numbers` lists the columns that
// contain numbers; the first column is 1.
func NewTable(header []any, numbers ...int) table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	style.Options = table.Options{SeparateColumns: true, SeparateHeader: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", ""
	style.Box.MiddleVertical, style.Box.MiddleSeparator = "  ", "  "
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	t.AppendHeader(table.Row(header))
	widths := make([]int, len(header))
	for i, name := range header {
		widths[i] = cellWidths[name.(string)]
	}
	t.SetColumnConfigs(columnConfigs(widths, text.WrapSoft, numbers))
	return t
}

// columnConfigs returns the columns of a table: their widths, 0 for no limit, and those with numbers aligned to the right.
func columnConfigs(widths []int, wrap table.WidthEnforcer, numbers []int) []table.ColumnConfig {
	columns := make([]table.ColumnConfig, len(widths))
	for i, width := range widths {
		columns[i] = table.ColumnConfig{Number: i + 1, WidthMax: width, WidthMaxEnforcer: wrap}
		if slices.Contains(numbers, i+1) {
			columns[i].Align = text.AlignRight
		}
	}
	return columns
}

// TableWithin returns a table of at most `width` columns: its widest columns are wrapped. A width of 0 is no limit.
func TableWithin(width int, header []any, rows []table.Row, numbers ...int) string {
	t := NewTable(header, numbers...)
	t.AppendRows(rows)
	if width == 0 || text.LongestLineLen(t.Render()) <= width {
		return t.Render()
	}
	widths := make([]int, len(header))
	total := len("  ") * (len(header) - 1)
	for i, name := range header {
		widths[i] = text.LongestLineLen(name.(string))
		for _, row := range rows {
			widths[i] = max(widths[i], text.LongestLineLen(fmt.Sprint(row[i])))
		}
		if most := cellWidths[name.(string)]; most > 0 {
			widths[i] = min(widths[i], most)
		}
		total += widths[i]
	}
	for ; total > width; total-- {
		widths[slices.Index(widths, slices.Max(widths))]--
	}
	t.SetColumnConfigs(columnConfigs(widths, breakCell, numbers))
	return t.Render()
}

// namePart matches a part of a name behind which a line may end.
var namePart = lazyregexp.New(`[^ _(,/=]*[_(,/=]+|[^ _(,/=]+| +`)

// breakCell breaks a text between words, or in long names such as scatter_ring_allgather(segsize=8192) behind a part.
func breakCell(cell string, width int) string {
	if first, rest, found := strings.Cut(cell, "\n"); found {
		return breakCell(first, width) + "\n" + breakCell(rest, width)
	}
	var lines []string
	line := ""
	for _, found := range namePart.FindAllStringSubmatch(cell, -1) {
		part := found[0]
		if line != "" && text.LongestLineLen(strings.TrimRight(line+part, " ")) > width {
			lines, line = append(lines, text.WrapHard(strings.TrimRight(line, " "), width)), ""
			part = strings.TrimLeft(part, " ")
		}
		line += part
	}
	return strings.Join(append(lines, text.WrapHard(line, width)), "\n")
}

func render(t table.Writer) string {
	if t.Length() == 0 {
		return ""
	}
	return t.Render() + "\n"
}

func rangeText(i verify.Interval) string {
	if i == (verify.Interval{}) {
		return absent
	}
	return formatInterval(FormatSlowdown(i.Value), FormatSlowdown(i.Low), FormatSlowdown(i.High))
}

type machineTimeView struct {
	Library, Problem                          string
	Jobs                                      int
	Queue, Launch, Warmup, Measure, Idle, All string
}

// machineTimes returns a row of machine times for each problem. If there are
// several, it adds their sum.
func machineTimes(f Facts) []machineTimeView {
	var out []machineTimeView
	var sum MachineTimeFacts
	add := func(m MachineTimeFacts, problem string) {
		part := func(nodeSeconds float64) string {
			if m.NodeSeconds() == 0 {
				return FormatNodeSeconds(nodeSeconds)
			}
			return FormatNodeSeconds(nodeSeconds) + " (" + strings.ReplaceAll(FormatShare(nodeSeconds/m.NodeSeconds()), " ", "") + ")"
		}
		out = append(out, machineTimeView{
			Library: m.Library, Problem: problem, Jobs: m.Jobs, Queue: FormatSeconds(m.Queue),
			Launch: part(m.Launch), Warmup: part(m.Warmup), Measure: part(m.Measure), Idle: part(m.Idle), All: FormatNodeSeconds(m.NodeSeconds()),
		})
	}
	for _, m := range f.MachineTime {
		add(m, cmp.Or(m.Collective, "verification"))
		sum.Jobs += m.Jobs
		sum.Queue += m.Queue
		sum.Launch += m.Launch
		sum.Warmup += m.Warmup
		sum.Measure += m.Measure
		sum.Idle += m.Idle
	}
	if len(f.MachineTime) > 1 {
		sum.Library = "all"
		add(sum, "")
	}
	return out
}

// absent is the text that every table shows for an unknown number.
const absent = "–"

// FormatSlowdown writes a ratio with three decimals, or one decimal from 10 on.
func FormatSlowdown(x float64) string {
	if math.Abs(x) >= 10 {
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}

// FormatShare writes a proportion as a percentage. Only a true zero is "0 %".
func FormatShare(x float64) string {
	switch {
	case x > 0 && x < 0.0005:
		return "<0.1 %"
	case x < 0 && x > -0.0005:
		return ">-0.1 %"
	}
	return trimmed(100*x, 1) + " %"
}

func formatOf(n, total int) string {
	if total <= 0 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d of %d (%s)", n, total, FormatShare(float64(n)/float64(total)))
}

// formatInterval returns, for example, "1.02 [1.00, 1.05]".
func formatInterval(value, low, high string) string {
	return value + " [" + low + ", " + high + "]"
}

// trimmed rounds x to the given number of decimals. It removes trailing zeros and the sign of a zero.
func trimmed(x float64, decimals int) string {
	scale := math.Pow(10, float64(decimals))
	return strconv.FormatFloat(math.Round(x*scale)/scale+0, 'f', -1, 64) // -0 + 0 is 0
}

func stopText(stop string) string {
	switch stop {
	case "":
		return "STILL RUNNING"
	case converged:
		return converged
	}
	return "NOT CONVERGED: " + stop
}

// NotConverged returns why a problem stopped without meeting its stopping criteria, and how many points are
// ties.
func (p ProblemFacts) NotConverged() string {
	if p.Stop == "" {
		return cmp.Or(p.GoesOn, "measuring goes on")
	}
	measured := slices.DeleteFunc(slices.Clone(p.Algorithms), func(a AlgorithmFacts) bool { return a.Measured == 0 })
	switch others := len(p.Algorithms) - 1; {
	case len(measured) != 1 || others == 0:
	case p.Failed >= others:
		return p.Stop + "; only " + measured[0].Name + " could be measured"
	default:
		return p.Stop + "; only " + measured[0].Name + " was measured"
	}
	ties := 0
	for _, c := range p.Cells {
		if c.Tie || c.DefaultKept {
			ties++
		}
	}
	switch {
	case len(p.Scores) == 0 && p.Rounds > 0:
		return p.Stop + "; the files leave the points to the library, whose times are not known"
	case ties == 0:
		return p.Stop
	}
	return fmt.Sprintf("%s; %d of %d points are ties within the noise of the measurements", p.Stop, ties, len(p.Cells))
}

// converged is the stop reason of a problem that meets its stopping criteria.
const converged = "converged"
