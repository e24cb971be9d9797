package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"tutti/coll"
)

// verificationView is the verification of one library with everything drawn.
type verificationView struct {
	VerificationFacts
	Fields      []field
	Collectives []verifiedView
	Back        []condemnedView
	Still       []condemnedView
}

type verifiedView struct {
	VerifiedCollective
	Speedup, Same, PutBack, Obedience string
	Ratios                            template.HTML
}

type condemnedView struct {
	CondemnedPoint
	Size, Ratio string
}

// SizeText is the message size in words.
func (o ObedienceFacts) SizeText() string { return coll.FormatBytes(o.MsgBytes) }

// SizeText is the message size in words.
func (e ExcludedFacts) SizeText() string { return coll.FormatBytes(e.MsgBytes) }

func newVerification(s *sheet, f VerificationFacts) (verificationView, error) {
	v := verificationView{VerificationFacts: f, Back: condemnedViews(f.PutBack), Still: condemnedViews(f.Slower)}
	v.Fields = []field{
		{"passes", fmt.Sprint(f.Passes)},
		{"measurements", fmt.Sprint(f.Trials)},
		{"of them failed", fmt.Sprint(f.Failed)},
		{"machine time", formatSeconds(f.MachineSeconds)},
		{"slower means by more than", formatShare(f.Tolerance)},
		{"probability of a false alarm", "at most " + formatShare(f.Alpha)},
	}
	for _, c := range f.Collectives {
		view := verifiedView{VerifiedCollective: c, Speedup: c.Speedup.text(), Same: c.Same.text(), PutBack: putBackText(c), Obedience: obedienceText(c)}
		points := slices.DeleteFunc(slices.Clone(f.Points), func(p VerifiedPoint) bool { return p.Collective != c.Collective || p.Ratio == nil })
		if len(points) > 0 {
			var err error
			label := "Ratios of tuned to default of " + f.Library + " " + c.Collective + " with intervals, sorted"
			if view.Ratios, err = s.ratios(points, f.Tolerance, label); err != nil {
				return v, err
			}
		}
		v.Collectives = append(v.Collectives, view)
	}
	return v, nil
}

func condemnedViews(points []CondemnedPoint) []condemnedView {
	var out []condemnedView
	for _, p := range points {
		out = append(out, condemnedView{p, coll.FormatBytes(p.MsgBytes), p.Ratio.text()})
	}
	return out
}

// ratios draws the ratio of every point with its interval, ascending. It needs at
// least one point, and every point its ratio.
func (s *sheet) ratios(points []VerifiedPoint, tolerance float64, label string) (template.HTML, error) {
	slices.SortStableFunc(points, func(a, b VerifiedPoint) int { return cmp.Compare(a.Ratio.Value, b.Ratio.Value) })
	plt := newPlot("points, sorted (number)", "time tuned / default (ratio)")
	values := []float64{1, 1 + tolerance}
	for _, p := range points {
		values = append(values, p.Ratio.Low, p.Ratio.High)
	}
	setSlowdowns(&plt.Y, values)
	setLinear(&plt.X, 0.5, float64(len(points))+0.5, min(len(points), 6))
	plt.Add(intervals(points), guides{
		{excess(1), "default", dottedLine},
		{excess(1 + tolerance), trimmed(100*tolerance, 1) + " % slower", dashedLine},
	})
	return s.svg(350, 210, 1.4, label, plt.Draw)
}

// intervals draws each point as a line over its interval and a mark at its value:
// filled where the file selects an algorithm, hollow where the library's default
// stays, a cross where it was put back to it.
type intervals []VerifiedPoint

// Plot implements plot.Plotter. All lines are one path.
func (v intervals) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	var path vg.Path
	for i, point := range v {
		x := toX(float64(i + 1))
		path.Move(vg.Point{X: x, Y: toY(excess(point.Ratio.Low))})
		path.Line(vg.Point{X: x, Y: toY(excess(point.Ratio.High))})
	}
	c.SetLineStyle(thinLine)
	c.Stroke(path)
	radius := max(1, min(2.4, 100/vg.Length(len(v))))
	for i, point := range v {
		mark := filledMark
		switch {
		case point.PutBack:
			mark = failedMark
		case point.Choice == coll.Default.String():
			mark = hollowMark
		}
		mark.Radius = radius
		if point.PutBack {
			mark.Radius = 3.5 // a cross is thin
		}
		c.DrawGlyph(mark, vg.Point{X: toX(float64(i + 1)), Y: toY(excess(point.Ratio.Value))})
	}
}

// machineTimeView is one row of where the time of jobs went.
type machineTimeView struct {
	Library, Problem                          string
	Jobs                                      int
	Queue, Launch, Warmup, Measure, Idle, All string
}

// machineTimes returns the rows, and their sum where there are several.
func machineTimes(f Facts) []machineTimeView {
	var out []machineTimeView
	var sum MachineTimeFacts
	add := func(m MachineTimeFacts, problem string) {
		part := func(nodeSeconds float64) string {
			if m.Held() == 0 {
				return formatNodeSeconds(nodeSeconds)
			}
			return formatNodeSeconds(nodeSeconds) + " (" + formatShare(nodeSeconds/m.Held()) + ")"
		}
		out = append(out, machineTimeView{
			Library: m.Library, Problem: problem, Jobs: m.Jobs, Queue: formatSeconds(m.Queue),
			Launch: part(m.Launch), Warmup: part(m.Warmup), Measure: part(m.Measure), Idle: part(m.Idle), All: formatNodeSeconds(m.Held()),
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

// environmentView is a place of measurement in words.
type environmentView struct {
	EnvironmentFacts
	Sum, Names string
}

func environmentViews(f Facts) []environmentView {
	const shown = 8 // nodes, and digits of a checksum
	var out []environmentView
	for _, e := range f.Environments {
		v := environmentView{EnvironmentFacts: e, Sum: absent, Names: strings.Join(e.Nodes, " ")}
		if len(e.Checksum) > 0 {
			v.Sum = e.Checksum[:min(len(e.Checksum), 2*shown)]
		}
		if n := len(e.Nodes); n > shown {
			v.Names = fmt.Sprintf("%s and %d more", strings.Join(e.Nodes[:shown], " "), n-shown)
		}
		out = append(out, v)
	}
	return out
}
