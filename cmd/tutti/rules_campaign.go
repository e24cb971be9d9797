package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/activelearn"
	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/coll"
	"tutti/report"
)

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// concluded reads the folder of a campaign and makes its final selections. `library` limits them to one
// library, unless it is empty.
func (a *app) concluded(cmd *cobra.Command, folder, flag, library string) ([]campaign.FinalSelection, error) {
	c, results, contents, err := assembly.RestoreAll(folder)
	if err != nil {
		return nil, err
	}
	a.warn(contents.Warnings)
	library, _, _ = strings.Cut(library, "=")
	if _, err := chooseLibraries(c, library); err != nil {
		return nil, usageError(cmd, fmt.Errorf("--%s %w", flag, err))
	}
	models, err := export.Train(cmd.Context(), c, results)
	if err != nil {
		return nil, err
	}
	done, err := models.Conclude(contents.State())
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(done.Problems), func(p campaign.FinalSelection) bool { return library != "" && p.Library != library }), nil
}

// selectedPoint is what a campaign selects at a point of its grid.
type selectedPoint struct {
	Library    string          `json:"library"`
	Collective coll.Collective `json:"collective"`
	report.Cell
	Boundary   string                   `json:"boundary,omitempty"` // what is selected at neighbouring sizes, if it differs
	Candidates []campaign.CandidateTime `json:"candidates,omitempty"`
}

func (s *ruleShower) showCampaign(cmd *cobra.Command, folder string) error {
	problems, err := s.concluded(cmd, folder, "for", s.release)
	if err != nil {
		return err
	}
	points := []selectedPoint{}
	var maps []report.ProblemFacts
	var names []string
	for _, p := range problems {
		here, err := s.selected(cmd, p)
		if err != nil {
			return err
		}
		points = append(points, here...)
		if len(here) > 0 {
			facts := report.ProblemFacts{}
			for _, x := range here {
				facts.Cells = append(facts.Cells, x.Cell)
			}
			maps, names = append(maps, facts), append(names, p.Problem.Problem.String())
		}
	}
	if len(points) == 0 {
		return withCode(codeUsage, fmt.Errorf("%s: no point of its grid has these values: want some of %s", folder, gridText(problems)))
	}
	if s.format == formatMap {
		for i, m := range maps {
			fmt.Fprintf(s.stdout, "%s%s\n%s", map[bool]string{true: "\n"}[i > 0], names[i], report.SelectionOf(m).Within(s.width()))
		}
		return nil
	}
	return s.show(points, func() { s.printSelected(points) })
}

// gridText lists the values of the grid of a campaign.
func gridText(problems []campaign.FinalSelection) string {
	nodes, ppn, collectives := []string{}, []string{}, []string{}
	add := func(to *[]string, text string) {
		if !slices.Contains(*to, text) {
			*to = append(*to, text)
		}
	}
	for _, p := range problems {
		add(&collectives, string(p.Collective))
		for _, row := range p.Rows {
			add(&nodes, fmt.Sprint(row.Point.Nodes))
			add(&ppn, fmt.Sprint(row.Point.PPN))
		}
	}
	return fmt.Sprintf("--collective %s, --nodes %s, --ppn %s", strings.Join(collectives, ","), strings.Join(nodes, ","), strings.Join(ppn, ","))
}

// selected returns the points of a problem that the flags name.
func (s *ruleShower) selected(cmd *cobra.Command, p campaign.FinalSelection) ([]selectedPoint, error) {
	collectives, err := s.chosen([]coll.Collective{p.Collective})
	if err != nil {
		return nil, usageError(cmd, err)
	}
	if !slices.Contains(collectives, p.Collective) {
		return nil, nil
	}
	_, sizes, err := s.grid()
	if err != nil {
		return nil, usageError(cmd, err)
	}
	cells, err := export.Cells(p)
	if err != nil {
		return nil, err
	}
	var out []selectedPoint
	for _, cell := range cells {
		at := cell.Point
		at.Collective = p.Collective
		if len(s.nodes) > 0 && !slices.Contains(s.nodes, at.Nodes) || len(s.ppn) > 0 && !slices.Contains(s.ppn, at.PPN) ||
			len(s.sizes) > 0 && at.Collective.Sized() && !slices.Contains(sizes, at.MsgBytes) {
			continue
		}
		x := selectedPoint{Library: p.Library, Collective: p.Collective, Cell: cell}
		if s.why {
			x.Boundary = boundaryOf(cells, cell)
			if x.Candidates, err = p.Candidates(at); err != nil {
				return nil, err
			}
		}
		out = append(out, x)
	}
	return out, nil
}

