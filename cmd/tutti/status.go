package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/internal/lazyregexp"
	"tutti/journal"
	"tutti/report"
	"tutti/verify"
)

type problemStatus struct {
	Library        string  `json:"library"`
	Collective     string  `json:"collective"`
	Round          int     `json:"round"`
	Trials         int     `json:"trials"`
	Failed         int     `json:"failed"`
	CandidateShare float64 `json:"candidate_share"` // measured share of all pairs of point and algorithm; 0 if unknown
	MachineSeconds float64 `json:"machine_seconds"`
	NodeSeconds    float64 `json:"node_seconds"` // until the last evaluation
	Slowdown       float64 `json:"slowdown"`     // slowdown and mistakes are 0 if the latest round was not evaluated
	Mistakes       float64 `json:"mistakes"`
	Source         string  `json:"source"`               // of slowdown and mistakes, as in report.json
	Stop           string  `json:"stop"`                 // "" while not stopped
	GoesOn         string  `json:"goes_on,omitempty"`    // why the criteria do not end it; "" if unknown
	NotGuarded     bool    `json:"not_guarded,omitzero"` // the library's default is not measured, or export.guard is false

	Reasons []string `json:"reasons,omitempty"` // of failed trials, with their numbers, the most frequent first
}

type campaignStatus struct {
	Campaign string           `json:"campaign"`
	Activity journal.Activity `json:"activity"`          // or "finished"
	Process  string           `json:"process,omitempty"` // that writes, or died
	Created  time.Time        `json:"created"`
	Last     time.Time        `json:"last_activity"`
	Records  int              `json:"records"`
	Warnings []string         `json:"warnings"`
	Jobs     []string         `json:"jobs"` // jobs whose results have not been read
	Budgets  []budgetStatus   `json:"budgets"`

	PreflightSeconds float64 `json:"preflight_seconds,omitzero"` // machine time of the launches that read the settings of the machine

	Problems []problemStatus `json:"problems"`

	Verification []string         `json:"verification"`       // what the verification of each library shows
	Verdicts     []report.Verdict `json:"verdicts,omitempty"` // by library; none before the campaign has ended
}

// budgetStatus says how much of one budget was used and how much is left. The unit is a second, or an hour for
// stop.node_hours.
type budgetStatus struct {
	Key   string  `json:"key"`
	Used  float64 `json:"used"`
	Limit float64 `json:"limit"`
	Left  float64 `json:"left"`
}

func statusCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status FOLDER",
		Short: "Show the progress of a campaign",
		Long: `status shows whether a process works on the campaign (running), none does (stopped),
it was killed (dead), or every problem has ended (finished). It shows the last activity,
what is left of each budget, and the figures of each problem. It reads the journal and
works while the campaign runs.`,
		Example:           examples("tutti status results/demo", "tutti status results/demo --format json"),
		Args:              oneFolder,
		ValidArgsFunction: completeFolders,
	}
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		contents, err := journal.Read(args[0])
		if err != nil {
			return withCode(codeInput, err)
		}
		activity, process, err := journal.ActivityIn(args[0])
		if err != nil {
			return withCode(codeInput, err)
		}
		s := statusOf(contents, activity, process)
		if facts, _, ok := storedResults(contents, args[0]); ok {
			s.addResults(facts)
		}
		return a.show(s, func() { printStatus(a, s, displayPath(args[0])) })
	}
	return cmd
}

