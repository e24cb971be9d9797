package export

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/activelearn"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/report"
	"tutti/verify"
)

// maxHeldOutLoss is the loss of a model at held-out points from which on its prediction of a gain is not shown: a model
// that is wrong by half says nothing about differences of some per cent. Our choice.
const maxHeldOutLoss = 0.5

// verdict returns the verdict about a library from the other facts of the report.
func (c *FinalSelections) verdict(f report.Facts, lib report.LibraryFacts) *report.Verdict {
	v := &report.Verdict{Library: lib.Library, Evidence: report.Predicted, Riskiest: report.Riskiest(f, lib.Library)}
	v.Cost.Tuning, v.Cost.Verification = nodeSeconds(f, lib.Library)
	var problems []report.ProblemFacts
	for _, p := range f.Problems {
		if p.Library != lib.Library {
			continue
		}
		problems = append(problems, p)
		for _, cell := range p.Cells {
			v.Points++
			if cell.Algorithm != coll.Default.String() {
				v.Changed++
			}
		}
		if !activelearn.StopReason(p.Stop).Good() {
			v.Open = append(v.Open, fmt.Sprintf("%s not converged: %s", p.Collective, p.NotConverged()))
		}
	}
	if recorded(f, lib.Library) {
		v.Evidence = report.Recorded
	}
	verified := verificationOf(f, lib.Library)
	if verified != nil && (verified.Proved() || verified.Time != verify.Interval{}) {
		v.Date, v.Evidence = verified.Date, report.Measured
		if verified.Proved() {
			v.Evidence = report.Verified
		}
	}
	left := f.LeftTo(lib.Library)
	if left.Points > 0 {
		v.Open = append(v.Open, left.String())
	}
	if verified == nil {
		v.Open = append(v.Open, c.notSelected(problems)...)
	}
	setGain(v, lib.Benefit, problems, f.NotGuarded(lib.Library))
	v.Slower = slowerShare(problems, verified, v.Evidence)
	v.Next = c.next(f, *v, problems, lib, verified)
	return v
}

func verificationOf(f report.Facts, library string) *report.VerificationFacts {
	i := slices.IndexFunc(f.Verification, func(v report.VerificationFacts) bool { return v.Library == library && v.Passes > 0 })
	if i < 0 {
		return nil
	}
	return &f.Verification[i]
}

// setGain sets the gain, or why there is none.
func setGain(v *report.Verdict, b *report.Benefit, problems []report.ProblemFacts, notGuarded bool) {
	switch {
	case b == nil && notGuarded:
		v.NoGain = "the selection is not guarded: it is as predicted and may be slower than the default"
		return
	case b == nil:
		v.NoGain = "the times of the library's default are not known"
		return
	}
	if v.Evidence == report.Predicted {
		for _, p := range problems {
			if p.HeldOut == nil {
				continue
			}
			loss := p.HeldOut.GP
			if p.Model == "forest" {
				loss = p.HeldOut.Forest
			}
			if loss > maxHeldOutLoss {
				v.NoGain = fmt.Sprintf("the model of %s is wrong by %s at points that it did not see", p.Collective, report.FormatShare(loss))
				return
			}
		}
	}
	v.Gain = &report.Gain{Value: b.Saved, Low: b.SavedLow, High: b.SavedHigh}
}

// slowerShare returns how many points are slower than the default: as recorded, else as verified, else as predicted.
func slowerShare(problems []report.ProblemFacts, verified *report.VerificationFacts, evidence report.Evidence) *report.SlowerShare {
	recorded, predicted := report.SlowerShare{}, report.SlowerShare{}
	for _, p := range problems {
		for _, c := range p.Cells {
			if c.Slowdown == nil || c.DefaultSlowdown == nil {
				continue
			}
			predicted.Of++
			predicted.Points += c.PSlower
			if c.Best == "" {
				continue
			}
			recorded.Of++
			ratio := *c.Slowdown / *c.DefaultSlowdown
			recorded.Worst = math.Max(recorded.Worst, ratio)
			if ratio > 1+report.SlowerTolerance {
				recorded.Points++
			}
		}
	}
	switch {
	case recorded.Of > 0 && recorded.Of == predicted.Of:
		return &recorded
	case evidence == report.Verified || evidence == report.Measured:
		return slowerVerified(*verified)
	case predicted.Of > 0:
		return &predicted
	}
	return nil
}

