// Package exitcode names what a process of tutti says by how it ends. The command
// ends with these codes, the service reads them of the processes it started.
package exitcode

// Code is an exit code. Each has one meaning.
type Code int

// The codes; Meanings says what they mean.
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

	// Unknown is no code of a process: nobody heard how it ended, or a signal ended it.
	Unknown Code = -1
)

// Meaning is a code in words.
type Meaning struct {
	Code Code
	Text string
}

// Meanings returns the codes that processes end with, in their order.
func Meanings() []Meaning {
	return []Meaning{
		{Done, "done; after tune and resume: every problem converged"},
		{Failed, "failed in a way that has no code of its own"},
		{Usage, "wrong flags or arguments"},
		{Input, "a campaign file, recorded data or a journal was refused, or the machine takes no job of the campaign"},
		{NotConverged, "finished and written, but a problem stopped before its criteria held"},
		{Cancelled, "cancelled; tutti resume goes on"},
		{Busy, "another tutti is at work on the campaign, or the folder holds one already"},
		{Output, "results could not be written: full disk, read-only folder"},
		{NotReady, "something is missing without which no campaign can run (doctor), or this one cannot (tune, resume)"},
		{NotProved, "verify: not proved: something slower than the default is left, a library did not obey, or the budget ended first"},
	}
}
