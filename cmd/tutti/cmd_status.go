package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/store"
)

// problemStatus is one line of tutti status.
type problemStatus struct {
	Library        string  `json:"library"`
	Collective     string  `json:"collective"`
	Round          int     `json:"round"`
	Trials         int     `json:"trials"`
	Failed         int     `json:"failed"`
	CandidateShare float64 `json:"candidate_share"` // measured of all point x algorithm
	MachineSeconds float64 `json:"machine_seconds"`
	Slowdown       float64 `json:"slowdown"` // 0 before the first evaluation, as mistakes
	Mistakes       float64 `json:"mistakes"`
	Stop           string  `json:"stop"` // "" while not stopped
}

// campaignStatus is what tutti status prints as JSON.
type campaignStatus struct {
	Campaign string          `json:"campaign"`
	Created  string          `json:"created"`
	Records  int             `json:"records"`
	Warnings []string        `json:"warnings"`
	Jobs     []string        `json:"jobs"` // submitted or about to be, and not read yet
	Problems []problemStatus `json:"problems"`
}

func (a *app) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status FOLDER",
		Short:   "Tell how far a campaign has come",
		Long:    `status reads the journal and needs neither lock nor recorded data: it works while the campaign runs.`,
		Example: indent("tutti status results/demo", "tutti status results/demo --output json"),
		Args:    oneFolder,
	}
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		contents, err := store.Read(args[0])
		if err != nil {
			return withCode(codeInput, err)
		}
		s := statusOf(contents)
		if *output == "json" {
			return a.printJSON(s)
		}
		a.printStatus(s)
		return nil
	}
	return cmd
}

// statusOf condenses a journal, problems in the order of the campaign file; those
// that have not begun have zeros.
func statusOf(c *store.Contents) campaignStatus {
	s := campaignStatus{
		Campaign: c.Header.Campaign,
		Created:  c.Header.Created.Format("2006-01-02 15:04:05 MST"),
		Records:  len(c.Records),
		Warnings: append([]string{}, c.Warnings...),
		Jobs:     []string{},
		Problems: []problemStatus{},
	}
	for _, j := range openJobs(c.Records) {
		s.Jobs = append(s.Jobs, j.Name)
	}
	at := map[store.Problem]int{}
	place := func(p store.Problem) int {
		if _, known := at[p]; !known {
			at[p] = len(s.Problems)
			s.Problems = append(s.Problems, problemStatus{Library: p.Library, Collective: string(p.Collective)})
		}
		return at[p]
	}
	for _, p := range problemsOf(c.Header) {
		place(p)
	}
	for _, r := range c.Records {
		if r.Problem != (store.Problem{}) {
			s.Problems[place(r.Problem)].add(r)
		}
	}
	return s
}

// problemsOf lists the problems of the campaign in a journal's header; none when
// it says nothing readable, which is no obstacle to telling its records.
func problemsOf(h store.Header) []store.Problem {
	var spec config.Campaign
	if err := json.Unmarshal(h.Spec, &spec); err != nil {
		return nil
	}
	var out []store.Problem
	for _, lib := range spec.Libraries {
		for _, c := range spec.Collectives {
			out = append(out, store.Problem{Library: lib.Name, Collective: coll.Collective(c)})
		}
	}
	return out
}

func (p *problemStatus) add(r store.Record) {
	p.Round = max(p.Round, r.Round)
	switch r.Kind {
	case store.KindTrial:
		p.Trials++
		p.MachineSeconds += r.Trial.CostSeconds
		if r.Trial.Error != "" {
			p.Failed++
		}
	case store.KindEvaluation:
		p.CandidateShare = r.Evaluation.CandidateShare
		p.Slowdown, p.Mistakes = r.Evaluation.Slowdown, r.Evaluation.Mistakes
	case store.KindStop:
		p.Stop = r.Stop
	}
}

func (a *app) printStatus(s campaignStatus) {
	fmt.Fprintf(a.stdout, "campaign %s, begun %s, %d records\n", s.Campaign, s.Created, s.Records)
	var rows []table.Row
	for _, p := range s.Problems {
		stop, slowdown, mistakes := p.Stop, "–", "–"
		if stop == "" {
			stop = "not yet"
		}
		if p.Slowdown > 0 { // judged at least once
			slowdown, mistakes = fmt.Sprintf("%.3f", p.Slowdown), fmt.Sprintf("%.1f %%", 100*p.Mistakes)
		}
		rows = append(rows, table.Row{
			p.Library, p.Collective, p.Round, p.Trials, p.Failed, fmt.Sprintf("%.1f %%", 100*p.CandidateShare),
			seconds(p.MachineSeconds), slowdown, mistakes, stop,
		})
	}
	a.printTable(table.Row{"library", "collective", "round", "trials", "failed", "measured", "machine time", "slowdown", "mistakes", "stop"}, rows)
	if len(s.Jobs) > 0 {
		fmt.Fprintf(a.stdout, "jobs not read yet: %s\n", strings.Join(s.Jobs, ", "))
	}
	for _, w := range s.Warnings {
		fmt.Fprintln(a.stdout, "warning:", w)
	}
}
