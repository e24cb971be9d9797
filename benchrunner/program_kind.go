package benchrunner

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// ProgramKind is a kind of benchmark program: a value of the key benchmark.program in campaign files.
type ProgramKind struct {
	Name     string
	Doc      string      // what it is, for the description of benchmark.program
	Keys     []string    // keys of the section benchmark that it uses, without the section
	Launches LaunchModel // which requests share a launch
	BuiltIn  bool        // tutti build benchmark builds it; it also measures pairs and reads settings of the library
	Files    string      // pattern of its programs, if the path of a library's benchmark is their folder; "" if the path is the program

	// New returns the program at a path on the nodes.
	New func(path string, o ProgramOptions) (Program, error)
	// Trial are the options with which the doctor measures once, in a few seconds.
	Trial ProgramOptions
	// Search says how the doctor finds installations; zero for kinds that it does not look for.
	Search ProgramSearch
}

// ProgramOptions are the values of the section benchmark. Each kind of program uses some of them. The comments
// describe what native does.
type ProgramOptions struct {
	Version     string        `json:"version,omitempty"`
	Args        string        `json:"args,omitempty"`
	Pattern     string        `json:"pattern,omitempty"`
	Warmup      int           `json:"warmup,omitempty"` // calls before the timed ones; fewer if they take more than a quarter of Slice
	Iterations  int           `json:"iterations,omitempty"`
	MinSamples  int           `json:"min_samples,omitempty"`  // least number of timed calls, unless Slice is used up
	MaxSamples  int           `json:"max_samples,omitempty"`  // largest number of timed calls
	Precision   float64       `json:"precision,omitempty"`    // relative half width of the 95 % interval of the median at which a case ends
	Slice       time.Duration `json:"slice,omitempty"`        // time for one case, with its check and warm-up; with fewer than 6 timed calls, for these alone
	NoiseLimit  float64       `json:"noise_limit,omitempty"`  // largest width of the 95 % interval, as a share of the median; 0: any
	AbortFactor float64       `json:"abort_factor,omitempty"` // a case is aborted if it is this many times slower than the best of its collective and size; 0: never
	Check       bool          `json:"check,omitempty"`        // check the data that collectives deliver
}

// ProgramSearch says how an installation of a benchmark program is found.
type ProgramSearch struct {
	Title   string   // name in reports
	File    string   // name of its program for broadcasts
	Home    string   // environment variable with the path of the installation
	Folders []string // where the program is, below the installation
	Install string   // what a user does to get it
}

// Uses reports whether the program uses a key of the section benchmark.
func (k ProgramKind) Uses(key string) bool { return slices.Contains(k.Keys, key) }

// File returns the path of a program below the path of a library's benchmark: the path itself, or the first program in
// this folder. It returns "" if the folder on this machine has none.
func (k ProgramKind) File(path string) string {
	if k.Files == "" {
		return path
	}
	names, err := fs.Glob(os.DirFS(path), k.Files)
	if err != nil || len(names) == 0 {
		return ""
	}
	return filepath.Join(path, names[0])
}

// Path returns the path that New gets for the program in a file: the file, or its folder.
func (k ProgramKind) Path(file string) string {
	if k.Files == "" {
		return file
	}
	return filepath.Dir(file)
}
