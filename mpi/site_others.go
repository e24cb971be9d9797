package mpi

import (
	_ "embed"
	"slices"
	"strings"

	"tutti/coll"
)

//go:embed site_others.csv
var othersText string

var otherTable = NewSiteTable(othersText, func(c coll.Collective) string { return strings.ToUpper(string(c)) })

// AllSettings returns the settings that launches of a library have: its own (Measurable.Settings), and those of what is
// below and around it. A library that is loaded before the MPI library may run with one that tutti does not know.
func AllSettings(lib Measurable, environ []string, listing string) []SiteSetting {
	other := OfOther
	if lib.Facts().Preload {
		other = ShapesDefault
	}
	out := lib.Settings(environ, listing)
	for _, s := range OtherSettings(environ, other) {
		if !slices.ContainsFunc(out, func(own SiteSetting) bool { return own.Name == s.Name }) {
			out = append(out, s)
		}
	}
	return out
}

// OtherSettings returns the settings in an environment (NAME=VALUE) that belong to other MPI libraries, to libraries of
// collectives below MPI and to launchers, by name. `other` is the effect of those of other MPI libraries: OfOther, or
// ShapesDefault if the library of the programs may be one of these.
func OtherSettings(environ []string, other SiteEffect) []SiteSetting {
	var found []SiteSetting
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		found = append(found, SiteSetting{Name: name, Value: value, Source: FromEnvironment})
	}
	out := otherTable.Select(found)
	for i, s := range out {
		if s.Effect == OfOther {
			out[i].Effect = other
		}
	}
	return out
}
