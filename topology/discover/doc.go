// Package discover finds the topology of a machine from measured times of pairs of ranks.
//
// The benchmark program (csource/pairs) runs a Plan: the ranks of each node meet in
// pairs, and so do the first ranks of all nodes. A pass measures every pair once, in
// rounds of disjoint pairs. ReadOutput reads what the program printed, also when the
// launch was cut short:
//
//	m, err := discover.ReadOutput(lines)
//	if err != nil {
//		return err // the program says why it measured nothing
//	}
//	tree, err := m.Tree() // switches between nodes, groups of cores inside them
//
// FindSuspects finds slow nodes and links of a known tree, Bisections compares the two
// halves of a switch, and FitClasses fits the parameters of the PLogP model to examples
// of pairs that meet at the same height.
package discover
