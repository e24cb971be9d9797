package report

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
)

// page is what the template of the page shows: the facts, with everything drawn
// and put into words.
type page struct {
	Facts
	Style    template.CSS
	Totals   []field
	Problems []problemView
	Open     int // problems that have not converged

	Verified []verificationView
	Times    []machineTimeView
	Places   []environmentView
}

// field is one figure with its name.
type field struct{ Name, Value string }

type problemView struct {
	ProblemFacts
	ID          string // of the section in the page
	Good        bool   // converged
	Fields      []field
	Convergence template.HTML
	Study       template.HTML
	Selected    []panel
	Slowdowns   [][]panel // tuned and default, per ppn
	Scale       []swatch  // of the slowdown maps
	Measured    []panel
	Algorithms  []algorithmView
	Trials      []trialView
	Reasons     []reasonsView
	Compared    []comparedView
}

// swatch is one step of a scale: its CSS variable and what it stands for.
type swatch struct {
	Fill, Ink template.CSS
	Text      string
}

type algorithmView struct {
	AlgorithmFacts
	Code   string
	Fill   template.CSS
	R2     string
	Share  string // of the grid points where it is selected
	Parity template.HTML
}

type trialView struct {
	HPOTrial
	Value, Best string
}

func newPage(f Facts) (page, error) {
	s := newSheet()
	v := page{Facts: f, Totals: totals(f)}
	for i, p := range f.Problems {
		view, err := newProblem(s, p, f.Criteria)
		if err != nil {
			return page{}, err
		}
		view.ID = "problem" + strconv.Itoa(i+1)
		if !view.Good {
			v.Open++
		}
		v.Problems = append(v.Problems, view)
	}
	for _, f := range f.Verification {
		view, err := newVerification(s, f)
		if err != nil {
			return page{}, err
		}
		v.Verified = append(v.Verified, view)
	}
	v.Times, v.Places = machineTimes(f), environmentViews(f)
	v.Style = pageCSS() + s.css()
	return v, nil
}

// pageCSS is the style of every page, in both themes.
func pageCSS() template.CSS {
	return template.CSS(":root{" + variables(false) + "}\n" +
		"@media screen and (prefers-color-scheme:dark){:root{" + variables(true) + "}}\n" + pageStyle)
}

// totals adds up all problems.
func totals(f Facts) []field {
	var sum ProblemFacts
	known := true // the cost of measuring everything, for every problem
	for _, p := range f.Problems {
		sum.Points += p.Points
		sum.PointsMeasured += p.PointsMeasured
		sum.Candidates += p.Candidates
		sum.Trials += p.Trials
		sum.Failed += p.Failed
		sum.Repeats += p.Repeats
		sum.MachineSeconds += p.MachineSeconds
		sum.NodeSeconds += p.NodeSeconds
		sum.ExhaustiveSeconds += p.ExhaustiveSeconds
		known = known && p.ExhaustiveSeconds > 0
	}
	if !known {
		sum.ExhaustiveSeconds = 0
	}
	return append([]field{{"problems", strconv.Itoa(len(f.Problems))}}, effort(sum)...)
}

// effort says what the measurements took.
func effort(p ProblemFacts) []field {
	fields := []field{
		{"points measured", formatOf(p.PointsMeasured, p.Points)},
		{"candidates", strconv.Itoa(p.Candidates)},
		{"trials", strconv.Itoa(p.Trials)},
		{"failed trials", strconv.Itoa(p.Failed)},
		{"measured twice", strconv.Itoa(p.Repeats)},
		{"machine time", formatSeconds(p.MachineSeconds)},
		{"node time", formatNodeSeconds(p.NodeSeconds)},
	}
	if p.ExhaustiveSeconds > 0 {
		fields = append(fields, field{"to measure everything", formatSeconds(p.ExhaustiveSeconds) +
			" (" + formatShare(p.MachineSeconds/p.ExhaustiveSeconds) + " spent)"})
	}
	return fields
}

func newProblem(s *sheet, p ProblemFacts, c Criteria) (problemView, error) {
	v := problemView{ProblemFacts: p, Good: p.Stop == converged, Scale: slowdownScale(c.MistakeThreshold)}
	v.Fields = append([]field{{"rounds", strconv.Itoa(p.Rounds)}}, effort(p)...)
	if p.Leaves > 0 {
		v.Fields = append(v.Fields, field{"leaves of the selection tree", strconv.Itoa(p.Leaves)},
			field{"loss by the tree", formatShare(p.TreeLoss)})
	}
	v.Fields = append(v.Fields, known(p)...)
	v.Trials, v.Reasons, v.Compared = trialViews(p.HPO), reasonsViews(p.Reasons), comparedViews(p.Compared)
	if err := v.drawLines(s, c); err != nil {
		return problemView{}, err
	}
	if err := v.drawMaps(s, c); err != nil {
		return problemView{}, err
	}
	return v, nil
}