// boundaryOf says what is selected at the next smaller and larger size of a layout, if it differs.
func boundaryOf(cells []report.Cell, at report.Cell) string {
	var before, after *report.Cell
	for i, c := range cells {
		switch {
		case c.WithSize(0) != at.WithSize(0):
		case c.MsgBytes < at.MsgBytes && (before == nil || c.MsgBytes > before.MsgBytes):
			before = &cells[i]
		case c.MsgBytes > at.MsgBytes && (after == nil || c.MsgBytes < after.MsgBytes):
			after = &cells[i]
		}
	}
	var out []string
	for _, c := range []*report.Cell{before, after} {
		if c != nil && c.Algorithm != at.Algorithm {
			out = append(out, fmt.Sprintf("%s at %s", c.Algorithm, coll.FormatBytes(c.MsgBytes)))
		}
	}
	return strings.Join(out, ", ")
}

func (s *ruleShower) printSelected(points []selectedPoint) {
	if s.why {
		for i, x := range points {
			if i > 0 {
				fmt.Fprintln(s.stdout)
			}
			s.printReasons(x)
		}
		return
	}
	rows := make([]table.Row, len(points))
	for i, x := range points {
		rows[i] = table.Row{x.Library, x.Collective, x.Nodes, x.PPN, coll.FormatBytes(x.MsgBytes), x.Algorithm, x.Guard}
	}
	s.printTable(table.Row{"library", "collective", "nodes", "ppn", "message size", "algorithm", "reason"}, rows)
}

// guardTexts say what the guard decided.
var guardTexts = map[activelearn.GuardResult]string{
	activelearn.Confirmed:    "it was measured faster than the default, by more than the noise",
	activelearn.Tie:          "the default stays: the fastest algorithm was measured faster, but not by more than the noise",
	activelearn.BestDefault:  "the default is measured or predicted to be the fastest",
	activelearn.NotConfirmed: "the default stays: the algorithm that is predicted to be fastest, or the default, has no measurement here",
	activelearn.NoDefault:    "the default cannot be measured here, but elsewhere",
	activelearn.NotSelected:  "the default stays although an algorithm was measured faster: the rules cannot select it here, or a verification found it slower",
	activelearn.Equal:        "it is at most a little slower than the default here; the settings hold for all sizes of the layout, which gain on average",
	activelearn.NotGuarded:   "as predicted: no default was measured, or export.guard is false",
}

func (s *ruleShower) printReasons(x selectedPoint) {
	s.printFit("%s %s %s: %s", x.Library, x.Collective, x.Where(), x.Algorithm)
	s.printFit("guard: %s", guardTexts[activelearn.GuardResult(x.Guard)])
	switch {
	case x.Tie:
		s.printFit("tie: %s may be as fast, within the precision of the measurements", x.Rival)
	case x.Rival != "" && x.PMistake != nil:
		s.printFit("rival: %s; probability that the choice is a mistake: %.2g", x.Rival, *x.PMistake)
	}
	if x.Boundary != "" {
		s.printFit("boundary: %s", x.Boundary)
	}
	var rows []table.Row
	for _, c := range x.Candidates {
		row := table.Row{c.Algorithm, "", "", "", c.Source}
		if c.Seconds > 0 {
			row[1] = fmt.Sprintf("%.4g", c.Seconds*1e6)
		}
		if c.High > 0 {
			row[2] = fmt.Sprintf("%.4g to %.4g", c.Low*1e6, c.High*1e6)
		}
		if c.Ratio > 0 {
			row[3] = fmt.Sprintf("%.3f", c.Ratio)
		}
		rows = append(rows, row)
	}
	s.printTable(table.Row{"candidate", "time in us", "95 % interval", "to the fastest", "source"}, rows, 2, 4)
}
