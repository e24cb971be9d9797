package slurm_test

import (
	"fmt"
	"os"
	"strings"

	"tutti/topology/slurm"
)

func ExampleReadConf() {
	const text = "SwitchName=leaf1 Nodes=n[1-2]\nSwitchName=leaf2 Nodes=n[3-4]\nSwitchName=top Switches=leaf[1-2]\n"
	tree, err := slurm.ReadConf(strings.NewReader(text), "topology.conf")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range tree.Levels() {
		fmt.Println(l)
	}
	if err := slurm.WriteConf(os.Stdout, &tree); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 switch of 4 nodes
	// 2 switches of 2 nodes
	// SwitchName=top Switches=leaf[1-2]
	// SwitchName=leaf1 Nodes=n[1-2]
	// SwitchName=leaf2 Nodes=n[3-4]
}

func ExampleReadYAML() {
	const text = "- topology: fabric\n  tree:\n    switches:\n    - switch: s\n      nodes: n[1-3]\n"
	all, err := slurm.ReadYAML(strings.NewReader(text), "topology.yaml")
	fmt.Println(all[0].Name, all[0].Tree.Nodes(), err)
	// Output: fabric [n1 n2 n3] <nil>
}

func ExampleLeafSwitches() {
	leaves, err := slurm.LeafSwitches("SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-2]\n")
	fmt.Println(leaves, err)
	// Output: [[n1 n2]] <nil>
}
