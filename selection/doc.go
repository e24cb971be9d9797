// Package selection turns predicted times into a selection that a library can read: a function from
// point to algorithm, small enough for a selection file.
//
// A Row has the predicted times at one point. Merge merges the rows of one collective into a Tree,
// and Tree.Select returns the algorithm of any point. The levels of a tree are those of the
// libraries' files: communicator size, processes per node, bands of message size. The packages of
// the libraries write a Tree as a file, read it back and check it. A Document has the selection as
// JSON.
//
//	tree, err := selection.Merge(rows, lib.Size, selection.Options{MaxLoss: 0.01})
//	if err != nil {
//		return err
//	}
//	alg, tuned := tree.Select(point)
//	if !tuned || alg.IsDefault() {
//		fmt.Println("the library decides")
//	}
//	fmt.Println(tree.Summary.Leaves, tree.Summary.WorstLoss)
//
// MergeAll is Merge for libraries whose rules do not compare nodes: layouts that would be slower with
// the common rules get trees of their own.
//
// Three guarantees apply to every row. First, the choice is never predicted to be slower than the
// library's default. Second, the choice loses at most MaxLoss compared with the best option of the
// row, unless the library cannot distinguish two rows with different best options. Third, the
// library's default remains outside the tuned range, and between two points unless an algorithm is
// faster than the default at both of them; see Merge. An algorithm may not
// be able to run between grid points; the packages that write files add guards for this case.
package selection
