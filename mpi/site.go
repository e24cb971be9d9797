package mpi

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"tutti/coll"
	"tutti/internal/lazyregexp"
)

// FromEnvironment is the source of a setting in the environment, until config.Campaign.WithSources names who set it there.
const FromEnvironment = "environment"

// ErrSite is matched by errors about settings of the site with which tutti cannot measure or export. The text names
// the setting, its source and what to do.
var ErrSite = errors.New("settings of the site")

// Site describes the settings of a site or a user that take part in the choice of algorithms, wherever they come from:
// the environment, modules, set-up lines, parameter files. Users of the machine get them with every program, so they
// are on while the library's default is measured. It is nil for a library without known settings.
type Site struct {
	Settings []SiteSetting `json:"settings,omitempty"` // by name
}

// SiteSetting is one setting of a site.
type SiteSetting struct {
	Name    string     `json:"name"` // of the environment variable that sets it
	Value   string     `json:"value"`
	Source  string     `json:"source"` // FromEnvironment, a key of the campaign, or a file with its line
	Effect  SiteEffect `json:"effect"`
	Neutral string     `json:"neutral,omitempty"` // value that turns it off, for effects with Neutralised
	Content []byte     `json:"content,omitempty"` // of the file that it names, for SelectsByFile
}

// String returns a text such as "OMPI_MCA_coll_adapt_priority=60 (environment)".
func (s SiteSetting) String() string { return fmt.Sprintf("%s=%s (%s)", s.Name, s.Value, s.Source) }

// SiteEffect says what a setting of a site does.
type SiteEffect string

// Effects of settings.
const (
	SelectsByFile  SiteEffect = "file"      // it names a file with rules: the base of exported files
	PinsAlgorithm  SiteEffect = "algorithm" // it selects an algorithm for all calls of a collective
	TurnsOn        SiteEffect = "component" // it gives calls to a component above the one that tutti tunes
	ShapesDefault  SiteEffect = "default"   // it may change the library's own choice, and stays on
	PreventsTuning SiteEffect = "prevents"  // while it is on, no algorithm can be forced
	ShapesLaunch   SiteEffect = "launch"    // it places or binds ranks in every launch, and stays on
	OfOther        SiteEffect = "other"     // it selects algorithms of another MPI library
)

// neutralised are the effects of settings that are off while an algorithm is forced.
var neutralised = []SiteEffect{SelectsByFile, PinsAlgorithm, TurnsOn}

// Neutralised reports whether such a setting is turned off while an algorithm is forced.
func (e SiteEffect) Neutralised() bool { return slices.Contains(neutralised, e) }

// On returns the settings that have one of the effects. It accepts a nil Site.
func (s *Site) On(effects ...SiteEffect) []SiteSetting {
	if s == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Settings), func(x SiteSetting) bool { return !slices.Contains(effects, x.Effect) })
}

// Value returns the value of a setting, and false if it is not on. It accepts a nil Site.
func (s *Site) Value(name string) (SiteSetting, bool) {
	if s != nil {
		if i := slices.IndexFunc(s.Settings, func(x SiteSetting) bool { return x.Name == name }); i >= 0 {
			return s.Settings[i], true
		}
	}
	return SiteSetting{}, false
}

// Neutral returns the variables that turn off what selects algorithms, for the start of a program that forces
// algorithms. The function `keep` says which settings stay on. Neutral accepts a nil Site.
func (s *Site) Neutral(keep func(SiteSetting) bool) []Var {
	var out []Var
	for _, x := range s.On(neutralised...) {
		if !keep(x) {
			out = append(out, Var{Name: x.Name, Value: x.Neutral})
		}
	}
	return out
}

// SiteTable says what the settings of a library do. Each row has a pattern for names.
type SiteTable struct{ rows func() []siteRow }

type siteRow struct {
	name    *lazyregexp.Regexp
	effect  SiteEffect // empty: it does not take part in the choice of algorithms
	neutral string
	inert   []string // values with which it has no effect, besides neutral
}

// NewSiteTable reads a table with the columns name, effect, neutral and inert. In a name, {c} stands for a collective,
// as the function `spell` writes it, and * for any text. The first row whose name matches counts. The values in the
// column inert are separated by |.
//
// The table is read when Select needs it. It is part of the program, so an error is a panic.
func NewSiteTable(text string, spell func(coll.Collective) string) SiteTable {
	return SiteTable{sync.OnceValue(func() []siteRow { return readSiteTable(text, spell) })}
}

func readSiteTable(text string, spell func(coll.Collective) string) []siteRow {
	var names []string
	for _, c := range coll.Collectives() {
		names = append(names, spell(c))
	}
	var out []siteRow
	for _, row := range EmbeddedRows(text) {
		form := strings.NewReplacer(`\*`, `.*`, `\{c\}`, "(?:"+strings.Join(names, "|")+")").Replace(regexp.QuoteMeta(row[0]))
		s := siteRow{name: lazyregexp.New("^" + form + "$"), effect: SiteEffect(row[1]), neutral: row[2]}
		if row[3] != "" {
			s.inert = strings.Split(row[3], "|")
		}
		out = append(out, s)
	}
	return out
}

// Select returns those of the found settings that take part in the choice of algorithms, by name. It sets their
// effects. A setting with its neutral value is left out.
func (t SiteTable) Select(found []SiteSetting) []SiteSetting {
	var out []SiteSetting
	rows := t.rows()
	for _, s := range found {
		i := slices.IndexFunc(rows, func(r siteRow) bool { return r.name.MatchString(s.Name) })
		if i < 0 || rows[i].effect == "" || s.Value == rows[i].neutral || slices.Contains(rows[i].inert, s.Value) {
			continue
		}
		s.Effect, s.Neutral = rows[i].effect, rows[i].neutral
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b SiteSetting) int { return strings.Compare(a.Name, b.Name) }) // the first of a name counts
	return slices.CompactFunc(out, func(a, b SiteSetting) bool { return a.Name == b.Name })
}

// OnSite returns a copy of the catalogue for a machine whose site has settings. Measurable.Force and Library.Open take
// them into account. For a nil Site it returns the catalogue itself.
func (c *Catalogue) OnSite(s *Site) *Catalogue {
	if s == nil || len(s.Settings) == 0 {
		return c
	}
	out := *c
	out.Site = s
	return &out
}
