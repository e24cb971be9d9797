package assembly

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/internal/infile"
	"tutti/journal"
	"tutti/mpi"
	"tutti/mpi/libraries"
)

// maxRules is the largest size in bytes of a site's file with rules.
const maxRules = 16 << 20

// ReadSite reads the settings of the machine that take part in the choice of algorithms, before anything is forced. It
// runs one launch in the environment of the library's launches, whatever the benchmark program. If settings must be turned
// off, or the ranks have other values of the variables that force algorithms, a second launch checks that these reach the
// ranks. The campaign must be connected. `past` is the state of its journal, to
// which `record` writes. Launches in the journal are not repeated, except if jobs have the environment of this process.
//
// Errors match mpi.ErrSite if the campaign cannot measure with these settings, and benchrunner.ErrNoStart if no
// launch starts.
func (c *Campaign) ReadSite(ctx context.Context, lib config.Library, past *journal.State, record RecordFunc) (*mpi.Site, error) {
	return c.readSite(ctx, lib, c.smallest(lib.Name), past, record)
}

// TryLaunch reads the settings of the machine like ReadSite, by a launch of the largest layout of the campaign. The files
// of the launch are in the folder `dir`.
func (c *Campaign) TryLaunch(ctx context.Context, lib config.Library, dir, id string, environ []string) (*mpi.Site, error) {
	here := c.In(dir)
	if err := here.Connect(id, environ); err != nil {
		return nil, err
	}
	return here.readSite(ctx, lib, c.Largest(lib.Name), &journal.State{}, func(journal.Record) error { return nil })
}

func (c *Campaign) readSite(ctx context.Context, lib config.Library, at coll.Point, past *journal.State, record RecordFunc) (*mpi.Site, error) {
	port, measurable := c.releases[lib.Name].port.(mpi.Measurable)
	if !measurable {
		return &mpi.Site{}, nil
	}
	r := &settingsReader{campaign: c.Sequential(), lib: lib, at: at, past: past.Preflight(lib.Name), record: record, forced: c.forcedVariables(lib)}
	if c.Config.Runner.Facts().Attached {
		if err := r.endOpen(ctx, port); err != nil {
			return nil, err
		}
	}
	found, err := r.find(ctx, port, nil)
	if err != nil {
		return nil, err
	}
	if found.Bare {
		return nil, fmt.Errorf("%w: %s: the launcher does not pass the environment on to the ranks, so no algorithm can be forced: remove the option or the wrapper that clears it", mpi.ErrSite, lib.Name)
	}
	if err := checkFile(lib, found.File); err != nil {
		return nil, err
	}
	if below := libraries.Loaded(found.File); port.Facts().Preload && below != nil { // it has the settings
		if found, err = r.find(ctx, below, nil); err != nil {
			return nil, err
		}
		port = below
	}
	site := &mpi.Site{Settings: found.Settings}
	if err := readRules(site, found.Dir); err != nil {
		return nil, err
	}
	if s := site.On(mpi.PreventsTuning); len(s) > 0 {
		return nil, fmt.Errorf("%w: %s: %s: %v: change this, or tune libtutti", mpi.ErrSite, lib.Name, port.Facts().Prevents, s[0])
	}
	return site, r.checkForcing(ctx, port, site, found)
}

// CheckSite checks, for a campaign whose jobs get the environment of this process, that the settings of the machine are
// those in the journal, whose state is `past`. Errors match benchrunner.ErrNoStart.
func (c *Campaign) CheckSite(ctx context.Context, lib config.Library, past *journal.State, record RecordFunc) error {
	recorded := past.Site(lib.Name)
	if recorded == nil || !c.Config.Runner.Facts().Attached {
		return nil
	}
	site, err := c.ReadSite(ctx, lib, past, record)
	if err != nil {
		return err
	}
	for _, pair := range [][2]*mpi.Site{{recorded, site}, {site, recorded}} {
		for _, s := range pair[0].Settings {
			if now, _ := pair[1].Value(s.Name); now.Value != s.Value || !bytes.Equal(now.Content, s.Content) {
				return fmt.Errorf("%w: %s: the campaign began with %s, here it is %s: run this command with the settings with which it began",
					benchrunner.ErrNoStart, lib.Name, valueText(recorded, s.Name), valueText(site, s.Name))
			}
		}
	}
	return nil
}

func valueText(site *mpi.Site, name string) string {
	if s, ok := site.Value(name); ok {
		return s.String()
	}
	return "no " + name
}

// HiddenSettings returns a text for each setting in the environment of this process that selects algorithms or changes
// launches, and does not reach the campaign's launches.
func (c *Campaign) HiddenSettings(environ []string) []string {
	r := c.Config.Runner
	if !r.Live() {
		return nil
	}
	var out []string
	for _, lib := range c.Config.Libraries {
		if r.Facts().Attached {
			out = append(out, removed(lib, cmp.Or(lib.Launcher, r.DefaultLauncher(lib)), environ)...)
		} else if port, ok := c.releases[lib.Name].port.(mpi.Measurable); ok {
			out = append(out, notPassed(lib, r, mpi.AllSettings(port, environ, ""))...)
		}
	}
	return out
}

