package coll

import (
	"fmt"
	"time"
)

// JobState says how far a job had come at its last record in the journal.
type JobState string

// The states of a job in the journal. The state "intended" means that it is unknown whether the scheduler
// received the job. A submitted job has an ID from the scheduler. An ended job has a final cost, and its
// output has been read.
const (
	JobIntended  JobState = "intended"
	JobSubmitted JobState = "submitted"
	JobEnded     JobState = "ended"
)

// JobOutcome says how a job ended, such as completed or lost.
type JobOutcome string

// The outcomes of jobs. "Lost" means that the scheduler does not know the job.
const (
	JobCompleted   JobOutcome = "completed"
	JobFailed      JobOutcome = "failed"
	JobTimeout     JobOutcome = "timeout"
	JobCancelled   JobOutcome = "cancelled"
	JobNodeFail    JobOutcome = "node failed"
	JobOutOfMemory JobOutcome = "out of memory"
	JobLost        JobOutcome = "lost"
)

// Job is a job of a scheduler. It runs launches on one set of nodes, one after another or concurrently. It
// measures one or more trials.
type Job struct {
	Name          string       `json:"name"` // unique; made of campaign, problem, round and number
	State         JobState     `json:"state"`
	ID            string       `json:"id,omitzero"` // ID that the scheduler gave; it may be used again after years
	Requests      []int        `json:"carries"`     // its trials, as indexes into the batch of the round
	Nodes         int          `json:"nodes"`
	LimitSeconds  float64      `json:"limit_seconds"`            // requested wall time
	Outcome       JobOutcome   `json:"outcome,omitzero"`         // of an ended job
	NoStartReason string       `json:"no_start_reason,omitzero"` // why no program of an ended job started; the job's trials are then requested again
	Spent         Spent        `json:"spent,omitzero"`           // of an ended job
	Environment   *Environment `json:"environment,omitempty"`    // of an ended job that started
}

// Spent splits the wall time of a job into parts, in seconds. If launches run concurrently, the time of
// each one is weighted by its fraction of the nodes. Multiplied by the number of nodes, every field except
// Queue gives node-seconds.
type Spent struct {
	Queue   float64 `json:"queue,omitzero"`   // waiting for nodes
	Launch  float64 `json:"launch,omitzero"`  // starting and ending parallel programs
	Warmup  float64 `json:"warmup,omitzero"`  // calls that are not timed
	Measure float64 `json:"measure,omitzero"` // timed calls with their synchronisation
	Idle    float64 `json:"idle,omitzero"`    // the remaining time that the nodes were held
}

// Allocated returns for how many seconds the job had its nodes.
func (s Spent) Allocated() float64 { return s.Launch + s.Warmup + s.Measure + s.Idle }

// Environment describes the machine on which a job ran its trials. Unknown fields are empty.
type Environment struct {
	Nodes    []string  `json:"nodes"`             // host names that the ranks reported
	Library  string    `json:"library,omitzero"`  // first line of MPI_Get_library_version
	Checksum string    `json:"checksum,omitzero"` // SHA-256 of the MPI library's file
	Program  string    `json:"program,omitzero"`  // SHA-256 of the benchmark program's file
	Kernel   string    `json:"kernel,omitzero"`
	CPU      string    `json:"cpu,omitzero"`
	Governor string    `json:"governor,omitzero"` // frequency governor of the first processor
	Started  time.Time `json:"started,omitzero"`
}

// Validate returns an error if a job has no name or no trials.
func (j Job) Validate() error {
	switch {
	case j.Name == "":
		return fmt.Errorf("job without a name")
	case len(j.Requests) == 0:
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
