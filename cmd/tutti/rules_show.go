package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/coll"
	"tutti/mpi"
	"tutti/report"
)

// formatMap is a value of --format: a letter for each layout and message size.
const formatMap = "map"

// places are the points of a table or map: every combination of the values.
type places struct {
	collectives []string
	nodes, ppn  []int
	sizes       []string
}

// flags adds the flags that name points.
func (p *places) flags(cmd *cobra.Command) {
	names := coll.Words(coll.Collectives())
	cmd.Flags().StringSliceVar(&p.collectives, "collective", nil, "`NAME`s of collectives, default: all with rules")
	cmd.Flags().IntSliceVar(&p.nodes, "nodes", nil, "`NUMBERS` of nodes")
	cmd.Flags().IntSliceVar(&p.ppn, "ppn", nil, "`NUMBERS` of processes per node, default 1")
	cmd.Flags().StringSliceVar(&p.sizes, "size", nil, "message `SIZES` such as 8,64KiB, as benchmarks count them; default: all")
	mustComplete(cmd.RegisterFlagCompletionFunc("collective", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)))
}

// given reports whether points were named.
func (p *places) given() bool { return len(p.nodes)+len(p.ppn)+len(p.sizes) > 0 }

// grid returns the layouts and sizes. The default of sizes is the powers of two up to 4 MiB.
func (p *places) grid() (layouts []coll.Layout, sizes []int64, err error) {
	nodes, ppn := p.nodes, p.ppn
	if len(nodes) == 0 {
		nodes = []int{1}
	}
	if len(ppn) == 0 {
		ppn = []int{1}
	}
	for _, n := range nodes {
		for _, m := range ppn {
			if n < 1 || m < 1 || n > 1<<24 || m > 1<<16 {
				return nil, nil, fmt.Errorf("--nodes %d --ppn %d: want 1 or more, at most %d nodes and %d processes per node", n, m, 1<<24, 1<<16)
			}
			layouts = append(layouts, coll.Layout{Nodes: n, PPN: m})
		}
	}
	slices.SortFunc(layouts, coll.CompareLayouts)
	for _, text := range p.sizes {
		size, err := coll.ParseBytes(text)
		if err != nil {
			return nil, nil, fmt.Errorf("--size %s: %w", text, err)
		}
		sizes = append(sizes, size)
	}
	if len(sizes) == 0 {
		for size := int64(1); size <= 4<<20; size *= 2 {
			sizes = append(sizes, size)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(layouts), slices.Compact(sizes), nil
}

// chosen returns the collectives to show, of those that have rules.
func (p *places) chosen(known []coll.Collective) ([]coll.Collective, error) {
	if len(p.collectives) == 0 {
		return known, nil
	}
	var out []coll.Collective
	for _, name := range p.collectives {
		c, err := coll.ParseCollective(name)
		if err != nil {
			return nil, fmt.Errorf("--collective %w", err)
		}
		out = append(out, c)
	}
	return out, nil
}

type ruleShower struct {
	*app
	places
	release string
	why     bool
}

func rulesShowCommand(a *app) *cobra.Command {
	s := ruleShower{app: a}
	cmd := &cobra.Command{
		Use:   "show FILE|FOLDER",
		Short: "Show what a selection file or a campaign selects, and why",
		Long: `show evaluates a selection file as a release of the library does, for the calls of
benchmarks: all ranks of the job, separate buffers, a predefined operation. Without
--nodes, --ppn and --size it lists the rules of the file with their lines. --why names
the rule, or the path in the tree, that decides.

With the folder of a campaign, show prints what its files select at the points of the
grid. --why adds the measured or predicted times of all candidates with their intervals,
what the guard decided, ties, and whether the selection changes at the next size.`,
		Example: examples(
			"tutti rules show tuned.rules",
			"tutti rules show tuned.rules --collective allreduce --nodes 16 --ppn 32 --why",
			"tutti rules show tree.json --nodes 1,2,4,8 --ppn 32 --format map",
			"tutti rules show results/demo --collective bcast --nodes 8 --ppn 16 --size 64KiB --why"),
		Args:              arguments(1, 1, "one selection file, or the folder of one campaign"),
		ValidArgsFunction: completeFiles,
	}
	s.flags(cmd)
	releaseFlag(cmd, &s.release)
	cmd.Flags().BoolVar(&s.why, "why", false, "say which rule decides, or why the campaign selected it")
	choiceFlag(cmd, "format", &a.format, formatTable, []string{formatTable, formatMap, formatJSON}, "`FORMAT` of the results")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if s.why && a.format == formatMap {
			return usageError(cmd, errors.New("--why: a map has no reasons: want --format table or json"))
		}
		if isFolder(args[0]) {
			return s.showCampaign(cmd, args[0])
		}
		return s.showFile(cmd, args[0])
	}
	return cmd
}

// bandOf is a range of message sizes for which a file selects one algorithm by one rule.
type bandOf struct {
	Collective coll.Collective `json:"collective"`
	Nodes      int             `json:"nodes"`
	PPN        int             `json:"ppn"`
	From       int64           `json:"from_bytes"`
	To         int64           `json:"to_bytes"`
	mpi.RuleChoice
}

// largestShown is the end of the range of sizes that show examines, in bytes.
const largestShown = 1 << 30

func (s *ruleShower) showFile(cmd *cobra.Command, path string) error {
	f, err := readRules(cmd, path, s.release)
	if err != nil {
		return err
	}
	collectives, err := s.chosen(f.Collectives)
	if err != nil {
		return usageError(cmd, err)
	}
	if f.Choose == nil && len(f.Findings) > 0 && !f.Loaded {
		s.printCheck(checkedFile{path, f})
		return withCode(codeInput, errBadRules)
	}
	if !s.given() && s.format != formatMap {
		return s.showListing(path, f, collectives)
	}
	layouts, sizes, err := s.grid()
	if err != nil {
		return usageError(cmd, err)
	}
	if s.format == formatMap {
		s.printMaps(f.Choose, collectives, layouts, sizes)
		return nil
	}
	bands := []bandOf{}
	for _, c := range collectives {
		for _, l := range layouts {
			bands = append(bands, s.bands(f.Choose, c, l, sizes)...)
		}
	}
	return s.show(bands, func() {
		s.printHead(path, f)
		s.printBands(bands)
	})
}

// bands returns the ranges of sizes with one rule each. For sizes that users named, every size is a range of its own.
func (s *ruleShower) bands(choose func(coll.Point) mpi.RuleChoice, c coll.Collective, l coll.Layout, sizes []int64) []bandOf {
	at := func(size int64) bandOf {
		return bandOf{c, l.Nodes, l.PPN, size, size, choose(coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: size})}
	}
	same := func(a, b bandOf) bool { return a.Algorithm == b.Algorithm && a.Line == b.Line }
	var out []bandOf
	if !c.Sized() {
		return []bandOf{at(0)}
	}
	if len(s.sizes) > 0 {
		for _, size := range sizes {
			out = append(out, at(size))
		}
		return out
	}
	step := c.ElementBytes() // sizes between elements are rounded
	for next := int64(0); next < largestShown; {
		b := at(next)
		to := next
		for stride := step; to < largestShown; stride *= 2 { // gallop, then bisect: the end of a band
			if !same(b, at(min(to+stride, largestShown))) {
				low, high := to, to+stride
				for low+step < high {
					if mid := low + (high-low)/2/step*step; same(b, at(mid)) {
						low = mid
					} else {
						high = mid
					}
				}
				to = low
				break
			}
			to = min(to+stride, largestShown)
		}
		b.To = to
		out, next = append(out, b), to+step
	}
	return out
}

