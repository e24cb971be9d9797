package mpi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrDisobeyed is matched when a library was seen to run another algorithm than it
// was told to.
var ErrDisobeyed = errors.New("not obeyed")

// Sight is the way in which a library shows which algorithm it enters.
type Sight string

// The ways. A library that shows nothing has none.
const (
	ByStack  Sight = "stack" // the error over a message that is too long names the functions it came from
	ByTrace  Sight = "trace" // the dynamic loader logs which functions are called for the first time
	ByAsking Sight = "ask"   // it says so itself
)

// Disobeyed is the error over functions that were entered instead of the one wanted.
func Disobeyed(entered []string, want string) error {
	entered = slices.Clone(entered)
	slices.Sort(entered)
	return fmt.Errorf("%w: %s instead of %s", ErrDisobeyed, strings.Join(slices.Compact(entered), ", "), want)
}
