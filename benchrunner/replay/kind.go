package replay

import (
	"errors"

	"tutti/benchrunner"
)

// Kind replays recorded measurements.
type Kind struct{}

// Facts implements benchrunner.Kind.
func (Kind) Facts() benchrunner.KindFacts {
	return benchrunner.KindFacts{Name: "replay", Doc: "recorded measurements", Recorded: true}
}

// Keys implements benchrunner.Kind. The keys of a replay are in the section runner.
func (Kind) Keys() []benchrunner.Key { return nil }

// New implements benchrunner.Kind. It returns an error, since recorded measurements need no jobs.
func (Kind) New(benchrunner.Host) (benchrunner.Scheduler, error) {
	return nil, errors.New("runner.kind replay runs no jobs")
}
