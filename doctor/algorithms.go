package doctor

import (
	"fmt"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// compareMPICH holds the leaf names of a build, compositions of its device
// included, against a catalogue. Leaves of nonblocking and inter-communicator
// collectives are no business of the catalogue, nor are compositions of a build
// that has none: its device is an older one.
func compareMPICH(cat *mpi.Catalogue, leaves []string) (absent, unlisted []string, listed int) {
	known := map[string]bool{}
	composes := slices.ContainsFunc(leaves, isComposition)
	for _, c := range coll.Collectives() {
		for _, e := range cat.Entries(c) {
			known[e.Function] = true
			if isComposition(e.Function) && !composes {
				continue
			}
			listed++
			if !slices.Contains(leaves, e.Function) {
				absent = append(absent, string(c)+" "+e.Name)
			}
		}
	}
	for _, leaf := range leaves {
		if !known[leaf] && ofCatalogue(leaf) {
			unlisted = append(unlisted, leaf)
		}
	}
	return absent, unlisted, listed
}

func isComposition(leaf string) bool { return strings.HasPrefix(leaf, "MPIDI_") }

// ofCatalogue reports whether a leaf is an algorithm of a collective that the
// catalogue covers, between the processes of one communicator. An automatic
// choice and a nonblocking call in disguise are no algorithms.
func ofCatalogue(leaf string) bool {
	if strings.HasSuffix(leaf, "_auto") || strings.HasSuffix(leaf, "_nb") {
		return false
	}
	for _, c := range coll.Collectives() {
		name := strings.ToUpper(string(c[:1])) + string(c[1:])
		if strings.HasPrefix(leaf, "MPIR_"+name+"_intra_") || strings.HasPrefix(leaf, "MPIR_"+name+"_allcomm_") ||
			strings.HasPrefix(leaf, "MPIDI_"+name+"_intra_composition_") {
			return true
		}
	}
	return false
}

// compareOpenMPI holds the enumerators of coll/tuned against a catalogue. An
// algorithm whose number differs is absent: rules say numbers.
func compareOpenMPI(cat *mpi.Catalogue, tuned map[string]map[int]string) (absent, unlisted []string, listed int) {
	for _, c := range coll.Collectives() {
		has := tuned[string(c)]
		known := map[int]bool{0: true} // ignore
		for _, e := range cat.Entries(c) {
			known[e.ID] = true
			listed++
			if has[e.ID] != e.Name {
				absent = append(absent, fmt.Sprintf("%s %d %s", c, e.ID, e.Name))
			}
		}
		var more []int
		for id := range has {
			if !known[id] {
				more = append(more, id)
			}
		}
		slices.Sort(more)
		for _, id := range more {
			unlisted = append(unlisted, fmt.Sprintf("%s %d %s", c, id, has[id]))
		}
	}
	return absent, unlisted, listed
}

// describe tells what the comparison found and sets the state of the check.
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
