package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/mpi"
	"tutti/report"
	"tutti/surrogate/learner"
)

func resumeCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resume FOLDER",
		Short: "Resume an interrupted campaign",
		Long: `resume continues a campaign where its journal ends. The result is the same as that of
a campaign that was never interrupted. It asks for no confirmation: the cost of the
campaign was confirmed when it started.

--set changes a budget or a criterion, so that a campaign goes on that one of them
ended: stop.machine_time, stop.node_hours, stop.wall_time, stop.confirm, stop.slowdown,
stop.mistakes, stop.confidence or stop.patience. The journal records the change. The
limit stop.wall_time begins again with every resume; other budgets include what was used.

--hpo sets the number of trials of the hyperparameter study. In a finished campaign it
continues the studies until they have this number of trials, and writes the results
again. model.kind must be auto or forest.`,
		Example:           examples("tutti resume results/demo", "tutti resume results/demo --set stop.machine_time=2h", "tutti resume results/demo --hpo 100"),
		Args:              oneFolder,
		ValidArgsFunction: completeFolders,
	}
	trials := cmd.Flags().Int("hpo", 0, "trials of each hyperparameter study in all, `N`; default: hpo.trials of the campaign")
	set := cmd.Flags().StringArray("set", nil, "change a budget or a criterion: `KEY=VALUE`, repeatable")
	mustComplete(cmd.RegisterFlagCompletionFunc("set", completeAmendable))
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *trials < 0 || *trials == 0 && cmd.Flags().Changed("hpo") {
			return usageError(cmd, fmt.Errorf("--hpo %d: want 1 or more", *trials))
		}
		return resumeCampaign(cmd.Context(), a, args[0], resumeOptions{*trials, *set})
	}
	return cmd
}

// resumeOptions says what changes when a campaign is resumed.
type resumeOptions struct {
	trials int      // of the hyperparameter study; 0: as configured
	set    []string // KEY=VALUE of budgets and criteria
}

// resumeCampaign resumes the campaign in a folder.
func resumeCampaign(ctx context.Context, a *app, folder string, o resumeOptions) error {
	jnl, contents, err := journal.Open(folder)
	if err != nil {
		return err
	}
	if err := errors.Join(assembly.CheckCampaign(contents, folder), a.amend(jnl, contents, folder, o.set)); err != nil {
		return errors.Join(err, jnl.Close())
	}
	a.warn(editsOf(contents, folder))
	if facts, stops, ok := storedResults(contents, folder); ok && o.trials == 0 {
		a.warn(contents.Warnings)
		return errors.Join(showResults(a, facts, displayPath(folder), stops), jnl.Close())
	}
	c, err := assembly.Restore(contents, folder)
	if err != nil {
		return errors.Join(err, jnl.Close())
	}
	command := resumeCommandOf(c)
	if o.trials > 0 {
		if c.Config.Model.Kind == string(learner.GaussianProcess) {
			err := fmt.Errorf("--hpo %d: model.kind of %s is %s: want %s or %s", o.trials, folder, c.Config.Model.Kind, config.Auto, learner.Forest)
			return errors.Join(withCode(codeUsage, err), jnl.Close())
		}
		c.Spec.HPO = o.trials
		command += fmt.Sprintf(" --hpo %d", o.trials)
	}
	state := contents.State()
	if o.trials == 0 || !hasStopped(c, state) {
		a.watchWaits(c)
		if err = c.Connect(contents.Header.ID, a.environ); err == nil {
			err = jnl.Append(journal.Record{Kind: journal.KindResume})
		}
		if err != nil {
			return errors.Join(err, jnl.Close())
		}
	}
	a.warn(contents.Warnings)
	studied := studyTrials(state)
	err = runAndFinish(ctx, a, session{c, contents, jnl, command})
	if o.trials > 0 && studyTrials(contents.State()) == studied && (err == nil || errors.Is(err, errNotConverged)) {
		a.printLine(fmt.Sprintf("no forest was tuned: every study has %d trials or more, or fewer than 2 measured points", o.trials))
	}
	return err
}

func studyTrials(state *journal.State) int {
	n := 0
	for _, p := range state.Problems {
		n += len(p.Study.Trials)
	}
	return n
}

