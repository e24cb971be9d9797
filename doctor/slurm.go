package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner/slurm"
	"tutti/internal/lazyregexp"
)

type cluster struct {
	reachable  bool // the controller answers
	accepts    bool // sbatch accepts a job of one node
	version    string
	plugins    []string // PMI plugins of srun
	job        string   // ID of the surrounding job; empty outside of jobs
	jobNodes   int
	jobTasks   string // processes per node of the job, in Slurm's notation
	partitions []partition
}

type slurmChecker struct {
	*session
	cluster
}

var slurmCommands = []string{"sbatch", "squeue", "scontrol", "scancel", "srun", "sinfo"}

func (x *slurmChecker) examine(ctx context.Context) {
	x.job = x.getenv("SLURM_JOB_ID")
	x.jobNodes, _ = strconv.Atoi(x.getenv("SLURM_JOB_NUM_NODES")) // 0 if unknown; only printed
	x.jobTasks = printable(x.getenv("SLURM_TASKS_PER_NODE"))
	var there, absent []string
	for _, name := range slurmCommands {
		if x.look(name) != "" {
			there = append(there, name)
		} else {
			absent = append(absent, name)
		}
	}
	switch {
	case len(there) == 0:
		x.add(Check{Slurm, "Slurm", Missing, []string{"no Slurm commands on the PATH: campaigns run on this machine alone"},
			"module load slurm, or apt-get install slurm-client on a machine of the cluster"})
		return
	case len(absent) > 0:
		x.add(Check{Slurm, "commands", Missing, []string{"not on the PATH: " + strings.Join(absent, ", ")}, "apt-get install slurm-client"})
	}
	if x.ping(ctx) {
		x.examineCluster(ctx)
	}
}

func (x *slurmChecker) ping(ctx context.Context) bool {
	scontrol := x.look("scontrol")
	if scontrol == "" {
		return false
	}
	r := x.run(ctx, command{args: []string{scontrol, "ping"}, limit: x.limits.ping})
	state, host := parsePing(r.Stdout)
	c := Check{Section: Slurm, Name: "Slurm"}
	switch {
	case strings.Contains(r.Stderr, "configuration source"), strings.Contains(r.Stderr, "slurm.conf"):
		c = c.with(Missing, "export SLURM_CONF=/path/to/slurm.conf, or work on a node of the cluster").
			withDetail("the commands exist, but their configuration is missing")
	case r.TimedOut:
		c = c.with(Missing, "ask whether slurmctld runs; check SLURM_CONF").withDetail(fmt.Sprintf("scontrol ping does not answer within %v", x.limits.ping))
	case state == "UP":
		x.reachable = true
		x.version = parseSlurmVersion(x.ask(ctx, "sbatch", "--version"))
		c = c.with(OK, "").withDetail(fmt.Sprintf("%s, controller on %s answers in %d ms", x.version, host, r.Took.Milliseconds()))
	case state != "":
		c = c.with(Missing, "ask the operators; systemctl status slurmctld").withDetail("the controller on " + host + " is " + state)
	default:
		c = c.with(Missing, "ask the operators; check SLURM_CONF").withDetail("scontrol ping: " + r.message())
	}
	x.add(c)
	return x.reachable
}

func (x *slurmChecker) ask(ctx context.Context, name string, args ...string) string {
	path := x.look(name)
	if path == "" {
		return ""
	}
	r := x.run(ctx, command{args: append([]string{path}, args...), limit: x.limits.ask})
	if r.Err != nil {
		return ""
	}
	return r.Stdout
}

func (x *slurmChecker) examineCluster(ctx context.Context) {
	if path := x.look("srun"); path != "" {
		r := x.run(ctx, command{args: []string{path, "--mpi=list"}, limit: x.limits.ask})
		x.plugins = parsePlugins(r.Stdout + r.Stderr) // the stream depends on Slurm's version
	}
	x.examinePartitions(ctx)
	x.examineAccounting(ctx)
	x.examineAllocation(ctx)
	x.testSubmission(ctx)
}

