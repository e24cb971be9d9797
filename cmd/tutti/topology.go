package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"tutti/campaign/export"
	"tutti/coll"
	"tutti/report"
	"tutti/topology"
	"tutti/topology/discover"
	"tutti/topology/files"
)

func topologyCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "topology",
		Short: "Discover, show, compare and convert machine topologies",
		Long: `topology discover measures pairs of a campaign's nodes. The other commands read files,
by the ending of their names: topology.json (.json), Slurm's topology.conf (.conf) and
topology.yaml (.yaml), the output of scontrol show topology (.txt), hwloc's XML of a
node (.xml), and measured pairs of nodes (.csv with the columns a, b and seconds, a line
for each measurement of a pair, or plogp.json of discover --plogp all). In measured
pairs the levels are detected.`,
		Example: examples("tutti topology show topology.conf", "tutti topology compare topology.conf measured.json"),
	}
	name := cmd.PersistentFlags().String("topology", "", "`NAME` of the topology in a topology.yaml; default: that of the cluster")
	return verbs(cmd, topologyDiscoverCommand(a), topologyShowCommand(a, name), topologyCompareCommand(a, name), topologyExportCommand(a, name), topologySlowCommand(a, name))
}

// readTopology reads a topology from a file. If the file is a topology.yaml with several topologies, `name` selects
// one.
func readTopology(path, name string) (topology.Tree, error) {
	t, err := files.ReadFile(path, name)
	return t, withCode(codeInput, err)
}

type shownTopology struct {
	Levels    []topology.Level    `json:"levels"`
	Gaps      []string            `json:"gaps"`
	Conflicts []topology.Conflict `json:"conflicts"`
}

func topologyShowCommand(a *app, name *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show FILE...",
		Short: "Show the levels of a machine",
		Long: `show prints the levels of a machine, the outermost first, and the gaps of the file.
Several files are measured parts of one machine: show merges them and prints where
they contradict each other. With --format html it prints a page; for measured pairs the
page has a heat map of the distances and a dendrogram.`,
		Example: examples("tutti topology show topology.conf", "tutti topology show monday.json tuesday.json --format json", "tutti topology show pairs.csv --format html > pairs.html"),
		Args:    arguments(1, -1, "files"),
	}
	choiceFlag(cmd, "format", &a.format, formatTable, []string{formatTable, formatJSON, formatHTML}, "`FORMAT` of the output")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if a.format == formatHTML {
			return writeTopologyPage(a, args, *name)
		}
		merged, err := readMerged(args, *name)
		if err != nil {
			return err
		}
		return showTopology(a, merged.Tree, merged.Conflicts)
	}
	return cmd
}

const formatHTML = "html"

// writeTopologyPage prints a page about one or more topologies, which it merges. If the only file has measured
// pairs of nodes, the page also has a heat map and a dendrogram.
func writeTopologyPage(a *app, paths []string, name string) error {
	var merged topology.Merged
	var pairs []discover.PairTime
	var err error
	if len(paths) == 1 {
		pairs, err = files.ReadPairs(paths[0])
	}
	if err == nil && pairs != nil {
		merged.Tree, err = discover.PairTree(pairs, paths[0])
	} else if err == nil {
		merged, err = readMerged(paths, name)
	}
	if err != nil {
		return withCode(codeInput, err)
	}
	return report.WriteTopologyHTML(a.stdout, filepath.Base(paths[0]), merged, pairs)
}

// showTopology prints the levels of a tree, its gaps (parts that are unknown), and the conflicts between its measured parts.
func showTopology(a *app, t topology.Tree, conflicts []topology.Conflict) error {
	s := shownTopology{Levels: t.Levels(), Gaps: t.Gaps, Conflicts: conflicts}
	return a.show(s, func() {
		for _, l := range s.Levels {
			a.printFit("%v, confidence %.3g", l, l.Confidence)
		}
		for _, gap := range s.Gaps {
			a.printFit("gap: %s", gap)
		}
		for _, c := range s.Conflicts {
			a.printFit("conflict: %v", c)
		}
	})
}

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

func topologyCompareCommand(a *app, name *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare DECLARED MEASURED",
		Short: "Compare a measured topology with a declared one",
		Long: `compare compares a measured topology with a declared one, such as the scheduler's
file, node by node and switch by switch, and prints the differences.`,
		Example: examples("tutti topology compare /etc/slurm/topology.conf measured.json"),
		Args:    arguments(2, 2, "two files"),
	}
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
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
		return a.show(c, func() {
			a.printFit("%d of %d nodes as declared", c.Agree, len(declared.Nodes()))
			for _, d := range c.Differences {
				a.printFit("%v", d)
			}
		})
	}
	return cmd
}

