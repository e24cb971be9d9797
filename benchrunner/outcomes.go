package benchrunner

import (
	"fmt"
	"regexp"

	"tutti/coll"
)

// Phases of a failed outcome.
const (
	PhaseLaunch = "launch" // the program did not start as asked
	PhaseRun    = "run"    // it ended too early, hung, or ran something else
	PhaseParse  = "parse"  // it ended well, but its output cannot be used
)

// Failed returns the outcome of a failed case.
func Failed(phase, text string) Outcome {
	return Outcome{State: OutcomeFailed, Phase: phase, Error: text}
}

// FailedAll returns the same failure for every case of a start.
func FailedAll(s Launch, phase, text string) []Outcome {
	out := make([]Outcome, len(s.Cases))
	for i := range out {
		out[i] = Failed(phase, text)
	}
	return out
}

// Outcomes returns those of a program that measures the cases of a start one
// after another in their order. found returns the outcome of a case of which the
// output speaks. Of the others, the first is what a start that crashed or hung
// ended with and those behind it were not reached; when the job ended under the
// start, none was. In a start that ended well all of them are failures.
//
// begun says that the program had come to its measurements; if it had not, the
// start failed as a whole, unless the job ended under it or its launcher got no
// nodes for it.
func Outcomes(s Launch, out Output, begun bool, found func(Case) (Outcome, bool)) []Outcome {
	fault, single := out.fault()
	if !begun && fault != "" && out.unplaced() {
		fault, single = "no nodes", false
	}
	if !begun && fault != "" && single {
		return FailedAll(s, PhaseLaunch, fault)
	}
	outcomes := make([]Outcome, len(s.Cases))
	blamed := false
	for i, c := range s.Cases {
		o, ok := found(c)
		switch {
		case ok:
			outcomes[i] = o
		case fault == "" && out.Ended:
			outcomes[i] = Failed(PhaseParse, "the program ended well but printed nothing for "+coll.FormatBytes(c.MsgBytes))
		case single && !blamed:
			outcomes[i] = Failed(PhaseRun, fault)
			blamed = true
		default:
			outcomes[i] = Outcome{State: OutcomeNotReached}
		}
	}
	return outcomes
}

// fault says what ended the start too early, empty when nothing did, and whether
// one of its cases is to blame.
func (o Output) fault() (text string, blame bool) {
	switch {
	case o.TimedOut:
		return fmt.Sprintf("not done after %.0f s", o.Wall.Seconds()), true
	case !o.Ended:
		return "the job ended", false
	case o.Exit != 0:
		text = fmt.Sprintf("exit code %d", o.Exit)
		if words := o.LastMessage(); words != "" {
			text += ": " + words
		}
		return text, true
	}
	return "", false
}

// What srun says when it could not ask for the nodes of its job, as while the
// controller is away, or when the job was ended just before.
var unplacedForm = regexp.MustCompile(`(?m)^srun: error: (Unable to (create step for job|confirm allocation for job|contact slurm controller)|Slurm job \d+ has expired)`)

// unplaced reports whether the launcher never came to start a program.
func (o Output) unplaced() bool { return unplacedForm.Match(o.Stderr) }

var partedForm = regexp.MustCompile(`(?m)^srun: error: step_launch_notify_io_failure: aborting, io error with slurmstepd on node`)

// Parted reports whether a start ended well, but what a node of it printed never came:
// its connection to srun broke. What lacks says nothing of any case.
func (o Output) Parted() bool { return o.Ended && o.Exit == 0 && partedForm.Match(o.Stderr) }
