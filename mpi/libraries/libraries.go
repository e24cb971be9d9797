// Package libraries lists the MPI libraries that tutti knows.
//
//	lib, cat, err := libraries.Release("mpich", "4.0.2")
//	if err != nil {
//		return err
//	}
//	for _, e := range cat.Entries(coll.Bcast) {
//		fmt.Println(e.Name, e.Requires)
//	}
//	f, err := mpi.Force(lib, cat, candidate)
package libraries

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"tutti/internal/infile"
	"tutti/mpi"
	"tutti/mpi/libtutti"
	"tutti/mpi/mpich"
	"tutti/mpi/nccl"
	"tutti/mpi/openmpi"
	"tutti/mpi/settings"
)

var withLibtutti = libtutti.WithLibraries(mpich.Library, openmpi.Library)

// All returns every library. Libraries with selection files come first, then those that are tuned by
// environment variables, those of accelerators, then libtutti.
func All() []mpi.Library {
	return slices.Concat([]mpi.Library{mpich.Library, openmpi.Library}, settings.Libraries(), nccl.Libraries(), []mpi.Library{withLibtutti})
}

// Names returns the name of every library, in the order of All.
func Names() []string {
	var out []string
	for _, l := range All() {
		out = append(out, l.Facts().Name)
	}
	return out
}

// Named returns the library that has the given name, and false if there is none.
func Named(name string) (mpi.Library, bool) {
	for _, l := range All() {
		if l.Facts().Name == name {
			return l, true
		}
	}
	return nil, false
}

// maxLibrary limits the size in bytes of an MPI library's file, because Identify reads it into memory.
const maxLibrary = 1 << 30

// Identify identifies the build of an MPI library by its file, which it reads into memory. It asks derived libraries
// first, since their files also contain the texts of the original library. If the error matches
// mpi.ErrNoVersion, path and checksum are valid.
func Identify(path string) (mpi.Identity, error) {
	path = infile.Resolve(path)
	file, err := infile.Read(path, maxLibrary)
	if err != nil {
		return mpi.Identity{}, err
	}
	sum := sha256.Sum256(file)
	id := mpi.Identity{Path: path, SHA256: hex.EncodeToString(sum[:])}
	for _, l := range slices.Backward(All()) {
		if id.Version = l.Recognise(file); id.Version != "" {
			return id, nil
		}
	}
	return id, fmt.Errorf("%s: %w", path, mpi.ErrNoVersion)
}

// Loaded returns the library that a file of a shared MPI library is, or nil if it is unknown or cannot be measured.
func Loaded(file string) mpi.Measurable {
	id, err := Identify(file)
	if file == "" || err != nil {
		return nil
	}
	for _, l := range All() {
		if m, ok := l.(mpi.Measurable); ok && !l.Facts().Preload && strings.HasPrefix(id.Version, l.Facts().Title+" ") {
			return m
		}
	}
	return nil
}

// Release returns a library and the catalogue of one of its releases, with algorithms that users have written
// for libtutti.
//
// A release without a catalogue gets the catalogue of the nearest release of its series (first two numbers),
// see Catalogue.Listed. If there is none, the library may list its algorithms itself (Facts.Lists), and the
// nearest release of another series counts. For other libraries, Release returns an error that matches
// mpi.ErrUnknown and lists the known releases.
func Release(name, version string, users ...mpi.User) (mpi.Library, *mpi.Catalogue, error) {
	l, ok := Named(name)
	if !ok {
		return nil, nil, fmt.Errorf("library %q: %w: want one of %s", name, mpi.ErrUnknown, strings.Join(Names(), ", "))
	}
	if near, series := mpi.Near(l.Releases(), version); series || near != nil && l.Facts().Lists {
		return l, libtutti.WithUsers(near.As(version), users), nil
	}
	var known []string
	for _, cat := range l.Releases() {
		known = append(known, cat.Version)
	}
	return nil, nil, fmt.Errorf("%s %s: %w: want a release like %s", name, version, mpi.ErrUnknown, strings.Join(known, ", "))
}

// Users returns the algorithms that users have written for libtutti, from shared objects.
func Users(objects []string) ([]mpi.User, error) { return libtutti.ReadUsers(objects) }
