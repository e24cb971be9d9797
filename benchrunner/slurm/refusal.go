package slurm

import (
	"errors"
	"os/exec"
	"slices"
	"strings"

	"tutti/benchrunner"
)

// submitErrors lists the errors of sbatch with their causes. The first text that occurs in a message counts. The texts
// are from Slurm 22.05 to 26.05: src/common/slurm_errno.c, src/sbatch/sbatch.c, src/common/slurm_opt.c.
var submitErrors = []struct {
	cause benchrunner.Cause
	texts []string
}{
	{benchrunner.SubmissionsFull, []string{
		"MaxSubmitJob",   // AssocMaxSubmitJobLimit, QOSMaxSubmitJobPerUserLimit, MaxSubmitJobsPerAccount
		"GrpSubmitJob",   // AssocGrpSubmitJobsLimit
		"MaxJobCount",    // of the whole cluster
		"job queue full", // sbatch of older releases
		"temporarily unable to accept job",
		"temporarily disabled",
		"presently disabled",
		"submissions disabled", // from 24.11 on
		"Partition in DOWN state",
		"Required partition not available",
		"Required node not available",
		"Requested nodes are busy",
		"due to maintenance reservation",
		"Requested reservation not usable now",
		"Requested reservation is in use",
		"Licenses currently unavailable",
		"Max powered up nodes reached",
		"PrologSlurmctld is still running",
		"Waiting for burst buffer",
		"Job locked by another sibling",
		"Unable to create job record, try again",
	}},
	{benchrunner.DiskFull, append([]string{"writing script"}, benchrunner.DiskFullTexts...)}, // of the controller, or of sbatch
	{benchrunner.NoScheduler, []string{
		"connect failure",
		"Unable to contact slurm controller",
		"controller not responding",
		"in standby mode",
		"Communication connection failure",
		"Communication shutdown failure",
		"Message send failure",
		"Message receive failure",
		"Rate limit exceeded", // from 23.02 on
		"Connection rejected",
		"Connection forced closed",
		"Connection refused",
		"Connection reset",
		"Connection timed out",
		"Kernel reported delayed socket error",
		"Process is shutting down",
		"Unexpected missing socket",
		"Unable to process incoming",
		"Unable to process outgoing",
		"Header lengths are longer than data received",
		"Insane message length",
		"send/recv",
		"Zero Bytes were transmitted or received",
		"Transport endpoint is not connected",
		"Broken pipe",
		"No route to host",
		"Network is unreachable",
		"Host name lookup failure",
		"Temporary failure in name resolution",
		"Munge encode failed",
		"Munge decode failed",
		"Protocol authentication error",
		"Invalid authentication credential",
		"Authentication credential expired",
		"Cannot unpack credential",
		"Protocol version has changed",
		"Incompatible versions of client and server",
		"Could not establish a configuration source",
		"Unable to connect to database",
		"Database connection reference is invalid",
		"Unable to resolve user ID",
		"Unable to resolve group ID",
		"Slurm internal error",
		"fork: ",
		"Resource temporarily unavailable",
		"Cannot allocate memory",
		"Too many open files",
		"Stale file handle",
		"Input/output error",
	}},
	{benchrunner.Refused, []string{
		"nvalid partition",
		"No partition specified",
		"Access/permission denied",
		"group not permitted to use this partition",
		"Requested nodes not in this partition",
		"More processors requested than permitted",
		"Node count specification invalid",
		"Task count specification invalid",
		"CPU count specification invalid",
		"CPU count per node can not be satisfied",
		"Task distribution specification invalid",
		"Memory specification can not be satisfied",
		"Memory required by task is not available",
		"Requested node configuration is not available",
		"Requested partition configuration not available",
		"Requested topology configuration is not available",
		"Job size specification needs to be provided",
		"Invalid node name",
		"Invalid feature",
		"Invalid preferred feature",
		"Invalid account",
		"Invalid or unknown association",
		"Invalid qos",
		"Invalid QOS",
		"Invalid wckey",
		"Invalid license",
		"Invalid generic resource",
		"Invalid GRES",
		"Invalid Trackable RESource",
		"Invalid mcs_label",
		"Invalid time limit",
		"Requested time limit is invalid",
		"Job violates accounting/QOS policy",
		"breached requested QOS usage threshold",
		"Access denied to requested reservation",
		"Requested reservation is invalid",
		"not supported on this system",
		"Invalid --",
		"nvalid option",
		"unrecognized option",
		"unknown option",
		"This does not look like a batch script",
		"Batch script contains DOS line breaks",
		"Pathname of a file, directory or other parameter too long",
		"No eligible clusters for federated job",
	}},
}

// submitCause returns why sbatch failed. `stdout` is its standard output. The cause SubmitUnknown means that the job
// may have been accepted: sbatch printed an ID, an unknown message or none, or it was killed.
func submitCause(f *failure, stdout string) benchrunner.Cause {
	var notRunnable *exec.Error
	switch _, printed := parseID(stdout); {
	case errors.Is(f.Err, exec.ErrNotFound) || errors.As(f.Err, &notRunnable):
		return benchrunner.NoScheduler
	case printed || f.TimedOut || f.Code < 0:
		return benchrunner.SubmitUnknown
	}
	for _, e := range submitErrors {
		if slices.ContainsFunc(e.texts, func(text string) bool { return strings.Contains(f.Message, text) }) {
			return e.cause
		}
	}
	return benchrunner.SubmitUnknown
}

// rejects reports whether Slurm can never answer a query: neither its controller nor the network is the cause.
func rejects(f *failure) bool {
	cause := submitCause(f, "")
	return cause == benchrunner.Refused || cause == benchrunner.SubmitUnknown && f.Code >= 0 && !f.TimedOut
}
