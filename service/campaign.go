package service

import (
	"errors"
	"time"
)

// State is the state of a campaign. Only campaigns that are running or stopping have a process.
type State string

// The states of a campaign.
const (
	Queued    State = "queued"    // waits for its machine
	Running   State = "running"   // its process works
	Stopping  State = "stopping"  // its process was asked to stop, to be paused or cancelled
	Paused    State = "paused"    // continues when it is resumed
	Done      State = "done"      // finished, its files are written
	Failed    State = "failed"    // its process ended with an error; it can be resumed
	Cancelled State = "cancelled" // stopped for good, its jobs are cancelled

	Unreadable State = "unreadable" // the service cannot read its state; Campaign.Error has the reason
	Deleted    State = "deleted"    // only in events and in the answer to the request that deleted it
)

// States returns all states that a campaign in a list can have.
func States() []State {
	return []State{Queued, Running, Stopping, Paused, Done, Failed, Cancelled, Unreadable}
}

// Over reports whether a campaign has ended. A campaign that has ended continues only if a request resumes
// it.
func (s State) Over() bool { return s == Done || s == Failed || s == Cancelled }

// lastEnd returns when the last process of a campaign ended that is over.
func (c Campaign) lastEnd() time.Time {
	if c.Verified.After(c.Ended) {
		return c.Verified
	}
	return c.Ended
}

// Request asks a service to create a campaign.
type Request struct {
	Base string `json:"base" doc:"Name of the campaign file it is made from" minLength:"1" maxLength:"64"`
	Name string `json:"name,omitempty" doc:"For people" maxLength:"200"`
	// Set overrides keys of the campaign file; see config.Settable.
	Set  map[string]string `json:"set,omitempty" doc:"Keys of the campaign file with their values as in tutti tune --set"`
	From string            `json:"from,omitempty" doc:"ID of the campaign whose measurements it begins with"`
}

// Verification asks a service to verify the files of a campaign.
type Verification struct {
	MachineTime string `json:"machine_time,omitempty" doc:"Limit of the machine time of all its verifications, such as 2h; without it as much as the campaign used" maxLength:"32"`
}

// Campaign describes one campaign of a service: how it was created, in which state it is, and how it ended.
type Campaign struct {
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Base      string            `json:"base"`
	Machine   string            `json:"machine"`
	State     State             `json:"state" enum:"queued,running,stopping,paused,done,failed,cancelled,unreadable,deleted"`
	Converged bool              `json:"converged"`           // set when it is done: the criteria of every problem are met
	Exit      ExitCode          `json:"exit"`                // exit code of its last process, -1 before any
	Error     string            `json:"error,omitempty"`     // last message of its process or of the system
	WaitsFor  string            `json:"waits_for,omitempty"` // reason why it waits even if its machine is free
	Reason    string            `json:"reason"`              // why it was created: "requested", "schedule: age 31 d"
	Verify    bool              `json:"verify,omitempty"`    // its files are verified when it is done
	Verifying bool              `json:"verifying,omitempty"` // it is tuned, and its files are being verified or wait for it
	Set       map[string]string `json:"set,omitempty"`
	From      string            `json:"from,omitempty"`
	Created   time.Time         `json:"created"`
	Started   time.Time         `json:"started,omitzero"`
	Ended     time.Time         `json:"ended,omitzero"`      // of tuning
	Verified  time.Time         `json:"verified,omitzero"`   // when the last verification ended, whatever it showed
	NodeHours float64           `json:"node_hours,omitzero"` // budget; 0 on recorded data
	Progress  Progress          `json:"progress"`
	Verdicts  []Verdict         `json:"verdicts,omitempty"` // by library; none before it is done
	Next      string            `json:"next,omitempty"`     // what to do; empty if nothing is
}

// Progress summarises the journal of a campaign.
type Progress struct {
	Records      int64 `json:"records"` // lines of the journal
	Rounds       int   `json:"rounds"`
	Trials       int   `json:"trials"`
	FailedTrials int   `json:"failed_trials"`
	// Failures is the number of failed trials in each phase: launch, run or parse.
	Failures       map[string]int `json:"failures,omitempty"`
	Problems       int            `json:"problems"`
	Converged      int            `json:"converged"` // problems
	MachineSeconds float64        `json:"machine_seconds"`
	NodeSeconds    float64        `json:"node_seconds"`
	Verification   float64        `json:"verification_node_seconds,omitzero"` // of all verifications; the other figures are without them
	Slowdown       float64        `json:"slowdown"`                           // largest of the problems' last evaluations, 0 before any
	Mistakes       float64        `json:"mistakes"`                           // largest of the problems' last evaluations
	Jobs           int            `json:"jobs"`                               // submitted and not ended
	// GoesOn says of each problem that has not stopped why the criteria do not end it.
	GoesOn []string `json:"goes_on,omitempty"`
}

// Errors of a service; match them with errors.Is.
var (
	ErrNoCampaign = errors.New("no such campaign")
	ErrNoBase     = errors.New("no such base")
	ErrNoProblem  = errors.New("no such problem")
	ErrNoFile     = errors.New("no such file")
	ErrState      = errors.New("not possible in this state")
	ErrNotYet     = errors.New("nothing to show yet")
	ErrQueueFull  = errors.New("too many campaigns are in the queue")
	ErrQuota      = errors.New("not enough node-hours remain")
	ErrLimit      = errors.New("a limit of the service is reached")
	ErrDraining   = errors.New("the service is shutting down")
	ErrKey        = errors.New("this idempotency key was used with another request")
)