// hasStopped reports whether the campaign has stopped tuning every one of its problems (pairs of library and
// collective).
func hasStopped(c *assembly.Campaign, state *journal.State) bool {
	for _, p := range c.Problems {
		if past := state.Problem(p.Problem); past == nil || past.Stop == "" {
			return false
		}
	}
	return true
}

func resumeCommandOf(c *assembly.Campaign) string { return "tutti resume " + folderWord(c) }

func folderWord(c *assembly.Campaign) string { return shellWord(displayPath(c.Config.Output)) }

// session is a campaign that this process starts or resumes.
type session struct {
	campaign *assembly.Campaign
	past     *journal.Contents // of the journal
	journal  *journal.Journal
	resume   string // command line that resumes the campaign when it is interrupted
}

// runAndFinish tunes every collective of every library, writes the results and prints a summary. It closes the
// journal.
func runAndFinish(ctx context.Context, a *app, s session) (err error) {
	defer func() { err = errors.Join(err, s.journal.Close()) }()
	results, facts, err := []campaign.Result(nil), report.Facts{}, s.readSites(ctx, a)
	c := s.campaign
	if err == nil {
		results, facts, err = runAndWrite(ctx, a, s)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		a.printStopped(openJobsNotice(c), s.resume)
		return errCancelled
	case errors.Is(err, campaign.ErrLog):
		return fmt.Errorf("journal of %s: %w", c.Config.Output, err)
	case errors.Is(err, export.ErrNothing):
		return err
	case errors.Is(err, benchrunner.ErrRejected), errors.Is(err, mpi.ErrSite):
		return withdraw(ctx, s, err)
	case errors.Is(err, benchrunner.ErrNoStart):
		return fmt.Errorf("%w\nNo attempt was counted. Fix this, then resume with: %s", err, s.resume)
	case err != nil:
		return fmt.Errorf("%w\nThe measurements are kept. Resume with: %s", err, s.resume)
	}
	var stops []activelearn.StopReason
	for _, r := range results {
		stops = append(stops, r.Stop)
	}
	return showResults(a, facts, displayPath(c.Config.Output), stops)
}

// showResults prints the results of a campaign that has ended. It returns errNotConverged unless every problem
// converged.
func showResults(a *app, facts report.Facts, dir string, stops []activelearn.StopReason) error {
	if err := a.show(facts, func() { printSummary(a, facts, dir) }); err != nil {
		return err
	}
	if slices.ContainsFunc(stops, func(r activelearn.StopReason) bool { return !r.Good() }) {
		return errNotConverged
	}
	return nil
}

// storedResults returns the stored facts of a campaign that has stopped tuning all its problems, and why it stopped. It
// returns false if there is something to run or to write.
func storedResults(contents *journal.Contents, folder string) (report.Facts, []activelearn.StopReason, bool) {
	problems, err := contents.Header.Problems()
	if err != nil {
		return report.Facts{}, nil, false
	}
	var stops []activelearn.StopReason
	for _, p := range problems {
		past := contents.State().Problem(p)
		if past == nil || past.Stop == "" {
			return report.Facts{}, nil, false
		}
		stops = append(stops, activelearn.StopReason(past.Stop))
	}
	facts, ok := export.Stored(folder, version)
	return facts, stops, ok
}

// readSites reads the settings of the machine for each library for which the journal does not have them, and records
// them. The campaign is then built again, because the settings belong to its libraries.
func (s *session) readSites(ctx context.Context, a *app) error {
	past, all := s.past.State(), s.campaign.Config.Libraries
	record := func(r journal.Record) error { return s.journal.Append(r) }
	if !s.campaign.Config.Runner.Live() {
		return nil
	}
	for _, lib := range all {
		if err := s.campaign.CheckSite(ctx, lib, past, record); err != nil {
			return err
		}
	}
	unread := slices.DeleteFunc(slices.Clone(all), func(lib config.Library) bool { return past.Site(lib.Name) != nil })
	if len(unread) == 0 {
		return nil
	}
	for _, lib := range unread {
		site, err := s.campaign.ReadSite(ctx, lib, past, record)
		if err != nil {
			return err
		}
		if err := record(journal.Record{Kind: journal.KindSite, Site: &journal.Site{Library: lib.Name, Site: *site}}); err != nil {
			return fmt.Errorf("%w: %w", campaign.ErrLog, err)
		}
	}
	if err := s.past.Reread(); err != nil {
		return err
	}
	c, err := assembly.Restore(s.past, s.campaign.Config.Output)
	if err != nil {
		return err
	}
	c.Spec.HPO, c.Notice = s.campaign.Spec.HPO, s.campaign.Notice
	if err := c.Connect(s.past.Header.ID, a.environ); err != nil {
		return err
	}
	a.warn(assembly.SiteWarnings(c.Config.Libraries...))
	s.campaign = c
	return nil
}

