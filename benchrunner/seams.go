package benchrunner

import (
	"context"
	"errors"
	"time"

	"tutti/coll"
	"tutti/mpi"
)

// Case is a candidate with the settings that make the library run it.
type Case struct {
	coll.Candidate
	mpi.Forcing
}

// Launch is one run of a parallel program. It measures cases of one layout.
type Launch struct {
	Layout coll.Layout
	Order  coll.Order `json:",omitzero"` // of the ranks over the nodes; empty for one node
	Cases  []Case
	Dir    string // absolute, used by this launch alone, visible on every node; contains the files of Command
}

// Command is the command that each rank of a launch runs.
type Command struct {
	Args  []string          // program and arguments
	Env   []mpi.Var         // files of variables are written to the folder of the launch
	Files map[string][]byte // further files for that folder, by name; not hosts, stdout, stderr, begin, end, end.new or var-*
}

// Output is the output of a launch. It may be incomplete.
type Output struct {
	Stdout, Stderr []byte
	StdoutCut      bool          // only the beginning and the end are kept, each with whole lines
	StderrCut      bool          // the same of standard error
	Exit           int           // exit code of the launcher; undefined unless Ended
	Ended          bool          // the launcher ended
	TimedOut       bool          // the launcher was killed at its time limit
	Wall           time.Duration // from start to end, or to the end of the job
}

// Outcome is the result of one case of a launch.
type Outcome struct {
	State       OutcomeState
	Seconds     float64 // of OutcomeDone: median time of one call, of the rank that takes longest
	Low, High   float64 // confidence interval of the median; zero when unknown
	Samples     int     // number of timed calls; zero when unknown
	Overall     float64 `json:",omitzero"` // time of a nonblocking call with computation, as in coll.Measurement; zero if not measured
	CostSeconds float64 // wall time of the case with its warm-up, without the launch
	Phase       string  // of OutcomeFailed: PhaseLaunch, PhaseRun, PhaseParse or PhaseNoise
	Cause       Cause   `json:",omitzero"` // of OutcomeNotReached: why the case was not measured, "" if only cases before it failed
	Error       string
	Evidence    coll.Evidence // of OutcomeDone; empty for the library's default
	Answer      string        // what a probe found out, a verify.ForcingState; empty for benchmarks
}

// OutcomeState says whether a case was measured.
type OutcomeState string

// Outcomes of a case. If a case was not reached, another job measures it.
const (
	OutcomeDone       OutcomeState = "done"
	OutcomeFailed     OutcomeState = "failed"
	OutcomeNotReached OutcomeState = "not reached"
)

// Reading contains what a Program read from the output of a launch.
type Reading struct {
	Outcomes       []Outcome // one for each case of the launch, in order
	WarmupSeconds  float64   // of the whole launch
	MeasureSeconds float64   // of the whole launch; the remaining wall time is launch time
	Library        string    // result of MPI_Get_library_version; empty if the program does not print it
	Release        string    // of the program; empty if the program does not print it
}

// Program is a benchmark program: how it is started, and how its output is read.
type Program interface {
	Name() string
	// Group distributes the cases of one layout to launches. Each case belongs to one launch.
	Group(cases []Case) [][]Case
	// Allowance returns a time limit for a launch, without the time to start the ranks. A launch that takes
	// longer counts as hanging.
	Allowance(s Launch) time.Duration
	// Command returns the command to run. If a case cannot be measured, the error names it.
	Command(s Launch) (Command, error)
	// Read reads the output. It must detect a wrong number of ranks, an algorithm other than the requested
	// one, and damaged or missing lines. It reports them as outcomes of the cases.
	Read(s Launch, out Output) Reading
}

// Launcher starts parallel programs on the nodes of a job.
type Launcher interface {
	Name() string
	// Args returns the arguments that run `cmd` with the layout's ranks. The launcher's environment contains the
	// variables of cmd.Env. Args must pass them to the ranks if the launcher does not do so by itself.
	//
	// If `hosts` is empty, the ranks are on the first nodes of the job. Otherwise `hosts` is the path of a file with
	// one line for each node of the layout: the node's name followed by HostSuffix.
	Args(l coll.Layout, cmd Command, hosts string) []string
	HostSuffix(l coll.Layout) string
}

