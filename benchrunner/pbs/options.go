package pbs

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"tutti/benchrunner"
)

// Options say where jobs run. They are the section pbs of a campaign file, and implement benchrunner.Kind.
type Options struct {
	Queue     string   `json:"queue,omitempty"` // the server's default when empty
	Account   string   `json:"account,omitempty"`
	Chunk     string   `json:"chunk,omitempty"`     // further resources of each node in -l select, as system=polaris
	Place     string   `json:"place,omitempty"`     // value of -l place; scatter:excl when empty
	Resources []string `json:"resources,omitempty"` // further -l of a job, as filesystems=home
	MaxJobs   int      `json:"jobs,omitempty"`      // largest number of jobs at the same time; 1 when zero
	Bin       string   `json:"bin,omitempty"`       // folder of the commands; searched in PATH when empty

	// Notice, if not nil, receives reports of commands that do not answer.
	Notice func(error) `json:"-"`
}

// Facts implements benchrunner.Kind.
func (o *Options) Facts() benchrunner.KindFacts {
	return benchrunner.KindFacts{Name: "pbs", Doc: "jobs of PBS", Manager: "PBS"}
}

// Keys implements benchrunner.Kind.
func (o *Options) Keys() []benchrunner.Key {
	return []benchrunner.Key{
		{Name: "queue", Doc: "queue to submit to; empty: the default of the site", At: &o.Queue},
		{Name: "account", Doc: "account to charge", At: &o.Account},
		{Name: "chunk", Doc: "further resources of each node, as system=polaris", At: &o.Chunk},
		{Name: "place", Doc: "placement of the nodes", Default: defaultPlace, At: &o.Place},
		{Name: "resources", Doc: "further resources of a job, each NAME=VALUE, as filesystems=home", At: &o.Resources},
		{Name: "jobs", Doc: "maximum number of jobs in the queue; they may disturb each other on the network", Default: 4, At: &o.MaxJobs},
		{Name: "bin", Doc: "folder of qsub and the other commands; empty: the search path", At: &o.Bin, Path: true},
	}
}

// defaultPlace puts each chunk on a host of its own and shares no host with other jobs.
const defaultPlace = "scatter:excl"

// New implements benchrunner.Kind. The error matches benchrunner.ErrNoStart if this machine has no qsub.
func (o *Options) New(h benchrunner.Host) (benchrunner.Scheduler, error) {
	if _, err := exec.LookPath(filepath.Join(o.Bin, "qsub")); err != nil {
		return nil, fmt.Errorf("%w: PBS: %w", benchrunner.ErrNoStart, err)
	}
	options := *o
	options.Notice = h.Notice
	return New(options)
}

// Scheduler submits jobs to PBS. It implements benchrunner.Scheduler.
type Scheduler struct {
	options   Options
	limit     time.Duration // longest time for a command
	now       func() time.Time
	noHistory atomic.Bool // the server forgets jobs that have ended

	mu      sync.Mutex
	blocked map[string]time.Time // jobs that PBS says can never run, with the time of the first such answer
}

var _ benchrunner.Scheduler = (*Scheduler)(nil)

// New checks the options and returns a scheduler. It runs no command.
func New(o Options) (*Scheduler, error) {
	values := append([]string{o.Queue, o.Account, o.Chunk, o.Place}, o.Resources...)
	for _, v := range values {
		if strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }) {
			return nil, fmt.Errorf("pbs: %q: want printable characters without blanks", v)
		}
	}
	for _, r := range o.Resources {
		name, value, ok := strings.Cut(r, "=")
		if !ok || name == "" || value == "" {
			return nil, fmt.Errorf("pbs.resources: %q: want NAME=VALUE", r)
		}
		switch name {
		case "select", "place", "walltime", "nodes", "nodect", "ncpus", "mpiprocs":
			return nil, fmt.Errorf("pbs.resources: %q: %s is set for each job", r, name)
		}
	}
	o.MaxJobs, o.Place = cmp.Or(o.MaxJobs, 1), cmp.Or(o.Place, defaultPlace)
	if o.Notice == nil {
		o.Notice = func(error) {}
	}
	return &Scheduler{options: o, limit: time.Minute, now: time.Now, blocked: map[string]time.Time{}}, nil
}

// Name returns "pbs".
func (s *Scheduler) Name() string { return "pbs" }
