package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tutti/mpi"
)

// toolsOf runs the programs of an installation.
type toolsOf struct {
	x   *examiner
	lib *Library
}

// Find implements mpi.Tools.
func (t toolsOf) Find(name string) string {
	return lookIn(slices.Concat(t.lib.bins(), t.x.path()), name)
}

// Ask implements mpi.Tools.
func (t toolsOf) Ask(ctx context.Context, path string, args ...string) string {
	return t.x.run(ctx, command{args: append([]string{path}, args...), limit: t.x.limits.ask}).Stdout
}

// inspect asks the build which algorithms it has.
func (x *examiner) inspect(ctx context.Context, lib *Library, c *Check) {
	i := lib.family.Inspect(ctx, mpi.Installed{Version: lib.Version, File: lib.File.Path, Tools: toolsOf{x, lib}})
	lib.Device, lib.Checks, lib.Absent, lib.Unlisted = i.Device, i.Checks, i.Absent, i.Unlisted
	c.Details = append(c.Details, i.Build...)
	if i.Fault != "" {
		*c = c.with(Warning, i.Cure)
		c.Details = append(c.Details, i.Fault)
	}
	if i.Catalogue != nil {
		lib.Catalogue = i.Catalogue.Version
		lib.describe(i.Listed, c)
	}
	c.Details = append(c.Details, i.Rivals...)
}

// describe tells what the build has of its catalogue and sets the state of the check.
func (l *Library) describe(listed int, c *Check) {
	text := fmt.Sprintf("%d of %d algorithms of catalogue %s", listed-len(l.Absent), listed, l.Catalogue)
	if l.Catalogue != l.Version {
		text += ", the nearest"
	}
	c.Details = append(c.Details, text)
	if len(l.Unlisted) > 0 {
		c.Details = append(c.Details, fmt.Sprintf("%d more that tutti does not tune: %s", len(l.Unlisted), several(l.Unlisted)))
	}
	if len(l.Absent) > 0 {
		c.Details = append(c.Details, "not in this build: "+several(l.Absent))
		*c = c.with(Warning, "leave them out of the campaign: they would be failed trials")
	}
}

// several names the first few.
func several(names []string) string {
	const most = 6
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
