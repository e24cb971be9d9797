package export

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/journal"
	"tutti/mpi"
	"tutti/report"
	"tutti/selection"
)

// Target is a release of a library with the selection that its files contain.
type Target struct {
	Release
	campaign *assembly.Campaign
	opened   mpi.Build
	openErr  error // why the library cannot be opened

	concluded    []campaign.FinalSelection // of the measurements
	problems     []campaign.FinalSelection // as concluded, but with the default where the files cannot express a selection
	rows         [][]selection.Row         // one list for each problem, limited to algorithms of the release
	defaultCount int                       // number of points whose fast algorithm is missing in the release
	selected     selection.Selection
	fault        error  // why there is no selection
	verified     bool   // a verification has proved the files of the measured release; see verify.Result.Proved
	headline     string // what the verification shows; "" if there was none
	placement    coll.Placements
	created      time.Time // of the campaign
	tutti        string    // version of tutti that started the campaign
	Warnings     []string
}

func newTarget(c *assembly.Campaign, r Release) *Target {
	t := &Target{Release: r, campaign: c}
	if t.opened, t.openErr = r.port.Open(r.cat, r.library.Path); t.openErr == nil {
		t.cat = t.opened.Catalogue()
	}
	return t
}

// For returns the selections for a release. They contain only algorithms that the release has.
func (c *FinalSelections) For(r Release) (*Target, error) {
	at := slices.IndexFunc(c.Targets, func(t *Target) bool { return t.library.Name == r.library.Name })
	t := c.Targets[at]
	if r.library.Version != t.library.Version || r.library.Path != t.library.Path {
		known := t
		t = newTarget(c.campaign, r)
		t.verified, t.headline, t.concluded, t.created, t.tutti = known.verified, known.headline, known.concluded, known.created, known.tutti
		if err := t.fit(); err != nil {
			return nil, err
		}
	}
	if t.fault != nil {
		return nil, fmt.Errorf("selection for %s %s: %w", r.library.Name, r.library.Version, t.fault)
	}
	return t, nil
}

// fit makes the release's selection. If the library's files cannot express the selection of a collective, this
// collective keeps the library's default.
func (t *Target) fit() (err error) {
	t.problems = slices.Clone(t.concluded)
	if t.fitAll(); t.openErr != nil || t.fault == nil {
		return nil
	}
	for k, p := range t.problems {
		if p.AllDefault {
			continue
		}
		if _, fault := t.selectionOf(t.rows[k]); fault != nil {
			t.Warnings = append(t.Warnings, fmt.Sprintf("%s: the default remains, because the selection cannot be exported: %v", p.Problem.Problem, fault))
			if t.problems[k], err = p.Conclude(selection.Rejected{All: true}); err != nil {
				return err
			}
		}
	}
	t.fitAll()
	return nil
}

// fitAll makes the selection of all collectives from the times of the algorithms at each point.
func (t *Target) fitAll() {
	var measured []coll.Measurement
	var all []selection.Row
	t.rows, t.defaultCount = nil, 0
	for _, p := range t.problems {
		measured = append(measured, p.Result.Ledger.Measurements()...)
		rows, left := t.cat.Portable(p.Allowed, t.measured.Version, t.campaign.Config.Export.MaxLoss)
		t.rows, t.defaultCount = append(t.rows, rows), t.defaultCount+left
		if !p.AllDefault {
			all = append(all, rows...)
		}
	}
	t.placement = coll.PlacementsOf(measured)
	t.selected, t.fault = t.selectionOf(all)
}

// selectionOf returns the selection for the given rows (times by point), in rules that the library can
// express. It checks that files with these rules select the right algorithm at every row.
func (t *Target) selectionOf(rows []selection.Row) (selection.Selection, error) {
	if t.openErr != nil {
		return selection.Selection{}, t.openErr
	}
	sel, err := mpi.Merge(t.opened, rows, mpi.MergeOptions{MaxLoss: t.campaign.Config.Export.MaxLoss, OpSafe: t.campaign.Config.Export.OpSafe})
	if err != nil {
		return sel, err
	}
	x, err := t.opened.Export(sel, string(filepath.Separator))
	if err != nil {
		return sel, err
	}
	return sel, t.opened.Replay(x, sel, rows)
}

