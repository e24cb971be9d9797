// Package coll holds the nouns of tutti and nothing else: what is tuned
// (Collective), how it may be done (Algorithm), where it runs (Point), what can
// be measured (Candidate), which candidates there are (Grid, Space), one attempt
// to measure (Trial) and what came out of it (Measurement).
//
// Times are seconds and sizes are bytes everywhere; parsers convert once, at the
// border. MsgBytes follows the OSU micro-benchmarks: the part of one rank for
// allgather(v), alltoall(v), gather and scatter, the whole buffer for the rest,
// zero for barrier.
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