// statusOf returns the status of a campaign from its journal. The problems are in the order of the campaign
// file. For a problem that has not started, all numbers are zero.
func statusOf(c *journal.Contents, activity journal.Activity, process string) campaignStatus {
	s := campaignStatus{
		Campaign: c.Header.Campaign, Activity: activity, Process: process,
		Created: c.Header.Created.UTC().Truncate(time.Second), Last: c.Last.UTC().Truncate(time.Second),
		Records: c.Records, Warnings: c.Warnings,
	}
	state := c.State()
	for _, j := range state.OpenJobs() {
		s.Jobs = append(s.Jobs, j.Name)
	}
	var spec config.Campaign
	if json.Unmarshal(c.Header.Spec, &spec) != nil {
		spec = config.Campaign{} // the records may still be readable
	}
	problems, _ := c.Header.Problems()
	for _, p := range state.Problems {
		if !slices.Contains(problems, p.Problem) {
			problems = append(problems, p.Problem)
		}
	}
	for _, p := range problems {
		past := state.Problem(p)
		one := problemStatusOf(p, past)
		if one.Stop == "" {
			one.GoesOn = past.GoesOn(spec.Stop.Criteria())
		}
		one.NotGuarded = one.Trials > 0 && (!spec.Export.Guard || !measuresDefault(past))
		var err error
		if one.Reasons, err = failureReasons(past); err != nil {
			s.Warnings = append(s.Warnings, err.Error())
		}
		s.Problems = append(s.Problems, one)
	}
	for _, lib := range spec.Libraries {
		entries, err := verify.Entries(state.Verification(lib.Name))
		if err != nil {
			s.Warnings = append(s.Warnings, err.Error())
			continue
		}
		if r, err := verify.Restore(lib.Name, entries); err == nil && r.Sessions > 0 {
			s.Verification = append(s.Verification, lib.Name+": "+r.Headline())
		}
	}
	if activity != journal.Running {
		spec.Stop.WallTime = 0 // it begins again when the campaign is resumed
	}
	machine, node := state.PreflightSeconds()
	s.PreflightSeconds = machine
	s.addBudgets(spec.Stop, time.Since(c.Begun), node)
	measuring := func(p problemStatus) bool { return p.Stop == "" }
	if activity == journal.Stopped && !slices.ContainsFunc(s.Problems, measuring) {
		s.Activity = "finished"
	}
	return s
}

// addResults adds the results of a campaign that has ended: the verdicts, and the figures of the report.
func (s *campaignStatus) addResults(f report.Facts) {
	s.Verdicts = f.Verdicts()
	for i, p := range s.Problems {
		at := slices.IndexFunc(f.Problems, func(r report.ProblemFacts) bool { return r.Library == p.Library && r.Collective == p.Collective })
		if at < 0 || len(f.Problems[at].Scores) == 0 {
			continue
		}
		tuned := f.Problems[at].Scores[0]
		s.Problems[i].Slowdown, s.Problems[i].Mistakes, s.Problems[i].Source = tuned.Slowdown, tuned.Mistakes, tuned.Source
	}
}

// addBudgets adds the budgets of a campaign. `wall` is the time since the campaign was started or resumed. It is
// negative if the clock was set back, or that of another machine is ahead. `preflight` are the node-seconds of the launches
// that read settings.
func (s *campaignStatus) addBudgets(stop config.Stop, wall time.Duration, preflight float64) {
	machine, nodeHours := s.PreflightSeconds, preflight/3600
	for _, p := range s.Problems {
		machine += p.MachineSeconds
		nodeHours += p.NodeSeconds / 3600
	}
	for _, b := range []budgetStatus{
		{Key: "stop.wall_time", Used: max(0, wall.Seconds()), Limit: stop.WallTime.Seconds()},
		{Key: "stop.machine_time", Used: machine, Limit: stop.MachineTime.Seconds()},
		{Key: "stop.node_hours", Used: nodeHours, Limit: stop.NodeHours},
	} {
		if b.Left = max(0, b.Limit-b.Used); b.Limit > 0 {
			s.Budgets = append(s.Budgets, b)
		}
	}
}

// problemStatusOf returns the status of a problem. If the problem has not started, `past` is nil.
func problemStatusOf(id journal.Problem, past *journal.ProblemState) problemStatus {
	p := problemStatus{Library: id.Library, Collective: string(id.Collective), Round: past.Last()}
	if past == nil {
		return p
	}
	p.Stop = past.Stop
	for i, r := range past.Rounds {
		p.Trials += r.Done + r.Failed
		p.Failed += r.Failed
		p.MachineSeconds += r.Seconds
		switch e := r.Evaluation; {
		case e != nil:
			p.CandidateShare, p.NodeSeconds, p.Slowdown, p.Mistakes, p.Source = e.CandidateShare, e.NodeSeconds, e.Slowdown, e.Mistakes, string(e.Source)
		case r.Done > 0 && (i+1 < len(past.Rounds) || p.Stop != ""): // the round has ended and could not be evaluated
			p.CandidateShare, p.Slowdown, p.Mistakes, p.Source = 0, 0, 0, ""
		}
	}
	if e := past.Files; e != nil {
		p.CandidateShare, p.NodeSeconds, p.Slowdown, p.Mistakes = e.CandidateShare, e.NodeSeconds, e.Slowdown, e.Mistakes
	}
	return p
}

// measuresDefault reports whether a batch of a problem has the library's default. One of the first batches has every
// algorithm of the space.
func measuresDefault(past *journal.ProblemState) bool {
	for _, r := range past.Rounds {
		batch, err := r.Batch()
		if err == nil && slices.ContainsFunc(batch, func(c coll.Candidate) bool { return c.Algorithm.IsDefault() }) {
			return true
		}
	}
	return false
}

