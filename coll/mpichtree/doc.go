// Package mpichtree holds what a libmpich decides by itself: its selection trees,
// ordered JSON objects in which the first alternative whose condition holds is
// entered, and the names that it accepts in files that replace them. They are
// found in the bytes of the library, or built in for the releases known.
//
//	lib, err := mpichtree.ReadLibrary("/usr/lib/x86_64-linux-gnu/libmpich.so")
//	if err != nil {
//		lib, err = mpichtree.Embedded("4.0.2")
//	}
//	bcast, ok := lib.Tree.Get("collective=bcast")
//
// What the conditions mean is selection/mpich's to know.
package mpichtree
