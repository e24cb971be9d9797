package mpi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrDisobeyed reports that a library ran another algorithm than the requested one.
var ErrDisobeyed = errors.New("not obeyed")

// Sight is the way in which a library shows which algorithm it runs.
type Sight string

// The ways to observe an algorithm. The value is empty if none works.
const (
	ByStack  Sight = "stack" // the error for a truncated message contains the stack of functions
	ByTrace  Sight = "trace" // the dynamic loader logs the first call of each function
	ByAsking Sight = "ask"   // the library reports it
)

// Disobeyed returns the error for functions that were entered instead of the wanted one.
func Disobeyed(entered []string, want string) error {
	entered = slices.Clone(entered)
	slices.Sort(entered)
	return fmt.Errorf("%w: %s instead of %s", ErrDisobeyed, strings.Join(slices.Compact(entered), ", "), want)
}
