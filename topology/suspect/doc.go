// Package suspect finds slow nodes and slow links from a few rounds in which nodes talk
// to one another in disjoint pairs.
//
// A message of a pair passes its two nodes and the links of the switches between them.
// A slow place makes all its pairs slow, whoever the partner is; three rounds with other
// partners each tell most slow nodes from their partners.
//
//	found, err := suspect.Find(&tree, pairs)
//	if err != nil {
//		return err
//	}
//	for _, s := range found.Suspects {
//		fmt.Println(s) // node n17: 1.9 times as long, 3 pairs, by chance 2e-09
//	}
//
// What a pair takes is compared with the other pairs that meet at the same height of the
// tree, so the tree is needed; one switch with all nodes does where nothing else is known.
package suspect