func topologyExportCommand(a *app, name *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export FILE...",
		Short: "Convert a topology to the file format of another program",
		Long: `export writes a topology to standard output, or to a file with --out. It merges several
files as show does.

  json      topology.json, without any loss
  tree      topology.conf of Slurm's topology/tree
  blocks    topology.conf of Slurm's topology/block
  yaml      topology.yaml of Slurm
  mpich     the coordinates of a job for MPIR_CVAR_COORDINATES_FILE, with --ppn ranks on
            each of --nodes, in this order
  runtime   the file of nodes and switches for TUTTI_TOPOLOGY of the runtime library
  switches  the value of runner.switches in a campaign file

It warns about everything that the format cannot express.`,
		Example:           examples("tutti topology export measured.json --to tree --out topology.conf", "tutti topology export topology.conf --to mpich --nodes n[1-8] --ppn 4 > coords"),
		Args:              arguments(1, -1, "files"),
		ValidArgsFunction: completeFiles,
	}
	var format string
	choiceFlag(cmd, "to", &format, string(files.JSON), coll.Words(files.Formats()), "`FORMAT` to convert to")
	out := cmd.Flags().StringP("out", "o", "", "`FILE` to write; default: standard output")
	nodes := cmd.Flags().String("nodes", "", "`LIST` of the nodes of the job in Slurm's notation (--to mpich)")
	ppn := cmd.Flags().Int("ppn", 1, "ranks on each node (--to mpich)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opt := files.WriteOptions{Format: files.Format(format)}
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
		if *out == "" {
			return writeTopology(a, a.stdout, &merged.Tree, opt)
		}
		err = export.WriteFile(*out, func(w io.Writer) error { return writeTopology(a, w, &merged.Tree, opt) })
		return withOutputCode(err)
	}
	return cmd
}

// writeTopology writes a topology. It prints a warning for each fact that the format cannot
// express.
func writeTopology(a *app, w io.Writer, t *topology.Tree, opt files.WriteOptions) error {
	gaps, err := files.Write(w, t, opt)
	if err != nil {
		return withCode(codeInput, err)
	}
	a.warn(gaps)
	return nil
}

func topologySlowCommand(a *app, name *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "slow TREE PAIRS",
		Short: "Find slow nodes and links in measured pairs of nodes",
		Long: `slow finds nodes, and links between switches, that slow down all messages passing
through them. Measure pairs in three rounds or more; in each round a node has one
partner, a different one each time. The printed chance is an upper bound of the
probability of such a suspect on a machine without slow nodes and links. Pairs with
nodes that are not in the tree are left out, with a warning that names these nodes.`,
		Example: examples("tutti topology slow topology.conf rounds.csv"),
		Args:    arguments(2, 2, "two files"),
	}
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		found, err := a.findSlow(args[0], args[1], *name)
		if err != nil {
			return withCode(codeInput, err)
		}
		return a.show(found, func() {
			for _, s := range found.Suspects {
				a.printFit("%v", s)
			}
			for _, p := range found.Unclear {
				a.printFit("%v: looks slow, but all its pairs also pass through another suspect", p)
			}
			a.printFit("slow nodes and links: %d; noise: %.2g %%; pairs ignored: %d", len(found.Suspects), 100*found.Noise, found.LeftOut)
		})
	}
	return cmd
}

// findSlow reads a topology and the measurements of pairs of nodes. It returns the nodes and links that are
// probably slow.
func (a *app) findSlow(treePath, pairsPath, name string) (discover.SuspectReport, error) {
	t, err := readTopology(treePath, name)
	if err != nil {
		return discover.SuspectReport{}, err
	}
	pairs, err := files.ReadPairs(pairsPath)
	if err != nil {
		return discover.SuspectReport{}, err
	}
	if pairs == nil {
		return discover.SuspectReport{}, fmt.Errorf("%s: want measured pairs: a file .csv, or plogp.json of discover --plogp all", pairsPath)
	}
	pairs, missing := withinTree(&t, pairs)
	if len(missing) > 0 {
		a.warn([]string{fmt.Sprintf("%s: pairs with nodes that %s does not have are left out: %s", pairsPath, treePath, topology.HostList(missing))})
	}
	if len(pairs) == 0 {
		return discover.SuspectReport{}, fmt.Errorf("%s: no pair of two nodes of %s", pairsPath, treePath)
	}
	found, err := discover.FindSuspects(&t, pairs)
	if err != nil {
		return discover.SuspectReport{}, fmt.Errorf("%s: %w", pairsPath, err)
	}
	return found, nil
}

// withinTree returns the pairs whose nodes are in a tree, and the names of the other nodes, sorted.
func withinTree(t *topology.Tree, pairs []discover.PairTime) (within []discover.PairTime, missing []string) {
	known := map[string]bool{}
	for _, node := range t.Nodes() {
		known[node] = true
	}
	for _, p := range pairs {
		if known[p.A] && known[p.B] {
			within = append(within, p)
			continue
		}
		for _, node := range []string{p.A, p.B} {
			if !known[node] && !slices.Contains(missing, node) {
				missing = append(missing, node)
			}
		}
	}
	slices.Sort(missing)
	return within, missing
}

// ranksOf returns the name of the node of each rank of a job. `list` names the nodes in Slurm's
// notation.
func ranksOf(list string, ppn int) ([]string, error) {
	if list == "" {
		return nil, errors.New("--to mpich needs --nodes: the nodes of the job")
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
