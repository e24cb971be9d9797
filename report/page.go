package report

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"tutti/internal/lazyregexp"
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
		"share":    func(x float64) string { return strings.ReplaceAll(FormatShare(x), " ", "\u00a0") }, // no line ends before %
		"slowdown": FormatSlowdown,
		"seconds":  FormatSeconds,
		"stop":     stopText,
		"join":     func(parts []string) string { return strings.Join(parts, "; ") },
		"absent":   func() string { return absent },
		"some":     someOf,
		"main":     MainFiles,
	}).Parse(pageText))
)

// WriteHTML writes the report as one self-contained HTML page. Without JavaScript the page shows the
// scores, the selection and one chart of each problem. With JavaScript it draws charts, maps and tables
// from the facts, which are embedded as compressed JSON. The same facts give the same bytes.
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
	Chart, Script template.JS   // uPlot, and the modules as one
	Packed        template.HTML // the facts, see packed
	Totals        []field
	Problems      []problemView
	Open          int // problems that have not converged

	Riskiest []libraryRisk
	Verified []verificationView
	Times    []machineTimeView
}

// libraryRisk is a point with a high risk, with its library.
type libraryRisk struct {
	Library string
	RiskyPoint
}

// field is a named figure.
type field struct{ Name, Value string }

// problemView holds what the page shows of a problem (one collective of one MPI library) even without
// JavaScript.
type problemView struct {
	ProblemFacts
	ID       string // in the page's address
	Good     bool   // converged
	Selected SelectionMap
	Chart    template.HTML // empty without an evaluation
}

func newPage(f Facts) (page, error) {
	facts, err := packed(f)
	if err != nil {
		return page{}, err
	}
	v := page{
		Facts: f, Totals: totals(f), Style: template.CSS(asset("vendor/uPlot.min.css") + asset("draw.css") + asset("report.css")),
		Chart: template.JS(asset("vendor/uPlot.iife.min.js")), Script: template.JS(bundle()), Packed: template.HTML(facts),
		Times: machineTimes(f),
	}
	for _, d := range f.Verdicts() {
		for _, r := range d.Riskiest {
			v.Riskiest = append(v.Riskiest, libraryRisk{d.Library, r})
		}
	}
	for _, p := range f.Problems {
		view := problemView{ProblemFacts: p, ID: p.Library + "-" + p.Collective, Good: p.Stop == converged, Selected: SelectionOf(p)}
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

// moduleImport matches an import statement in a JavaScript module, and the name of the imported file.
var moduleImport = lazyregexp.New(`(?m)^import [^;]*'\./([^']*)';\n`)

// bundle joins report.js and the modules that it imports into one script without import statements. Each module comes
// after those that it imports. The names that modules define at their top level must differ.
func bundle() string {
	var b strings.Builder
	seen := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		text := asset(name)
		for _, m := range moduleImport.FindAllStringSubmatch(text, -1) {
			add(m[1])
		}
		b.WriteString(moduleImport.ReplaceAllString(text, ""))
	}
	add("report.js")
	return b.String()
}

func asset(name string) string {
	text, err := Assets.ReadFile("assets/" + name)
	if err != nil {
		panic("report: " + err.Error())
	}
	return string(text)
}

// packed encodes facts as JSON, compresses them by gzip, and encodes the result in base64.
func packed(f Facts) (string, error) {
	text, err := marshal(f)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err = w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
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
		{"machine time", FormatSeconds(sum.MachineSeconds)},
		{"node time", FormatNodeSeconds(sum.NodeSeconds)},
	}
	if _, known := f.medianTimeShare(); known {
		fields = append(fields, field{"to measure everything", FormatSeconds(sum.ExhaustiveSeconds)})
	}
	return fields
}

type verificationView struct {
	VerificationFacts
	Fields      []field
	Collectives []verifiedView
}

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
		{"machine time", FormatSeconds(f.MachineSeconds)},
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

// MainFiles returns the names of files in the folder of a campaign. Of the files in folders below, which are for
// single layouts, it gives the number.
func MainFiles(names []string) []string {
	var out []string
	layouts := 0
	for _, name := range names {
		if strings.Contains(name, "/") {
			layouts++
			continue
		}
		out = append(out, name)
	}
	if layouts > 0 {
		out = append(out, fmt.Sprintf("%d files for single layouts", layouts))
	}
	return out
}
