// Package selection turns predicted times into what a library can be told: a
// function from point to algorithm, small enough to be written as a selection
// file.
//
// Row is what the models say about one point, Fit merges the rows of one
// collective into a Tree, Tree.Select answers for any point. The levels of a tree
// are those that libraries have: communicator size, processes per node, bands of
// message size. The packages below this one write a Tree as the file of one
// library, read it back and replay it.
//
//	tree, err := selection.Fit(rows, mpich.Size, selection.Options{MaxLoss: 0.01})
//	if err != nil {
//		return err
//	}
//	alg, tuned := tree.Select(point)
//	if !tuned || alg.IsDefault() {
//		fmt.Println("the library decides")
//	}
//	fmt.Println(tree.Summary.Leaves, tree.Summary.WorstLoss)
//
// FitAll is Fit for libraries whose rules know nothing of nodes: layouts that would
// lose by the rules for everybody get their own. Setup holds the environment that
// makes a library obey, as a snippet for shells and as an environment module; in a
// job both find out which layout it is.
//
// Three promises hold for every row. The choice is never predicted to be slower
// than the library's default. It loses at most MaxLoss against the best option
// of the row, except where the library cannot tell two disagreeing rows apart.
// Outside the tuned range the library's default stays. Between tuned points the
// nearest one answers, with an algorithm that may not be able to run there: the
// packages that write files see to it that the library then takes another.
package selection
