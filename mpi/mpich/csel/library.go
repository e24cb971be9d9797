package csel

import (
	"bufio"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
)

// Library is what one libmpich decides by itself and what it accepts in a file.
type Library struct {
	Source  string   // where this was found
	Version string   // release; empty when the library does not tell
	Tree    Object   // the built-in tree of point-to-point algorithms
	Leaves  []string // names accepted after algorithm=, ascending
	Keys    []string // conditions, values cut off after < and <=, ascending

	// The ch4 device has a tree of its own, asked first, which splits a collective
	// into parts between nodes and within nodes. Empty for other devices.
	Device       Object
	Compositions []string // names accepted after composition=, ascending
}

// ErrNoTree reports a file or release without a built-in selection tree.
var ErrNoTree = errors.New("no built-in selection tree")

//go:embed trees/*.json trees/*.names
var trees embed.FS

// Embedded returns what is known of a release when the library itself is not at
// hand. A file made from it is for builds of that release only.
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
	f.version = version
	return f.library("built in, of MPICH " + version)
}

// ReadLibrary finds the tree, the names and the version in a libmpich.so or
// libmpich.a by searching its bytes: the library keeps its tree as JSON text.
func ReadLibrary(path string) (Library, error) {
	file, err := os.Open(path)
	if err != nil {
		return Library{}, fmt.Errorf("mpich: %w", err)
	}
	defer file.Close()
	f := newFinder()
	if err := f.scan(file); err != nil {
		return Library{}, fmt.Errorf("mpich: read %s: %w", path, err)
	}
	return f.library(path)
}

// finder collects what NUL-terminated strings of a library tell.
type finder struct {
	tree, device []byte
	leaves, keys map[string]bool
	compositions map[string]bool
	version      string
	before       []byte // the string before the current one
}

func newFinder() *finder {
	return &finder{leaves: map[string]bool{}, keys: map[string]bool{}, compositions: map[string]bool{}}
}

// longest is more than any string of interest: the tree of MPICH 4.0.2 has 15 kB.
const longest = 1 << 20

// scan sees every string of a file, one window at a time.
func (f *finder) scan(r io.Reader) error {
	in := bufio.NewReaderSize(r, longest)
	for {
		text, err := in.ReadSlice(0)
		f.see(bytes.TrimSuffix(text, []byte{0}))
		switch {
		case err == io.EOF:
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull): // full: no string of ours
			return err
		}
	}
}

var (
	treeStart = []byte(`{"collective=`)
	leafStart = []byte(LeafKey + "MPIR_")
	leafName  = regexp.MustCompile(`^MPIR_[A-Za-z0-9_]+$`)
	compStart = []byte(CompositionKey + "MPIDI_")
	compName  = regexp.MustCompile(`^MPIDI_[A-Za-z0-9_]+$`)
	keyForm   = regexp.MustCompile(`^(comm_(type|size|avg_ppn|hierarchy)|avg_msg_size|total_msg_size|count|is_[a-z_]+)` +
		`(<=?|<pow2|=[a-z0-9_]+)$`)
	// MPICH keeps its release beside its release date, as C's asctime writes dates.
	versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+(\.[0-9]+)?((a|b|rc|p)[0-9]+)?$`)
	dateForm    = regexp.MustCompile(`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} .*[0-9]{4}$`)
)

func (f *finder) see(text []byte) {
	if len(text) == 0 {
		return
	}
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
	case len(text) > 64: // longer than any of the rest
	case keyForm.Match(text):
		f.keys[string(text)] = true
	case f.version == "" && versionForm.Match(text) && dateForm.Match(f.before):
		f.version = string(text)
	case f.version == "" && dateForm.Match(text) && versionForm.Match(f.before):
		f.version = string(f.before)
	}
	f.before = append(f.before[:0], text[:min(len(text), 64)]...)
}

// seeTree keeps the first tree of each level. The shared memory of the device has
// a third one, with neither kind of leaf.
func (f *finder) seeTree(text []byte) {
	switch {
	case f.tree == nil && bytes.Contains(text, leafStart):
		f.tree = bytes.Clone(text)
	case f.device == nil && bytes.Contains(text, compStart):
		f.device = bytes.Clone(text)
	}
}

func (f *finder) library(source string) (Library, error) {
	if f.tree == nil {
		return Library{}, fmt.Errorf("%s: %w: want the libmpich.so of MPICH 4.0 or newer", source, ErrNoTree)
	}
	tree, err := Parse(f.tree)
	if err != nil {
		return Library{}, fmt.Errorf("%s: built-in tree: %w", source, err)
	}
	lib := Library{
		Source:       source,
		Version:      f.version,
		Tree:         tree,
		Leaves:       slices.Sorted(maps.Keys(f.leaves)),
		Keys:         slices.Sorted(maps.Keys(f.keys)),
		Compositions: slices.Sorted(maps.Keys(f.compositions)),
	}
	if f.device != nil {
		if lib.Device, err = Parse(f.device); err != nil {
			return Library{}, fmt.Errorf("%s: built-in tree of the device: %w", source, err)
		}
	}
	return lib, nil
}
