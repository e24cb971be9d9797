package csel

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"

	"tutti/mpi"
)

// Library is the built-in trees of one libmpich and the names that it accepts in a file.
type Library struct {
	Source  string   // path of the library, or release
	Version string   // release; empty if the library does not contain it
	Tree    Object   // the built-in tree of point-to-point algorithms
	Leaves  []string // names accepted after algorithm=, ascending
	Keys    []string // conditions, values cut off after < and <=, ascending

	// The ch4 device has its own tree, which is evaluated first and splits a collective
	// into parts between and within nodes. It is empty for other devices.
	Device       Object
	Compositions []string // names accepted after composition=, ascending

	// Properties of the build; empty without the library.
	Transport string // device and network, for example ch4:ucx
	Asserts   bool   // it checks trees with assertions
	Posix     bool   // it has collectives through shared memory within a node
}

// ErrNoTree reports a file or release without a built-in selection tree.
var ErrNoTree = errors.New("no built-in selection tree")

//go:embed trees/*.json trees/*.names
var trees embed.FS

// Embedded returns the trees of a known release without its library. A file made from them
// is for builds of that release only.
func Embedded(version string) (Library, error) {
	tree, err := trees.ReadFile("trees/" + version + ".json")
	if err != nil {
		return Library{}, fmt.Errorf("mpich %s: %w known without the library: give the path of its libmpich.so", version, ErrNoTree)
	}
	names, err := trees.ReadFile("trees/" + version + ".names")
	if err != nil {
		return Library{}, fmt.Errorf("mpich %s: %w", version, err)
	}
	f := newFinder()
	f.see(tree)
	if device, err := trees.ReadFile("trees/" + version + ".ch4.json"); err == nil {
		f.see(device)
	}
	for name := range bytes.Lines(names) {
		f.see(bytes.TrimSpace(name))
	}
	lib, err := f.library("built in, of MPICH " + version)
	lib.Version = version
	return lib, err
}

// ReadLibrary finds the tree, the names and the version in the bytes of a libmpich.so or
// libmpich.a, which contain the tree as JSON text. If the error matches ErrNoTree, the
// other fields are valid.
func ReadLibrary(path string) (Library, error) {
	file, err := os.Open(path)
	if err != nil {
		return Library{}, fmt.Errorf("mpich: %w", err)
	}
	defer file.Close()
	f := newFinder()
	if err := mpi.BinaryTexts(file, f.see); err != nil {
		return Library{}, fmt.Errorf("mpich: read %s: %w", path, err)
	}
	return f.library(path)
}

// finder collects facts from the NUL-terminated strings of a library.
type finder struct {
	tree, device []byte
	leaves, keys map[string]bool
	compositions map[string]bool
	release      Release
	build        Library // Transport, Asserts and Posix
}

func newFinder() *finder {
	return &finder{leaves: map[string]bool{}, keys: map[string]bool{}, compositions: map[string]bool{}}
}

var (
	treeStart = []byte(`{"collective=`)
	leafStart = []byte(LeafKey + "MPIR_")
	leafName  = regexp.MustCompile(`^MPIR_[A-Za-z0-9_]+$`)
	compStart = []byte(CompositionKey + "MPIDI_")
	compName  = regexp.MustCompile(`^MPIDI_[A-Za-z0-9_]+$`)
	keyForm   = regexp.MustCompile(`^(comm_(type|size|avg_ppn|hierarchy)|avg_msg_size|total_msg_size|count|is_[a-z_]+)` +
		`(<=?|<pow2|=[a-z0-9_]+)$`)
	transportForm = regexp.MustCompile(`^ch[34](:[a-z0-9,]+)+$`)
	assertForm    = regexp.MustCompile(`== (MPIR_)?CSEL_NODE_TYPE__`)
)

// short is longer than any name or condition.
const short = 64

func (f *finder) see(text []byte) {
	f.release.See(text)
	f.seeBuild(text)
	switch at := bytes.Index(text, treeStart); {
	case at >= 0:
		f.seeTree(text[at:])
	case bytes.Contains(text, leafStart):
		_, name, _ := bytes.Cut(text, []byte(LeafKey))
		if leafName.Match(name) {
			f.leaves[string(name)] = true
		}
	case bytes.Contains(text, compStart):
		_, name, _ := bytes.Cut(text, []byte(CompositionKey))
		if compName.Match(name) {
			f.compositions[string(name)] = true
		}
	case len(text) <= short && keyForm.Match(text):
		f.keys[string(text)] = true
	}
}

// seeBuild collects properties of the build.
func (f *finder) seeBuild(text []byte) {
	if f.build.Transport == "" && len(text) <= short && transportForm.Match(text) {
		f.build.Transport = string(text)
	}
	f.build.Posix = f.build.Posix || bytes.Contains(text, []byte("ch4/shm/posix/"))
	f.build.Asserts = f.build.Asserts || bytes.Contains(text, []byte("CSEL_NODE_TYPE__")) && assertForm.Match(text)
}

// seeTree keeps the first tree of each kind. The device's shared memory has a third tree,
// which has no leaf of either kind.
func (f *finder) seeTree(text []byte) {
	switch {
	case f.tree == nil && bytes.Contains(text, leafStart):
		f.tree = bytes.Clone(text)
	case f.device == nil && bytes.Contains(text, compStart):
		f.device = bytes.Clone(text)
	}
}

func (f *finder) library(source string) (Library, error) {
	lib := f.build
	lib.Source, lib.Version = source, f.release.Version()
	lib.Leaves, lib.Keys = slices.Sorted(maps.Keys(f.leaves)), slices.Sorted(maps.Keys(f.keys))
	lib.Compositions = slices.Sorted(maps.Keys(f.compositions))
	if f.tree == nil {
		return lib, fmt.Errorf("%s: %w: want the libmpich.so of MPICH 4.0 or newer", source, ErrNoTree)
	}
	var err error
	if lib.Tree, err = Parse(f.tree); err != nil {
		return Library{}, fmt.Errorf("%s: built-in tree: %w", source, err)
	}
	if f.device != nil {
		if lib.Device, err = Parse(f.device); err != nil {
			return Library{}, fmt.Errorf("%s: built-in tree of the device: %w", source, err)
		}
	}
	return lib, nil
}
