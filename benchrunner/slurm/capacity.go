package slurm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tutti/benchrunner"
	"tutti/topology/files"
)

type node struct {
	name     string
	cpus     int   // as Slurm counts them, those of the system included
	cores    int   // that jobs get
	bytes    int64 // of memory; zero if Slurm does not know
	features []string
	state    string // with sinfo's suffix, as in "idle*"
}

const nodeColumns = "%N" + separator + "%c" + separator + "%f" + separator + "%T" + separator + "%m" + separator + "%X" + separator + "%Y" + separator + "%Z"

func parseNode(line string) (node, error) {
	f := strings.Split(strings.TrimSuffix(line, "\n"), separator)
	if len(f) != 8 {
		return node{}, fmt.Errorf("sinfo: %d columns, want 8: %.200q", len(f), line)
	}
	var counts [4]int // CPUs, sockets, cores of a socket, threads of a core
	for i, text := range []string{f[1], f[5], f[6], f[7]} {
		count, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return node{}, fmt.Errorf("sinfo: CPUs, sockets, cores or threads %q: want a number", text)
		}
		counts[i] = int(count)
	}
	n := node{name: f[0], cpus: counts[0], cores: coresOf(counts[0], counts[1]*counts[2], counts[3]), features: strings.Split(f[2], ","), state: f[3]}
	mebibytes, err := strconv.ParseUint(f[4], 10, 40)
	if err != nil {
		return node{}, fmt.Errorf("sinfo: memory %q: want a number", f[4])
	}
	if mebibytes > 1 { // Slurm reports 1 if no memory is configured
		n.bytes = int64(mebibytes) << 20
	}
	return n, nil
}

// keep lowers the number of cores to that of the CPUs that jobs get. The others are specialised for the system. It does
// nothing if `effective` is 0.
func (n *node) keep(effective int) {
	if effective > 0 && effective < n.cpus {
		n.cores = min(effective, max(1, effective*n.cores/n.cpus))
	}
}

// effectiveCPUs returns the number of CPUs that jobs get on each node that Slurm reports it for.
func (s *Scheduler) effectiveCPUs(ctx context.Context) (map[string]int, error) {
	out, err := s.query(ctx, "scontrol", "--oneliner", "show", "nodes")
	cpus := map[string]int{}
	for line := range strings.Lines(out) {
		if name, n := effectiveOf(line); n > 0 {
			cpus[name] = n
		}
	}
	return cpus, err
}

// effectiveOf reads how many CPUs jobs get on a node from its line of scontrol: CPUEfctv or, before Slurm 22.05, all CPUs
// without the specialised ones. It is 0 if the line does not say.
func effectiveOf(line string) (name string, cpus int) {
	field := map[string]string{}
	for text := range strings.FieldsSeq(line) {
		key, value, _ := strings.Cut(text, "=")
		if _, known := field[key]; !known { // a comment may look like a field
			field[key] = value
		}
	}
	number := func(key string) int { return benchrunner.ParseCount(field[key]) }
	if n := number("CPUEfctv"); n > 0 {
		return field["NodeName"], n
	}
	kept := max(number("CoreSpecCount")*max(1, number("ThreadsPerCore")), benchrunner.CountCPUs(field["CPUSpecList"]))
	return field["NodeName"], max(0, number("CPUTot")-kept)
}

// coresOf returns the number of cores of a node. Slurm counts each hardware thread as a CPU, unless the site's
// configuration says otherwise. It may have fewer CPUs than the hardware.
func coresOf(cpus, cores, threads int) int {
	if cpus == cores*threads && cores > 0 {
		return cores
	}
	if cores > 0 {
		return min(cpus, cores)
	}
	return cpus
}

// serves reports whether jobs can get the node now or after others. A reservation of the campaign's own may hold
// nodes, also for maintenance.
func (n node) serves(reservation string) bool {
	if strings.HasSuffix(n.state, "*") { // the node does not respond
		return false
	}
	bads := []string{"down", "drain", "fail", "error", "unknown", "inval", "future", "reboot", "block"}
	if reservation == "" {
		bads = append(bads, "maint", "planned", "reserved")
		if strings.ContainsAny(n.state, "$-") { // in maintenance; planned for another job
			return false
		}
	}
	state := strings.TrimRight(n.state, "*~#!%$@^-+")
	for _, bad := range bads {
		if strings.HasPrefix(state, bad) {
			return false
		}
	}
	return true
}

// has reports whether the node has the features of the constraint. It understands only expressions such as
// a&b, and returns true for others.
func (n node) has(constraint string) bool {
	if constraint == "" || strings.ContainsAny(constraint, "|[]()*!:") {
		return true
	}
	for wanted := range strings.FieldsFuncSeq(constraint, func(r rune) bool { return r == '&' || r == ',' }) {
		if !slices.Contains(n.features, wanted) {
			return false
		}
	}
	return true
}

// Capacity counts the nodes of the partition that have the constraint's features and are not down or
// drained. PPN and Bytes are the smallest numbers of cores and bytes among these nodes. Capacity ignores
// limits of accounts and qualities of service.
func (s *Scheduler) Capacity(ctx context.Context) (benchrunner.Capacity, error) {
	p, err := s.partition(ctx)
	if err != nil {
		return benchrunner.Capacity{}, err
	}
	most, err := p.limits()
	if err != nil {
		return benchrunner.Capacity{}, err
	}
	out, err := s.query(ctx, "sinfo", "--noheader", "--Node", "--partition="+p.Name, "--format="+nodeColumns)
	if err != nil {
		return benchrunner.Capacity{}, err
	}
	effective, err := s.effectiveCPUs(ctx)
	if err != nil {
		return benchrunner.Capacity{}, err
	}
	c := benchrunner.Capacity{Limit: most.Limit, Jobs: s.options.MaxJobs, SeparateNodes: true}
	for line := range strings.Lines(out) {
		n, err := parseNode(line)
		if err != nil {
			return benchrunner.Capacity{}, err
		}
		n.keep(effective[n.name])
		if !n.serves(s.options.Reservation) || !n.has(s.options.Constraint) {
			continue
		}
		c.Nodes++
		c.PPN, c.Bytes = benchrunner.Least(c.PPN, n.cores), benchrunner.Least(c.Bytes, n.bytes)
	}
	if c.Nodes == 0 {
		return benchrunner.Capacity{}, fmt.Errorf("%w: partition %s has no node that is up%s", benchrunner.ErrUnavailable, p.Name, s.constrained())
	}
	c.Nodes, c.PPN = benchrunner.Least(c.Nodes, most.Nodes), benchrunner.Least(c.PPN, most.PPN)
	return c, nil
}

// Nodes returns the names of all nodes of the partition, or of the cluster if no partition is set.
func (s *Scheduler) Nodes(ctx context.Context) ([]string, error) {
	args := []string{"--noheader", "--Node", "--format=%N"}
	if s.options.Partition != "" {
		args = append(args, "--partition="+s.options.Partition)
	}
	out, err := s.query(ctx, "sinfo", args...)
	return slices.Compact(slices.Sorted(strings.FieldsSeq(out))), err
}

// Switches returns the switches that the controller knows. Without a topology plugin it knows none.
func (s *Scheduler) Switches(ctx context.Context) ([][]string, error) {
	out, err := s.query(ctx, "scontrol", "show", "topology")
	if err != nil {
		return nil, err
	}
	tree, err := files.ReadSlurmShow(strings.NewReader(out), "scontrol show topology")
	return tree.Switches(), err
}

func (s *Scheduler) constrained() string {
	if s.options.Constraint == "" {
		return ""
	}
	return " and has " + s.options.Constraint
}
