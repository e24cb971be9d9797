package verification

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/mpi"
)

// source is where the selection files of a library come from: the models of a campaign, or a file from elsewhere.
type source struct {
	choices map[coll.Collective]func(coll.Point) coll.Algorithm
	risks   map[coll.Collective]func(coll.Point) float64 // by which points are ranked; see campaign.FinalSelection.Risk
	write   func(context.Context) (mpi.Setup, error)     // writes the files and returns the settings that load them
}

// source returns the current selection files of a library.
func (v *Verifier) source(lib config.Library) (source, error) {
	if v.external != nil {
		return v.external.source(v.campaign), nil
	}
	target, err := v.models.Library(v.state, lib)
	if err != nil {
		return source{}, err
	}
	out := source{choices: map[coll.Collective]func(coll.Point) coll.Algorithm{}, risks: map[coll.Collective]func(coll.Point) float64{}}
	for _, p := range target.Problems() {
		out.choices[p.Collective], out.risks[p.Collective] = p.Selection.Choose, p.Risk
	}
	out.write = func(ctx context.Context) (mpi.Setup, error) {
		w, err := target.Write(ctx, v.campaign.Config.Output)
		return w.Setup, err
	}
	return out, nil
}

// externalFile is a selection file that no campaign of the folder selected. The folder has a copy of it.
type externalFile struct {
	*mpi.RuleFile
	path string // as given
	copy string // absolute path
}

// copyName is the name of the copy of a selection file from elsewhere, without its extension.
const copyName = "verified-rules"

// RulesCopy returns the path of the copy of a selection file from elsewhere in the folder of its verification.
func RulesCopy(dir, path string) string { return filepath.Join(dir, copyName+filepath.Ext(path)) }

// NewOfFile returns a Verifier of a selection file from elsewhere, for a connected campaign without measurements. The
// campaign says where the file is verified. The file stays as it is: slower points are reported. The folder has a copy of
// it at RulesCopy before Verify. NewOfFile writes nothing; Estimate needs neither the copy nor jnl.
func NewOfFile(c *assembly.Campaign, jnl *journal.Journal, state *journal.State, file *mpi.RuleFile, path string, opt Options) (*Verifier, error) {
	to, err := filepath.Abs(RulesCopy(c.Config.Output, path))
	if err != nil {
		return nil, err
	}
	results, err := c.Results(state)
	if err != nil {
		return nil, err
	}
	opt.Rules.Seed = c.Config.Seed
	v := &Verifier{campaign: c, results: results, journal: jnl, state: state, opt: opt, external: &externalFile{file, path, to}}
	return v, v.checkExternal()
}

// checkExternal returns an error if no collective of the campaign has rules in the file. It warns about the others.
func (v *Verifier) checkExternal() error {
	var tuned, missing []coll.Collective
	for _, p := range v.campaign.Problems {
		if p.Library == v.external.Library {
			tuned = append(tuned, p.Collective)
		}
	}
	for _, c := range v.external.Collectives {
		if !slices.Contains(tuned, c) {
			missing = append(missing, c)
		}
	}
	if len(missing) == len(v.external.Collectives) {
		return fmt.Errorf("%s: it has rules for %v, and the campaign file can measure %v of %s: change collectives or libraries", v.external.path, v.external.Collectives, tuned, v.external.Library)
	}
	if len(missing) > 0 {
		v.opt.Warn(fmt.Sprintf("%s: its rules for %v are not verified: the campaign file does not name these collectives", v.external.path, missing))
	}
	return nil
}

func (f *externalFile) source(c *assembly.Campaign) source {
	out := source{choices: map[coll.Collective]func(coll.Point) coll.Algorithm{}}
	for _, p := range c.Problems {
		if p.Library != f.Library || !slices.Contains(f.Collectives, p.Collective) {
			continue
		}
		out.choices[p.Collective] = func(at coll.Point) coll.Algorithm {
			a := f.Choose(at).Algorithm
			if !c.Config.Runner.Live() && !p.Space.Has(coll.Candidate{Point: at, Algorithm: a}) && f.ZeroUnset && unset(a) {
				return coll.Algorithm{Name: a.Name} // recorded without parameters
			}
			return a
		}
	}
	out.write = func(context.Context) (mpi.Setup, error) { return f.Setup(f.copy), nil }
	return out
}

// unset reports whether all parameters of an algorithm are 0.
func unset(a coll.Algorithm) bool {
	return !slices.ContainsFunc(a.Params(), func(p coll.Param) bool { return p.Value != "0" })
}

// facts describes the file for the report.
func (f *externalFile) facts() export.ExternalFile {
	return export.ExternalFile{Path: f.path, Copy: filepath.Base(f.copy), Library: f.Library, Version: f.Version, Format: f.Format, Activation: f.Activation}
}
