// Package csel reads MPICH's built-in selection trees (MPICH calls that part csel) and the
// names that it accepts in files that replace them. A tree is an ordered JSON object; the
// library takes the first alternative whose condition holds. Trees are found in the bytes
// of the library, or are embedded for known releases.
//
//	lib, err := csel.ReadLibrary("/usr/lib/x86_64-linux-gnu/libmpich.so")
//	if err != nil {
//		lib, err = csel.Embedded("4.0.2")
//	}
//	bcast, ok := lib.Tree.Get("collective=bcast")
//
// Package mpich knows the meaning of the conditions.
package csel