// slowerVerified counts the compared points that are slower, and those that may be if the verification proved nothing.
// Points that were reverted to the default are neither.
func slowerVerified(v report.VerificationFacts) *report.SlowerShare {
	s := &report.SlowerShare{Others: &v.Share}
	for _, p := range v.Points {
		if p.Blocks == 0 || p.Reverted {
			continue
		}
		s.Of++
		s.Worst = math.Max(s.Worst, p.Ratio.Value)
		switch limit := 1 + v.Rules.Tolerance; {
		case p.Ratio.Low > limit:
			s.Points++
		case !v.Proved() && p.Ratio.High > limit:
			s.Maybe++
		}
	}
	if s.Of == 0 {
		return nil
	}
	return s
}

// next returns what to do after a campaign: let it go on, verify its files, or use them.
func (c *FinalSelections) next(f report.Facts, v report.Verdict, problems []report.ProblemFacts, lib report.LibraryFacts, verified *report.VerificationFacts) report.NextStep {
	only := ""
	if len(c.campaign.Config.Libraries) > 1 {
		only = " --library " + lib.Library
	}
	switch {
	case slices.ContainsFunc(problems, func(p report.ProblemFacts) bool { return p.Stop == "" }):
		return report.NextStep{Why: "let the campaign end", Command: "tutti resume"}
	case verified == nil && slices.ContainsFunc(problems, endedByBudget):
		return largerBudget(c.campaign.Config.Stop, f)
	case verified == nil && slices.ContainsFunc(problems, c.missesCriterion):
		return moreConfirmation(c.campaign.Config.Stop, f)
	case v.Changed == 0:
		return report.NextStep{Why: "nothing: the files leave every point to the library"}
	case verified == nil && lib.Benefit == nil && !c.campaign.Config.Runner.Live():
		return report.NextStep{Why: "record times of the library's default: without them nothing can be compared"}
	case verified == nil:
		return report.NextStep{Why: "compare the tuned settings with the library's defaults on the machine", Command: "tutti verify", Options: strings.TrimSpace(only)}
	case v.Evidence == report.Verified:
		if i := slices.IndexFunc(lib.Files, func(name string) bool { return strings.HasSuffix(name, ".env") && filepath.Base(name) == name }); i >= 0 {
			return report.NextStep{Why: "use the files in jobs", Command: ".", File: lib.Files[i]}
		}
		return report.NextStep{Why: "use the files in jobs; see docs/how-to"}
	}
	return nextVerification(*verified, only)
}

// nextVerification returns how a verification goes on that has not proved its files.
func nextVerification(verified report.VerificationFacts, only string) report.NextStep {
	switch {
	case len(verified.Untrusted()) > 0:
		return report.NextStep{Why: "verify again on a quiet machine", Command: "tutti verify", Options: "--restart" + only}
	case verified.Exhausted != "":
		limit := max(time.Duration(2*verified.MachineSeconds*float64(time.Second)), 10*time.Minute).Round(time.Minute)
		return report.NextStep{Why: "go on with a larger limit", Command: "tutti verify", Options: fmt.Sprintf("--machine-time %s%s", config.ShortDuration(limit), only)}
	}
	return report.NextStep{Why: "go on with the verification", Command: "tutti verify", Options: strings.TrimSpace(only)}
}

// endedByBudget reports whether a limit ended the learning of a problem before it converged.
func endedByBudget(p report.ProblemFacts) bool {
	return p.Stop == string(activelearn.Budget) || p.Stop == string(activelearn.TimeUp)
}

