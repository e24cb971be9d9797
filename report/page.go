package report

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/verify"
)

// Assets contains the folder assets: scripts and styles that draw charts and maps, both in the report and
// on the service's page.
//
//go:embed assets
var Assets embed.FS

var (
	//go:embed page.html
	pageText string

	pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
		"interval": formatInterval,
		"ratio":    rangeText,
		"share":    FormatShare,
		"slowdown": FormatSlowdown,
		"seconds":  formatSeconds,
		"bytes":    coll.FormatBytes,
		"stop":     stopText,
		"join":     func(parts []string) string { return strings.Join(parts, "; ") },
		"absent":   func() string { return absent },
		"some":     someOf,
	}).Parse(pageText))
)

// WriteHTML writes the report as one self-contained HTML page. Without JavaScript the page shows the
// scores, the selection and one chart of each problem. With JavaScript it draws charts, maps and tables
// from embedded JSON, whose numbers have five digits. The same facts give the same bytes.
//
// It returns an error that names the field if a number is NaN or infinite.
func WriteHTML(w io.Writer, f Facts) error {
	v, err := newPage(f)
	if err == nil {
		err = pageTemplate.Execute(w, v)
	}
	if err != nil {
		return fmt.Errorf("report as HTML: %w", err)
	}
	return nil
}

// page holds the values that the template page.html inserts.
type page struct {
	Facts
	Style         template.CSS
	Chart, Script template.JS // uPlot, and the modules as one
	JSON          template.JS // the facts
	Totals        []field
	Problems      []problemView
	Open          int // problems that have not converged

	Verified []verificationView
	Times    []machineTimeView
}

// field is a named figure.
type field struct{ Name, Value string }

// problemView holds what the page shows of a problem (one collective of one MPI library) even without
// JavaScript.
type problemView struct {
	ProblemFacts
	ID       string // in the page's address
	Good     bool   // converged
	Selected selectionText
	Chart    template.HTML // empty without an evaluation
}

func newPage(f Facts) (page, error) {
	facts, err := packed(f)
	if err != nil {
		return page{}, err
	}
	v := page{
		Facts: f, Totals: totals(f), Style: template.CSS(asset("vendor/uPlot.min.css") + asset("draw.css") + asset("report.css")),
		Chart: template.JS(asset("vendor/uPlot.iife.min.js")), Script: template.JS(bundle()), JSON: template.JS(facts),
		Times: machineTimes(f),
	}
	for _, p := range f.Problems {
		view := problemView{ProblemFacts: p, ID: p.Library + "-" + p.Collective, Good: p.Stop == converged, Selected: selectionOf(p)}
		if !view.Good {
			v.Open++
		}
		if len(p.Curve) > 0 {
			chart, err := convergenceSVG(p, f.Criteria)
			if err != nil {
				return page{}, err
			}
			view.Chart = template.HTML(chart)
		}
		v.Problems = append(v.Problems, view)
	}
	for _, f := range f.Verification {
		v.Verified = append(v.Verified, newVerification(f))
	}
	return v, nil
}

// modules lists the scripts of the report. Each script comes after the scripts that it imports.
var modules = []string{"dom.js", "format.js", "palette.js", "chart.js", "map.js", "convergence.js", "selection.js", "report.js"}

// moduleImport matches an import statement in a JavaScript module.
var moduleImport = regexp.MustCompile(`(?m)^import [^;]*;\n`)

// bundle joins all modules into one script and removes their import statements. The names that modules
// define at their top level must differ.
func bundle() string {
	var b strings.Builder
	for _, name := range modules {
		b.WriteString(moduleImport.ReplaceAllString(asset(name), ""))
	}
	return b.String()
}

// asset returns the text of an embedded file.
func asset(name string) string {
	text, err := Assets.ReadFile("assets/" + name)
	if err != nil {
		panic("report: " + err.Error())
	}
	return string(text)
}

// packed encodes facts as compact JSON that can be embedded in a script element. It converts a list of
// objects into {"columns": ["a", "b"], "rows": [[1, 2], [3, 4]]}. Fractions have five digits.
func packed(f Facts) ([]byte, error) {
	full, err := marshal(f)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(full))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(pack(v))
}

