package service

import (
	"errors"
	"time"

	"tutti/internal/exitcode"
)

// State is where a campaign is on its way. Paused, Done, Failed and Cancelled ones
// have no process.
type State string

// The states.
const (
	Queued    State = "queued"    // waits for its machine
	Running   State = "running"   // its process is at work
	Stopping  State = "stopping"  // its process was asked to stop: to pause or to be cancelled
	Paused    State = "paused"    // goes on when resumed
	Done      State = "done"      // finished and written; Converged says how
	Failed    State = "failed"    // its process ended with an error
	Cancelled State = "cancelled" // stopped for good; its jobs are cancelled
)

// States returns all states in the order of a campaign's life.
func States() []State {
	return []State{Queued, Running, Stopping, Paused, Done, Failed, Cancelled}
}

// Over reports whether a campaign will not go on by itself. A failed one can be
// resumed, once what made it fail is repaired.
func (s State) Over() bool { return s == Done || s == Failed || s == Cancelled }

// Base is a campaign file that campaigns may be made from. Only files that the
// service's own configuration names are: who may operate the service need not be
// trusted with a shell on the machine.
type Base struct {
	Name        string   `json:"name"`
	Machine     string   `json:"machine"`
	Runner      string   `json:"runner"`
	Libraries   []string `json:"libraries"`
	Collectives []string `json:"collectives"`
	File        string   `json:"-"`
	Ask         Ask      `json:"-"`                  // of a campaign without settings
	Schedule    string   `json:"schedule,omitempty"` // in cron syntax
	TimeZone    string   `json:"time_zone,omitempty"`
	When        When     `json:"when,omitzero"`
	FromLast    bool     `json:"from_last,omitempty"` // start from the last campaign that is done
}

// When says under which conditions a scheduled campaign really runs: any one of
// them is enough, and so is that there is no earlier campaign. Without conditions
// it always runs.
type When struct {
	AgeSeconds float64 `json:"age_seconds,omitzero"` // of the last campaign that is done, at least
	Library    bool    `json:"library,omitzero"`     // path, version or checksum of a library changed
	Nodes      bool    `json:"nodes,omitzero"`       // the list of nodes changed
	Drift      float64 `json:"drift,omitzero"`       // a small batch measured again differs by this part, in the median
}

// Request asks for a campaign.
type Request struct {
	Base string `json:"base" doc:"Name of the campaign file it is made from" minLength:"1" maxLength:"64"`
	Name string `json:"name,omitempty" doc:"For people" maxLength:"200"`
	// Set overrides keys of the file; see Settable.
	Set  map[string]string `json:"set,omitempty" doc:"Keys of the campaign file with their values as in tutti tune --set"`
	From string            `json:"from,omitempty" doc:"ID of the campaign whose measurements it starts from"`
}

// Campaign is one run of a base under the care of the service.
type Campaign struct {
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Base      string            `json:"base"`
	Machine   string            `json:"machine"`
	State     State             `json:"state" enum:"queued,running,stopping,paused,done,failed,cancelled"`
	Converged bool              `json:"converged"`       // of a done one: every problem's criteria held
	Exit      exitcode.Code     `json:"exit"`            // of its last process, -1 before any
	Error     string            `json:"error,omitempty"` // what its process or the system said last
	Waits     string            `json:"waits,omitempty"` // what it waits for, beside its machine
	Reason    string            `json:"reason"`          // why it was made: "asked for", "schedule: age 31 d"
	Set       map[string]string `json:"set,omitempty"`
	From      string            `json:"from,omitempty"`
	Created   time.Time         `json:"created"`
	Started   time.Time         `json:"started,omitzero"`
	Ended     time.Time         `json:"ended,omitzero"`
	NodeHours float64           `json:"node_hours,omitzero"` // its budget; none from recorded data
	Progress  Progress          `json:"progress"`
}

// Progress sums up what the journal of a campaign says by now.
type Progress struct {
	Records      int64 `json:"records"` // lines of the journal
	Rounds       int   `json:"rounds"`
	Trials       int   `json:"trials"`
	FailedTrials int   `json:"failed_trials"`
	// Failures counts the failed trials by phase: launch, run, parse.
	Failures       map[string]int `json:"failures,omitempty"`
	Problems       int            `json:"problems"`
	Converged      int            `json:"converged"` // problems
	MachineSeconds float64        `json:"machine_seconds"`
	NodeSeconds    float64        `json:"node_seconds"`
	Slowdown       float64        `json:"slowdown"` // largest of the problems by their last evaluation, 0 before any
	Mistakes       float64        `json:"mistakes"`
	Jobs           int            `json:"jobs"` // submitted and not ended
}

// Scheduled is what the schedule says of a base.
type Scheduled struct {
	Base     string    `json:"base"`
	Schedule string    `json:"schedule"`
	TimeZone string    `json:"time_zone"`
	Next     time.Time `json:"next,omitzero"`
	Last     time.Time `json:"last,omitzero"`
	Decision string    `json:"decision,omitempty"` // why it ran or did not, the last time
}

// Errors of the service; match them with errors.Is.
var (
	ErrNoCampaign = errors.New("no such campaign")
	ErrNoBase     = errors.New("no such base")
	ErrNoProblem  = errors.New("no such problem")
	ErrNoFile     = errors.New("no such file")
	ErrState      = errors.New("not possible in this state")
	ErrNotYet     = errors.New("nothing to show yet")
	ErrFull       = errors.New("too many campaigns wait")
	ErrSpent      = errors.New("not enough node-hours are left")
	ErrDraining   = errors.New("the service is shutting down")
	ErrKey        = errors.New("this idempotency key was used with another request")
)

// FieldError says which field of a request is wrong: a path such as "set.stop.slowdown",
// and what is allowed.
type FieldError struct {
	Field string
	Text  string
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Text }
