// Package discover finds the topology of a machine from measured times of pairs of ranks.
//
// The benchmark program (csource/pairs) runs a Plan: it measures pairs of ranks inside each node, and pairs of
// nodes by their first ranks. A pass measures every pair once, in rounds of disjoint pairs. ReadOutput reads
// the program's output, even if the launch was interrupted:
//
//	m, err := discover.ReadOutput(lines)
//	if err != nil {
//		return err // the program's reason for measuring nothing
//	}
//	tree, err := m.Tree() // switches between nodes, groups of cores inside them
//
// FindLevels finds the levels of switches or groups in two matrices of distances. FindSuspects finds slow nodes
// and links of a known tree, and Bisections finds oversubscribed switches. FitClasses fits the parameters of
// the PLogP model for each class of pairs.
package discover