// Problems returns the selection of each collective that the files contain.
func (t *Target) Problems() []campaign.FinalSelection { return t.problems }

// chooser returns the function by which the files of the release select algorithms for one problem.
func (t *Target) chooser(p campaign.FinalSelection) func(coll.Point) coll.Algorithm {
	if t.library.Version == t.measured.Version {
		return p.Selection.Choose
	}
	return func(point coll.Point) coll.Algorithm {
		alg, _ := t.selected.Select(point)
		return alg
	}
}

// Document returns the selections of the releases as one document that scripts can read.
func (c *FinalSelections) Document(releases []*Target) selection.Document {
	doc := selection.Document{Campaign: c.campaign.Config.Name, Machine: c.campaign.Config.Machine}
	for _, t := range releases {
		lib := selection.LibraryDocument{
			Library: t.library.Name, Version: t.library.Version, Measured: t.measured.Version,
			Left: t.defaultCount, Collectives: []selection.CollectiveDocument{},
		}
		if t.placement.Known() {
			lib.Placement = &t.placement
		}
		for i, p := range t.problems {
			if len(t.rows[i]) > 0 {
				lib.Collectives = append(lib.Collectives, selection.NewCollectiveDocument(p.Rows, t.selected, t.port.Size))
			}
		}
		doc.Libraries = append(doc.Libraries, lib)
	}
	return doc
}

// WrittenFiles describes the files that were written for a release.
type WrittenFiles struct {
	mpi.Export
	Module   string // path of the environment module with the settings; "" for none
	NoModule error  // why a module cannot contain the settings
}

// Write writes the selection files into a folder. On the machine of a connected campaign, it first runs a
// program that loads the files. It also writes the library's settings as an environment module if a module can
// contain them.
func (t *Target) Write(ctx context.Context, dir string) (w WrittenFiles, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("selection files of %s %s: %w", t.library.Name, t.library.Version, err)
		}
	}()
	if t.fault != nil {
		return w, t.fault
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return w, err
	}
	if w.Export, err = t.opened.Export(t.selected, absolute); err != nil {
		return w, err
	}
	if err := t.tryLoading(ctx, absolute); err != nil {
		return w, err
	}
	if !t.tried() && len(w.Setup.Remarks) == 0 { // the remarks of some libraries say this already
		w.Setup.Remarks = []string{fmt.Sprintf("Replayed at every tuned point, but not tried on a real %s %s.", t.library.Name, t.library.Version)}
	}
	if w.Provenance, err = t.provenance(); err != nil {
		return w, err
	}
	w.Setup.Remarks = slices.Concat(w.Provenance, w.Setup.Remarks, t.remarks())
	w.Setup.Order = t.placement.Order
	if err := w.Export.Write(absolute); err != nil {
		return w, err
	}
	w.Module, err = t.writeModule(dir, w.Setup)
	if errors.Is(err, mpi.ErrSetup) {
		w.NoModule, err = err, nil
	}
	return w, err
}

// tryLoading runs a program that loads the selection files from a temporary folder below `dir`. It does
// nothing for recorded data, or for another release than the measured one.
func (t *Target) tryLoading(ctx context.Context, dir string) (err error) {
	if !t.campaign.Config.Runner.Live() || t.library.Version != t.measured.Version {
		return nil
	}
	temporary, err := os.MkdirTemp(dir, "files-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	x, err := t.opened.Export(t.selected, temporary)
	if err != nil {
		return err
	}
	if err := x.Write(temporary); err != nil {
		return err
	}
	return t.campaign.CheckLoads(ctx, t.library, x.Setup)
}

// provenance says where the files come from. It depends on the journal alone, so that a resumed campaign writes the same.
func (t *Target) provenance() ([]string, error) {
	cfg := t.campaign.Config
	text := fmt.Sprintf("Selected by tutti %s for %s %s: campaign %s", t.tutti, t.library.Name, t.library.Version, cfg.Name)
	if cfg.Machine != "" {
		text += " on " + cfg.Machine
	}
	if !t.created.IsZero() {
		text += ", started on " + t.created.UTC().Format(time.DateOnly)
	}
	out := []string{strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text+".", "?"))}
	digest, err := journal.MeasurementDigest(cfg.Output)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		out = append(out, "Hash of its measurements, as in report.json: "+digest)
	}
	return out, nil
}

