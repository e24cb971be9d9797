package benchrunner

import (
	"fmt"
	"regexp"

	"tutti/coll"
)

// Phases in which a case can fail.
const (
	PhaseLaunch = "launch" // the program did not start as requested
	PhaseRun    = "run"    // it ended too early, hung, or ran another algorithm
	PhaseParse  = "parse"  // it ended normally, but its output cannot be used
)

// Failed returns the outcome of a case that failed in `phase`; see the constants whose names begin with Phase.
func Failed(phase, text string) Outcome {
	return Outcome{State: OutcomeFailed, Phase: phase, Error: text}
}

// FailedAll returns one failed outcome for each case of a launch, all with the same phase and error.
func FailedAll(s Launch, phase, text string) []Outcome {
	out := make([]Outcome, len(s.Cases))
	for i := range out {
		out[i] = Failed(phase, text)
	}
	return out
}

// Outcomes returns the outcomes for a program that measures the cases of a launch (a run) in order. The
// function `found` returns the outcome of a case if the output contains it.
//
// If the launch crashed or hung, the first case without an outcome fails, and the later ones were not
// reached. If the job ended during the launch, all cases without an outcome were not reached. If the launch
// ended normally, all cases without an outcome fail.
//
// The parameter `begun` says whether the program had begun to measure. If it had not, the launch failed as a
// whole, unless the job ended during the launch or the launcher got no nodes.
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

// Fits returns an error if a program reports that it measured for longer than its launch took, in seconds. The clocks of
// two nodes may differ by a percent, and a launch is timed to a tenth of a second.
func (o Output) Fits(seconds float64) error {
	if wall := o.Wall.Seconds(); o.Ended && wall > 0 && seconds > 1.01*wall+0.1 {
		return fmt.Errorf("%.3g s of measuring in a launch of %.3g s", seconds, wall)
	}
	return nil
}

// fault returns why the launch (run of the program) did not end normally, or "" if it did. The result `blame`
// reports whether one of the cases is the cause.
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

// srun prints one of these messages if it could not get the nodes of its job. For example, the controller may be
// down, or the job may have just ended.
var unplacedForm = regexp.MustCompile(`(?m)^srun: error: (Unable to (create step for job|confirm allocation for job|contact slurm controller)|Slurm job \d+ has expired)`)

// unplaced reports whether the launcher failed before it started a program.
func (o Output) unplaced() bool { return unplacedForm.Match(o.Stderr) }

var partedForm = regexp.MustCompile(`(?m)^srun: error: step_launch_notify_io_failure: aborting, io error with slurmstepd on node`)

// Parted reports whether the output of a node was lost because its connection to srun broke, although the
// launch (run) ended normally. A case whose output is missing then counts as not reached, not as failed.
func (o Output) Parted() bool { return o.Ended && o.Exit == 0 && partedForm.Match(o.Stderr) }
