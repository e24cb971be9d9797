package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tutti/coll"
)

// reasonsView is one round of reasons in words.
type reasonsView struct {
	Round, Candidates int
	Spares, Price     string
	Top               []reasonView
}

type reasonView struct {
	Candidate, Sentence string
}

// reasonsViews puts the reasons of rounds into words.
func reasonsViews(rounds []RoundReasons) []reasonsView {
	var out []reasonsView
	for _, r := range rounds {
		v := reasonsView{Round: r.Round, Candidates: r.Candidates, Spares: formatPart(r.Spares), Price: formatSeconds(r.Seconds)}
		for _, why := range r.Top {
			v.Top = append(v.Top, reasonView{why.candidate(), why.Sentence()})
		}
		out = append(out, v)
	}
	return out
}

// First is what was most worth measuring in a round.
func (v reasonsView) First() string {
	if len(v.Top) == 0 {
		return absent
	}
	return v.Top[0].Sentence
}

func (r Reason) candidate() string {
	return fmt.Sprintf("%s at %s, %s", r.Algorithm, coll.Layout{Nodes: r.Nodes, PPN: r.PPN}, coll.FormatBytes(r.MsgBytes))
}

// Sentence says why a candidate was chosen.
func (r Reason) Sentence() string {
	layout, size := coll.Layout{Nodes: r.Nodes, PPN: r.PPN}, coll.FormatBytes(r.MsgBytes)
	if r.Again {
		return fmt.Sprintf("%s at %s, %s, was slower than all others let expect and is measured again, for %s.", r.Algorithm, layout, size, formatSeconds(r.Seconds))
	}
	if r.Check {
		return fmt.Sprintf("%s at %s, %s, was drawn to check what is believed, for %s.", r.Algorithm, layout, size, formatSeconds(r.Seconds))
	}
	open := fmt.Sprintf("Choosing between %s and %s at %s, %s, is expected to cost %s", r.Algorithm, r.Rival, layout, size, formatPart(r.Doubt))
	if r.Rival == "" {
		open = fmt.Sprintf("At %s, %s, there is no choice but %s", layout, size, r.Algorithm)
	}
	return fmt.Sprintf("%s; measuring %s there spares %s over the grid for %s.", open, r.Algorithm, formatPart(r.Spares), formatSeconds(r.Seconds))
}

// formatPart writes a part as a percentage of two digits that count, however small.
func formatPart(x float64) string {
	if x == 0 {
		return "nothing"
	}
	percent := 100 * x
	decimals := max(0, 1-int(math.Floor(math.Log10(math.Abs(percent)))))
	if decimals > 6 {
		return "next to nothing"
	}
	return strconv.FormatFloat(percent, 'f', decimals, 64) + " %"
}

// comparedView is a comparison with an earlier campaign in words.
type comparedView struct {
	ComparedFacts
	Words             string
	Algorithms, Sizes []changeView
}

type changeView struct {
	Name, Factor, Words string
	Measured            int
	Changed             bool
}

func comparedViews(all []ComparedFacts) []comparedView {
	var out []comparedView
	for _, c := range all {
		out = append(out, comparedView{c, changesInWords(c), changeViews(c.Algorithms), changeViews(c.Sizes)})
	}
	return out
}

func changeViews(changes []ChangeFacts) []changeView {
	var out []changeView
	for _, c := range changes {
		v := changeView{Name: c.Name, Factor: c.Factor.text(), Measured: c.Measured, Changed: c.Changed, Words: "no change beyond noise"}
		switch {
		case c.Factor == nil:
			v.Words = "not measured"
		case c.Changed:
			v.Words = factorInWords(c.Factor.Value)
		}
		out = append(out, v)
	}
	return out
}

// factorInWords says what a factor of times means: 2 is twice as slow.
func factorInWords(factor float64) string {
	if factor > 1 {
		return formatShare(factor-1) + " slower"
	}
	return formatShare(1-factor) + " less time"
}

// changesInWords sums up a comparison.
func changesInWords(c ComparedFacts) string {
	var changed []string
	for _, group := range [][]ChangeFacts{c.Algorithms, c.Sizes} {
		for _, g := range group {
			if g.Changed {
				changed = append(changed, fmt.Sprintf("%s (%s)", g.Name, factorInWords(g.Factor.Value)))
			}
		}
	}
	if len(changed) == 0 {
		return "Nothing changed beyond noise as far as it was measured again."
	}
	return "Changed: " + strings.Join(changed, ", ") + "."
}
