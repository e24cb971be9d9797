// Package slurm reads and writes what Slurm knows of a machine's network:
// topology.conf of topology/tree and topology/block, topology.yaml, and what scontrol
// show topology prints.
//
//	t, err := slurm.ReadConf(file, "topology.conf")
//	if err != nil {
//		return err // topology.conf:3: switch s2: ...
//	}
//	gaps, err := slurm.WriteYAML(w, []slurm.Topology{{Name: "main", Default: true, Tree: t}})
//
// A block is a switch of height 0 in the tree; blocks that Slurm aggregates lie below
// switches of their own. Link speeds are checked and left out: Slurm does not use them.
//
// Sources: the manual pages topology.conf(5) and topology.yaml(5) of Slurm 25.05.
package slurm
