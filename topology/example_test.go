package topology_test

import "fmt"

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
