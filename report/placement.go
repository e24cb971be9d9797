package report

import (
	"slices"

	"tutti/coll"
	"tutti/journal"
)

// placement is that of what was measured of a library; zero when unknown.
func (f *Facts) placement(library string) coll.Placements {
	for _, l := range f.Libraries {
		if l.Library == library && l.Placement != nil {
			return *l.Placement
		}
	}
	return coll.Placements{}
}

// elsewhere returns in what the measurements of a verification lay otherwise than those
// of the campaign, each once.
func elsewhere(tuned coll.Placements, v *journal.Verification) []string {
	if v == nil {
		return nil
	}
	var measured []coll.Measurement
	for _, s := range v.Steps {
		if s.Trial != nil {
			measured = append(measured, s.Trial.Measurement)
		}
	}
	slices.SortStableFunc(measured, func(a, b coll.Measurement) int { return a.Nodes - b.Nodes })
	var out []string
	for _, m := range measured {
		if text := tuned.Differ(m); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
