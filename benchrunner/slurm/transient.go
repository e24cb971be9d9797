package slurm

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
)

// transient lists the errors of sbatch after which a retry may succeed. All other errors are rejections. The texts
// are from Slurm 22.05, src/common/slurm_errno.c and sbatch.c.
var transient = []string{
	"connect failure",
	"Munge encode failed",
	"Could not establish a configuration source",
	"fork: ",
	"Connection refused",
	"backup controller in standby mode",
	"Required partition not available",
	"MaxSubmitJob",   // AssocMaxSubmitJobLimit, QOSMaxSubmitJobPerUserLimit
	"GrpSubmitJob",   // AssocGrpSubmitJobsLimit
	"writing script", // the controller's disk is full
	"Unable to create job record, try again",
	"temporarily disabled",
	"job queue full",
	"Unable to contact slurm controller",
	"Socket timed out on send/recv operation",
	"send/recv",
	"Zero Bytes were transmitted or received",
	"Transport endpoint is not connected",
	"Connection reset",
	"Connection timed out",
	"Broken pipe",
	"Protocol authentication error",
	"Invalid authentication credential",
	"Protocol version has changed",
	"temporarily unable to accept job",
	"controller not responding",
	"Resource temporarily unavailable",
	"Cannot allocate memory",
}

// rejects reports whether a failure means that Slurm can never accept the request. `stdout` is the standard output
// of the command.
func (f *failure) rejects(stdout string) bool {
	var notRunnable *exec.Error
	if _, printed := parseID(stdout); printed || f.timedOut || f.code < 0 || errors.Is(f.err, exec.ErrNotFound) || errors.As(f.err, &notRunnable) {
		return false
	}
	return !slices.ContainsFunc(transient, func(text string) bool { return strings.Contains(f.message, text) })
}
