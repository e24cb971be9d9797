package settings

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

var _ mpi.Measurable = (*library)(nil)

// Force implements mpi.Measurable. The variables hold for all calls of a launch, so every algorithm has launches of its
// own. The library's default has none of the variables, except those of the site.
func (l *library) Force(cat *mpi.Catalogue, c coll.Candidate) (mpi.Forcing, error) {
	if c.Algorithm.IsDefault() {
		return mpi.Forcing{}, nil
	}
	e, err := cat.Lookup(c.Collective, c.Algorithm)
	if err != nil {
		return mpi.Forcing{}, err
	}
	var f mpi.Forcing
	for _, s := range l.syntax.forced(build{l, cat}, c.Collective, e, c.Algorithm) {
		f.Base = append(f.Base, mpi.Var{Name: s.Name, Value: s.Value})
	}
	f.Env = slices.Clone(f.Base)
	return f, nil
}

// CheckAlgorithm implements mpi.Measurable. No way is known to see which algorithm runs.
func (*library) CheckAlgorithm(*mpi.Catalogue, coll.Candidate, [][]string) error {
	return errors.New("not observed: the library does not show which algorithm runs")
}

// Settings implements mpi.Measurable. A variable of the table is exported only as a whole: if its value can leave calls
// to the library, a value of the site prevents tuning, since it would be lost for these calls. A component of Open MPI
// that does not pass calls to the library prevents it, too.
func (l *library) Settings(environ []string, listing string) []mpi.SiteSetting {
	var own []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if slices.ContainsFunc(l.prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			own = append(own, v)
		}
	}
	out := mpi.OtherSettings(own, mpi.ShapesDefault)
	for _, v := range own {
		name, value, _ := strings.Cut(v, "=")
		if !l.hasVariable(name) {
			continue
		}
		s := mpi.SiteSetting{Name: name, Value: value, Source: mpi.FromEnvironment, Effect: mpi.ShapesDefault}
		if !l.syntax.whole() {
			s.Effect = mpi.PreventsTuning
		}
		out = append(slices.DeleteFunc(out, func(o mpi.SiteSetting) bool { return o.Name == name }), s)
	}
	if value := l.uncalled(listing); value != "" {
		out = append(out, mpi.SiteSetting{Name: "coll/" + l.facts.Component, Value: value, Source: mpi.ComponentTool, Effect: mpi.PreventsTuning})
	}
	slices.SortFunc(out, func(a, b mpi.SiteSetting) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// uncalled says why Open MPI passes no calls to the library, by its list of components: the component for it is absent, off
// or has a lower priority than one that serves the same collectives. The text is empty if calls reach the library, or
// without a list.
func (l *library) uncalled(listing string) string {
	component := l.facts.Component
	all := mpi.ReadComponents(listing)
	if component == "" || len(all) == 0 {
		return ""
	}
	if all[component] == nil {
		return "absent"
	}
	if enable := all[component]["enable"]; enable == "0" || enable == "false" {
		return "off"
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(l.variables)), coll.Collective.Nonblocking) {
		return "" // no other component serves these
	}
	for _, rival := range []string{"tuned", "han"} {
		own, ok := all.Priority(component)
		other, otherOK := all.Priority(rival)
		if ok && otherOK && own < other {
			return fmt.Sprintf("priority %d, below %d of coll/%s", own, other, rival)
		}
	}
	return ""
}

func (l *library) hasVariable(name string) bool {
	for _, list := range l.variables {
		if slices.ContainsFunc(list, func(v variable) bool { return v.name == name }) {
			return true
		}
	}
	return false
}

// Inspect implements mpi.Measurable. The algorithms are those of the table, since the library does not list them.
func (l *library) Inspect(_ context.Context, b mpi.Installed) mpi.Inspection {
	if b.File == "" {
		return mpi.Inspection{}
	}
	i := mpi.Inspection{Site: l.Settings(b.Environ, "")}
	near, series := mpi.Near(l.releases, b.Version)
	if near == nil || !series {
		i.Fault, i.Fix = "no release of this series is in the table of variables", "add its rows to the tables of mpi/settings, or give a known release: "+l.known()
		return i
	}
	i.Catalogue = near.As(b.Version)
	for _, c := range coll.Collectives() {
		i.Listed += len(i.Catalogue.Entries(c))
	}
	return i
}

func (l *library) known() string {
	var out []string
	for _, cat := range l.releases {
		out = append(out, cat.Version)
	}
	return strings.Join(out, ", ")
}
