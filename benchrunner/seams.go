package benchrunner

import (
	"context"
	"errors"
	"time"

	"tutti/coll"
	"tutti/mpi"
)

// Case is a candidate with what makes the library run it, as one launch serves it.
type Case struct {
	coll.Candidate
	mpi.Forcing
}

// Launch is one start of a parallel program: cases of one layout.
type Launch struct {
	Layout coll.Layout
	Order  coll.Order `json:",omitzero"` // of the ranks over the nodes; empty for one node
	Cases  []Case
	Dir    string // absolute, its own, seen by every node; what Command writes lies there
}

// Command is what each rank of a start runs.
type Command struct {
	Args  []string          // program and arguments
	Env   []mpi.Var         // its Files are written into the folder of the start
	Files map[string][]byte // more files for that folder, by name
}

// Output is what a start left behind, whole or not.
type Output struct {
	Stdout, Stderr []byte
	Exit           int           // of the launcher; meaningless unless Ended
	Ended          bool          // the launcher came to an end
	TimedOut       bool          // it was killed at its time limit
	Wall           time.Duration // from start to end, or to the end of the job
}

// Outcome is what a start says of one of its cases.
type Outcome struct {
	State       OutcomeState
	Seconds     float64 // of OutcomeDone: median time of one call, of the rank that takes longest
	Low, High   float64 // interval of the median; zero when unknown
	Samples     int     // calls timed; zero when unknown
	CostSeconds float64 // wall time the case took, its warm-up included, the launch not
	Phase       string  // of OutcomeFailed: launch, run or parse
	Error       string
}

// OutcomeState says whether it is decided what comes of a case.
type OutcomeState string

// The outcomes. What was not reached says nothing about the case: it is started
// again.
const (
	OutcomeDone       OutcomeState = "done"
	OutcomeFailed     OutcomeState = "failed"
	OutcomeNotReached OutcomeState = "not reached"
)

// Reading is what a program made of its output.
type Reading struct {
	Outcomes       []Outcome // one for each case of the start, in order
	WarmupSeconds  float64   // of the whole start
	MeasureSeconds float64   // of the whole start; the rest of the wall time is the launch
	Library        string    // what the program says MPI_Get_library_version says; empty when it does not
	Warnings       []string
}

// Program is a benchmark program: how it is called and what its output means.
type Program interface {
	Name() string
	// Group deals the cases of one layout to starts, each case to one.
	Group(cases []Case) [][]Case
	// Allowance is a wall time that a start does not exceed unless it hangs, the
	// launch not counted.
	Allowance(s Launch) time.Duration
	// Command returns what to run. The error says which case cannot be asked for.
	Command(s Launch) (Command, error)
	// Read never trusts the output: a wrong world size, another algorithm than the
	// one asked for, damage or too few lines are outcomes, not errors.
	Read(s Launch, out Output) Reading
}

// Launcher starts parallel programs on the nodes of a job.
type Launcher interface {
	Name() string
	// Args returns the argument vector that runs cmd with the layout's ranks on
	// the first nodes of the job. Variables of cmd.Env are in the launcher's own
	// environment already; Args passes them on where the launcher does not.
	Args(l coll.Layout, cmd Command) []string
	// Env returns what the launcher needs in its own environment.
	Env() []mpi.Var
}

// Placer is a Launcher that can be told on which nodes of its job a start runs.
type Placer interface {
	Launcher
	// On is Args for the nodes that a file names, each once and as many as the layout
	// has. A line of the file is the name of a node with suffix behind it. The error
	// says which argument of the site names nodes, too.
	On(file string, l coll.Layout, cmd Command) (args []string, suffix string, err error)
}

// Submission is a job as the scheduler sees it.
type Submission struct {
	Name   string // used once
	Dir    string // absolute; the working directory
	Script string // absolute path of a bash script in Dir
	Nodes  int
	PPN    int // most ranks on a node
	Limit  time.Duration
}

// JobPhase is where a scheduler says a job is.
type JobPhase string

// The phases of a job.
const (
	JobWaiting JobPhase = "waiting"
	JobRunning JobPhase = "running"
	JobOver    JobPhase = "over"
)

// Status is what a scheduler knows of a job. Times it does not know are zero.
type Status struct {
	Phase       JobPhase
	Outcome     coll.JobOutcome // once over
	Reason      string          // the scheduler's own words
	NeverStarts bool            // waiting for what never comes
	Submitted   time.Time
	Started     time.Time
	Ended       time.Time
}

// ErrRejected is matched by errors about submissions that can never be accepted;
// the text has the scheduler's own words.
var ErrRejected = errors.New("rejected")

// Capacity is the largest job that a scheduler takes, and how many.
type Capacity struct {
	Nodes int           // of one job; zero when unknown
	PPN   int           // ranks on a node; zero when unknown
	Bytes int64         // memory of the smallest node; zero when unknown
	Limit time.Duration // wall time of one job; zero when unlimited
	Jobs  int           // at the same time; 1 where jobs would disturb each other; zero when unlimited
	Apart bool          // nodes are machines of their own: starts on different ones may run side by side

	Attached bool      // jobs run where tutti runs and are ended with it; others go on without it
	Ends     time.Time // when the nodes go away; zero when they stay
}

// Scheduler runs jobs. Its methods retry what is transient and return an error
// matching ErrUnavailable when that does not help; they are safe for concurrent
// use.
type Scheduler interface {
	Name() string
	Capacity(ctx context.Context) (Capacity, error)
	// Submit returns the ID of the job called s.Name. When it is not known whether
	// an attempt arrived, it is looked for before it is repeated. The error matches
	// ErrRejected when the job can never be accepted.
	Submit(ctx context.Context, s Submission) (id string, err error)
	// Find looks a job up by its name: submitted by an earlier tutti that did not
	// learn its ID.
	Find(ctx context.Context, s Submission) (id string, found bool, err error)
	// Status returns what is known of the jobs (by ID; Name and Dir tell them from
	// older ones of the same ID). Jobs that are not known are left out.
	Status(ctx context.Context, jobs map[string]Submission) (map[string]Status, error)
	// Cancel ends a job; one that is over or unknown is not an error.
	Cancel(ctx context.Context, id string, s Submission) error
	// Show returns the command that Submit would run, quoted for a shell, to be read
	// by people.
	Show(s Submission) string
}

// Mapper is a Scheduler that knows how its nodes are wired.
type Mapper interface {
	Scheduler
	// Switches returns the names of the nodes of each leaf switch, nothing when that
	// is not known.
	Switches(ctx context.Context) ([][]string, error)
}