func (t *Target) remarks() []string {
	var out []string
	if t.placement.Known() {
		out = append(out, fmt.Sprintf("Measured with %v: the best algorithms of other placements may differ.", t.placement))
	}
	switch sameRelease := t.library.Version == t.measured.Version; {
	case t.verified && sameRelease && !t.campaign.Config.Runner.Live():
		out = append(out, "Verified with the recorded data: "+t.headline+".")
	case t.verified && sameRelease:
		out = append(out, "Verified on the machine: "+t.headline+".")
	case t.headline != "" && sameRelease:
		out = append(out, "Not verified: "+t.headline+".")
	default:
		out = append(out, "Not verified: tutti verify has not compared these settings with the library's default on the machine.")
	}
	switch unguarded := slices.ContainsFunc(t.problems, campaign.FinalSelection.Unguarded); {
	case !unguarded && t.library.Version != t.measured.Version:
		out = append(out, fmt.Sprintf("Guarded against the default of %s %s: the default of %s may be faster.", t.library.Name, t.measured.Version, t.library.Version))
	case unguarded:
		out = append(out, "Not guarded: no default was measured, or export.guard is false. The selection is as predicted and may be slower than the default.")
	}
	if !t.cat.KnownSeries() {
		out = append(out, "No release of this series is known to tutti: the algorithms are those that the library lists.")
	}
	return out
}

// moduleDir is the folder of environment modules, which users pass to the command "module use".
const moduleDir = "modulefiles"

// writeModule writes settings as an environment module below the folder `dir`. It returns the path of the module.
// The error matches mpi.ErrSetup if a module cannot contain these settings.
func (t *Target) writeModule(dir string, setup mpi.Setup) (string, error) {
	setup.Conflict, setup.Prereq = "tutti-"+t.library.Name, t.campaign.Config.Runner.Modules
	module, err := setup.Module(fmt.Sprintf("algorithms of collectives for %s %s, tuned by the campaign %s", t.library.Name, t.library.Version, t.campaign.Config.Name))
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, moduleDir, "tutti-"+t.library.Name, t.library.Version)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return "", err
	}
	return path, mpi.WriteFile(path, module)
}

// facts describes the library's written files in the form that the report needs.
func (t *Target) facts(w WrittenFiles) report.LibraryFacts {
	f := report.LibraryFacts{
		Library: t.library.Name, Version: t.library.Version, Origin: t.origin(), Files: w.Names(), Verified: t.verified,
	}
	for _, p := range t.problems {
		if !p.AllDefault {
			f.Replayed += len(p.Allowed)
		}
	}
	if t.placement.Known() {
		f.Placement = &t.placement
	}
	return f
}

// Summary says which files were exported for one release of a library, and what they cover.
type Summary struct {
	Library  string `json:"library"`
	Version  string `json:"version"`
	Measured string `json:"measured_version"`
	Origin   string `json:"origin"` // source of the list of algorithms
	Points   int    `json:"points"`
	Left     int    `json:"left"`  // number of points with the library's default because the release does not have the fast algorithm
	Tried    bool   `json:"tried"` // tutti's own tests load selection files into this release
}

func (t *Target) Summary() Summary {
	out := Summary{Library: t.library.Name, Version: t.library.Version, Measured: t.measured.Version, Origin: t.origin(), Left: t.defaultCount, Tried: t.tried()}
	for _, rows := range t.rows {
		out.Points += len(rows)
	}
	return out
}

func (t *Target) origin() string {
	if t.port.Facts().FromFile && t.library.Path != "" {
		return "installed library " + t.library.Path
	}
	return fmt.Sprintf("catalogue of %s %s", t.library.Name, t.library.Version)
}

// tried reports whether tutti's own tests load selection files into this release of the library.
func (t *Target) tried() bool {
	f := t.port.Facts()
	return f.TestedRelease == t.library.Version || slices.Contains(f.TestedReleases, t.library.Version)
}
