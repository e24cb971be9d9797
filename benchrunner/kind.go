package benchrunner

import "errors"

// Kind is a kind of runner: a value of the key runner.kind in campaign files. If it has keys of its own, they
// form the section of the campaign file that has its name.
type Kind interface {
	Facts() KindFacts
	// Keys returns the keys of its section, nil without a section. The keys store their values in the Kind.
	Keys() []Key
	// New returns the scheduler that the values of the keys describe. It runs no command of a workload manager.
	// The error matches ErrOutside if the kind needs a job around tutti and there is none.
	New(Host) (Scheduler, error)
}

// KindFacts says what a kind of runner can do.
type KindFacts struct {
	Name     string // value of runner.kind
	Doc      string // how it runs benchmarks, for the description of runner.kind
	Manager  string // title of the workload manager to which it submits jobs; empty if it submits none
	Recorded bool   // replays recorded measurements, so it has no scheduler
	Attached bool   // jobs run next to tutti and end with it
	OneNode  bool   // jobs have one node, this machine
	Srun     bool   // srun starts programs by default
}

// Queue reports whether jobs wait in the queue of a workload manager and continue if tutti ends.
func (f KindFacts) Queue() bool { return f.Manager != "" }

// Host describes the process of tutti that needs a scheduler.
type Host struct {
	Environ []string    // as of os.Environ
	PPN     int         // ranks that this machine runs at once, if the kind has one node; 0: one for each processor
	Hosts   string      // file of the nodes on which a kind that is attached runs; "": those of tutti's job
	Notice  func(error) // receives reports of commands that do not answer, every few seconds; nil: none
}

// Key is a key in the section of a kind of runner.
type Key struct {
	Name    string
	Doc     string // one line: meaning and allowed values
	Default any    // of the type that At points to; nil: empty
	At      any    // *string, *[]string, *bool or *int: where the value is stored
	Path    bool   // the value is the path of an existing file or folder
}

// SetDefault stores the default of the key.
func (k Key) SetDefault() {
	switch at := k.At.(type) {
	case *string:
		*at, _ = k.Default.(string)
	case *[]string:
		*at, _ = k.Default.([]string)
	case *bool:
		*at, _ = k.Default.(bool)
	case *int:
		*at, _ = k.Default.(int)
	}
}

// ErrOutside reports that tutti does not run inside a job of a workload manager.
var ErrOutside = errors.New("not inside a job")
