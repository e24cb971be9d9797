package topology_test

import (
	"fmt"

	"tutti/topology"
)

func ExampleTree_Levels() {
	tree := pods()
	for _, l := range tree.Levels() {
		fmt.Println(l)
	}
	// Output:
	// 1 switch of 8 nodes, 3 µs
	// 2 switches of 4 nodes, 2.5 µs
	// 4 switches of 2 nodes, 2 µs
}

func ExampleCompare() {
	declared := pods()
	measured := pods()
	measured.Root.Children[0].Children[0].Children = nodes("n[1,3]")
	measured.Root.Children[0].Children[1].Children = nodes("n[2,4]")
	c, err := topology.Compare(&declared, &measured)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range c.Differences {
		fmt.Println(d)
	}
	// Output:
	// n2: declared below leaf1, measured with those below leaf2
	// n3: declared below leaf2, measured with those below leaf1
}

func ExampleMerge() {
	job := func(list1, list2 string) topology.Tree {
		return network(3e-6, sw("a", 2e-6, nodes(list1)...), sw("b", 2e-6, nodes(list2)...))
	}
	m, err := topology.Merge([]topology.Tree{job("n[1-2]", "n[5-6]"), job("n[2-3]", "n[6-7]")})
	fmt.Println(m.Tree.Switches(), m.Conflicts, err)
	// Output: [[n1 n2 n3] [n5 n6 n7]] [] <nil>
}
