// Package mpich writes and reads the coordinates that MPICH's topology-aware trees ask
// for: where each process is in the network, in the file that
// MPIR_CVAR_COORDINATES_FILE names.
//
//	err := mpich.Write(w, tree, []string{"n1", "n1", "n2"}) // the node of each process
//
// Source: parse_coord_file in src/util/mpir_pmi.c of MPICH 4.2: the first line is
// passed over, each other is "rank: group switch port", three whole numbers.
package mpich
