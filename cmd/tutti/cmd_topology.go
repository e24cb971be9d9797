package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"tutti/topology"
	"tutti/topology/discover"
	"tutti/topology/files"
)

func (a *app) topologyCommand() *cobra.Command {
	return verbs(&cobra.Command{
		Use:   "topology",
		Short: "Look at what a machine is made of: measure it; show, compare and rewrite files that say it",
		Long: `topology discover measures pairs of a campaign's nodes. The other verbs read files by the ending of their names: topology.json (.json), Slurm's
topology.conf (.conf) and topology.yaml (.yaml), what scontrol show topology prints
(.txt), hwloc's XML of a node (.xml), and measured pairs of nodes (.csv with the
columns a, b and seconds; a pair has a line for each time it was measured), in which
the levels are found.`,
		Example: indent("tutti topology show topology.conf", "tutti topology compare topology.conf measured.json"),
	}, a.topologyDiscoverCommand(), a.topologyShowCommand(), a.topologyCompareCommand(), a.topologyExportCommand(), a.topologySlowCommand())
}

// topologyFlag adds --topology, which all verbs of topology have.
func topologyFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("topology", "", "`NAME` of the topology of a topology.yaml; the cluster's default when not given")
}

// readTopology reads the tree of a file.
func readTopology(path, name string) (topology.Tree, error) {
	f, err := os.Open(path)
	if err != nil {
		return topology.Tree{}, withCode(codeInput, err)
	}
	defer f.Close()
	t, err := files.Read(f, path, files.ReadOptions{Topology: name})
	return t, withCode(codeInput, err)
}

// shownTopology is what tutti topology show prints as JSON.
type shownTopology struct {
	Levels    []topology.Level    `json:"levels"`
	Gaps      []string            `json:"gaps"`
	Conflicts []topology.Conflict `json:"conflicts"`
}

func (a *app) topologyShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show FILE...",
		Short: "Show the levels of a machine",
		Long: `show prints the levels of a machine, the outermost first, and what the file leaves
open. Several files are measured parts of one machine: they are merged, and what they
contradict each other in is shown.`,
		Example: indent("tutti topology show topology.conf", "tutti topology show monday.json tuesday.json --output json"),
		Args:    arguments(1, -1, "files"),
	}
	name, output := topologyFlag(cmd), outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		merged, err := readMerged(args, *name)
		if err != nil {
			return err
		}
		s := shownTopology{Levels: merged.Tree.Levels(), Gaps: merged.Tree.Gaps, Conflicts: merged.Conflicts}
		if *output == "json" {
			s.Gaps, s.Conflicts = noneNil(s.Gaps), noneNil(s.Conflicts)
			return a.printJSON(s)
		}
		a.tellTopology(s)
		return nil
	}
	return cmd
}

func (a *app) tellTopology(s shownTopology) {
	for _, l := range s.Levels {
		fmt.Fprintf(a.stdout, "%v, confidence %.3g\n", l, l.Confidence)
	}
	for _, gap := range s.Gaps {
		fmt.Fprintln(a.stdout, "gap:", gap)
	}
	for _, c := range s.Conflicts {
		fmt.Fprintln(a.stdout, "conflict:", c)
	}
}

// readMerged reads the trees of files and merges them where there are several.
func readMerged(paths []string, name string) (topology.Merged, error) {
	var trees []topology.Tree
	for _, path := range paths {
		t, err := readTopology(path, name)
		if err != nil {
			return topology.Merged{}, err
		}
		trees = append(trees, t)
	}
	if len(trees) == 1 {
		return topology.Merged{Tree: trees[0]}, nil
	}
	merged, err := topology.Merge(trees)
	return merged, withCode(codeInput, err)
}

// noneNil makes JSON say [] and not null.
func noneNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (a *app) topologyCompareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare DECLARED MEASURED",
		Short: "Tell where a measured machine is not what a file declares",
		Long: `compare holds a measured tree against a declared one, such as the scheduler's file,
node by node and switch by switch, and says what differs.`,
		Example: indent("tutti topology compare /etc/slurm/topology.conf measured.json"),
		Args:    arguments(2, 2, "two files"),
	}
	name, output := topologyFlag(cmd), outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		declared, err := readTopology(args[0], *name)
		if err != nil {
			return err
		}
		measured, err := readTopology(args[1], *name)
		if err != nil {
			return err
		}
		c, err := topology.Compare(&declared, &measured)
		if err != nil {
			return withCode(codeInput, err)
		}
		if *output == "json" {
			c.Differences = noneNil(c.Differences)
			return a.printJSON(c)
		}
		fmt.Fprintf(a.stdout, "%d of %d nodes as declared\n", c.Agree, len(declared.Nodes()))
		for _, d := range c.Differences {
			fmt.Fprintln(a.stdout, d)
		}
		return nil
	}
	return cmd
}

