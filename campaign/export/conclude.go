// Package export writes the results of a campaign: the selection files of the libraries and the
// report. It trains the final models, makes the selections and checks the files before it writes
// them. Files can also be written for other releases than the measured ones.
//
//	models, err := export.Train(ctx, c, results)
//	if err != nil {
//		return err
//	}
//	conclusions, err := models.Conclude(state)
//	if err != nil {
//		return err
//	}
//	facts, err := conclusions.Write(ctx, dir, program)
package export

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/verify"
)

// Models contains the final models of a campaign's problems.
type Models struct {
	campaign *assembly.Campaign
	results  []campaign.Result
	trained  []*campaign.Trained // by problem; nil without measurements
}

// Conclusions contains the campaign's problems with their selections, in order. Problems without
// measurements are left out.
type Conclusions struct {
	campaign *assembly.Campaign
	state    *journal.State
	builds   map[string]build // of the libraries, by name
	warnings []string
	Problems []Concluded
}

// Concluded is a problem with its result and its selection.
type Concluded struct {
	campaign.Problem
	campaign.Conclusion
	Result campaign.Result
}

// ErrNothing is matched by the error for a campaign without measurements, on which no model can be trained.
var ErrNothing = errors.New("nothing has been measured: nothing to report")

// Train trains the final models of all problems, several at the same time. results must be in the order of
// the problems. The error matches ErrNothing if nothing was measured.
func Train(ctx context.Context, c *assembly.Campaign, results []campaign.Result) (*Models, error) {
	m := &Models{campaign: c, results: results, trained: make([]*campaign.Trained, len(c.Problems))}
	var group errgroup.Group
	group.SetLimit(c.Workers())
	for i, p := range c.Problems {
		if len(results[i].Ledger.Measurements()) == 0 {
			continue
		}
		group.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			m.trained[i], err = campaign.Train(c.Spec, p, results[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(m.trained, func(t *campaign.Trained) bool { return t != nil }) {
		return nil, nothingMeasured(results)
	}
	return m, nil
}

// nothingMeasured returns ErrNothing, with the number of failed trials if there are any.
func nothingMeasured(results []campaign.Result) error {
	failed, first := 0, ""
	for _, r := range results {
		failed += r.Ledger.Failed()
		if first == "" && len(r.Warnings) > 0 {
			first = r.Warnings[0]
		}
	}
	if failed == 0 {
		return ErrNothing
	}
	return fmt.Errorf("%w: %d trials failed; %s", ErrNothing, failed, first)
}

// Conclude makes the selections of the named libraries, or of all libraries if none is named. Where a
// verification in the journal found a selection slower, it selects the default.
func (m *Models) Conclude(state *journal.State, libraries ...string) (*Conclusions, error) {
	c := &Conclusions{campaign: m.campaign, state: state, builds: map[string]build{}}
	for i, p := range m.campaign.Problems {
		switch {
		case len(libraries) > 0 && !slices.Contains(libraries, p.Library):
		case m.trained[i] == nil:
			c.warnings = append(c.warnings, p.Problem.String()+": nothing was measured, so the library decides")
		default:
			if err := c.add(m, i); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// add adds the conclusion of problem i. If the library's files cannot contain the selection, the library's
// default remains for the collective.
func (c *Conclusions) add(m *Models, i int) error {
	p := m.campaign.Problems[i]
	entries, err := verify.Entries(c.state.Verification(p.Library))
	if err != nil {
		return err
	}
	rejected := verify.RejectedBy(entries, p.Collective)
	conclusion, err := m.trained[i].Conclude(rejected)
	if err != nil {
		return err
	}
	if !conclusion.AllDefault {
		b, err := c.build(c.campaign.LibraryOf(p))
		if err != nil {
			return err
		}
		if _, _, fault := b.files(string(filepath.Separator), conclusion.Rows); b.err == nil && fault != nil {
			c.warnings = append(c.warnings, fmt.Sprintf("%s: the default remains, because the selection cannot be exported: %v", p.Problem, fault))
			rejected.All = true
			if conclusion, err = m.trained[i].Conclude(rejected); err != nil {
				return err
			}
		}
	}
	c.Problems = append(c.Problems, Concluded{p, conclusion, m.results[i]})
	return nil
}

// build returns the build of a library. It opens the library once.
func (c *Conclusions) build(lib config.Library) (build, error) {
	b, ok := c.builds[lib.Name]
	if !ok {
		var err error
		if b, err = newBuild(lib, c.campaign.Config.Export); err != nil {
			return build{}, err
		}
		c.builds[lib.Name] = b
	}
	return b, nil
}

// placements returns the placements of the ranks in all measurements of a library.
func (c *Conclusions) placements(library string) coll.Placements {
	var all []coll.Measurement
	for _, p := range c.Problems {
		if p.Library == library {
			all = append(all, p.Result.Ledger.Measurements()...)
		}
	}
	return coll.PlacementsOf(all)
}

// verified reports whether a verification of the library has ended.
func (c *Conclusions) verified(library string) (bool, error) {
	entries, err := verify.Entries(c.state.Verification(library))
	if err != nil {
		return false, err
	}
	result, err := verify.Restore(library, entries)
	return result.Ended && len(result.Unforced())+len(result.Untrusted()) == 0, err
}

// Choices returns, for each collective, the function that selects the algorithm. All conclusions must
// belong to the same library.
func (c *Conclusions) Choices() map[coll.Collective]func(coll.Point) coll.Algorithm {
	out := map[coll.Collective]func(coll.Point) coll.Algorithm{}
	for _, p := range c.Problems {
		out[p.Problem.Collective] = p.Selection.Choose
	}
	return out
}