func (x *slurmChecker) examinePartitions(ctx context.Context) {
	x.partitions = parsePartitions(x.ask(ctx, "scontrol", "--oneliner", "show", "partition"))
	counts := parseSinfo(x.ask(ctx, "sinfo", "--noheader", "--format=%R|%D|%t"))
	if len(x.partitions) == 0 {
		x.add(Check{Slurm, "partitions", Missing, []string{"scontrol show partition lists none"}, "ask the operators which partition is yours"})
		return
	}
	usable := 0
	for i := range x.partitions {
		p := &x.partitions[i]
		p.idle, p.usable = counts[p.Name].idle, counts[p.Name].usable
		if p.State == "UP" && p.usable > 0 {
			usable++
		}
	}
	const most = 12
	c := ok(Slurm, "partitions", fmt.Sprintf("%d of %d are up with nodes that work", usable, len(x.partitions)))
	for i, p := range x.partitions {
		if i == most {
			c.Details = append(c.Details, fmt.Sprintf("and %d more", len(x.partitions)-most))
			break
		}
		c.Details = append(c.Details, p.String())
	}
	if usable == 0 {
		c = c.with(Missing, "sinfo -R shows why; ask the operators")
	}
	x.add(c)
}

func (x *slurmChecker) examineAccounting(ctx context.Context) {
	path := x.look("sacct")
	if path == "" {
		x.add(Check{Slurm, "accounting", Warning, []string{"no sacct: Slurm forgets after MinJobAge how jobs ended"}, "tutti's end files replace it"})
		return
	}
	r := x.run(ctx, command{args: []string{path, "--noheader", "--allocations", "--parsable2", "--format=JobID", "--starttime=now-1minute"}, limit: x.limits.ask})
	switch {
	case r.Err == nil:
		x.add(ok(Slurm, "accounting", fmt.Sprintf("sacct answers in %.1f s", r.Took.Seconds())))
	case strings.Contains(r.Stderr, "disabled"):
		x.add(Check{Slurm, "accounting", Found, []string{"off: scontrol and end files show how jobs ended"}, ""})
	case r.TimedOut:
		x.add(Check{Slurm, "accounting", Warning, []string{fmt.Sprintf("sacct does not answer within %v", x.limits.ask)}, "ask whether slurmdbd runs; tutti's end files replace it"})
	default:
		x.add(Check{Slurm, "accounting", Warning, []string{"sacct: " + r.message()}, "ask whether slurmdbd runs; tutti's end files replace it"})
	}
}

func (x *slurmChecker) examineAllocation(context.Context) {
	if x.job == "" {
		x.add(Check{Slurm, "allocation", Found, []string{"outside of a job: jobs are submitted with sbatch"}, ""})
		return
	}
	text := fmt.Sprintf("inside job %s: %s", printable(x.job), count(x.jobNodes, "node", "nodes"))
	if x.jobTasks != "" {
		text += ", processes on them: " + x.jobTasks
	}
	c := ok(Slurm, "allocation", text)
	if x.jobNodes == 1 {
		c.Details = append(c.Details, "one node: only collectives within a node can be measured here")
	}
	x.add(c)
}

func (x *slurmChecker) testSubmission(ctx context.Context) {
	path := x.look("sbatch")
	script := filepath.Join(x.temp, "job.sh")
	if path == "" || os.WriteFile(script, []byte("#!/bin/sh\ntrue\n"), 0o755) != nil {
		return
	}
	r := x.run(ctx, command{
		args: []string{path, "--test-only", "--nodes=1", "--time=1", "--job-name=tutti-doctor", script},
		dir:  x.temp, drop: []string{"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE"}, limit: x.limits.ask,
	})
	if r.Err != nil {
		x.add(Check{Slurm, "submitting", Warning, []string{"sbatch --test-only refuses a job of one node: " + r.message()}, "name partition, account or QOS in the campaign file"})
		return
	}
	x.accepts = true
	c := ok(Slurm, "submitting", "sbatch would accept a job of one node"+startsIn(r.Stderr+r.Stdout, x.now()))
	c.Details = append(c.Details, x.scrontab())
	x.add(c)
}

