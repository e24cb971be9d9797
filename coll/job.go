package coll

import (
	"fmt"
	"time"
)

// JobState says how far a job is known to have come.
type JobState string

// The states of a job in the journal. An intended job may be known to the
// scheduler or not; a submitted one has its ID; an ended one has been read and
// costs nothing more.
const (
	JobIntended  JobState = "intended"
	JobSubmitted JobState = "submitted"
	JobEnded     JobState = "ended"
)

// JobOutcome is how a job ended.
type JobOutcome string

// The outcomes of jobs. A lost job is one that the scheduler no longer knows.
const (
	JobCompleted   JobOutcome = "completed"
	JobFailed      JobOutcome = "failed"
	JobTimeout     JobOutcome = "timeout"
	JobCancelled   JobOutcome = "cancelled"
	JobNodeFail    JobOutcome = "node failed"
	JobOutOfMemory JobOutcome = "out of memory"
	JobLost        JobOutcome = "lost"
)

// Job is what a scheduler runs: launches on one set of nodes, one after another or
// side by side. It carries one or more trials.
type Job struct {
	Name          string       `json:"name"` // used once: campaign, problem, round, number
	State         JobState     `json:"state"`
	ID            string       `json:"id,omitzero"` // the scheduler's; it may come again after years
	Carries       []int        `json:"carries"`     // its trials, as indices into the batch of the round
	Nodes         int          `json:"nodes"`
	LimitSeconds  float64      `json:"limit_seconds"`            // wall time asked for
	Outcome       JobOutcome   `json:"outcome,omitzero"`         // of an ended job
	NoStartReason string       `json:"no_start_reason,omitzero"` // of an ended job: why no program of it started, so that its trials are to be run again
	Spent         Spent        `json:"spent,omitzero"`           // of an ended job
	Environment   *Environment `json:"environment,omitempty"`    // of an ended job that started
}

// Spent is where the wall time of a job went, in seconds; of launches side by side
// each counts by its share of the nodes. Node-seconds are the same but for Queue,
// which costs nothing, times the nodes.
type Spent struct {
	Queue   float64 `json:"queue,omitzero"`   // waiting for nodes
	Launch  float64 `json:"launch,omitzero"`  // starting and ending parallel programs
	Warmup  float64 `json:"warmup,omitzero"`  // calls that are not timed
	Measure float64 `json:"measure,omitzero"` // calls that are timed, with their synchronisation
	Idle    float64 `json:"idle,omitzero"`    // all else the nodes were held for
}

// Held is the time the nodes were held, in seconds.
func (s Spent) Held() float64 { return s.Launch + s.Warmup + s.Measure + s.Idle }

// Environment is where the trials of a job ran. What could not be read is empty.
type Environment struct {
	Nodes    []string  `json:"nodes"`             // host names as the ranks saw them
	Library  string    `json:"library,omitzero"`  // what MPI_Get_library_version says, first line
	Checksum string    `json:"checksum,omitzero"` // SHA-256 of the MPI library's file
	Kernel   string    `json:"kernel,omitzero"`
	CPU      string    `json:"cpu,omitzero"`
	Governor string    `json:"governor,omitzero"` // frequency governor of the first processor
	Started  time.Time `json:"started,omitzero"`
}

// Validate reports a job that cannot be told from others or that carries nothing.
func (j Job) Validate() error {
	switch {
	case j.Name == "":
		return fmt.Errorf("job without a name")
	case len(j.Carries) == 0:
		return fmt.Errorf("job %s carries no trial", j.Name)
	case j.State == JobSubmitted && j.ID == "":
		return fmt.Errorf("job %s is submitted but has no id", j.Name)
	}
	switch j.State {
	case JobIntended, JobSubmitted, JobEnded:
		return nil
	}
	return fmt.Errorf("job %s: state %q: want %s, %s or %s", j.Name, j.State, JobIntended, JobSubmitted, JobEnded)
}