func pack(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			v[key] = pack(x)
		}
	case []any:
		return packList(v)
	case json.Number:
		if x, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".e") {
			return json.Number(strconv.FormatFloat(x, 'g', 5, 64))
		}
	}
	return v
}

func packList(list []any) any {
	var columns []string
	for _, x := range list {
		object, ok := x.(map[string]any)
		if !ok {
			columns = nil
			break
		}
		for key := range object {
			columns = append(columns, key)
		}
	}
	if columns == nil {
		for i, x := range list {
			list[i] = pack(x)
		}
		return list
	}
	slices.Sort(columns)
	columns = slices.Compact(columns)
	rows := make([][]any, len(list))
	for i, x := range list {
		for _, key := range columns {
			rows[i] = append(rows[i], pack(x.(map[string]any)[key]))
		}
	}
	return map[string]any{"columns": columns, "rows": rows}
}

// totals returns the sums over all problems, for the top of the page.
func totals(f Facts) []field {
	var sum ProblemFacts
	for _, p := range f.Problems {
		sum.Points += p.Points
		sum.PointsMeasured += p.PointsMeasured
		sum.Candidates += p.Candidates
		sum.Trials += p.Trials
		sum.Failed += p.Failed
		sum.Replicates += p.Replicates
		sum.MachineSeconds += p.MachineSeconds
		sum.NodeSeconds += p.NodeSeconds
		sum.ExhaustiveSeconds += p.ExhaustiveSeconds
	}
	fields := []field{
		{"points measured", formatOf(sum.PointsMeasured, sum.Points)},
		{"problems", strconv.Itoa(len(f.Problems))},
		{"candidates", strconv.Itoa(sum.Candidates)},
		{"trials", strconv.Itoa(sum.Trials)},
		{"failed trials", strconv.Itoa(sum.Failed)},
		{"measured twice", strconv.Itoa(sum.Replicates)},
		{"machine time", formatSeconds(sum.MachineSeconds)},
		{"node time", formatNodeSeconds(sum.NodeSeconds)},
	}
	if _, known := f.medianTimeShare(); known {
		fields = append(fields, field{"to measure everything", formatSeconds(sum.ExhaustiveSeconds)})
	}
	return fields
}

// verificationView is the verification of one library in the form that the template shows.
type verificationView struct {
	VerificationFacts
	Fields      []field
	Collectives []verifiedView
}

// verifiedView is the verification of one collective.
type verifiedView struct {
	verify.CollectiveResult
	Speedup, Unchanged, Reverted, Obedience string
	Slower                                  int  // points that are slower although they use the default
	Ratios                                  bool // at least one point has a ratio
}

func newVerified(f VerificationFacts, c verify.CollectiveResult) verifiedView {
	v := verifiedView{CollectiveResult: c, Speedup: rangeText(c.Speedup), Unchanged: rangeText(c.ControlSpeedup), Reverted: strconv.Itoa(c.Reverted)}
	if c.RevertedWhole {
		v.Reverted = fmt.Sprintf("all (%d points)", c.Reverted)
	}
	for _, s := range f.Slower {
		if s.Collective == c.Collective {
			v.Slower++
		}
	}
	var states []string
	for _, s := range f.ForcingChecks {
		if s.Collective == c.Collective {
			states = append(states, string(s.State))
		}
	}
	slices.Sort(states)
	v.Obedience = cmp.Or(strings.Join(slices.Compact(states), ", "), absent)
	v.Ratios = slices.ContainsFunc(f.Points, func(p verify.PointResult) bool { return p.Collective == c.Collective && p.Blocks > 0 })
	return v
}

func newVerification(f VerificationFacts) verificationView {
	v := verificationView{VerificationFacts: f, Fields: []field{
		{"passes", strconv.Itoa(f.Passes)},
		{"measurements", strconv.Itoa(f.Trials)},
		{"failed", strconv.Itoa(f.Failed)},
		{"machine time", formatSeconds(f.MachineSeconds)},
		{"slower means by more than", FormatShare(f.Rules.Tolerance)},
		{"probability of a false alarm", "at most " + FormatShare(f.Rules.Alpha)},
	}}
	for _, c := range f.Collectives {
		v.Collectives = append(v.Collectives, newVerified(f, c))
	}
	return v
}

// someOf returns the first names of a list as text, and the number of the others.
func someOf(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], " "), len(names)-most)
}
