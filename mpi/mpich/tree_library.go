package mpich

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/internal/infile"
	"tutti/internal/lazyregexp"
	"tutti/mpi"
)

// libraryTree holds the built-in selection trees of one libmpich, and the names that the library accepts in
// a selection file. In MPICH's source code this subsystem is called csel.
type libraryTree struct {
	Source  string     // path of the library, or release
	Version string     // release; empty if the library does not contain it
	Tree    treeObject // the built-in tree of point-to-point algorithms
	Leaves  []string   // names accepted after algorithm=, ascending
	Keys    []string   // conditions, values cut off after < and <=, ascending

	// Numbers has the help texts of MPI_T control variables. Each of them lists the algorithms of a collective
	// in the order of the variable's values.
	Numbers []string

	// Device is the device tree, which MPICH evaluates first. It splits a collective into parts between and
	// within nodes. It is empty for devices other than ch4.
	Device       treeObject
	Compositions []string // names accepted after composition=, ascending

	// Properties of the build. They are empty if the library's file was not read.
	Transport string // device and network, for example ch4:ucx
	Asserts   bool   // it checks trees with assertions
	Posix     bool   // it has collectives through shared memory within a node
	NoNodes   bool   // each rank counts as a node
}

func (lib libraryTree) runs(_ coll.Collective, e mpi.Entry) bool {
	names := lib.Leaves
	if composes(e) {
		names = lib.Compositions
	}
	needsNodes := slices.ContainsFunc(e.Requires, func(r mpi.Requirement) bool {
		return slices.Contains([]mpi.Requirement{mpi.Parent, mpi.Hierarchical, mpi.OneNode, mpi.NodeConsecutive}, r)
	})
	return slices.Contains(names, e.Function) && !(lib.NoNodes && needsNodes)
}

// listing returns the algorithms that the help texts of control variables list, and the compositions of the catalogue.
// If several texts name the same collective by mistake, the one with the most algorithms counts.
func (lib libraryTree) listing(cat *mpi.Catalogue) map[coll.Collective][]mpi.Entry {
	out := map[coll.Collective][]mpi.Entry{}
	for _, text := range lib.Numbers {
		c := coll.Collective(numbersForm.FindStringSubmatch(text)[1])
		var listed []mpi.Entry
		for id, name := range numberedForm.FindAllStringSubmatch(text, -1) {
			e := mpi.Entry{Name: name[1], ID: id, Function: leafPrefix(c) + name[1]}
			if slices.Contains(lib.Leaves, e.Function) && !slices.Contains(leftOut(cat.Version), e.Function) {
				listed = append(listed, e)
			}
		}
		if len(listed) > len(out[c]) {
			out[c] = listed
		}
	}
	for _, c := range coll.Collectives() {
		for _, e := range cat.Entries(c) {
			if composes(e) {
				out[c] = append(out[c], e)
			}
		}
	}
	return out
}

var errNoTree = errors.New("no built-in selection tree")

//go:embed trees/*.json trees/*.names
var builtinTrees embed.FS

// embeddedTree returns the trees of a known release, without reading a library. Files made from these trees
// are for builds of that release only.
func embeddedTree(version string) (libraryTree, error) {
	tree, err := builtinTrees.ReadFile("trees/" + version + ".json")
	if err != nil {
		return libraryTree{}, fmt.Errorf("mpich %s: %w known without the library: give the path of its libmpich.so", version, errNoTree)
	}
	names, err := builtinTrees.ReadFile("trees/" + version + ".names")
	if err != nil {
		return libraryTree{}, fmt.Errorf("mpich %s: %w", version, err)
	}
	var f treeFinder
	f.see(tree)
	if device, err := builtinTrees.ReadFile("trees/" + version + ".ch4.json"); err == nil {
		f.see(device)
	}
	for name := range bytes.Lines(names) {
		f.see(bytes.TrimSpace(name))
	}
	return f.library("built in, of MPICH "+version, version)
}

// readLibraryTree reads MPICH's trees, which select algorithms, from a libmpich.so or libmpich.a. It also reads the
// version and the names that trees may contain. The file contains the trees as JSON text. If it has none, the error
// matches errNoTree, and all fields of the result except the trees are valid.
func readLibraryTree(path string) (libraryTree, error) {
	file, err := infile.Read(path, infile.NoLimit)
	if err != nil {
		return libraryTree{}, fmt.Errorf("mpich: %w", err)
	}
	var f treeFinder
	for text := range bytes.SplitSeq(file, []byte{0}) {
		f.see(text)
	}
	return f.library(path, releaseOf(file))
}

type treeFinder struct {
	tree, device []byte
	lib          libraryTree // without trees; names in any order, perhaps twice
}

