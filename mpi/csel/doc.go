// Package csel holds what a libmpich decides by itself, in the part of it that
// MPICH calls csel: its selection trees, ordered JSON objects in which the first
// alternative whose condition holds is entered, and the names that it accepts in
// files that replace them. They are found in the bytes of the library, or built in
// for the releases known.
//
//	lib, err := csel.ReadLibrary("/usr/lib/x86_64-linux-gnu/libmpich.so")
//	if err != nil {
//		lib, err = csel.Embedded("4.0.2")
//	}
//	bcast, ok := lib.Tree.Get("collective=bcast")
//
// What the conditions mean is package mpich's to know.
package csel
