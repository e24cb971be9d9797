package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tutti/campaign"
	"tutti/campaign/export"
	"tutti/coll"
)

// comparison compares what two campaigns select for one library.
type comparison struct {
	Library string `json:"library"`
	GainA   string `json:"gain_a"` // as text, with its source; empty when unknown
	GainB   string `json:"gain_b"`
	OnlyA   int    `json:"only_a"` // points that only A has
	OnlyB   int    `json:"only_b"`
	ruleDiffs
}

func compareCommand(a *app) *cobra.Command {
	var library string
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare what two campaigns select, and which differences matter",
		Long: `compare says for each library that two campaigns have tuned at how many common points
their selections differ. A difference matters if the times of both campaigns say that it
loses more than 2 %, beyond noise. The others are ties or small. Repeating a campaign
with another seed shows in this way how far its selection is reproducible.

tutti rules diff compares selection files, with times of your choice.`,
		Example:           examples("tutti compare results/monday results/friday", "tutti compare results/monday results/friday --library mpich --format json"),
		Args:              arguments(2, 2, "the folders of two campaigns"),
		ValidArgsFunction: completeFolders,
	}
	cmd.Flags().StringVar(&library, "library", "", "`NAME` of the only library to compare; default: all that both have tuned")
	completeLibraries(cmd, "library")
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		out, err := a.compareCampaigns(cmd, args[0], args[1], library)
		if err != nil {
			return err
		}
		return a.show(out, func() {
			for _, c := range out {
				a.printComparison(c)
			}
		})
	}
	return cmd
}

func (a *app) compareCampaigns(cmd *cobra.Command, pathA, pathB, library string) ([]comparison, error) {
	defer a.announce("training the models of both campaigns ...")()
	allA, err := a.concluded(cmd, pathA, "library", library)
	if err != nil {
		return nil, err
	}
	allB, err := a.concluded(cmd, pathB, "library", library)
	if err != nil {
		return nil, err
	}
	gainsA, gainsB := storedGains(pathA), storedGains(pathB)
	out := []comparison{}
	for _, name := range librariesOf(allA) {
		inA, inB := ofLibrary(allA, name), ofLibrary(allB, name)
		if len(inB) == 0 {
			continue
		}
		c, err := compareProblems(pathA, pathB, inA, inB)
		if err != nil {
			return nil, err
		}
		c.Library, c.GainA, c.GainB = name, gainsA[name], gainsB[name]
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, withCode(codeInput, fmt.Errorf("%s has tuned %v and %s %v: no library in common", pathA, librariesOf(allA), pathB, librariesOf(allB)))
	}
	return out, nil
}

// compareProblems compares the selections of two campaigns for one library at the points that both have.
func compareProblems(pathA, pathB string, inA, inB []campaign.FinalSelection) (comparison, error) {
	a, err := sideOf(pathA, inA)
	if err != nil {
		return comparison{}, err
	}
	b, err := sideOf(pathB, inB)
	if err != nil {
		return comparison{}, err
	}
	has := map[coll.Point]bool{}
	for _, p := range b.grid {
		has[p] = true
	}
	var points []coll.Point
	for _, p := range a.grid {
		if has[p] {
			points = append(points, p)
		}
	}
	slices.SortFunc(points, coll.ComparePoints)
	out := comparison{OnlyA: len(a.grid) - len(points), OnlyB: len(b.grid) - len(points)}
	out.ruleDiffs, err = compareSides(a, b, points, []knownTimes{timesOfCampaign(inA), timesOfCampaign(inB)})
	return out, err
}

func (a *app) printComparison(c comparison) {
	a.printFit("%s", c.Library)
	shown := c.ruleDiffs
	shown.A = strings.TrimSuffix(c.A+": "+c.GainA, ": ")
	shown.B = strings.TrimSuffix(c.B+": "+c.GainB, ": ")
	a.printDiffs(shown)
	if c.OnlyA+c.OnlyB > 0 {
		a.printFit("Not compared: %s of A alone, %d of B alone.", plural(c.OnlyA, "point"), c.OnlyB)
	}
}

// storedGains returns the gains in the stored report of a campaign as texts, by library.
func storedGains(folder string) map[string]string {
	out := map[string]string{}
	facts, _ := export.Stored(folder, version)
	for _, v := range facts.Verdicts() {
		out[v.Library] = v.GainText()
	}
	return out
}

func librariesOf(problems []campaign.FinalSelection) (names []string) {
	for _, p := range problems {
		if !slices.Contains(names, p.Library) {
			names = append(names, p.Library)
		}
	}
	return names
}

func ofLibrary(problems []campaign.FinalSelection, name string) []campaign.FinalSelection {
	return slices.DeleteFunc(slices.Clone(problems), func(p campaign.FinalSelection) bool { return p.Library != name })
}
