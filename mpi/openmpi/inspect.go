package openmpi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/internal/lazyregexp"
	"tutti/mpi"
)

const banner = "Open MPI v%d.%d.%d"

var releaseForm = lazyregexp.New(`^(v?)([0-9]+\.[0-9]+\.[0-9]+(?:(?:a|b|rc)[0-9]+)?)(-.*)?$`)

// Recognise implements mpi.Library. The library's file contains the revision of its repository; for a release
// this is a tag with the release's number. The file of any other build contains only this number.
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

// Inspect implements mpi.Measurable. It runs the ompi_info in the folder of the compiler.
func (library) Inspect(ctx context.Context, b mpi.Installed) mpi.Inspection {
	path := b.Tools.Find(mpi.ComponentTool)
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
	for _, s := range (library{}).Settings(b.Environ, info.text) {
		if s.Effect == mpi.PreventsTuning {
			return unknown("coll/tuned cannot run the algorithms that tutti selects: "+s.String(), "change or remove the setting")
		}
		i.Site = append(i.Site, s)
	}
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

// compare compares the algorithms of coll/tuned with those of a catalogue. It returns the entries that are missing in
// the library, the library's algorithms that are missing in the catalogue, and the number of entries compared. An
// algorithm whose number differs from the catalogue's counts as absent, because rules contain numbers.
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
		for _, id := range slices.Sorted(maps.Keys(has)) {
			if !known[id] {
				unlisted = append(unlisted, fmt.Sprintf("%s %d %s", c, id, has[id]))
			}
		}
	}
	return absent, unlisted, listed
}

type ompiInfo struct {
	text       string                    // what ompi_info printed
	version    string                    // of Open MPI
	checks     string                    // of arguments: on, off, or empty when it does not say
	tuned      map[string]map[int]string // collective to number to name of its algorithm
	components mpi.Components
	settings   []mpi.SiteSetting // parameters of the coll framework that are not at their defaults
}

var (
	fullForm   = lazyregexp.New(`^ompi:version:full:([0-9][0-9A-Za-z.+-]{0,63})$`)
	checkForm  = lazyregexp.New(`^option:mpi-param-check:(never|always|runtime)$`)
	valueForm  = lazyregexp.New(`^[a-z0-9_]+:param:([a-z0-9_]+):(value|source):(.*)$`)
	fileSource = lazyregexp.New(`^file \((.+)\)$`)
	tunedForm  = lazyregexp.New(`^mca:coll:tuned:param:coll_tuned_([a-z_]+)_algorithm:enumerator:value:([0-9]{1,4}):([A-Za-z0-9_-]{1,64})$`)
)

func ask(ctx context.Context, tools mpi.Tools, path string) ompiInfo {
	text := tools.Ask(ctx, path, "--parsable") + "\n" + tools.Ask(ctx, path, mpi.ComponentLister[1:]...)
	info := parseOmpiInfo(text)
	info.text = text
	return info
}

func (i ompiInfo) listing() map[coll.Collective][]mpi.Entry {
	out := map[coll.Collective][]mpi.Entry{}
	for _, c := range coll.Collectives() {
		names := i.tuned[string(c)]
		for _, id := range slices.Sorted(maps.Keys(names)) {
			if id > 0 { // 0 is no algorithm
				out[c] = append(out[c], mpi.Entry{Name: names[id], ID: id})
			}
		}
	}
	return out
}

// besides is the path of a library's file. As mpi.Tools, it finds programs in the folders next to this library,
// and on the PATH.
type besides string

func (file besides) Find(name string) string {
	path := filepath.Join(filepath.Dir(string(file)), "..", "bin", name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	path, _ = exec.LookPath(name)
	return path
}

func (besides) Ask(ctx context.Context, path string, args ...string) string {
	out, _ := exec.CommandContext(ctx, path, args...).Output() // what it did not print is missing
	return string(out)
}

func parseOmpiInfo(text string) ompiInfo {
	info := ompiInfo{tuned: map[string]map[int]string{}, components: mpi.ReadComponents(text)}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := fullForm.FindStringSubmatch(line); m != nil {
			info.version = m[1]
		}
		if m := checkForm.FindStringSubmatch(line); m != nil {
			info.checks = "on"
			if m[1] == "never" {
				info.checks = "off"
			}
		}
		if rest, is := strings.CutPrefix(line, "mca:coll:"); is {
			info.seeSetting(rest)
		}
		if m := tunedForm.FindStringSubmatch(line); m != nil {
			info.seeTuned(m[1], m[2], m[3])
		}
	}
	info.settings = slices.DeleteFunc(info.settings, func(s mpi.SiteSetting) bool { return s.Source == "" })
	return info
}

// seeSetting reads the value and the source of a parameter, which are on successive lines.
func (i *ompiInfo) seeSetting(rest string) {
	m := valueForm.FindStringSubmatch(rest)
	switch n := len(i.settings) - 1; {
	case m == nil:
	case m[2] == "value":
		i.settings = append(i.settings, mpi.SiteSetting{Name: m[1], Value: m[3]})
	case n < 0 || i.settings[n].Name != m[1]:
	case m[3] == "default":
		i.settings = i.settings[:n]
	default:
		i.settings[n].Source = m[3]
		if file := fileSource.FindStringSubmatch(m[3]); file != nil {
			i.settings[n].Source = file[1]
		}
	}
}

func (i *ompiInfo) seeTuned(collective, number, name string) {
	id, _ := strconv.Atoi(number) // at most four digits
	if i.tuned[collective] == nil {
		i.tuned[collective] = map[int]string{}
	}
	i.tuned[collective][id] = name
}

// above returns the components that have a higher priority than coll/tuned, in ascending order of priority.
// It considers only components for the collectives of whole programs.
func (i ompiInfo) above() []string {
	mine, known := i.components.Priority("tuned")
	if !known {
		mine = 30 // as Open MPI ships it
	}
	var out []string
	for _, r := range componentsAbove {
		if p, _ := i.components.Priority(r.component); p > mine {
			out = append(out, r.component)
		}
	}
	slices.Sort(out)
	return out
}

// CheckAlgorithm implements mpi.Measurable. No function is observable if the component coll/tuned is linked
// into the library itself. A function of a component with a higher priority, such as coll/adapt, counts as
// another algorithm.
func (library) CheckAlgorithm(cat *mpi.Catalogue, c coll.Candidate, stacks [][]string) error {
	e, err := cat.Lookup(c.Collective, c.Algorithm)
	if err != nil {
		return err
	}
	if isHan(e.ID) {
		return errors.New("coll/han does not show its algorithm")
	}
	want := functionOf(c.Collective, e)
	var saw []string
	for _, stack := range stacks {
		if i := slices.IndexFunc(stack, func(name string) bool { return strings.HasPrefix(name, basePrefix) || strings.HasPrefix(name, "coll/") }); i >= 0 {
			saw = append(saw, stack[i])
		}
	}
	switch {
	case slices.ContainsFunc(saw, func(name string) bool { return plain(name) == plain(want) }):
		return nil
	case len(saw) == 0:
		return errors.New("the error names no algorithm")
	}
	return mpi.OtherAlgorithm(saw, want)
}

// functionOf returns the function that runs an algorithm of coll/tuned.
func functionOf(c coll.Collective, e mpi.Entry) string {
	return cmp.Or(e.Function, basePrefix+string(c)+"_intra_"+e.Name)
}

const basePrefix = "ompi_coll_base_"

// plain removes underscores and hyphens from a name. Open MPI has several names for one algorithm that
// differ only in these characters.
func plain(name string) string { return strings.NewReplacer("_", "", "-", "").Replace(name) }
