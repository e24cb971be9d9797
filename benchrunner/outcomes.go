package benchrunner

import (
	"fmt"
	"slices"

	"tutti/coll"
	"tutti/internal/lazyregexp"
)

// Phases in which a trial can fail. Only failures of the first three use up attempts; see Causes.
const (
	PhaseLaunch  = "launch"  // the program did not start as requested
	PhaseRun     = "run"     // it ended too early, hung, or ran another algorithm
	PhaseParse   = "parse"   // it ended normally, but its output cannot be used
	PhaseNoise   = "noise"   // the machine was too noisy for a usable time: Noisy
	PhaseRefused = "refused" // the machine never runs this layout: Refused, TooBig
)

// NotReached returns the outcome of a case that was not measured for a cause outside of its candidate.
func NotReached(cause Cause, text string) Outcome {
	return Outcome{State: OutcomeNotReached, Cause: cause, Error: text}
}

// Failed returns the outcome of a case that failed in `phase`; see the constants whose names begin with Phase.
func Failed(phase, text string) Outcome {
	return Outcome{State: OutcomeFailed, Phase: phase, Error: text}
}

// FailedAll returns one failed outcome for each case of a launch, all with the same phase and error.
func FailedAll(s Launch, phase, text string) []Outcome {
	return slices.Repeat([]Outcome{Failed(phase, text)}, len(s.Cases))
}

// Outcomes returns the outcomes for a program that measures the cases of a launch in order. The function `found` returns the
// outcome of a case if the output contains it.
//
// If the launch crashed or hung, the first case without an outcome fails, and the later ones were not
// reached. If the job ended during the launch, or the launch has another cause outside of the program, all cases
// without an outcome were not reached. If the launch ended normally, all cases without an outcome fail.
//
// `begun` says whether the program had begun to measure. If it had not, the launch failed as a whole, unless the
// cause is outside of the program.
func Outcomes(s Launch, out Output, begun bool, found func(Case) (Outcome, bool)) []Outcome {
	cause, text := out.cause(begun)
	blames := cause.Fault() == FaultCandidate
	if !begun && blames && cause != NoResult {
		return FailedAll(s, PhaseLaunch, text)
	}
	outcomes := make([]Outcome, len(s.Cases))
	blamed := false
	for i, c := range s.Cases {
		o, ok := found(c)
		switch {
		case ok:
			outcomes[i] = o
		case !blames:
			outcomes[i] = NotReached(cause, text)
		case cause == NoResult:
			outcomes[i] = Failed(PhaseParse, "the program ended well but printed nothing for "+coll.FormatBytes(c.MsgBytes))
		case !blamed:
			outcomes[i] = Failed(PhaseRun, text)
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

// cause returns why cases of a launch have no result, with a message. `begun` says whether the program had begun to
// measure.
func (o Output) cause(begun bool) (Cause, string) {
	if cause, text := o.Interruption(begun); cause != "" {
		return cause, text
	}
	switch {
	case o.TimedOut:
		return Hung, fmt.Sprintf("not done after %.0f s", o.Wall.Seconds())
	case !o.Ended:
		return JobBroken, "the job ended"
	case o.Exit != 0:
		return Crashed, o.exitText()
	}
	return NoResult, ""
}

func (o Output) exitText() string {
	text := fmt.Sprintf("exit code %d", o.Exit)
	if words := o.LastMessage(); words != "" {
		text += ": " + words
		if noLauncher.MatchString(words) {
			text += ": load its module with runner.modules, put its folder on the PATH of jobs, or set launcher_path"
		}
	}
	return text
}

// noLauncher matches what a shell says about a launcher that is not on the PATH. Benchmark programs have paths.
var noLauncher = lazyregexp.New(`exec: [^/:\s]+: not found$|(?:^env:|run command) [‘'][^/]+[’']: No such file or directory$`)
