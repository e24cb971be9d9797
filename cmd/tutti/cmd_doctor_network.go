package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"tutti/campaign/pairs"
	"tutti/doctor"
	"tutti/topology"
)

// examineNetwork measures pairs of a campaign's nodes and tells which are slow.
func (a *app) examineNetwork(cmd *cobra.Command, file, treeFile, output string) error {
	if file == "" {
		return usageError(cmd, errors.New("--network wants a campaign: -c FILE"))
	}
	c, err := a.loadMeasuring(file)
	if err != nil {
		return err
	}
	tree, err := networkTree(treeFile, filepath.Join(c.Config.Output, "topology", pairs.TreeFile))
	if err != nil {
		return err
	}
	if err := a.confirmNetwork(cmd.Context(), file); err != nil {
		return err
	}
	n, err := pairs.MeasureNetwork(cmd.Context(), c, tree, pairs.Options{Version: version, Environ: a.environ})
	if errors.Is(err, pairs.ErrNothing) {
		return withCode(codeNotReady, err)
	}
	if err != nil {
		return err
	}
	f := doctor.NetworkFindings{Nodes: n.Nodes, Latency: n.Latency, Bandwidth: n.Bandwidth, Gaps: n.Gaps}
	for _, b := range n.Bisections {
		f.Bisections = append(f.Bisections, doctor.Bisection(b))
	}
	checks := doctor.NetworkChecks(f)
	if output == "json" {
		return a.printJSON(checks)
	}
	return doctor.WriteChecks(a.stdout, checks, doctorWidth)
}

// confirmNetwork asks before pairs that are expected to cost more than the campaign of the
// file allows unasked.
func (a *app) confirmNetwork(ctx context.Context, file string) error {
	c, err := a.loadMeasuring(file)
	if err != nil {
		return err
	}
	first, err := pairs.ForecastNetwork(ctx, c, pairs.Options{Environ: a.environ})
	if err != nil {
		return err
	}
	return a.confirmPairs(append(first, first...), c.Config.Runner.Confirm, "raise runner.confirm")
}

// networkTree reads the tree that was named, else the one that was measured; nil where
// there is none.
func networkTree(named, found string) (*topology.Tree, error) {
	if named != "" {
		t, err := readTopology(named, "")
		return &t, err
	}
	t, err := readTopology(found, "")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return &t, err
}
