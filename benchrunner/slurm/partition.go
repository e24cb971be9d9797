package slurm

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tutti/benchrunner"
)

// Partition contains the fields of a partition that scontrol shows. Unknown fields are empty.
type Partition struct {
	Name     string
	Default  bool   // used by jobs that name no partition
	State    string // UP, DOWN, DRAIN or INACTIVE
	MaxTime  string // of a job: 01:00:00, 7-00:00:00 or UNLIMITED
	MaxNodes string // of a job: a number or UNLIMITED
	MaxCPUs  string // of a job on one node: a number or UNLIMITED
	Nodes    int    // zero when unknown
	CPUs     int    // of all nodes; zero when unknown
}

// ParsePartitions parses the output of scontrol --oneliner show partition. It ignores lines that describe
// no partition.
func ParsePartitions(text string) []Partition {
	var out []Partition
	for line := range strings.Lines(text) {
		fields := map[string]string{}
		for _, f := range strings.Fields(line) {
			if name, value, is := strings.Cut(f, "="); is {
				fields[name] = value
			}
		}
		if fields["PartitionName"] == "" {
			continue
		}
		out = append(out, Partition{
			Name: fields["PartitionName"], Default: fields["Default"] == "YES", State: fields["State"],
			MaxTime: fields["MaxTime"], MaxNodes: fields["MaxNodes"], MaxCPUs: fields["MaxCPUsPerNode"],
			Nodes: benchrunner.ParseCount(fields["TotalNodes"]), CPUs: benchrunner.ParseCount(fields["TotalCPUs"]),
		})
	}
	return out
}

// limits returns the limits of one job, in the fields Nodes, PPN and Limit.
func (p Partition) limits() (c benchrunner.Capacity, err error) {
	if c.Nodes, err = parseLimit(p.MaxNodes); err != nil {
		return c, fmt.Errorf("partition %s: MaxNodes: %w", p.Name, err)
	}
	if c.PPN, err = parseLimit(p.MaxCPUs); err != nil {
		return c, fmt.Errorf("partition %s: MaxCPUsPerNode: %w", p.Name, err)
	}
	if p.MaxTime == "" {
		return c, nil
	}
	if c.Limit, err = parseDuration(p.MaxTime); err != nil {
		return c, fmt.Errorf("partition %s: MaxTime: %w", p.Name, err)
	}
	return c, nil
}

func parseLimit(s string) (int, error) {
	if s == "UNLIMITED" || s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%q: want a number or UNLIMITED", s)
	}
	return int(n), nil
}

func (s *Scheduler) partition(ctx context.Context) (Partition, error) {
	args := []string{"--all", "--oneliner", "show", "partition"}
	if s.options.Partition != "" {
		args = append(args, s.options.Partition)
	}
	out, err := s.query(ctx, "scontrol", args...)
	if f, ok := errors.AsType[*failure](err); ok && rejects(f) {
		err = fmt.Errorf("%w: %w", benchrunner.ErrRejected, f)
	}
	if err != nil {
		return Partition{}, err
	}
	for _, p := range ParsePartitions(out) {
		if p.Default && s.options.Partition == "" || p.Name == s.options.Partition {
			return p, nil
		}
	}
	return Partition{}, fmt.Errorf("%w: the cluster has no default partition: name one", benchrunner.ErrRejected)
}