// removed returns a text for each variable of the shell that launches do not get, since it changes what the launcher does.
// For srun these are variables of the job around the shell, which nobody set.
func removed(lib config.Library, launcher string, environ []string) []string {
	if launcher == benchrunner.Srun {
		return nil
	}
	var out []string
	for _, v := range environ {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(benchrunner.Unset(launcher), name) {
			out = append(out, fmt.Sprintf("%s: %s (environment of the shell) is off in launches, since %s would end them or print other text", lib.Name, v, launcher))
		}
	}
	return out
}

// notPassed returns a text for each setting of the shell that jobs do not get and the campaign does not set.
func notPassed(lib config.Library, r config.Runner, settings []mpi.SiteSetting) []string {
	given := strings.Join(slices.Concat(r.Setup, r.Env, lib.Env), "\n")
	var out []string
	for _, s := range settings {
		if !strings.Contains(given, s.Name+"=") {
			out = append(out, fmt.Sprintf("%s: %v of this shell does not reach the jobs: if users of the machine have it, add %s to runner.env", lib.Name, s, s.Name+"="+s.Value))
		}
	}
	return out
}

// checkFile checks that the benchmark program loads the MPI library that the campaign names. A file that is not on this
// machine is not checked.
func checkFile(lib config.Library, file string) error {
	id, err := libraries.Identify(file)
	if file == "" || err != nil {
		return nil
	}
	port, _ := libraries.Named(lib.Name)
	if port.Facts().Preload {
		return nil
	}
	if family, ok := libraries.Named(port.Facts().Family); ok && port.Facts().Component != "" {
		if !strings.HasPrefix(id.Version, family.Facts().Title+" ") {
			return fmt.Errorf("%w: %s: in its launches %s loads %s (%s), the campaign is for %s below %s", mpi.ErrSite, lib.Name, lib.Benchmark, id.Path, id.Version, port.Facts().Title, family.Facts().Title)
		}
		return nil
	}
	version, same := strings.CutPrefix(id.Version, port.Facts().Title+" ")
	if !same || !mpi.SameRelease(version, lib.Version) {
		return fmt.Errorf("%w: %s: in its launches %s loads %s (%s), the campaign is for %s %s", mpi.ErrSite, lib.Name, lib.Benchmark, id.Path, id.Version, port.Facts().Title, lib.Version)
	}
	if own, err := libraries.Identify(lib.Path); err == nil && lib.Path != "" && own.SHA256 != id.SHA256 {
		return fmt.Errorf("%w: %s: in its launches %s loads %s, the campaign is for another build, %s", mpi.ErrSite, lib.Name, lib.Benchmark, id.Path, own.Path)
	}
	return nil
}

// readRules reads the files with rules that settings name, from the working directory of the ranks. They are the base of
// exported files.
func readRules(site *mpi.Site, dir string) error {
	for i, s := range site.Settings {
		if s.Effect != mpi.SelectsByFile {
			continue
		}
		path := s.Value
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		text, err := infile.Read(path, maxRules)
		if err != nil {
			return fmt.Errorf("%w: %v: %w: exported files are based on it; give a path that every node and this machine can read", mpi.ErrSite, s, err)
		}
		site.Settings[i].Content = text
	}
	return nil
}

// Largest returns a point of a library whose layout has the most ranks, on the most nodes.
func (c *Campaign) Largest(library string) coll.Point {
	var out coll.Point
	for _, p := range c.Problems {
		for _, point := range p.Space.Points() {
			if more := cmp.Or(cmp.Compare(point.Ranks(), out.Ranks()), cmp.Compare(point.Nodes, out.Nodes)); p.Library == library && (out.Nodes == 0 || more > 0) {
				out = point
			}
		}
	}
	return out
}

// SiteWarnings returns a text for each setting of the machine that takes part in the choice of algorithms of the
// libraries. The texts are among the campaign's warnings, too.
func SiteWarnings(libs ...config.Library) []string {
	var out []string
	for _, lib := range libs {
		if lib.Site == nil {
			continue
		}
		for _, s := range lib.Site.Settings {
			what := "may change library_default, and stays on"
			switch s.Effect {
			case mpi.ShapesLaunch:
				what = "places or binds the ranks of every launch, and stays on"
			case mpi.OfOther:
				what = "selects algorithms of another MPI library, which these launches do not load, and stays on"
			case mpi.SelectsByFile:
				what = "selects algorithms: library_default is its choice, and exported files are based on it"
			case mpi.PinsAlgorithm:
				what = "pins algorithms: library_default is its choice; it is off while others are measured, and with exported files"
			case mpi.TurnsOn:
				what = "says which component serves calls: library_default has it; it is off while others are measured, and with exported files"
			}
			out = append(out, fmt.Sprintf("%s: %v %s", lib.Name, s, what))
		}
	}
	return out
}
