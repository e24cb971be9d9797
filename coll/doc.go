// Package coll has the domain types: the operation (Collective), the way to perform it
// (Algorithm), where it runs (Point), what can be measured (Candidate), all candidates
// (Grid, Space), one attempt to measure (Trial) and its result (Measurement).
//
// Times are seconds and sizes are bytes everywhere; parsers convert once. MsgBytes follows
// the OSU Micro-Benchmarks: the part of one rank for allgather(v), alltoall(v), gather and
// scatter, the whole buffer for the others, zero for barrier.
//
//	alg, err := coll.ParseAlgorithm("pipeline(segsize=8192)")
//	if err != nil {
//		return err
//	}
//	c := coll.Candidate{
//		Point:     coll.Point{Collective: coll.Bcast, Nodes: 16, PPN: 4, MsgBytes: 65536},
//		Algorithm: alg,
//	}
//	fmt.Println(c) // bcast 16x4 64KiB pipeline(segsize=8192)
package coll
