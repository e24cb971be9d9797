package benchrunner

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/internal/lazyregexp"
)

// Fault says whose fault it is that a case has no time.
type Fault string

// The faults. Only those of the candidate use up its attempts.
const (
	FaultCandidate Fault = "candidate" // what its own program did
	FaultMachine   Fault = "machine"   // the case is not reached: another job measures it
	FaultUser      Fault = "user"      // settings that this machine never accepts, for one layout or for all
)

// Cause says why a case has no time, or why a job does not start. Causes lists every cause with its fault.
type Cause string

// The causes. Runners and launchers map their own states and messages to them.
const (
	// of the candidate
	Crashed        Cause = "crashed"
	Hung           Cause = "hung"
	NoResult       Cause = "no result"
	WrongResult    Cause = "wrong result"
	NotRun         Cause = "not run"
	OutOfTime      Cause = "out of time"
	OutOfMemory    Cause = "out of memory"
	WrongPlacement Cause = "wrong placement"

	// of the machine
	JobCancelled     Cause = "job cancelled"
	JobHeld          Cause = "job held"
	NodeFailed       Cause = "node failed"
	JobBroken        Cause = "job broken"
	NoStep           Cause = "no step"
	NoProgram        Cause = "no program"
	LauncherFailed   Cause = "launcher failed"
	DiskFull         Cause = "disk full"
	OutputLost       Cause = "output lost"
	Signalled        Cause = "signalled"
	Noisy            Cause = "noisy"
	NodesDown        Cause = "nodes down"
	NoScheduler      Cause = "no scheduler"
	SubmissionsFull  Cause = "submissions full"
	SubmitUnknown    Cause = "submission unknown"
	AllocationEnding Cause = "allocation ends"

	// of the user
	Refused Cause = "refused"
	TooBig  Cause = "too big"
)

// CauseInfo describes a cause in the reference of failures.
type CauseInfo struct {
	Cause       Cause
	Fault       Fault
	Signs       string // how the cause shows, in the words of the systems
	Consequence string // what tutti does
}

const (
	usesAttempt = "failed trial; tried again in a later round, given up after `attempts`"
	otherJob    = "not reached: another job, with growing pauses; after 15 minutes without a result the campaign is interrupted"
)

// Causes returns every cause. The reference of failures has this table.
func Causes() []CauseInfo {
	return []CauseInfo{
		{Crashed, FaultCandidate, "a launch that has begun ends with an exit code or a signal of its own", usesAttempt},
		{Hung, FaultCandidate, "a launch is not done within its time limit", usesAttempt},
		{NoResult, FaultCandidate, "a launch ends well, but its output misses a case or is damaged", usesAttempt},
		{WrongResult, FaultCandidate, "wrong data, impossible times", usesAttempt},
		{NotRun, FaultCandidate, "the library refuses the algorithm or runs another one", usesAttempt},
		{OutOfTime, FaultCandidate, "the job reaches its time limit during a launch, without any result", usesAttempt},
		{OutOfMemory, FaultCandidate, "the job exceeds its memory during a launch, without any result", usesAttempt},
		{WrongPlacement, FaultCandidate, "a launch ends before it measures, or starts with other ranks than requested", usesAttempt},

		{JobCancelled, FaultMachine, "cancelled, preempted, revoked, ended at its deadline, requeued and held; a step of a launch that somebody cancelled", otherJob},
		{NodeFailed, FaultMachine, "node failure, boot failure, lost connection to a node or to a launcher's daemon; the exit code of such a launch, 0 too, means nothing", otherJob},
		{JobBroken, FaultMachine, "the scheduler lost the job; its script failed, was killed, or timed out in the set-up; folder not visible", otherJob},
		{NoStep, FaultMachine, "srun gets no step, no confirmation or no answer for the launch", otherJob},
		{NoProgram, FaultMachine, "program, launcher, a program that the launcher needs, or shared library is missing or not executable (exit codes 126, 127)", "before any program started: exit code 8; later " + otherJob},
		{LauncherFailed, FaultMachine, "an assertion or an internal error of mpiexec or mpirun", "before any program started: exit code 8; later " + otherJob},
		{DiskFull, FaultMachine, "no space left on device, disk quota exceeded", otherJob},
		{OutputLost, FaultMachine, "an output file of a launch is missing, or shorter than when the launch ended", otherJob},
		{Signalled, FaultMachine, "TERM, INT or HUP ends the launch from outside, such as the grace time of a preemption", otherJob},
		{Noisy, FaultMachine, "an interval wider than `benchmark.noise_limit`", "uses no attempt: measured again in later rounds, `attempts` times in all, then noisy: not selected, and the problem does not converge"},
		{JobHeld, FaultMachine, "held by a user or an administrator", "waits, and says so"},
		{NodesDown, FaultMachine, "fewer nodes are up than this campaign has used", "waits 15 minutes; then the other layouts are measured and the campaign is interrupted"},
		{NoScheduler, FaultMachine, "the controller does not answer: restarting, overloaded, network, authentication", "waits, and says so; after 15 minutes the campaign is interrupted"},
		{SubmissionsFull, FaultMachine, "limits of submitted jobs, full queue, partition inactive", "the same"},
		{SubmitUnknown, FaultMachine, "an answer to a submission that tutti does not know, or none", "looks for the job's name; an accepted job is followed, else the job counts as refused after an answer, and is submitted again after none"},
		{AllocationEnding, FaultMachine, "the allocation ends before the launch could", "the campaign is interrupted; resume in a new allocation"},

		{Refused, FaultUser, "refused at submission, or pending for a reason that never ends: partition, size, account, limits of one job", "that layout ends and is named; if no layout can run: exit code 3"},
		{TooBig, FaultUser, "more nodes, ranks, memory or time than the machine has", "the same"},
	}
}

