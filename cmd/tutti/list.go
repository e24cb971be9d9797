package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/campaign/export"
	"tutti/journal"
	"tutti/report"
)

// maxListDepth limits how many folders below the given one tutti list looks for campaigns.
const maxListDepth = 5

// listedCampaign is a campaign in a list.
type listedCampaign struct {
	Folder   string           `json:"folder"`
	Campaign string           `json:"campaign"`
	Activity journal.Activity `json:"activity"` // or "finished"; empty with Error
	Created  time.Time        `json:"created"`
	Problems int              `json:"problems"`
	Stopped  map[string]int   `json:"stopped"`           // number of problems by stop reason
	GoesOn   []string         `json:"goes_on,omitempty"` // why problems have not stopped
	Verdicts []report.Verdict `json:"verdicts,omitempty"`
	Error    string           `json:"error,omitempty"` // why the journal cannot be read
}

func listCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list [FOLDER]",
		Short: "List the campaigns in a folder",
		Long: `list finds the campaigns in a folder (default: results, else the working directory) and
in the folders below it. It prints a line for each: its state, when it started, how its
problems stopped, and for each library the gain with its source. The newest is first.`,
		Example:           examples("tutti list", "tutti list results --format json"),
		Args:              arguments(0, 1, "at most one folder"),
		ValidArgsFunction: completeFolders,
	}
	a.formatFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		folder := "."
		switch {
		case len(args) == 1:
			folder = args[0]
		case isFolder("results"):
			folder = "results"
		}
		all, err := campaignsIn(folder)
		if err != nil {
			return withCode(codeInput, err)
		}
		if len(all) == 0 {
			a.printLine(fmt.Sprintf("no campaign in %s: tutti list FOLDER looks elsewhere, tutti init and tutti tune start one", displayPath(folder)))
		}
		return a.show(all, func() { a.printCampaigns(all) })
	}
	return cmd
}

// campaignsIn returns the campaigns in a folder and below it, the newest first. Folders that cannot be read are left out,
// unless it is `folder` itself.
func campaignsIn(folder string) ([]listedCampaign, error) {
	all := []listedCampaign{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == folder:
			return err
		case err != nil:
			return fs.SkipDir
		case !d.IsDir() && path == folder:
			return fmt.Errorf("%s: want a folder", folder)
		case !d.IsDir():
			return nil
		}
		if c, ok := listedIn(path); ok {
			all = append(all, c)
			return fs.SkipDir // a campaign contains no others
		}
		below, err := filepath.Rel(folder, path)
		if hidden := path != folder && strings.HasPrefix(d.Name(), "."); hidden || err == nil && strings.Count(below, string(filepath.Separator)) >= maxListDepth {
			return fs.SkipDir
		}
		return nil
	})
	slices.SortStableFunc(all, func(a, b listedCampaign) int { return b.Created.Compare(a.Created) })
	return all, err
}

// listedIn describes the campaign in a folder. It returns false if the folder has no journal. Of a finished campaign it
// decodes the header of the journal and the report only.
func listedIn(folder string) (listedCampaign, bool) {
	if c, ok := finishedIn(folder); ok {
		return c, true
	}
	contents, err := journal.Read(folder)
	c := listedCampaign{Folder: displayPath(folder), Stopped: map[string]int{}}
	var process string
	if err == nil {
		c.Activity, process, err = journal.ActivityIn(folder)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, false
	case err != nil:
		c.Error = err.Error()
		return c, true
	}
	s := statusOf(contents, c.Activity, process)
	if facts, _, ok := storedResults(contents, folder); ok {
		c.Verdicts = facts.Verdicts()
	}
	c.Campaign, c.Activity, c.Created, c.Problems, c.GoesOn = s.Campaign, s.Activity, s.Created, len(s.Problems), goesOn(s.Problems)
	for _, p := range s.Problems {
		if p.Stop != "" {
			c.Stopped[p.Stop]++
		}
	}
	return c, true
}

// finishedIn describes a campaign that no process works on, and whose report has the end of all its problems.
func finishedIn(folder string) (listedCampaign, bool) {
	header, err := journal.ReadHeader(folder)
	if err != nil {
		return listedCampaign{}, false
	}
	problems, err := header.Problems()
	activity, _, lockErr := journal.ActivityIn(folder)
	if err != nil || lockErr != nil || activity != journal.Stopped {
		return listedCampaign{}, false
	}
	facts, ok := export.Stored(folder, version)
	if !ok || len(facts.Problems) != len(problems) {
		return listedCampaign{}, false
	}
	c := listedCampaign{
		Folder: displayPath(folder), Campaign: header.Campaign, Activity: "finished", Created: header.Created.UTC().Truncate(time.Second),
		Problems: len(problems), Stopped: map[string]int{}, Verdicts: facts.Verdicts(),
	}
	for _, p := range facts.Problems {
		if p.Stop == "" {
			return listedCampaign{}, false
		}
		c.Stopped[p.Stop]++
	}
	return c, true
}

func (a *app) printCampaigns(all []listedCampaign) {
	if len(all) == 0 {
		return
	}
	var rows []table.Row
	for _, c := range all {
		state, started, problems := string(c.Activity), c.Created.Format(time.DateOnly), c.problemText()
		if c.Error != "" {
			state, started, problems = "unreadable", "", ""
		}
		rows = append(rows, table.Row{c.Folder, state, started, problems, strings.Join(c.gainTexts(), "\n")})
	}
	a.printTable(table.Row{"folder", "state", "started", "problems", "gain"}, rows)
}

// problemText returns a text such as "3, 1 budget, 2 converged".
func (c listedCampaign) problemText() string {
	parts := []string{fmt.Sprint(c.Problems)}
	for _, stop := range slices.Sorted(maps.Keys(c.Stopped)) {
		parts = append(parts, fmt.Sprintf("%d %s", c.Stopped[stop], stop))
	}
	return strings.Join(parts, ", ")
}

// gainTexts returns why the campaign cannot be read, why it goes on, and its gains.
func (c listedCampaign) gainTexts() []string {
	if c.Error != "" {
		return []string{c.Error}
	}
	out := c.GoesOn[:min(1, len(c.GoesOn))]
	if more := len(c.GoesOn) - 1; more > 0 {
		out = append(slices.Clip(out), fmt.Sprintf("%d more go on", more))
	}
	for _, v := range c.Verdicts {
		out = append(slices.Clip(out), gainText(v))
	}
	return out
}

// gainText returns a short text such as "mpich 6.6 % verified".
func gainText(v report.Verdict) string {
	if v.Gain == nil {
		return v.Library + " unknown"
	}
	return fmt.Sprintf("%s %s %s", v.Library, report.FormatShare(v.Gain.Value), v.Evidence)
}
