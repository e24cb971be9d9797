package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner"
)

type allocation struct {
	id      string
	environ []string
	ends    time.Time // zero if the environment does not contain it
	nodes   []string  // of an allocation with a file of nodes; nil if Slurm knows them
}

// NewAllocation returns a scheduler for the nodes of the job of Slurm, PBS or LSF that `environ` describes. `environ`
// has the form of os.Environ. Jobs are processes on the node where tutti runs; the launcher starts ranks on
// the other nodes.
func NewAllocation(environ []string) (*Scheduler, error) {
	env := map[string]string{}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	a := &allocation{id: env["SLURM_JOB_ID"], environ: environ}
	if a.id == "" {
		if s, err := fromManager(environ, env); s != nil || err != nil {
			return s, err
		}
		return nil, fmt.Errorf("%w: SLURM_JOB_ID, PBS_NODEFILE and LSB_DJOB_HOSTFILE are not set: run tutti in a batch job or under salloc, or set runner.hosts to a file of nodes", benchrunner.ErrOutside)
	}
	if parts := cmp.Or(env["SLURM_HET_SIZE"], env["SLURM_PACK_SIZE"]); parts != "" {
		return nil, fmt.Errorf("allocation %s: a heterogeneous job of %s components: launches use one component: run tutti in a job without a colon or hetjob line, or set runner.hosts to a file of nodes", a.id, parts)
	}
	nodes, err := strconv.Atoi(env["SLURM_JOB_NUM_NODES"])
	if err != nil || nodes < 1 {
		return nil, fmt.Errorf("allocation %s: SLURM_JOB_NUM_NODES=%q: want a number of nodes", a.id, env["SLURM_JOB_NUM_NODES"])
	}
	opt := Options{Nodes: nodes}
	if cpus := env["SLURM_JOB_CPUS_PER_NODE"]; cpus != "" {
		n, err := leastCPUs(cpus)
		if err != nil {
			return nil, fmt.Errorf("allocation %s: SLURM_JOB_CPUS_PER_NODE=%q: %w", a.id, cpus, err)
		}
		opt.PPN = max(1, n/threadsPerCore(os.DirFS("/"))) // Slurm counts hardware threads
	}
	if end := env["SLURM_JOB_END_TIME"]; end != "" {
		seconds, err := strconv.ParseInt(end, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("allocation %s: SLURM_JOB_END_TIME=%q: want seconds since 1970", a.id, end)
		}
		a.ends = time.Unix(seconds, 0)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("allocation %s: %w", a.id, err)
	}
	return &Scheduler{opt: opt, environ: without(environ, stepPrefixes), host: host, allocation: a}, nil
}

// leastCPUs returns the smallest number of CPUs in a list such as 32(x3),16. This list means three nodes
// with 32 CPUs and one with 16.
func leastCPUs(list string) (int, error) {
	least := math.MaxInt
	for _, part := range strings.Split(list, ",") {
		count, _, _ := strings.Cut(part, "(")
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("want a list like 32(x3),16")
		}
		least = min(least, n)
	}
	return least, nil
}

// end returns the time when the allocation ends, zero if it has no limit or has a file of nodes. It asks Slurm's controller, since
// older releases of Slurm do not put this time into the environment.
func (a *allocation) end(ctx context.Context) (time.Time, error) {
	if !a.ends.IsZero() || a.nodes != nil {
		return a.ends, nil
	}
	out, err := a.scontrol(ctx, "-o", "show", "job", a.id)
	if err != nil {
		return time.Time{}, fmt.Errorf("end of allocation %s: %w", a.id, err)
	}
	return parseEnd(out)
}

func (a *allocation) scontrol(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "scontrol", args...)
	cmd.Env = append(append([]string(nil), a.environ...), "TZ=UTC0", "LC_ALL=C", "SLURM_TIME_FORMAT=standard")
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("%w: %s", benchrunner.ErrUnavailable, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}

// parseEnd finds EndTime in the output of scontrol. The time is in UTC.
func parseEnd(text string) (time.Time, error) {
	for field := range strings.FieldsSeq(text) {
		value, ok := strings.CutPrefix(field, "EndTime=")
		switch {
		case !ok:
			continue
		case value == "Unknown" || value == "None" || value == "NONE":
			return time.Time{}, nil
		}
		end, err := time.Parse("2006-01-02T15:04:05", value)
		if err != nil {
			return time.Time{}, fmt.Errorf("scontrol: EndTime=%s: want a time like 2026-01-31T12:00:00", value)
		}
		return end, nil
	}
	return time.Time{}, errors.New("scontrol: no EndTime in its answer")
}
