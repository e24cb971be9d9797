package export

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tutti/campaign/assembly"
	"tutti/journal"
	"tutti/report"
	"tutti/verify"
)

// ExternalFile is a selection file that was verified and that no campaign selected.
type ExternalFile struct {
	Path       string // as given
	Copy       string // name of the copy in the folder
	Library    string
	Version    string
	Format     string
	Activation string // how to load it
}

// WriteVerification writes the report about the verification of a file that no campaign selected, and returns its facts.
func WriteVerification(c *assembly.Campaign, state *journal.State, file ExternalFile, by Program) (report.Facts, error) {
	cfg := c.Config
	f := report.Facts{
		Tutti: by.Version, Campaign: "Verification of " + filepath.Base(file.Path), Machine: cfg.Machine, Seed: cfg.Seed, Versions: by.Versions,
		Warnings: append([]string{}, c.Warnings...), Problems: []report.ProblemFacts{},
	}
	lib := report.LibraryFacts{Library: file.Library, Version: file.Version, Origin: file.Path + ", " + file.Format, Files: []string{file.Copy}}
	var err error
	if lib.Sum, err = sumOf(cfg.Output, lib.Files); err != nil {
		return f, err
	}
	if f.Journal, err = journal.Digest(cfg.Output); err != nil {
		return f, err
	}
	if err := AddJournal(&f, state, []string{file.Library}, cfg.Attempts); err != nil {
		return f, err
	}
	verified := verificationOf(f, file.Library)
	if verified != nil {
		if cfg.Runner.Live() {
			verified.Date = state.Verification(file.Library).Last.UTC().Format(time.DateOnly)
		}
		lib.Verified, lib.Replayed = verified.Proved(), verified.Changed
		lib.Verdict = externalVerdict(f, file, *verified)
		for _, p := range c.Problems {
			if p.Library == file.Library {
				lib.Verdict.Points += len(p.Space.Points())
			}
		}
	}
	f.Libraries = []report.LibraryFacts{lib}
	if err := os.MkdirAll(cfg.Output, 0o777); err != nil {
		return f, err
	}
	return f, writeReport(cfg.Output, f)
}

// externalVerdict returns the verdict about a file that no campaign selected.
func externalVerdict(f report.Facts, file ExternalFile, v report.VerificationFacts) *report.Verdict {
	out := &report.Verdict{
		Library: file.Library, Evidence: report.Measured, Date: v.Date, Changed: v.Changed,
		NoGain: "the collective time is not known: no random point was compared", Slower: slowerVerified(v), Riskiest: slowest(v),
	}
	if v.Proved() {
		out.Evidence = report.Verified
	}
	if v.Time != (verify.Interval{}) {
		out.Gain = &report.Gain{Value: 1 - v.Time.Value, Low: 1 - v.Time.High, High: 1 - v.Time.Low}
	}
	out.Cost.Tuning, out.Cost.Verification = nodeSeconds(f, file.Library)
	switch {
	case len(v.Slower) > 0:
		out.Next = report.NextStep{Why: fmt.Sprintf("change the rules of the %d slower points (tutti rules show FILE --why names their lines), then verify the new file", len(v.Slower))}
	case v.Proved():
		out.Next = report.NextStep{Why: "use the file: " + file.Activation}
	default:
		out.Next = nextVerification(v, "")
	}
	return out
}

// slowest returns the compared points at which the file is slower than the default, the slowest first.
func slowest(v report.VerificationFacts) []report.RiskyPoint {
	var out []report.RiskyPoint
	for _, p := range v.Points {
		if p.Blocks > 0 && p.Ratio.Value > 1 && !p.Choice.IsDefault() {
			out = append(out, report.RiskyPoint{Point: p.Point, Algorithm: p.Choice.String(), Risk: p.Ratio.Value - 1, Ratio: p.Ratio.Value, Evidence: report.Measured})
		}
	}
	return report.HighestRisk(out)
}