// withdraw ends a campaign whose jobs the machine rejects. It returns an error that contains `cause`. If no job
// was accepted, it deletes the campaign's files, so the user can correct the campaign file and run tune again.
// Otherwise the error also says how to resume.
func withdraw(ctx context.Context, s session, cause error) error {
	gone, err := s.campaign.Withdraw(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("%w\n%w\nResume with: %s", cause, err, s.resume)
	case !gone:
		return fmt.Errorf("%w\nThe measurements are kept. Resume with: %s", cause, s.resume)
	}
	return cause
}

func runAndWrite(ctx context.Context, a *app, s session) ([]campaign.Result, report.Facts, error) {
	show := newProgress(a.stderr, a.environ, s.campaign)
	a.waits.printTo(show.line)
	results, err := s.campaign.Run(ctx, s.past.State(), s.journal, show.observe)
	show.stop()
	a.waits.printTo(a.printLine)
	if err != nil {
		return nil, report.Facts{}, err
	}
	if err := s.past.Reread(); err != nil {
		return nil, report.Facts{}, err
	}
	facts, err := writeResults(ctx, a, s.campaign, results, s.past.State(), s.campaign.Config.Output)
	return results, facts, err
}

// terminalWidth is the width of the text that tutti wraps, in columns.
const terminalWidth = 80

// printSummary prints the results of a campaign, the verdict about each library and the points with the highest risk.
func printSummary(a *app, f report.Facts, dir string) {
	fmt.Fprint(a.stdout, report.Summary(f))
	for line := range strings.Lines(report.EvidenceLines(f)) {
		a.printWrapped(line)
	}
	fmt.Fprint(a.stdout, report.VerificationTable(f))
	printVerdicts(a, f.Verdicts(), dir)
	warnings := slices.Clone(f.Warnings)
	for _, p := range f.Problems {
		for _, w := range p.Warnings {
			warnings = append(warnings, fmt.Sprintf("%s %s: %s", p.Library, p.Collective, w))
		}
	}
	all := len(warnings)
	warnings = slices.DeleteFunc(warnings, func(w string) bool { return slices.Contains(a.warned, w) })
	printWarnings(a.stdout, warnings)
	if printed := all - len(warnings); printed > 0 {
		fmt.Fprintf(a.stdout, "%s at the start, and in report.html\n", plural(printed, "warning"))
	}
	a.printWrapped(fmt.Sprintf("results in %s: %s", dir, strings.Join(mainFiles(f), ", ")))
}

// runsElsewhere reports whether another process has locked the journal in a folder: the campaign runs.
func runsElsewhere(folder string) bool {
	writer, err := journal.Writer(folder)
	return err == nil && writer.PID != os.Getpid() && !writer.Gone()
}

// printVerdicts prints the points with the highest risk, then the verdict about each library, which ends with the next
// command.
func printVerdicts(a *app, verdicts []report.Verdict, dir string) {
	fmt.Fprint(a.stdout, report.RiskTable(verdicts))
	for _, v := range verdicts {
		if v.Next.Command == "tutti resume" && v.Next.Options == "" && runsElsewhere(dir) {
			v.Next = report.NextStep{Why: "the campaign runs: follow it", Command: "tutti status"}
		}
		fmt.Fprint(a.stdout, report.VerdictText(v, shellWord(dir), terminalWidth))
	}
}

// mainFiles returns the names of the files that users should read first. For files that apply to a single
// number of nodes and processes, it returns only their count.
func mainFiles(f report.Facts) []string {
	names := []string{export.ReportHTML, export.ReportJSON, export.CurveCSV, export.SelectionCSV}
	for _, lib := range f.Libraries {
		names = append(names, report.MainFiles(lib.Files)...)
	}
	return names
}
