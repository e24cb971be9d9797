// Package libtutti is tutti's own library that works inside applications, as a library
// to be told what to run: its algorithms, and the table that selects among them.
//
//	cat := libtutti.Library.Releases()[0]
//	b, err := libtutti.Library.Open(cat, "")
//	if err != nil {
//		return err
//	}
//	sel, err := b.Fit(rows, mpi.FitOptions{MaxLoss: 0.01})
//	if err != nil {
//		return err
//	}
//	x, err := b.Export(sel, dir) // dir/tutti.table, dir/libtutti.env
//
// A table is text. Its rules know ranks, processes per node, bytes and, where Join put
// them together, the order of the ranks; of those that hold for a call the first one
// counts, and where none does the MPI library decides:
//
//	tutti-table 1
//	allgather ranks 2-16 ppn 1-4 bytes 0-1024 bruck
//	bcast ranks 16-16 ppn 4-4 bytes 65536-1048576 pipeline(segsize=8192)
//	end 9c6ab7b3bd9cbd4a
//
// docs/reference/runtime-table.md describes the table; csource/runtime/table.c reads it in the application.
// Algorithms are those of csource/runtime/repository.c, named as Open MPI names them.
package libtutti
