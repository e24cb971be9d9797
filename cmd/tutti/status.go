package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/report"
)

// problemStatus is the progress of one problem.
type problemStatus struct {
	Library        string  `json:"library"`
	Collective     string  `json:"collective"`
	Round          int     `json:"round"`
	Trials         int     `json:"trials"`
	Failed         int     `json:"failed"`
	CandidateShare float64 `json:"candidate_share"` // measured share of all pairs of point and algorithm
	MachineSeconds float64 `json:"machine_seconds"`
	Slowdown       float64 `json:"slowdown"` // slowdown and mistakes are 0 before the first evaluation
	Mistakes       float64 `json:"mistakes"`
	Source         string  `json:"source"` // of slowdown and mistakes, as in report.json
	Stop           string  `json:"stop"`   // "" while not stopped
}

// campaignStatus is the JSON output of tutti status.
type campaignStatus struct {
	Campaign string          `json:"campaign"`
	Created  string          `json:"created"`
	Records  int             `json:"records"`
	Warnings []string        `json:"warnings"`
	Jobs     []string        `json:"jobs"` // jobs whose results have not been read
	Problems []problemStatus `json:"problems"`
}

func statusCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "status FOLDER",
		Short:             "Show the progress of a campaign",
		Long:              `status reads the journal. It works while the campaign runs.`,
		Example:           indent("tutti status results/demo", "tutti status results/demo --format json"),
		Args:              oneFolder,
		ValidArgsFunction: completeFolders,
	}
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		contents, err := journal.Read(args[0])
		if err != nil {
			return withCode(codeInput, err)
		}
		s := statusOf(contents)
		if *format == formatJSON {
			return a.printJSON(s)
		}
		printStatus(a, s)
		return nil
	}
	return cmd
}

// statusOf returns the status of a campaign from its journal. The problems are in the order of the campaign
// file. For a problem that has not started, all numbers are zero.
func statusOf(c *journal.Contents) campaignStatus {
	s := campaignStatus{
		Campaign: c.Header.Campaign,
		Created:  c.Header.Created.Format("2006-01-02 15:04:05 MST"),
		Records:  c.Records,
		Warnings: append([]string{}, c.Warnings...),
		Jobs:     []string{},
		Problems: []problemStatus{},
	}
	state := c.State()
	for _, j := range state.OpenJobs() {
		s.Jobs = append(s.Jobs, j.Name)
	}
	problems := problemsOf(c.Header)
	for _, p := range state.Problems {
		if !slices.Contains(problems, p.Problem) {
			problems = append(problems, p.Problem)
		}
	}
	for _, p := range problems {
		s.Problems = append(s.Problems, problemStatusOf(p, state.Problem(p)))
	}
	return s
}

// problemsOf returns the problems in the header of a journal. It returns none if the header cannot
// be read, because the records may still be readable.
func problemsOf(h journal.Header) []journal.Problem {
	var spec config.Campaign
	if err := json.Unmarshal(h.Spec, &spec); err != nil {
		return nil
	}
	var out []journal.Problem
	for _, lib := range spec.Libraries {
		for _, c := range spec.Collectives {
			out = append(out, journal.Problem{Library: lib.Name, Collective: coll.Collective(c)})
		}
	}
	return out
}

// problemStatusOf returns the status of a problem. If the problem has not started, past is nil.
func problemStatusOf(id journal.Problem, past *journal.ProblemState) problemStatus {
	p := problemStatus{Library: id.Library, Collective: string(id.Collective), Round: past.Last()}
	if past == nil {
		return p
	}
	p.Stop = past.Stop
	for _, r := range past.Rounds {
		p.Trials += r.Done + r.Failed
		p.Failed += r.Failed
		p.MachineSeconds += r.Seconds
		if e := r.Evaluation; e != nil {
			p.CandidateShare, p.Slowdown, p.Mistakes, p.Source = e.CandidateShare, e.Slowdown, e.Mistakes, string(e.Source)
		}
	}
	return p
}

func printStatus(a *app, s campaignStatus) {
	fmt.Fprintf(a.stdout, "campaign %s, started %s, %d records\n", s.Campaign, s.Created, s.Records)
	var rows []table.Row
	var sources []string
	for _, p := range s.Problems {
		sources = append(sources, p.Source)
		stop, slowdown, mistakes := cmp.Or(p.Stop, "not yet"), "–", "–"
		if p.Slowdown > 0 { // after the first evaluation
			slowdown, mistakes = report.FormatSlowdown(p.Slowdown), report.FormatShare(p.Mistakes)
		}
		rows = append(rows, table.Row{
			p.Library, p.Collective, p.Trials, report.FormatShare(p.CandidateShare), formatSeconds(p.MachineSeconds), slowdown, mistakes, stop,
		})
	}
	a.printTable(table.Row{"library", "collective", "trials", "measured", "machine time", "tuned", "mistakes", "stop"}, rows)
	for _, text := range report.SourceTexts(sources) {
		fmt.Fprintln(a.stdout, text)
	}
	for _, p := range s.Problems {
		if p.Failed > 0 {
			fmt.Fprintf(a.stdout, "%s %s: %d of %d trials failed\n", p.Library, p.Collective, p.Failed, p.Trials)
		}
	}
	if len(s.Jobs) > 0 {
		fmt.Fprintf(a.stdout, "jobs without results yet: %s\n", strings.Join(s.Jobs, ", "))
	}
	printWarnings(a.stdout, s.Warnings)
}
