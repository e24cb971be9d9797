// Package exitcode lists the exit codes of the command tutti. The service reads them from
// the processes that it starts.
package exitcode

// Code is an exit code. Each has one meaning.
type Code int

// The exit codes; Meanings explains them.
const (
	Done         Code = 0
	Failed       Code = 1
	Usage        Code = 2
	Input        Code = 3
	NotConverged Code = 4
	Cancelled    Code = 5
	Busy         Code = 6
	Output       Code = 7
	NotReady     Code = 8
	NotProved    Code = 9

	// Unknown stands for a process whose exit code was not observed, or that a signal ended.
	Unknown Code = -1
)

// Meaning explains an exit code.
type Meaning struct {
	Code Code
	Text string
}

// Meanings returns all exit codes of processes, in ascending order.
func Meanings() []Meaning {
	return []Meaning{
		{Done, "success; tune and resume: every problem converged"},
		{Failed, "any other error"},
		{Usage, "wrong flags or arguments"},
		{Input, "refused: campaign file, recorded data or journal, or the scheduler rejected the jobs"},
		{NotConverged, "results are written, but a problem stopped before its criteria held"},
		{Cancelled, "cancelled; continue with tutti resume"},
		{Busy, "the campaign is locked by another process, or the folder already contains one"},
		{Output, "cannot write results: full disk, read-only folder"},
		{NotReady, "something is missing: no campaign (doctor) or not this one (tune, resume) can run"},
		{NotProved, "verify: a selection is slower than the default, was ignored, or the budget ended"},
	}
}