// known are figures that not every problem has.
func known(p ProblemFacts) []field {
	var out []field
	if p.Model != "" {
		out = append(out, field{"model", p.Model})
	}
	if p.Ties != nil {
		out = append(out, field{"ties", formatOf(*p.Ties, p.Points)})
	}
	if p.Even > 0 {
		out = append(out, field{"no difference from the default that could be measured", formatOf(p.Even, p.Points)})
	}
	if w := p.Weighted; w != nil {
		out = append(out, field{"points that count", formatOf(w.Points, p.Points)},
			field{"half of the weight", fmt.Sprintf("in %d points", w.Half)},
			field{"weightiest point", fmt.Sprintf("%s, %s times the mean", w.Where, trimmed(w.Greatest, 1))})
	}
	return out
}

func (v *problemView) drawLines(s *sheet, c Criteria) (err error) {
	if len(v.Curve) > 0 {
		if v.Convergence, err = s.convergence(v.ProblemFacts, c); err != nil {
			return err
		}
	}
	if len(v.HPO) > 0 {
		if v.Study, err = s.study(v.ProblemFacts); err != nil {
			return err
		}
	}
	return v.drawAlgorithms(s)
}

// drawAlgorithms fills the table that is the legend of the map as well, so it
// lists the algorithms that occur in cells only too.
func (v *problemView) drawAlgorithms(s *sheet) (err error) {
	known := codesOf(v.ProblemFacts)
	algorithms := slices.Clone(v.ProblemFacts.Algorithms)
	for _, name := range known.names[known.listed:] {
		algorithms = append(algorithms, AlgorithmFacts{Name: name, Selected: known.selected[name]})
	}
	for _, a := range algorithms {
		view := algorithmView{AlgorithmFacts: a, Code: known.code[a.Name], Fill: fillOf(known.fill[a.Name]), R2: absent, Share: absent}
		if a.R2 != nil {
			view.R2 = strconv.FormatFloat(*a.R2, 'f', 3, 64)
		}
		if v.Points > 0 {
			view.Share = formatShare(float64(a.Selected) / float64(v.Points))
		}
		if len(a.Parity) > 0 {
			if view.Parity, err = s.parity(a); err != nil {
				return err
			}
		}
		v.Algorithms = append(v.Algorithms, view)
	}
	return nil
}

func (v *problemView) drawMaps(s *sheet, c Criteria) (err error) {
	p := v.ProblemFacts
	if v.Selected, err = s.panels(p, "selected", narrowTile, codesOf(p).paint); err != nil {
		return err
	}
	if v.Measured, err = s.panels(p, "measured", narrowTile, paintMeasured(len(p.Algorithms))); err != nil {
		return err
	}
	tuned, err := s.panels(p, "tuned", wideTile,
		paintSlowdown(c.MistakeThreshold, func(c Cell) *float64 { return c.TunedSlowdown }))
	if err != nil {
		return err
	}
	untuned, err := s.panels(p, "default", wideTile,
		paintSlowdown(c.MistakeThreshold, func(c Cell) *float64 { return c.DefaultSlowdown }))
	if err != nil {
		return err
	}
	for i := range tuned {
		v.Slowdowns = append(v.Slowdowns, []panel{tuned[i], untuned[i]})
	}
	return nil
}

// slowdownScale is the legend of the slowdown maps.
func slowdownScale(threshold float64) []swatch {
	var scale []swatch
	low := ""
	for step, k := range ramp {
		text := "more"
		if step < len(slowdownShares) {
			high := trimmed(1+slowdownShares[step]*threshold, 3)
			text = low + "to " + high
			low = high + " "
		}
		scale = append(scale, swatch{fillOf(k), fillOf(onRamp(step)), text})
	}
	return scale
}

// fillOf is the CSS value of an ink.
func fillOf(k ink) template.CSS { return template.CSS("var(--" + k.name + ")") }

func trialViews(trials []HPOTrial) []trialView {
	var out []trialView
	for _, t := range trials {
		view := trialView{HPOTrial: t, Value: absent, Best: absent}
		if t.Value != nil {
			view.Value = trimmed(*t.Value, 5)
		}
		if t.Best != nil {
			view.Best = trimmed(*t.Best, 5)
		}
		out = append(out, view)
	}
	return out
}

// Predicted reports whether any evaluation was a prediction with an upper end.
func (p ProblemFacts) Predicted() bool {
	return slices.ContainsFunc(p.Curve, func(e CurvePoint) bool { return e.SlowdownUpper > 0 })
}

// HasParity reports whether any algorithm has held-out predictions.
func (v problemView) HasParity() bool {
	return slices.ContainsFunc(v.Algorithms, func(a algorithmView) bool { return a.Parity != "" })
}
