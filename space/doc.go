// Package space says which points and candidates exist: grids of nodes, ppn and
// message sizes (powers of two or not), what an algorithm can run, and splits of
// points into folds.
//
//	g := space.Grid{Nodes: []int{1, 2, 4}, PPN: []int{1, 8}, MsgBytes: []int64{8, 1024}}
//	points, err := g.Points(coll.Bcast)
//	if err != nil {
//		return err
//	}
//	s := space.New(points, algorithms, cat.Check) // drops what cannot run
//	fmt.Println(len(s.Candidates()))
package space
