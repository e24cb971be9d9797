package pbs

import (
	"context"
	"fmt"
	"maps"
	"os/user"
	"slices"
	"strings"

	"tutti/benchrunner"
)

// ask runs a query and returns the objects of its answer. It reads the text form if the JSON form is not valid.
func (s *Scheduler) ask(ctx context.Context, group, name string, args []string, names ...string) (map[string]object, error) {
	out, _, err := s.query(ctx, nil, name, slices.Concat(args, []string{"-F", "json"}, names)...)
	if err != nil {
		return nil, err
	}
	if found, err := parseJSON(out, group); err == nil {
		return found, nil
	}
	if out, _, err = s.query(ctx, nil, name, append(args, names...)...); err != nil {
		return nil, err
	}
	return parseText(out), nil
}

// nodes returns the nodes by name.
func (s *Scheduler) nodes(ctx context.Context) (map[string]object, error) {
	return s.ask(ctx, "nodes", "pbsnodes", []string{"-a"})
}

// serves reports whether a node runs jobs now or after the jobs that it has.
func (o object) serves() bool {
	for state := range strings.SplitSeq(o["state"], ",") {
		switch strings.TrimSpace(state) {
		case "free", "job-busy", "job-exclusive", "busy", "resv-exclusive":
		default:
			return false
		}
	}
	return true
}

// Nodes returns the names of all nodes of the server.
func (s *Scheduler) Nodes(ctx context.Context) ([]string, error) {
	nodes, err := s.nodes(ctx)
	return slices.Sorted(maps.Keys(nodes)), err
}

// Switches returns nil: PBS knows no switches.
func (s *Scheduler) Switches(context.Context) ([][]string, error) { return nil, nil }

// Capacity implements benchrunner.Scheduler. It counts the nodes that serve, and applies the limits of the queue
// and of the server. Of a routing queue it applies none, since each destination has its own. PPN and Bytes are
// those of the smallest node.
func (s *Scheduler) Capacity(ctx context.Context) (benchrunner.Capacity, error) {
	c := benchrunner.Capacity{Jobs: s.options.MaxJobs, SeparateNodes: true}
	servers, err := s.ask(ctx, "Server", "qstat", []string{"-B", "-f"})
	if err != nil {
		return c, err
	}
	name := s.options.Queue
	limits := slices.Collect(maps.Values(servers))
	for _, server := range servers {
		if name == "" {
			name = server["default_queue"]
		}
	}
	if name == "" {
		return c, fmt.Errorf("%w: the server has no default queue: set pbs.queue", benchrunner.ErrRejected)
	}
	queue, err := s.queue(ctx, name)
	if err != nil {
		return c, err
	}
	nodes, err := s.nodes(ctx)
	if err != nil {
		return c, err
	}
	for _, n := range nodes {
		if n.serves() && (queue["hasnodes"] != "True" || n["queue"] == name) {
			c.Nodes++
			c.PPN = benchrunner.Least(c.PPN, benchrunner.ParseCount(n["resources_available.ncpus"]))
			if bytes, err := parseSize(n["resources_available.mem"]); err == nil {
				c.Bytes = benchrunner.Least(c.Bytes, bytes)
			}
		}
	}
	if c.Nodes == 0 {
		return c, fmt.Errorf("%w: PBS has no node for queue %s that is up", benchrunner.ErrUnavailable, name)
	}
	for _, o := range append(limits, queue) {
		c = limited(c, o)
	}
	return c, nil
}

// queue returns the attributes of a queue. The server is asked for one queue at a time: with several names, some
// releases print the first one only.
func (s *Scheduler) queue(ctx context.Context, name string) (object, error) {
	queues, err := s.ask(ctx, "Queue", "qstat", []string{"-Q", "-f"}, name)
	if err != nil {
		return nil, err
	}
	queue, ok := queues[name]
	if !ok {
		return nil, fmt.Errorf("%w: PBS has no queue %s", benchrunner.ErrRejected, name)
	}
	return queue, nil
}

// limited applies the limits of a queue or server to the capacity.
func limited(c benchrunner.Capacity, o object) benchrunner.Capacity {
	c.Nodes = benchrunner.Least(c.Nodes, benchrunner.ParseCount(o["resources_max.nodect"]))
	c.PPN = benchrunner.Least(c.PPN, benchrunner.ParseCount(o["resources_max.ncpus"])) // of all nodes of a job together: the sum is not checked
	if d, err := parseDuration(o["resources_max.walltime"]); err == nil {
		c.Limit = benchrunner.Least(c.Limit, d)
	}
	c.Jobs = benchrunner.Least(c.Jobs, jobLimit(o["max_queued"]))
	return c
}

// jobLimit returns the smallest limit of jobs that applies to this user in a list such as
// [o:PBS_ALL=10],[u:PBS_GENERIC=3]. It returns 0 without a limit.
func jobLimit(list string) int {
	names := []string{"o:PBS_ALL", "u:PBS_GENERIC"}
	if me, err := user.Current(); err == nil {
		names = append(names, "u:"+me.Username)
	}
	limit := 0
	for entry := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(strings.Trim(strings.TrimSpace(entry), "[]"), "=")
		if slices.Contains(names, name) {
			limit = benchrunner.Least(limit, benchrunner.ParseCount(value))
		}
	}
	return limit
}
