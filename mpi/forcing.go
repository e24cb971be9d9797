package mpi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tutti/coll"
)

// Var is an environment variable. If File is not nil, the caller writes its bytes into a file and sets the
// variable to that file's path.
type Var struct {
	Name  string
	Value string
	File  []byte
}

// Switch is an integer MPI_T control variable and its value.
type Switch struct {
	Name  string
	Value int
}

// Forcing makes a library use one algorithm for one collective. It holds settings for the start of a program,
// or MPI_T control variables that the program sets while it runs. For libtutti, which is loaded before the MPI
// library, it holds the algorithm's name.
//
// The control variables also act on calls of the measuring program itself. It should therefore not call the
// measured collective for other purposes.
type Forcing struct {
	Env               []Var          // for a program that measures this candidate alone
	Base              []Var          // for a program that measures every candidate with the same Base
	Switches          []Switch       // set in such a program before the calls; they undo the switches of other candidates
	NewComm           bool           // switches act only on communicators created afterwards
	Function          string         `json:",omitzero"`    // of the library that runs the algorithm; "" if a measuring program need not see it
	LibtuttiAlgorithm coll.Algorithm `json:"Own,omitzero"` // algorithm that tutti's own library runs
	Parts             bool           `json:",omitzero"`    // the algorithm is composed of others, and an error stack may show one of these alone
}

// Start returns a text that identifies the settings for the start of a program. Candidates with different texts cannot be
// measured by the same run of a program.
func (f Forcing) Start() string {
	text := fmt.Appendf(nil, "%t", f.NewComm)
	for _, v := range f.Base {
		text = fmt.Appendf(text, " %q=%q %q", v.Name, v.Value, v.File)
	}
	return string(text)
}

// Force returns the settings with which a release of a library runs the candidate. The library's default
// needs no setting. The error matches ErrUnknown or ErrInfeasible.
func Force(l Library, cat *Catalogue, c coll.Candidate) (Forcing, error) {
	if err := cat.Check(c); err != nil {
		return Forcing{}, err
	}
	m, ok := l.(Measurable)
	if !ok {
		return Forcing{}, fmt.Errorf("%s %s: %w: no way to force an algorithm", cat.Library, cat.Version, ErrUnknown)
	}
	return m.Force(cat, c)
}

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
