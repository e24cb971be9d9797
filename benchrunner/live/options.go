package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/lazyregexp"
	"tutti/mpi"
)

// Options configures a Machine, which measures batches in jobs.
type Options struct {
	Campaign  string // campaign ID, part of job names: letters, digits, ._-
	Dir       string // absolute, visible on every node; jobs live in Dir/jobs
	Scheduler benchrunner.Scheduler
	Launcher  benchrunner.Launcher
	Program   benchrunner.Program

	// Force returns the settings that make the library run the algorithm of a candidate. If Force returns an
	// error, the trial of the candidate fails.
	Force func(coll.Candidate) (mpi.Forcing, error)

	Modules []string  // environment modules, loaded in this order before Setup
	Setup   []string  // lines of bash that a job runs before its launches
	Env     []mpi.Var // variables of every launch

	LaunchTime time.Duration // allowed for a launch to start and to end, and for the set-up of a job; default 1 min
	RankTime   time.Duration // added to LaunchTime for each rank, in whole seconds in total
	NodeBytes  int64         // memory of a node for buffers; zero: the scheduler's figure
	Settle     time.Duration // how long to wait for files after a job has ended; default 30 s
	JobTime    time.Duration // longest wall time of one job; zero: the scheduler's limit
	Poll       Poll

	// Notice, if not nil, receives why tutti waits: the scheduler's errors, the reasons of pending jobs, and jobs that
	// measured nothing. Several goroutines may call it, every few seconds.
	Notice func(error)

	Parallel      Parallel   // default ParallelNever; no effect where nodes are not separate machines
	ParallelNodes int        // most nodes of a job with concurrent launches; 0: those of the widest launch of a batch, all of an allocation
	Switches      [][]string // names of the nodes of each switch; nil: those that the scheduler knows

	Order coll.Order // of the ranks over the nodes, as the launcher assigns them; trials record it
}

// Poll limits the time between two status requests to the scheduler. Between these limits, the time is one
// fiftieth of the time since a status last changed.
type Poll struct {
	Min time.Duration // default 10 ms
	Max time.Duration // default 30 s
}

var (
	word     = lazyregexp.New(`^[A-Za-z0-9._-]+$`)
	variable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

func (o Options) withDefaults() Options {
	o.LaunchTime = cmp.Or(o.LaunchTime, time.Minute)
	o.Settle = cmp.Or(o.Settle, 30*time.Second)
	o.Poll.Min = cmp.Or(o.Poll.Min, 10*time.Millisecond)
	o.Poll.Max = cmp.Or(o.Poll.Max, 30*time.Second)
	o.Parallel = cmp.Or(o.Parallel, ParallelNever)
	o.Order = cmp.Or(o.Order, coll.Block)
	if o.Notice == nil {
		o.Notice = func(error) {}
	}
	return o
}

func (o Options) validate() error {
	var faults []error
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fault(!word.MatchString(o.Campaign), "campaign %q: want letters, digits and ._-", o.Campaign)
	fault(!filepath.IsAbs(o.Dir), "folder %q: want an absolute path", o.Dir)
	fault(strings.ContainsAny(o.Dir, "\x00\n"), "folder %q: want one line without zero bytes", o.Dir)
	faults = append(faults, checkVars(o.Env), checkSetup(o.Setup), o.checkSwitches())
	return errors.Join(faults...)
}

func (o Options) checkSwitches() error {
	where := map[string]bool{}
	for _, names := range o.Switches {
		for _, n := range names {
			if !word.MatchString(n) || where[n] {
				return fmt.Errorf("switches: node %q: want letters, digits and ._-, and each node once", n)
			}
			where[n] = true
		}
	}
	return nil
}

// readOnly lists the variables that bash keeps to itself.
var readOnly = []string{"BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"}

func checkVars(vars []mpi.Var) error {
	var faults []error
	for _, v := range vars {
		if !variable.MatchString(v.Name) {
			faults = append(faults, fmt.Errorf("variable %q: want letters, digits and _, no digit first", v.Name))
		}
		if slices.Contains(readOnly, v.Name) {
			faults = append(faults, fmt.Errorf("variable %s: bash does not let anybody set it", v.Name))
		}
		if strings.ContainsRune(v.Value, 0) {
			faults = append(faults, fmt.Errorf("variable %s: its value %q has a zero byte", v.Name, v.Value))
		}
	}
	return errors.Join(faults...)
}

func checkSetup(lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-n")
	cmd.Stdin = strings.NewReader(setupText(lines))
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("setup: bash cannot read it: %s (%w)", tail(out, 3), err)
	}
	return nil
}

func setupText(lines []string) string { return strings.Join(lines, "\n") + "\n" }