// Fault returns whose fault a cause is, "" for an unknown cause.
func (c Cause) Fault() Fault {
	all := Causes()
	if i := slices.IndexFunc(all, func(d CauseInfo) bool { return d.Cause == c }); i >= 0 {
		return all[i].Fault
	}
	return ""
}

// JobCause returns why the cases of an ended job have no time, if no launch says more. `running` reports whether a
// launch ran when the job ended.
func JobCause(o coll.JobOutcome, running bool) Cause {
	switch {
	case o == coll.JobTimeout && running:
		return OutOfTime
	case o == coll.JobOutOfMemory && running:
		return OutOfMemory
	case o == coll.JobCancelled:
		return JobCancelled
	case o == coll.JobNodeFail:
		return NodeFailed
	}
	return JobBroken
}

// DiskFullTexts are texts of the system, of which messages about a full disk have one.
var DiskFullTexts = []string{"No space left on device", "Disk quota exceeded"}

// launcherMessage is a message of a launcher, or of the system that starts programs, about a cause outside of the
// program.
type launcherMessage struct {
	cause Cause
	form  *lazyregexp.Regexp
	any   bool // also after the program has begun to measure
}

// The messages that launchers print to standard error. Those of srun are from Slurm 22.05 to 26.05: src/srun,
// src/api/step_launch.c; those of mpirun from the help texts of Open MPI 4.1 to 6.0 and PRRTE; those of hydra from
// MPICH 4.0 to 5.0. The first one in this list counts: a launcher that does not find a program that it needs says so,
// and then fails in many ways.
var launcherMessages = []launcherMessage{
	{NoProgram, lazyregexp.New(`(?m)^\[mpiexec@[^]]*\] \S+ \([^)]*\): execvp error on file |\b(` + strings.Join(allHelpers(), "|") + `): (command not found|not found|No such file or directory|Permission denied)|parameter "plm_\w+_agent" was set to a path\s+that could not be found`), true},
	{NodeFailed, lazyregexp.New(`(?m)^srun: error: (Node failure on |Aborting, (step missing and io error|io error and missing step) on node )`), true},
	{NodeFailed, lazyregexp.New(`(?m)^slurmstepd(-\S+)?: error: \*\*\* .* CANCELLED AT .* DUE TO (NODE FAILURE|JOB REQUEUE|PREEMPTION)`), true},
	{NodeFailed, lazyregexp.New(`(ORTE|PRTE|PRRTE|DVM) has lost communication with a remote daemon|An? (ORTE |PRTE |PRRTE )?daemon (has )?(died|failed) unexpectedly|An? (ORTE|PRTE|PRRTE) daemon has unexpectedly failed|(ORTE|PRTE|PRRTE) was unable to reliably start one or more daemons`), true},
	{NodeFailed, lazyregexp.New(`(?m)^\[mpiexec@[^]]*\] (control_cb|cmd_response) .*assert \(!closed\) failed`), true},
	{LauncherFailed, lazyregexp.New(`(?m)^\[mpiexec@[^]]*\] \S+ \([^)]*\): assert \(.*\) failed`), true},
	{LauncherFailed, lazyregexp.New(`(ORTE|PRTE)_ERROR_LOG: |PRTE ERROR: |FORCE-TERMINATE AT |An internal error has occurred in (ORTE|PRTE|PRRTE)|It looks like (orte|prte)_init failed`), false},
	{DiskFull, lazyregexp.New(strings.Join(DiskFullTexts, "|")), true},
	{NoStep, lazyregexp.New(`(?m)^srun: error: (Unable to (create step for job|confirm allocation for job|contact slurm controller)|Slurm job \d+ has expired|timeout waiting for task launch|Task launch for |task \d+ launch failed|Application launch failed|Timed out waiting for job step to complete)`), false},
	{NoStep, lazyregexp.New(`(?m)^srun: (error: )?(Slurm is busy, step creation delayed|Job \d+ step creation (temporarily|still) disabled, retrying|Step completed in JobId=)`), false},
	{NoProgram, lazyregexp.New(`execve\(\): .*: (No such file or directory|Permission denied|Stale file handle|Input/output error|Text file busy)|execvp error on file |could not access\s+or execute an executable|unable to find the specified executable|error while loading shared libraries: `), false},
	{NoProgram, lazyregexp.New(`(?m)^srun: error: .*tasks? [0-9,-]+: Exited with exit code 12[67]$|^[ =]*E(xit code|XIT CODE): +12[67]$|/` + regexp.QuoteMeta(placementFile) + `: .*(not found|cannot execute|No such file or directory|Permission denied|Stale file handle|Input/output error|Exec format error)`), false},
	{NoProgram, lazyregexp.New(`(?m)(fork|vfork|clone)\S*: .*(Resource temporarily unavailable|Cannot allocate memory)|: (Stale file handle|Text file busy)$`), false},
}