var (
	treeStart = []byte(`{"collective=`)
	leafStart = []byte(leafKey + "MPIR_")

	numbersForm  = lazyregexp.New(`^Variable to select ([a-z_]+) algorithm\s`)
	numberedForm = lazyregexp.New(`([a-z0-9_]+) +- [A-Z]`)

	leafName  = lazyregexp.New(`^MPIR_[A-Za-z0-9_]+$`)
	compStart = []byte(compositionKey + "MPIDI_")
	compName  = lazyregexp.New(`^MPIDI_[A-Za-z0-9_]+$`)
	keyForm   = lazyregexp.New(`^(comm_(type|size|avg_ppn|hierarchy)|avg_msg_size|total_msg_size|count|is_[a-z_]+)` +
		`(<=?|<pow2|=[a-z0-9_]+)$`)
	transportForm = lazyregexp.New(`^ch[34](:[a-z0-9,]+)+$`)
	assertForm    = lazyregexp.New(`== (MPIR_)?CSEL_NODE_TYPE__`)
)

// shortText is a length in bytes that exceeds the length of every name and condition in a library file.
const shortText = 64

func (f *treeFinder) see(text []byte) {
	f.seeBuild(text)
	switch at := bytes.Index(text, treeStart); {
	case at >= 0:
		f.seeTree(text[at:])
	case numbersForm.Match(text):
		f.lib.Numbers = append(f.lib.Numbers, string(text))
	case bytes.Contains(text, leafStart):
		_, name, _ := bytes.Cut(text, []byte(leafKey))
		if leafName.Match(name) {
			f.lib.Leaves = append(f.lib.Leaves, string(name))
		}
	case bytes.Contains(text, compStart):
		_, name, _ := bytes.Cut(text, []byte(compositionKey))
		if compName.Match(name) {
			f.lib.Compositions = append(f.lib.Compositions, string(name))
		}
	case len(text) <= shortText && keyForm.Match(text):
		f.lib.Keys = append(f.lib.Keys, string(text))
	}
}

func (f *treeFinder) seeBuild(text []byte) {
	if f.lib.Transport == "" && len(text) <= shortText && transportForm.Match(text) {
		f.lib.Transport = string(text)
	}
	f.lib.Posix = f.lib.Posix || bytes.Contains(text, []byte("ch4/shm/posix/")) || bytes.HasPrefix(text, []byte("MPIDI_POSIX_"))
	f.lib.Asserts = f.lib.Asserts || bytes.Contains(text, []byte("CSEL_NODE_TYPE__")) && assertForm.Match(text)
}

// seeTree keeps the first tree of algorithms and the first device tree. The device's shared memory has a
// third tree, which names no algorithm and no composition.
func (f *treeFinder) seeTree(text []byte) {
	switch {
	case f.tree == nil && bytes.Contains(text, leafStart):
		f.tree = text
	case f.device == nil && bytes.Contains(text, compStart):
		f.device = text
	}
}

func (f *treeFinder) library(source, version string) (libraryTree, error) {
	lib := f.lib
	lib.Source, lib.Version = source, version
	// Since 5.0, configure defines ENABLE_NO_LOCAL if there are no modules for shared memory (ch4/subconfigure.m4).
	lib.NoNodes = mpi.AtLeast(lib.Version, 5) && strings.HasPrefix(lib.Transport, "ch4:") && !lib.Posix
	for _, names := range []*[]string{&lib.Leaves, &lib.Keys, &lib.Compositions} {
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
	if f.tree == nil {
		return lib, fmt.Errorf("%s: %w: want the libmpich.so of MPICH 4.0 or newer", source, errNoTree)
	}
	var err error
	if lib.Tree, err = parseTree(f.tree); err != nil {
		return libraryTree{}, fmt.Errorf("%s: built-in tree: %w", source, err)
	}
	if f.device != nil {
		if lib.Device, err = parseTree(f.device); err != nil {
			return libraryTree{}, fmt.Errorf("%s: built-in tree of the device: %w", source, err)
		}
	}
	return lib, nil
}

var (
	crayForm    = lazyregexp.New(`CRAY MPICH version ([0-9][0-9.]{0,31})`)
	releaseForm = lazyregexp.New(`^[0-9]+\.[0-9]+(\.[0-9]+)?((a|b|rc|p)[0-9]+)?$`)
	// The format of C's asctime, or the text in a development build.
	dateForm = lazyregexp.New(`^unreleased development copy$|^[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} .*[0-9]{4}$`)
)

// Recognise implements mpi.Library: it returns the name and the release that a library's file contains. For
// Cray's variant, whose file also contains MPICH's release, these are Cray's own.
func (library) Recognise(file []byte) string {
	if m := crayForm.FindSubmatch(file); m != nil {
		return "Cray MPICH " + string(m[1])
	}
	if release := releaseOf(file); release != "" {
		return "MPICH " + release
	}
	return ""
}

// releaseOf returns the release that a library's file names next to the release date, before or after it.
func releaseOf(file []byte) string {
	var before []byte
	for text := range bytes.SplitSeq(file, []byte{0}) {
		switch {
		case len(text) < 3:
			continue
		case len(text) > shortText:
			text = nil
		case releaseForm.Match(text) && dateForm.Match(before):
			return string(text)
		case dateForm.Match(text) && releaseForm.Match(before):
			return string(before)
		}
		before = text
	}
	return ""
}