func (a *app) topologyExportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export FILE...",
		Short: "Write what a machine is made of as another program's file",
		Long: `export writes a tree to standard output; several files are merged as by show.

  json      topology.json, with everything
  tree      topology.conf of Slurm's topology/tree
  blocks    topology.conf of Slurm's topology/block
  yaml      topology.yaml of Slurm
  mpich     the coordinates that MPIR_CVAR_COORDINATES_FILE names, of a job with --ppn
            ranks on each of --nodes, in this order
  switches  runner.switches of a campaign file

What a format cannot keep is told as a warning.`,
		Example: indent("tutti topology export measured.json --format tree > topology.conf", "tutti topology export topology.conf --format mpich --nodes n[1-8] --ppn 4 > coords"),
		Args:    arguments(1, -1, "files"),
	}
	name := topologyFlag(cmd)
	format := cmd.Flags().String("format", string(files.JSON), "json, tree, blocks, yaml, mpich, runtime or switches")
	nodes := cmd.Flags().String("nodes", "", "`LIST` of the nodes of the job, as Slurm writes it (mpich)")
	ppn := cmd.Flags().Int("ppn", 1, "ranks on each node (mpich)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opt := files.WriteOptions{Format: files.Format(*format)}
		if !slices.Contains(files.Formats(), opt.Format) {
			return usageError(cmd, fmt.Errorf("--format %q: want one of %q", *format, files.Formats()))
		}
		if opt.Format == files.MPICH {
			var err error
			if opt.Nodes, err = ranksOf(*nodes, *ppn); err != nil {
				return usageError(cmd, err)
			}
		}
		merged, err := readMerged(args, *name)
		if err != nil {
			return err
		}
		return a.writeTopology(&merged.Tree, opt)
	}
	return cmd
}

func (a *app) writeTopology(t *topology.Tree, opt files.WriteOptions) error {
	gaps, err := files.Write(a.stdout, t, opt)
	if err != nil {
		return withCode(codeInput, err)
	}
	a.warn(gaps)
	return nil
}

func (a *app) topologySlowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "slow TREE PAIRS",
		Short: "Name slow nodes and links, from measured pairs of nodes",
		Long: `slow finds nodes, and links between switches, that make all messages slow which pass
them. Pairs are best measured in three rounds or more, in each of which a node has one
partner, another one each time. The chance is that of such a suspect on a machine
without slow places, or more.`,
		Example: indent("tutti topology slow topology.conf rounds.csv"),
		Args:    arguments(2, 2, "two files"),
	}
	name, output := topologyFlag(cmd), outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		found, err := findSlow(args[0], args[1], *name)
		if err != nil {
			return withCode(codeInput, err)
		}
		if *output == "json" {
			found.Suspects, found.Unclear = noneNil(found.Suspects), noneNil(found.Unclear)
			return a.printJSON(found)
		}
		for _, s := range found.Suspects {
			fmt.Fprintln(a.stdout, s)
		}
		for _, p := range found.Unclear {
			fmt.Fprintf(a.stdout, "%v: looks slow, but is not told from what all its pairs pass besides\n", p)
		}
		fmt.Fprintf(a.stdout, "slow places: %d; noise: %.2g %%; pairs left out: %d\n", len(found.Suspects), 100*found.Noise, found.LeftOut)
		return nil
	}
	return cmd
}

// findSlow reads a tree and pairs of its nodes.
func findSlow(treePath, pairsPath, name string) (discover.SuspectReport, error) {
	t, err := readTopology(treePath, name)
	if err != nil {
		return discover.SuspectReport{}, err
	}
	f, err := os.Open(pairsPath)
	if err != nil {
		return discover.SuspectReport{}, err
	}
	defer f.Close()
	pairs, err := discover.ReadPairs(f, pairsPath)
	if err != nil {
		return discover.SuspectReport{}, err
	}
	found, err := discover.FindSuspects(&t, pairs)
	if err != nil {
		return discover.SuspectReport{}, fmt.Errorf("%s: %w", pairsPath, err)
	}
	return found, nil
}

// ranksOf returns the node of each rank of a job.
func ranksOf(list string, ppn int) ([]string, error) {
	if list == "" {
		return nil, errors.New("--format mpich wants --nodes: the nodes of the job")
	}
	if ppn < 1 {
		return nil, fmt.Errorf("--ppn %d: want 1 or more", ppn)
	}
	nodes, err := topology.Hosts(list)
	if err != nil {
		return nil, fmt.Errorf("--nodes: %w", err)
	}
	var ranks []string
	for _, n := range nodes {
		ranks = append(ranks, slices.Repeat([]string{n}, ppn)...)
	}
	return ranks, nil
}