func (s *ruleShower) printBands(bands []bandOf) {
	header := table.Row{"collective", "nodes", "ppn", "message size", "algorithm"}
	if s.why {
		header = append(header, "line")
	}
	var rows []table.Row
	var reasons []string
	for _, b := range bands {
		size := coll.FormatBytes(b.From)
		switch {
		case !b.Collective.Sized():
			size = "-"
		case b.To >= largestShown:
			size += " or more"
		case b.To > b.From:
			size += " to " + coll.FormatBytes(b.To)
		}
		row := table.Row{b.Collective, b.Nodes, b.PPN, size, b.Algorithm}
		if s.why {
			line, reason := any("-"), strings.Join(b.Rule, ", ")
			if b.Line > 0 {
				line, reason = b.Line, fmt.Sprintf("line %d: %s", b.Line, reason)
			}
			row = append(row, line)
			if !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
		rows = append(rows, row)
	}
	s.printTable(header, rows)
	for _, reason := range reasons {
		s.printFit("%s", reason)
	}
}

// printMaps prints a map for each collective: a line for each layout, a letter for each size.
func (s *ruleShower) printMaps(choose func(coll.Point) mpi.RuleChoice, collectives []coll.Collective, layouts []coll.Layout, sizes []int64) {
	for i, c := range collectives {
		var p report.ProblemFacts
		for _, l := range layouts {
			for _, size := range sizes {
				if !c.Sized() {
					size = 0
				}
				point := coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: size}
				p.Cells = append(p.Cells, report.Cell{Point: point, Algorithm: choose(point).Algorithm.String()})
			}
		}
		if i > 0 {
			fmt.Fprintln(s.stdout)
		}
		fmt.Fprintf(s.stdout, "%s\n%s", c, report.SelectionOf(p).Within(s.width()))
	}
}
