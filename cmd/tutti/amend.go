package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tutti/activelearn"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/report"
)

// amend changes budgets and criteria of a campaign that exists, and reopens the problems that they ended. It writes
// both into the journal, as one record, before anything is measured. It changes nothing if no problem can go on.
func (a *app) amend(jnl *journal.Journal, contents *journal.Contents, folder string, set []string) error {
	if len(set) == 0 {
		return nil
	}
	change, err := config.Amend(contents.Header.Spec, set)
	if err != nil {
		return withCode(codeInput, err)
	}
	if err := checkUse(contents.State(), change); err != nil {
		return withCode(codeInput, err)
	}
	problems, err := contents.Header.Problems()
	if err != nil {
		return err
	}
	reopen := reopened(contents.State(), change)
	open := len(reopen) + len(problems) - len(contents.State().Problems)
	if open == 0 && !change.Confirms {
		return withCode(codeInput, fmt.Errorf("%s: no budget ended this campaign, so a larger one changes nothing: give a larger stop.confirm, or stricter criteria, for example --set stop.slowdown=1.01", displayPath(folder)))
	}
	if err := jnl.Append(journal.Record{Kind: journal.KindSpec, Spec: change.Spec, Reopen: reopen}); err != nil {
		return err
	}
	for _, c := range change.Changes {
		a.printLine(c.String())
	}
	if open == 0 {
		a.printLine("confirmation goes on")
	} else {
		a.printLine(fmt.Sprintf("%d of %s go on", open, plural(len(problems), "problem")))
	}
	return contents.Reread()
}

// reopened returns the problems that learn again. A problem that converged keeps its stop reason unless criteria have
// changed.
func reopened(state *journal.State, change config.Amendment) (out []journal.Problem) {
	byBudget := []activelearn.StopReason{"", activelearn.Budget, activelearn.TimeUp}
	for _, p := range state.Problems {
		if change.Criteria || slices.Contains(byBudget, activelearn.StopReason(p.Stop)) {
			out = append(out, p.Problem)
		}
	}
	return out
}

// checkUse returns an error if a campaign has used up a changed budget already.
func checkUse(state *journal.State, change config.Amendment) error {
	var seconds, nodeHours float64
	for _, p := range state.Problems {
		s := problemStatusOf(p.Problem, p)
		seconds, nodeHours = seconds+s.MachineSeconds, nodeHours+s.NodeSeconds/3600
	}
	changed := func(key string) bool {
		return slices.ContainsFunc(change.Changes, func(c config.Change) bool { return c.Key == key })
	}
	if limit := change.Stop.MachineTime; limit > 0 && seconds >= limit.Seconds() && changed("stop.machine_time") {
		return fmt.Errorf("--set stop.machine_time=%s: the campaign has used %s: want more", config.ShortDuration(limit), config.ShortDuration(time.Duration(seconds*float64(time.Second)).Round(time.Second)))
	}
	if limit := change.Stop.NodeHours; limit > 0 && nodeHours >= limit && changed("stop.node_hours") {
		return fmt.Errorf("--set stop.node_hours=%g: the campaign has used %s: want more", limit, report.FormatNodeHours(nodeHours))
	}
	return nil
}

// editsOf returns warnings about keys of the campaign file that were edited after the campaign started. The campaign goes
// on as it started.
func editsOf(contents *journal.Contents, folder string) []string {
	file, edits, err := config.Edits(contents.Header.Spec)
	if err != nil || len(edits) == 0 {
		return nil // a campaign needs no file
	}
	var set, texts []string
	others := false
	for _, e := range edits {
		texts = append(texts, e.String())
		if config.Amendable(e.Key) && e.After != "" {
			set = append(set, "--set "+e.Key+"="+e.After)
		} else {
			others = true
		}
	}
	text := fmt.Sprintf("%s was edited after the campaign started, and the campaign goes on as it started: %s.", displayPath(file), strings.Join(texts, "; "))
	if len(set) > 0 {
		text += fmt.Sprintf(" Take over: tutti resume %s %s.", shellWord(displayPath(folder)), strings.Join(set, " "))
	}
	if others {
		text += fmt.Sprintf(" Keys that change what is measured need a new campaign: tutti tune -c %s --out NEW --from %s", shellWord(displayPath(file)), shellWord(displayPath(folder)))
	}
	return []string{text}
}

// completeAmendable completes the keys that tutti resume --set changes.
func completeAmendable(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, k := range config.Keys() {
		if config.Amendable(k.Name) {
			out = append(out, k.Name+"=")
		}
	}
	return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}
