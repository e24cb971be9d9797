package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/coll/catalogue"
)

// nearest returns the release of the catalogue that a version is to be taken for:
// itself, else the last one up to it of the same series (first two numbers), else
// the first of that series, else the last one up to it.
func nearest(library, version string) (release string, exact, found bool) {
	want, ok := numbers(version)
	if !ok {
		return "", false, false
	}
	var sameSeries, below string
	for _, r := range catalogue.Versions(library) { // oldest first
		have, _ := numbers(r)
		if r == version {
			return r, true, true
		}
		upTo := slices.Compare(have, want) <= 0
		if slices.Equal(have[:2], want[:2]) && (sameSeries == "" || upTo) {
			sameSeries = r
		}
		if upTo {
			below = r
		}
	}
	release = sameSeries
	if release == "" {
		release = below
	}
	return release, false, release != ""
}

// numbers returns the leading numbers of a version, two at least.
func numbers(version string) ([]int, bool) {
	var out []int
	for _, part := range strings.Split(version, ".") {
		end := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' })
		if end >= 0 {
			part = part[:end]
		}
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		out = append(out, n)
		if end >= 0 {
			break
		}
	}
	return out, len(out) >= 2
}

// compareMPICH holds the leaf names of a build, compositions of its device
// included, against a catalogue. Leaves of nonblocking and inter-communicator
// collectives are no business of the catalogue, nor are compositions of a build
// that has none: its device is an older one.
func compareMPICH(cat *catalogue.Catalogue, leaves []string) (absent, unlisted []string, listed int) {
	known := map[string]bool{}
	composes := slices.ContainsFunc(leaves, isComposition)
	for _, c := range coll.Collectives() {
		for _, e := range cat.Entries(c) {
			known[e.Leaf] = true
			if isComposition(e.Leaf) && !composes {
				continue
			}
			listed++
			if !slices.Contains(leaves, e.Leaf) {
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
func compareOpenMPI(cat *catalogue.Catalogue, tuned map[string]map[int]string) (absent, unlisted []string, listed int) {
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
