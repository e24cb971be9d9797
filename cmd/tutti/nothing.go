package main

import (
	"fmt"

	"tutti/coll"
	"tutti/journal"
)

// nothing is what a journal says of a campaign that has measured nothing.
type nothing struct {
	Campaign  string      `json:"campaign"`
	Jobs      int         `json:"jobs"`
	Stillborn []stillborn `json:"stillborn"` // jobs of which no benchmark started
	Failed    int         `json:"failed"`    // trials
	First     string      `json:"first"`     // why the first of them failed
	GoOn      string      `json:"go_on"`     // the command
}

// stillborn is a job that started nothing.
type stillborn struct {
	Job        string `json:"job"`
	Benchmarks int    `json:"benchmarks"`
	Why        string `json:"why"`
}

// nothingOf gathers why nothing was measured.
func nothingOf(contents *journal.Contents, goOn string) nothing {
	state := contents.State()
	n := nothing{Campaign: contents.Header.Campaign, Jobs: len(state.Jobs), Stillborn: []stillborn{}, GoOn: goOn}
	for _, j := range state.Jobs {
		if j.Stillborn != "" {
			n.Stillborn = append(n.Stillborn, stillborn{j.Name, len(j.Carries), j.Stillborn})
		}
	}
	for _, r := range state.Rounds {
		for _, t := range r.Trials {
			if t.State != coll.TrialFailed {
				continue
			}
			if n.Failed++; n.Failed == 1 {
				n.First = fmt.Sprintf("%v: %s: %s", t.Candidate, t.Phase, t.Error)
			}
		}
	}
	return n
}

// tellNothing prints why there is no report yet.
func (a *app) tellNothing(n nothing, output string) error {
	if output == "json" {
		return a.printJSON(n)
	}
	fmt.Fprintf(a.stdout, "campaign %s: nothing has been measured in %d jobs; there is nothing to report or to select\n", n.Campaign, n.Jobs)
	for _, j := range n.Stillborn {
		fmt.Fprintf(a.stdout, "job %s: none of %d benchmarks started: %s\n", j.Job, j.Benchmarks, j.Why)
	}
	if n.Failed > 0 {
		fmt.Fprintf(a.stdout, "%d trials failed; %s\n", n.Failed, n.First)
	}
	if len(n.Stillborn)+n.Failed > 0 {
		fmt.Fprint(a.stdout, "mend it, then ")
	}
	fmt.Fprintf(a.stdout, "go on with: %s\n", n.GoOn)
	return nil
}