// largerBudget returns the command that resumes a campaign with twice the budgets that ended it. If that is more, learning
// gets twice what the campaign has used, confirmation included: its share of a budget is 1/(1 + stop.confirm). The problems
// of all libraries share the budgets.
func largerBudget(stop config.Stop, f report.Facts) report.NextStep {
	var machine, node float64
	ended := map[activelearn.StopReason]bool{}
	for _, p := range f.Problems {
		machine, node = machine+p.MachineSeconds, node+p.NodeSeconds
		ended[activelearn.StopReason(p.Stop)] = true
	}
	var set []string
	if ended[activelearn.Budget] && stop.MachineTime > 0 {
		set = append(set, "--set stop.machine_time="+config.ShortDuration(roundUp(2*max(stop.MachineTime, time.Duration((1+stop.Confirm)*machine*float64(time.Second))))))
	}
	if ended[activelearn.Budget] && stop.NodeHours > 0 {
		set = append(set, "--set stop.node_hours="+strconv.FormatFloat(2*max(stop.NodeHours, (1+stop.Confirm)*node/3600), 'g', 3, 64))
	}
	if ended[activelearn.TimeUp] {
		set = append(set, "--set stop.wall_time="+config.ShortDuration(roundUp(2*stop.WallTime)))
	}
	return report.NextStep{
		Why:     "a budget ended the campaign before it converged: go on with a larger one, or verify what it has (tutti verify)",
		Command: "tutti resume", Options: strings.Join(set, " "),
	}
}

// notSelected says for which problems the files miss the criterion of slowdown because the rules of the library select the
// default where another algorithm was measured faster.
func (c *FinalSelections) notSelected(problems []report.ProblemFacts) (out []string) {
	for _, p := range problems {
		why := "the rules cannot select it there"
		open := map[coll.Point]bool{} // layouts whose settings lack measurements, as points without a size
		if slices.ContainsFunc(c.Problems, func(s campaign.FinalSelection) bool { return s.Library == p.Library && s.Bands > 0 }) {
			why = "the library's settings hold for several sizes, and at others the default is faster"
			for _, cell := range p.Cells {
				open[cell.WithSize(0)] = open[cell.WithSize(0)] || cell.Guard == string(activelearn.NotConfirmed)
			}
		}
		points, loss := 0, 0.0
		for _, cell := range p.Cells {
			if cell.Guard == string(activelearn.NotSelected) && cell.Slowdown != nil && !open[cell.WithSize(0)] {
				points, loss = points+1, loss+*cell.Slowdown-1
			}
		}
		if loss > float64(p.Points)*(c.campaign.Config.Stop.Slowdown-1) {
			out = append(out, fmt.Sprintf("%s: %d of %d points keep the default although another algorithm was measured faster: %s", p.Collective, points, p.Points, why))
		}
	}
	return out
}

// missesCriterion reports whether the files are slower than the criterion allows, because the guard keeps the default at
// points that were not measured.
func (c *FinalSelections) missesCriterion(p report.ProblemFacts) bool {
	return p.Unconfirmed != nil && p.Unconfirmed.Loss > c.campaign.Config.Stop.Slowdown-1
}

// moreConfirmation returns the command that measures what the guard left to the libraries, with twice the machine time
// that is predicted, because prices and launches are uncertain. All problems share the budget.
func moreConfirmation(stop config.Stop, f report.Facts) report.NextStep {
	var machine, node, missing float64
	for _, p := range f.Problems {
		machine, node = machine+p.MachineSeconds, node+p.NodeSeconds
		if p.Unconfirmed != nil {
			missing += 2 * p.Unconfirmed.Seconds
		}
	}
	share := math.Ceil(missing / machine)
	set := []string{"--set stop.confirm=" + strconv.FormatFloat(min(config.MaxConfirm, max(share, 2*stop.Confirm)), 'g', -1, 64)}
	if limit := time.Duration((machine + missing) * float64(time.Second)); stop.MachineTime > 0 && stop.MachineTime < limit {
		set = append(set, "--set stop.machine_time="+config.ShortDuration(roundUp(limit)))
	}
	if limit := node * (1 + missing/machine) / 3600; stop.NodeHours > 0 && stop.NodeHours < limit {
		set = append(set, "--set stop.node_hours="+strconv.FormatFloat(limit, 'g', 3, 64))
	}
	return report.NextStep{
		Why:     "the default stays at points that were not measured, and the files miss the criterion of slowdown: measure more, or verify what is selected (tutti verify)",
		Command: "tutti resume", Options: strings.Join(set, " "),
	}
}

// roundUp rounds a duration up to whole seconds, and from two minutes on to whole minutes.
func roundUp(d time.Duration) time.Duration {
	unit := time.Second
	if d >= 2*time.Minute {
		unit = time.Minute
	}
	return (d + unit - 1).Truncate(unit)
}