// permanentStep matches messages of srun about a step that the job can never have: a fault of the settings for this
// layout.
var permanentStep = lazyregexp.New(`(?m)^srun: error: Unable to create step for job \d+: (More processors requested than permitted|Memory required by task is not available|Requested node configuration is not available|Invalid |(Task|Node|CPU) count specification invalid|Task distribution specification invalid|Requested operation not supported)`)

// partedForm matches a message of srun that output of a node was lost. A crash of the program has it, too, so that it
// counts only for a launch that ended well.
var partedForm = lazyregexp.New(`(?m)^srun: error: step_launch_notify_io_failure: aborting, io error with slurmstepd on node`)

// Messages of launchers about the signal that ended a program.
var (
	termForm  = lazyregexp.New(`EXIT STRING: (Terminated|Hangup|Interrupt) \(signal|exited on signal (15|1|2)\b|(?m)^srun: error: .*tasks? [0-9,-]+: (Terminated|Hangup|Interrupt)`)
	crashForm = lazyregexp.New(`EXIT STRING: (Segmentation|Aborted|Killed|Bus|Floating|Illegal|User|Broken)|exited on signal (3|4|6|7|8|9|11)\b|(?m)^srun: error: .*tasks? [0-9,-]+: (Segmentation|Aborted|Killed|Bus|Floating|Illegal|Exited|Out Of Memory|Broken)`)
)

// Messages about a step that ended early. Slurm cancels a step after a rank has crashed or aborted, too, but then a
// message says so, or a message about the rank comes first, or there is hydra's banner.
var (
	stepForm = lazyregexp.New(`(?m)^slurmstepd(-\S+)?: error: \*\*\* (STEP|JOB) \S+ ON \S+ CANCELLED AT [^*\n]*\*\*\*`)
	rankForm = lazyregexp.New(`(?m)^srun: error: .*tasks? [0-9,-]+: `)
	ownEnd   = lazyregexp.New(`(?m)^srun: error: .*tasks? [0-9,-]+: (Segmentation|Aborted|Bus|Floating|Illegal|Out Of Memory|Broken)|MPI_A(bort|BORT)|Abort\(|Fatal error in `)
	hydraEnd = []byte("BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES")
)

// stepCancelled returns Slurm's message that somebody cancelled the step or the job of a launch, "" if nobody did.
func (o Output) stepCancelled() string {
	at := stepForm.FindIndex(o.Stderr)
	if at == nil || rankForm.Match(o.Stderr[:at[0]]) || ownEnd.Match(o.Stderr) || bytes.Contains(o.Stderr, hydraEnd) || bytes.Contains(o.Stdout, hydraEnd) {
		return ""
	}
	return messageAt(o.Stderr, at)
}

// Interruption returns a cause outside of the program for which a launch has no results, and the launcher's message,
// "" if there is none. `begun` says whether the program had begun to measure.
func (o Output) Interruption(begun bool) (Cause, string) {
	for _, m := range launcherMessages {
		if !m.any && begun {
			continue
		}
		if at := m.form.FindIndex(o.Stderr); at != nil && !(m.cause == NoStep && permanentStep.Match(o.Stderr)) {
			return m.cause, messageAt(o.Stderr, at)
		}
	}
	switch cancelled := o.stepCancelled(); {
	case !o.Ended || o.TimedOut:
		return "", ""
	case o.Exit == 0 && partedForm.Match(o.Stderr):
		return NodeFailed, messageAt(o.Stderr, partedForm.FindIndex(o.Stderr))
	case cancelled != "":
		return JobCancelled, cancelled
	case o.signalled():
		return Signalled, fmt.Sprintf("exit code %d, ended by a signal from outside", o.Exit)
	case !begun && (o.Exit == 126 || o.Exit == 127):
		return NoProgram, o.exitText()
	}
	return "", ""
}

// signalled reports whether TERM, INT or HUP ended the launch. A rank that crashes makes launchers end the other ranks
// by TERM, so a message about another signal counts more.
func (o Output) signalled() bool {
	if o.Exit == 0 || crashForm.Match(o.Stderr) {
		return false
	}
	return o.Exit == 128+1 || o.Exit == 128+2 || o.Exit == 128+15 || termForm.Match(o.Stderr)
}

// messageAt returns the whole lines of a match as one line.
func messageAt(text []byte, at []int) string {
	begin := bytes.LastIndexByte(text[:at[0]], '\n') + 1
	rest, _, _ := bytes.Cut(text[at[1]:], []byte("\n"))
	return strings.Join(strings.Fields(string(text[begin:at[1]+len(rest)])), " ")
}
