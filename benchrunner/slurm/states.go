package slurm

import (
	"strings"

	"tutti/benchrunner"
	"tutti/coll"
)

var outcomes = map[string]coll.JobOutcome{
	"COMPLETED":     coll.JobCompleted,
	"FAILED":        coll.JobFailed,
	"LAUNCH_FAILED": coll.JobFailed,
	"RECONFIG_FAIL": coll.JobFailed,
	"TIMEOUT":       coll.JobTimeout,
	"CANCELLED":     coll.JobCancelled,
	"DEADLINE":      coll.JobCancelled, // of slurm.directives or the site; no time limit of tutti's
	"PREEMPTED":     coll.JobCancelled,
	"REVOKED":       coll.JobCancelled,
	"NODE_FAIL":     coll.JobNodeFail,
	"BOOT_FAIL":     coll.JobNodeFail,
	"OUT_OF_MEMORY": coll.JobOutOfMemory,
}

// waiting lists the states in which a job's script has not begun or will begin again.
var waiting = map[string]bool{
	"PENDING": true, "CONFIGURING": true, "POWER_UP_NODE": true, "REQUEUED": true, "REQUEUE_FED": true,
	"REQUEUE_HOLD": true, "RESV_DEL_HOLD": true, "SPECIAL_EXIT": true,
}

// phaseOf returns the phase of a job in the given state. If the state is neither waiting nor final, such as
// COMPLETING or SUSPENDED, the job counts as running because it still has its nodes.
func phaseOf(state string) benchrunner.JobPhase {
	switch {
	case outcomes[state] != "":
		return benchrunner.JobOver
	case waiting[state]:
		return benchrunner.JobWaiting
	}
	return benchrunner.JobRunning
}

// permanentPendReasons lists the reasons for which a job waits in Slurm until a person changes the job, the
// partition or the account.
var permanentPendReasons = map[string]bool{
	"PartitionNodeLimit": true, "PartitionTimeLimit": true, "PartitionConfig": true,
	"BadConstraints": true, "DependencyNeverSatisfied": true,
	"AccountNotAllowed": true, "QOSNotAllowed": true, "InvalidAccount": true, "InvalidQOS": true,
	"AssociationNotAllowed": true, "ReservationDeleted": true, "ReservationInvalid": true,
	"MaxMemPerLimit": true, "QOSTimeLimit": true, "AssociationTimeLimit": true,
}

// neverStarts reports whether a job that waits for this reason will never start. A permanent reason is a limit of one
// job or one node that the request exceeds. Other reasons are temporary: limits of a group or user end when other jobs
// end, nodes that are down or reserved become available again, and a person releases a job that a person holds.
func neverStarts(reason string) bool {
	return permanentPendReasons[reason] || strings.HasPrefix(reason, "QOSMin") || strings.HasSuffix(reason, "PerJob") || strings.HasSuffix(reason, "PerJobLimit") ||
		strings.HasSuffix(reason, "PerNode") || strings.HasSuffix(reason, "PerNodeLimit")
}

// requeuedAndHeld reports whether Slurm has held a job after it could not be launched. Such a job is replaced.
func requeuedAndHeld(state, reason string) bool {
	switch state {
	case "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT":
		return true
	}
	words := strings.ReplaceAll(reason, "_", " ")
	return reason == "JobHoldMaxRequeue" || strings.HasSuffix(words, "requeued held") || words == "job requeued in held state"
}
