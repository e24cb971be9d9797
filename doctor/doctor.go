package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Options says where to look and how far to go.
type Options struct {
	Environ  []string // of the process: PATH, variables of modules and Slurm
	Dir      string   // where campaigns shall write: seen by the nodes, if any
	Prefixes []string // installations of MPI beside those the environment names
	Folders  []string // of benchmark programs beside those the environment names
	Needs    *Needs   // of one campaign; nil: of any
	Run      bool     // start programs of two processes; without, nothing runs in parallel
}

// limits are the times after which a command is told as hanging.
type limits struct {
	ask     time.Duration // versions and lists
	compile time.Duration // of busy parallel file systems, too
	launch  time.Duration // two processes
	ping    time.Duration // a controller answers at once; where none is, all but the ping take 9 to 59 s to say so
}

func defaultLimits() limits {
	return limits{ask: 10 * time.Second, compile: 60 * time.Second, launch: 20 * time.Second, ping: 3 * time.Second}
}

// examiner is one examination. What is found first serves the later steps.
type examiner struct {
	options Options
	environ []string // for the commands
	root    string   // of /proc and /sys, "/" but in tests
	temp    string   // for programs that are built; seen by the nodes if Dir is
	now     func() time.Time
	limits  limits
	own     []string // tutti's programs that a campaign names

	report    Report
	libraries []*Library
	launchers []*launcher
	tried     []trial
	programs  []program
	slurm     cluster
}

// Examine looks for everything and tries each once. It takes seconds; a machine
// where every command hangs takes minutes. The error is that of the context or
// of a folder that cannot be written.
func Examine(ctx context.Context, opt Options) (*Report, error) {
	return newExaminer(opt, "/").examine(ctx)
}

func newExaminer(opt Options, root string) *examiner {
	return &examiner{
		options: opt, environ: quiet(opt.Environ), root: root, now: time.Now, limits: defaultLimits(),
		report: Report{Sets: []Set{}, Lacks: []Lack{}, Libraries: []Library{}, Checks: []Check{}},
	}
}

// begin finds out in which folder and on what machine it is.
func (x *examiner) begin(ctx context.Context) error {
	dir, err := filepath.Abs(x.options.Dir)
	if err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	x.options.Dir = dir
	x.prepare(ctx)
	return nil
}

func (x *examiner) examine(ctx context.Context) (*Report, error) {
	if err := x.begin(ctx); err != nil {
		return nil, err
	}
	folders, own := x.options.Needs.named()
	x.options.Folders, x.own = slices.Concat(folders, x.options.Folders), own
	if err := x.makeTemp(); err != nil {
		return nil, fmt.Errorf("doctor: %w", err)
	}
	defer os.RemoveAll(x.temp)
	for _, step := range []func(context.Context){
		x.examineSlurm, x.examineLibraries, x.examineLaunchers, x.examinePrograms, x.examineHost, x.examineNeeds,
	} {
		step(ctx)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(x.report.Checks, func(a, b Check) int {
		return slices.Index(sections(), a.Section) - slices.Index(sections(), b.Section)
	})
	x.conclude()
	return &x.report, nil
}

// makeTemp makes the folder of built programs in Dir, which nodes see if they see
// anything of ours, or where temporary files go when Dir cannot be written.
func (x *examiner) makeTemp() error {
	temp, err := os.MkdirTemp(x.options.Dir, ".tutti-doctor-")
	if err != nil {
		temp, err = os.MkdirTemp("", "tutti-doctor-")
	}
	x.temp = temp
	return err
}

func (x *examiner) add(checks ...Check) { x.report.Checks = append(x.report.Checks, checks...) }