// mostReasons is the number of different reasons of failed trials that status names for a problem.
const mostReasons = 3

var numbers = lazyregexp.New(`[0-9.]+`)

// failureReasons returns why trials of a problem failed, as texts such as "2 run: wrong data". Reasons that differ only in
// numbers count as one.
func failureReasons(p *journal.ProblemState) ([]string, error) {
	type reason struct {
		text  string
		count int
	}
	var all []*reason
	if p == nil {
		return nil, nil
	}
	for t, err := range p.FailedTrials() {
		if err != nil {
			return nil, err
		}
		text := t.Phase + ": " + t.Error
		i := slices.IndexFunc(all, func(o *reason) bool {
			return numbers.ReplaceAllString(o.text, "") == numbers.ReplaceAllString(text, "")
		})
		if i < 0 {
			i, all = len(all), append(all, &reason{text: text})
		}
		all[i].count++
	}
	slices.SortStableFunc(all, func(a, b *reason) int { return cmp.Compare(b.count, a.count) })
	var out []string
	for _, r := range all[:min(len(all), mostReasons)] {
		out = append(out, fmt.Sprintf("%d %s", r.count, r.text))
	}
	if more := len(all) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("%d other reasons", more))
	}
	return out, nil
}

// goesOn returns a line for each problem of which it is known why the criteria do not end it.
func goesOn(problems []problemStatus) []string {
	var out []string
	for _, p := range problems {
		if p.GoesOn != "" {
			out = append(out, fmt.Sprintf("%s %s goes on: %s", p.Library, p.Collective, p.GoesOn))
		}
	}
	return out
}

func printStatus(a *app, s campaignStatus, dir string) {
	activity := string(s.Activity)
	if s.Process != "" {
		activity += " (" + s.Process + ")"
	}
	a.printFit("campaign %s, %s\nstarted %s, last activity %s, %d records", s.Campaign, activity, s.Created.Format(time.RFC3339), s.Last.Format(time.RFC3339), s.Records)
	for _, b := range s.Budgets {
		show := report.FormatSeconds
		if b.Key == "stop.node_hours" {
			show = report.FormatNodeHours
		}
		a.printFit("%s: %s of %s used, %s left", b.Key, show(b.Used), show(b.Limit), show(b.Left))
	}
	if s.PreflightSeconds > 0 {
		a.printFit("machine time of reading the settings of the machine: %s", report.FormatSeconds(s.PreflightSeconds))
	}
	var rows []table.Row
	var sources []string
	for _, p := range s.Problems {
		sources = append(sources, p.Source)
		stop, measured, slowdown, mistakes := cmp.Or(p.Stop, "not yet"), "–", "–", "–"
		if p.Slowdown > 0 {
			slowdown, mistakes = report.FormatSlowdown(p.Slowdown), report.FormatShare(p.Mistakes)
		}
		if p.CandidateShare > 0 || p.Trials == p.Failed {
			measured = report.FormatShare(p.CandidateShare)
		}
		rows = append(rows, table.Row{
			p.Library, p.Collective, p.Trials, measured, report.FormatSeconds(p.MachineSeconds), slowdown, mistakes, stop,
		})
	}
	a.printTable(table.Row{"library", "collective", "trials", "measured", "machine time", "tuned", "mistakes", "stop"}, rows)
	for _, text := range report.SourceTexts(sources) {
		a.printWrapped(text)
	}
	for _, text := range goesOn(s.Problems) {
		a.printWrapped(text)
	}
	for _, p := range s.Problems {
		if p.Failed > 0 {
			a.printWrapped(fmt.Sprintf("%s %s: %d of %d trials failed: %s", p.Library, p.Collective, p.Failed, p.Trials, strings.Join(p.Reasons, "; ")))
		}
	}
	for _, p := range s.Problems {
		if p.NotGuarded {
			a.printWrapped(fmt.Sprintf("%s %s: not guarded: the selection is as predicted and may be slower than the default", p.Library, p.Collective))
		}
	}
	printVerdicts(a, s.Verdicts, dir)
	for _, text := range s.Verification {
		a.printWrapped("verification of " + text)
	}
	if len(s.Jobs) > 0 {
		a.printWrapped("jobs without results yet: " + strings.Join(s.Jobs, ", "))
	}
	printWarnings(a.stdout, s.Warnings)
}
