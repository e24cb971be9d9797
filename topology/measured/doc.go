// Package measured says what a machine looks like from what tutti's benchmark program
// printed when it measured pairs of ranks (folder csource/pairs).
//
//	r, err := measured.Read(lines)
//	if err != nil {
//		return err // the program says why it measured nothing
//	}
//	tree, err := r.Tree()
//
// One start of the program has a Reading. Inside a node every rank meets every other, and
// so do the first ranks of the nodes; each pass measures all pairs once, in rounds of
// disjoint pairs, so that half of the passes can confirm what the other half shows. A
// start that was cut short has the pairs that it had come to.
package measured