// Submission describes a job for the scheduler. The script reads these variables, which a scheduler other than Slurm must set:
// TUTTI_JOB_ID is the ID of the job, the same if it runs again; TUTTI_NODEFILE is a file of the job's nodes, a line each;
// TUTTI_RESTART_COUNT says how often the job has run before.
type Submission struct {
	Name   string // never used before
	Dir    string // absolute; the working directory
	Script string // absolute path of a bash script in Dir
	Nodes  int
	PPN    int // largest number of ranks on a node
	Limit  time.Duration
}

// JobPhase says whether a job waits, runs or is over, as the scheduler reports it.
type JobPhase string

// The phases of a job.
const (
	JobWaiting JobPhase = "waiting"
	JobRunning JobPhase = "running"
	JobOver    JobPhase = "over"
)

// Status is what a scheduler reports about a job. Unknown times are zero.
type Status struct {
	Phase       JobPhase
	Outcome     coll.JobOutcome // once over
	Reason      string          // the scheduler's own words
	NeverStarts bool            // it waits for a reason that never ends
	Submitted   time.Time
	Started     time.Time
	Ended       time.Time
}

// ErrRejected reports that the scheduler can never accept a submission. The error text contains the
// scheduler's message.
var ErrRejected = errors.New("rejected")

// ErrLeft reports that a job, or an earlier one of its campaign, left processes that do not end. The error text names
// them. Measurements on their nodes would be wrong.
var ErrLeft = errors.New("processes of a benchmark do not end")

// Capacity describes the largest job that a scheduler accepts, and how many jobs it accepts.
type Capacity struct {
	Nodes         int           // of one job; zero when unknown
	PPN           int           // ranks on a node; zero when unknown
	Bytes         int64         // memory of the smallest node; zero when unknown
	Limit         time.Duration // wall time of one job; zero when unlimited
	Jobs          int           // at the same time; 1 if jobs would disturb each other; zero when unlimited
	SeparateNodes bool          // nodes are separate machines, so launches on different nodes may run concurrently

	Attached bool      // jobs run on tutti's machine and end with tutti; others continue without it
	Ends     time.Time // end of the allocation; zero without an end
}

// NodeLister is a Scheduler that knows the nodes on which its jobs can run.
type NodeLister interface {
	// Nodes returns the names of the nodes, in ascending order.
	Nodes(ctx context.Context) ([]string, error)
}

// Scheduler runs jobs. Its methods are safe for concurrent use and do not retry. A temporary error matches
// ErrUnavailable.
type Scheduler interface {
	Name() string
	Capacity(ctx context.Context) (Capacity, error)
	// Switches returns the names of the nodes of each leaf switch, nil if they are unknown.
	Switches(ctx context.Context) ([][]string, error)
	// Submit submits the job and returns its ID. The error matches ErrRejected if the scheduler can never
	// accept the job. After any other error, Find says whether the scheduler has accepted it.
	Submit(ctx context.Context, s Submission) (id string, err error)
	// Find looks for a job by its name. An earlier process of tutti may have submitted the job and ended
	// before it received the ID.
	Find(ctx context.Context, s Submission) (id string, found bool, err error)
	// Status returns the status of jobs by ID. The name and folder in a Submission distinguish its job from
	// older jobs with the same ID. The result has no entry for an unknown job. If only a part of the scheduler
	// answers, Status returns this part and an error.
	Status(ctx context.Context, jobs map[string]Submission) (map[string]Status, error)
	// Cancel cancels a job. It returns no error if the job is over or unknown.
	Cancel(ctx context.Context, id string, s Submission) error
	// Show returns the command that Submit would run, as text for people. It is quoted for a shell.
	Show(s Submission) string
}