func (x *slurmChecker) scrontab() string {
	if x.look("scrontab") != "" {
		return "scrontab is there for repeated campaigns"
	}
	return "no scrontab: repeat campaigns with sbatch --begin"
}

func (p partition) String() string {
	nodes := fmt.Sprintf("%s, %d idle", count(p.Nodes, "node", "nodes"), p.idle)
	text := fmt.Sprintf("%s: %s, %d CPUs each, limit %s", p.Name, nodes, p.perNode(), cmp.Or(p.MaxTime, "unknown"))
	if most, err := strconv.Atoi(p.MaxNodes); err == nil { // or UNLIMITED
		text += ", " + count(most, "node", "nodes") + " a job"
	}
	if p.Default {
		text += ", the default"
	}
	if p.State != "UP" {
		text += ", " + p.State
	}
	return text
}

func (p partition) perNode() int {
	if p.Nodes == 0 {
		return 0
	}
	return p.CPUs / p.Nodes
}

var pingForm = lazyregexp.New(`Slurmctld\(([^)]*)\) at (\S+) is ([A-Z]+)`)

// parsePing parses the output of scontrol ping. It returns the state and the host of the first controller that
// is up or, if none is up, of the first one.
func parsePing(text string) (state, host string) {
	for _, m := range pingForm.FindAllStringSubmatch(text, -1) {
		if state == "" || m[3] == "UP" {
			state, host = m[3], printable(m[2])
		}
		if state == "UP" {
			break
		}
	}
	return state, host
}

var slurmVersionForm = lazyregexp.New(`^slurm(?:-wlm)? ([0-9][0-9A-Za-z.-]{0,31})`)

// parseSlurmVersion parses the output of a Slurm command for --version. It returns "" for
// other text.
func parseSlurmVersion(text string) string {
	if m := slurmVersionForm.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

type partition struct {
	slurm.Partition
	idle, usable int // numbers of nodes
}

func parsePartitions(text string) []partition {
	var out []partition
	for _, p := range slurm.ParsePartitions(text) {
		for _, s := range []*string{&p.Name, &p.State, &p.MaxTime, &p.MaxNodes} {
			*s = printable(*s)
		}
		out = append(out, partition{Partition: p})
	}
	return out
}

type nodeCount struct{ idle, usable int }

// parseSinfo parses lines of sinfo --format=%R|%D|%t: partition, nodes, state. A state may
// have a suffix, such as * for a node that does not answer.
func parseSinfo(text string) map[string]nodeCount {
	out := map[string]nodeCount{}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 {
			continue
		}
		n, _ := strconv.Atoi(f[1]) // 0 for other text
		c := out[f[0]]
		switch strings.TrimRight(f[2], "~#!%$@^-+") {
		case "idle":
			c.idle += n
			c.usable += n
		case "alloc", "mix", "comp", "resv", "plnd":
			c.usable += n
		}
		out[f[0]] = c
	}
	return out
}

var startForm = lazyregexp.New(`to start at ([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}) using [0-9]+ processors on nodes (\S+)`)

// startsIn returns when the job is expected to start, from the output of sbatch --test-only. It returns "" if
// the output contains no time.
func startsIn(text string, now time.Time) string {
	m := startForm.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	at, err := time.ParseInLocation("2006-01-02T15:04:05", m[1], now.Location())
	if err != nil {
		return ""
	}
	wait := at.Sub(now).Round(time.Minute)
	if wait <= time.Minute {
		return ", to start now"
	}
	return ", to start in " + strings.TrimSuffix(wait.String(), "0s")
}
