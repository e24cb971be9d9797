package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// cluster is what is known of Slurm.
type cluster struct {
	reachable  bool // the controller answers
	version    string
	plugins    []string // of srun
	job        string   // we are inside of, empty outside
	jobNodes   int
	jobTasks   string // processes on its nodes, as Slurm writes them
	partitions []partition
}

// slurmCommands are what a campaign calls; sacct and scrontab may be missing.
var slurmCommands = []string{"sbatch", "squeue", "scontrol", "scancel", "srun", "sinfo"}

func (x *examiner) examineSlurm(ctx context.Context) {
	x.slurm.job = x.getenv("SLURM_JOB_ID")
	x.slurm.jobNodes, _ = strconv.Atoi(x.getenv("SLURM_JOB_NUM_NODES")) // told as it is, checked nowhere
	x.slurm.jobTasks = printable(x.getenv("SLURM_TASKS_PER_NODE"))
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

// ping asks whether the controller is there, and adds the check of Slurm itself.
func (x *examiner) ping(ctx context.Context) bool {
	scontrol := x.look("scontrol")
	if scontrol == "" {
		return false
	}
	r := x.run(ctx, command{args: []string{scontrol, "ping"}, limit: x.limits.ping})
	state, host := parsePing(r.Stdout)
	c := Check{Section: Slurm, Name: "Slurm", State: Missing}
	switch {
	case strings.Contains(r.Stderr, "configuration source"), strings.Contains(r.Stderr, "slurm.conf"):
		c.Details = []string{"the commands are there, a configuration is not"}
		c.Cure = "export SLURM_CONF=/path/to/slurm.conf, or work on a node of the cluster"
	case r.TimedOut:
		c.Details = []string{fmt.Sprintf("scontrol ping does not answer within %v", x.limits.ping)}
		c.Cure = "ask whether slurmctld runs; check SLURM_CONF"
	case state == "UP":
		x.slurm.reachable = true
		x.slurm.version = parseSlurmVersion(x.ask(ctx, "sbatch", "--version"))
		c.State, c.Details = OK, []string{fmt.Sprintf("%s, controller on %s answers in %d ms", x.slurm.version, host, r.Took.Milliseconds())}
	case state != "":
		c.Details = []string{"the controller on " + host + " is " + state}
		c.Cure = "ask the operators; systemctl status slurmctld"
	default:
		c.Details = []string{"scontrol ping: " + r.said()}
		c.Cure = "ask the operators; check SLURM_CONF"
	}
	x.add(c)
	return x.slurm.reachable
}

// ask returns what a command of Slurm prints, empty when it is not there or fails.
func (x *examiner) ask(ctx context.Context, name string, args ...string) string {
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

func (x *examiner) examineCluster(ctx context.Context) {
	if path := x.look("srun"); path != "" {
		r := x.run(ctx, command{args: []string{path, "--mpi=list"}, limit: x.limits.ask})
		x.slurm.plugins = parsePlugins(r.Stdout + r.Stderr) // one stream or the other, by release
	}
	x.examinePartitions(ctx)
	x.examineConfig(ctx)
	x.examineAccounting(ctx)
	x.examineAllocation(ctx)
	x.testSubmission(ctx)
}

func (x *examiner) examinePartitions(ctx context.Context) {
	x.slurm.partitions = parsePartitions(x.ask(ctx, "scontrol", "--oneliner", "show", "partition"))
	counts := parseSinfo(x.ask(ctx, "sinfo", "--noheader", "--format=%R|%D|%t"))
	if len(x.slurm.partitions) == 0 {
		x.add(Check{Slurm, "partitions", Missing, []string{"scontrol show partition lists none"}, "ask the operators which partition is yours"})
		return
	}
	usable := 0
	for i := range x.slurm.partitions {
		p := &x.slurm.partitions[i]
		p.idle, p.usable = counts[p.Name].idle, counts[p.Name].usable
		if p.State == "UP" && p.usable > 0 {
			usable++
		}
	}
	const most = 12
	c := ok(Slurm, "partitions", fmt.Sprintf("%d of %d are up with nodes that work", usable, len(x.slurm.partitions)))
	for i, p := range x.slurm.partitions {
		if i == most {
			c.Details = append(c.Details, fmt.Sprintf("and %d more", len(x.slurm.partitions)-most))
			break
		}
		c.Details = append(c.Details, p.String())
	}
	if usable == 0 {
		c = c.with(Missing, "sinfo -R tells why; ask the operators")
	}
	x.add(c)
}

// examineConfig tells the settings that change how a campaign must behave.
func (x *examiner) examineConfig(ctx context.Context) {
	config := parseConfig(x.ask(ctx, "scontrol", "show", "config"))
	if len(config) == 0 {
		x.add(Check{Slurm, "settings", Warning, []string{"scontrol show config does not answer"}, ""})
		return
	}
	c := ok(Slurm, "settings", fmt.Sprintf("MinJobAge %s, EnforcePartLimits %s",
		orUnknown(config["MinJobAge"]), orUnknown(config["EnforcePartLimits"])),
		fmt.Sprintf("MaxJobCount %s, MaxArraySize %s", orUnknown(config["MaxJobCount"]), orUnknown(config["MaxArraySize"])))
	if age, known := seconds(config["MinJobAge"]); known && age < 60 {
		c = c.with(Warning, "have sacct, or poll more often than MinJobAge")
		c.Details = append(c.Details, "ended jobs are forgotten in less than a minute")
	}
	if strings.EqualFold(config["EnforcePartLimits"], "NO") {
		c.Details = append(c.Details, "jobs beyond a limit wait for ever: tutti checks limits itself")
	}
	x.add(c)
}

func (x *examiner) examineAccounting(ctx context.Context) {
	path := x.look("sacct")
	if path == "" {
		x.add(Check{Slurm, "accounting", Warning, []string{"no sacct: how jobs ended is known for MinJobAge only"}, "tutti's own end files serve instead"})
		return
	}
	r := x.run(ctx, command{args: []string{path, "--noheader", "--allocations", "--parsable2", "--format=JobID", "--starttime=now-1minute"}, limit: x.limits.ask})
	switch {
	case r.Err == nil:
		x.add(ok(Slurm, "accounting", fmt.Sprintf("sacct answers in %.1f s", r.Took.Seconds())))
	case strings.Contains(r.Stderr, "disabled"):
		x.add(Check{Slurm, "accounting", Found, []string{"off: scontrol and end files tell how jobs ended"}, ""})
	case r.TimedOut:
		x.add(Check{Slurm, "accounting", Warning, []string{fmt.Sprintf("sacct does not answer within %v", x.limits.ask)}, "ask whether slurmdbd runs; tutti's own end files serve instead"})
	default:
		x.add(Check{Slurm, "accounting", Warning, []string{"sacct: " + r.said()}, "ask whether slurmdbd runs; tutti's own end files serve instead"})
	}
}

func (x *examiner) examineAllocation(context.Context) {
	if x.slurm.job == "" {
		x.add(Check{Slurm, "allocation", Found, []string{"outside of a job: jobs are submitted with sbatch"}, ""})
		return
	}
	text := fmt.Sprintf("inside job %s: %s", printable(x.slurm.job), count(x.slurm.jobNodes, "node", "nodes"))
	if x.slurm.jobTasks != "" {
		text += ", processes on them: " + x.slurm.jobTasks
	}
	c := ok(Slurm, "allocation", text)
	if x.slurm.jobNodes == 1 {
		c.Details = append(c.Details, "one node: only collectives within a node can be measured here")
	}
	x.add(c)
}

// testSubmission asks Slurm whether it would take a job, without submitting one.
func (x *examiner) testSubmission(ctx context.Context) {
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
		x.add(Check{Slurm, "submitting", Warning, []string{"sbatch --test-only refuses a job of one node: " + r.said()}, "name partition, account or QOS in the campaign file"})
		return
	}
	c := ok(Slurm, "submitting", "sbatch would take a job of one node"+startsIn(r.Stderr+r.Stdout, x.now()))
	c.Details = append(c.Details, x.scrontab())
	x.add(c)
}

func (x *examiner) scrontab() string {
	if x.look("scrontab") != "" {
		return "scrontab is there for repeated campaigns"
	}
	return "no scrontab: repeat campaigns with sbatch --begin"
}

func (p partition) String() string {
	nodes := fmt.Sprintf("%s, %d idle", count(p.Nodes, "node", "nodes"), p.idle)
	text := fmt.Sprintf("%s: %s, %d CPUs each, limit %s", p.Name, nodes, p.perNode(), orUnknown(p.MaxTime))
	if p.MaxNodes != "UNLIMITED" && p.MaxNodes != "" {
		text += ", " + count(number(p.MaxNodes), "node", "nodes") + " a job"
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

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
