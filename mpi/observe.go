package mpi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrOtherAlgorithm is the error for a library that ran another algorithm than the requested one. errors.Is
// finds it.
var ErrOtherAlgorithm = errors.New("another algorithm ran")

// Observation is a way in which a library shows which algorithm it runs.
type Observation string

// Ways to observe an algorithm. The empty value means that no way works.
const (
	ByStack  Observation = "stack" // the error for a truncated message contains the stack of functions
	ByTrace  Observation = "trace" // the dynamic loader logs the first call of each function
	ByReport Observation = "ask"   // the library reports it
)

// OtherAlgorithm returns the error for a call that entered other functions than the wanted one.
func OtherAlgorithm(entered []string, want string) error {
	entered = slices.Clone(entered)
	slices.Sort(entered)
	return fmt.Errorf("%w: %s instead of %s", ErrOtherAlgorithm, strings.Join(slices.Compact(entered), ", "), want)
}
