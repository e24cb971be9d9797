package native

import (
	"time"

	"tutti/benchrunner"
)

// Kind returns tutti's benchmark program as a kind of program.
func Kind() benchrunner.ProgramKind {
	return benchrunner.ProgramKind{
		Name: "native", Doc: "tutti build benchmark", Launches: benchrunner.LaunchNative, BuiltIn: true,
		Keys:  []string{"warmup", "min_samples", "max_samples", "precision", "slice", "noise_limit", "abort_factor", "check"},
		Trial: benchrunner.ProgramOptions{Warmup: 1, MinSamples: 6, MaxSamples: 10, Precision: 0.5, Slice: time.Second / 2, Check: true},
		New: func(path string, o benchrunner.ProgramOptions) (benchrunner.Program, error) {
			return New(Options{path, o})
		},
	}
}
