package openmpi

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"

	"tutti/coll"
	"tutti/mpi"
)

const banner = "Open MPI v%d.%d.%d"

var releaseForm = regexp.MustCompile(`^(v?)([0-9]+\.[0-9]+\.[0-9]+(?:(?:a|b|rc)[0-9]+)?)(-.*)?$`)

// Recognise implements mpi.Library. The library's file contains the revision of its repository, which is a
// tag for a release. The file of another build contains the release alone.
func (library) Recognise(file []byte) string {
	isOpen, tag, plain := false, "", ""
	for text := range bytes.SplitSeq(file, []byte{0}) {
		isOpen = isOpen || string(text) == "Open MPI" || bytes.HasPrefix(text, []byte(banner))
		m := releaseForm.FindSubmatch(text[:min(len(text), 65)]) // a longer text is no release
		switch {
		case m == nil:
		case len(m[1]) > 0:
			tag = cmp.Or(tag, string(m[2]))
		case len(m[3]) == 0:
			plain = cmp.Or(plain, string(m[2]))
		}
	}
	release := cmp.Or(tag, plain)
	if !isOpen || release == "" {
		return ""
	}
	return "Open MPI " + release
}

const tool = "ompi_info"

// Inspect implements mpi.Measurable. It runs the ompi_info in the folder of the compiler.
func (library) Inspect(ctx context.Context, b mpi.Installed) mpi.Inspection {
	path := b.Tools.Find(tool)
	if path == "" {
		return unknown("no ompi_info next to the compiler: its algorithms are not known", "apt-get install openmpi-bin, or put its bin folder on the PATH")
	}
	info := ask(ctx, b.Tools, path)
	switch {
	case info.version == "" || len(info.tuned) == 0:
		return unknown(path+" does not tell the algorithms of coll/tuned", "try it by hand: "+path+" --param coll tuned --level 9")
	case !mpi.SameRelease(info.version, b.Version):
		return unknown(fmt.Sprintf("%s is of Open MPI %s: its algorithms are not known", path, info.version), "put the bin folder of Open MPI "+b.Version+" first on the PATH")
	}
	near, _ := mpi.Near(releases(), b.Version)
	i := mpi.Inspection{Checks: info.checks}
	if near == nil {
		i.Fault, i.Fix = "no list of algorithms is near this version", "use Open MPI 4.1 or newer"
		return i
	}
	cat := near.As(b.Version)
	if !cat.KnownSeries() {
		i.Build = []string{mpi.UnknownSeries}
		cat = cat.Listing(info.listing())
	}
	i.Catalogue = cat
	for _, c := range info.above() {
		exported := "turned off by exported settings"
		if !slices.ContainsFunc(build{cat}.turnedOff(), func(r component) bool { return r.component == c }) {
			exported = "passes tuned calls on by exported rules"
		}
		i.Above = append(i.Above, fmt.Sprintf("coll/%s outranks coll/tuned: off while algorithms are measured, %s", c, exported))
	}
	if len(i.Above) == 0 {
		i.Above = []string{"nothing outranks coll/tuned"}
	}
	i.Absent, i.Unlisted, i.Listed = compare(cat, info.tuned)
	return i
}

func unknown(fault, fix string) mpi.Inspection { return mpi.Inspection{Fault: fault, Fix: fix} }

// compare compares the enumerators of coll/tuned with a catalogue. An algorithm whose number differs from
// the catalogue's counts as absent, because rules contain numbers.
func compare(cat *mpi.Catalogue, tuned map[string]map[int]string) (absent, unlisted []string, listed int) {
	for _, c := range coll.Collectives() {
		has := tuned[string(c)]
		known := map[int]bool{0: true} // ignore
		for _, e := range cat.Entries(c) {
			if isHan(e.ID) {
				continue
			}
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
