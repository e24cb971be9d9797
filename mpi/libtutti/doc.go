// Package libtutti describes libtutti, the runtime library that works inside applications, as an MPI library:
// its catalogue of algorithms, and the table that selects among them.
//
//	cat := libtutti.Library.Releases()[0]
//	b, err := libtutti.Library.Open(cat, "")
//	if err != nil {
//		return err
//	}
//	sel, err := b.Merge(rows, 0.01)
//	if err != nil {
//		return err
//	}
//	x, err := b.Export(sel, dir) // dir/tutti.table, dir/libtutti.env
//
// A table is text. Its rules depend on ranks, processes per node, bytes and, in tables of Join, on the order of
// the ranks over the nodes. The first rule that holds for a call counts. Without a rule, the MPI library
// chooses:
//
//	tutti-table 1
//	allgather ranks 2-16 ppn 1-4 bytes 0-1024 bruck
//	bcast ranks 16-16 ppn 4-4 bytes 65536-1048576 pipeline(segsize=8192)
//	end 9c6ab7b3bd9cbd4a
//
// docs/reference/runtime-table.md describes the table; csource/runtime/table.c reads it in the application. The
// algorithms are those of csource/runtime/repository.h. They have Open MPI's names where Open MPI has the same
// algorithms.
package libtutti
