package service

// ExitCode is the exit code of a tutti command. Each code has one meaning. The service reads the code of
// every process that it starts.
type ExitCode int

// The exit codes; ExitMeanings explains them.
const (
	ExitDone         ExitCode = 0
	ExitFailed       ExitCode = 1
	ExitUsage        ExitCode = 2
	ExitInput        ExitCode = 3
	ExitNotConverged ExitCode = 4
	ExitCancelled    ExitCode = 5
	ExitBusy         ExitCode = 6
	ExitOutput       ExitCode = 7
	ExitNotReady     ExitCode = 8
	ExitNotProved    ExitCode = 9
	ExitInterrupted  ExitCode = 10

	// ExitUnknown means that a signal ended the process, or that its exit code was not observed.
	ExitUnknown ExitCode = -1
)

// ExitMeaning says in words what an exit code of tutti means.
type ExitMeaning struct {
	Code ExitCode
	Text string
}

// ExitMeanings returns all exit codes of processes, in ascending order.
func ExitMeanings() []ExitMeaning {
	return []ExitMeaning{
		{ExitDone, "success; tune and resume: every problem converged"},
		{ExitFailed, "any other error"},
		{ExitUsage, "wrong flags or arguments"},
		{ExitInput, "refused: a campaign file, selection file, data or journal with a fault, or jobs that the scheduler rejects"},
		{ExitNotConverged, "results are written, but a problem stopped before its criteria held"},
		{ExitCancelled, "cancelled; continue with tutti resume"},
		{ExitBusy, "the campaign is locked by another process, or the folder already contains one"},
		{ExitOutput, "cannot write results: full disk, read-only folder"},
		{ExitNotReady, "something is missing: no campaign (doctor) or not this one (tune, resume) can run"},
		{ExitNotProved, "verify: not proved, or slower: a selection is slower than the default or may be, the files may have been ignored, the measurements cannot be trusted, or the limit was too low"},
		{ExitInterrupted, "interrupted by the machine; continue with tutti resume when it works again"},
	}
}
