package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tutti/internal/config"
)

// Options say where an examination looks and what it may run.
type Options struct {
	Environ  []string         // environment of the process
	Dir      string           // folder where campaigns would write; the nodes should see it, too
	Prefixes []string         // MPI installations in addition to those of the environment
	Folders  []string         // folders of benchmark programs in addition to those of the environment
	Run      bool             // start programs with two processes; false starts no parallel program
	Campaign *config.Campaign // campaign on a machine; nil to examine the machine alone
	Hidden   []string         // settings of the shell that its launches do not get
	Refused  []string         // parts of its grid that cannot be measured, with reasons
	Tried    []Tried          // launches of the campaign that were tried
}

// Tried is what a launch of a campaign showed, one with the options, environment and largest layout of the campaign.
type Tried struct {
	Library  string
	Layout   string
	Settings []string // of the machine that take part in the choice of algorithms
	Err      error    // why the campaign cannot measure
}

type limits struct {
	ask     time.Duration // commands that print versions and lists
	compile time.Duration // compilers, also on busy file systems
	launch  time.Duration // launchers with two processes
	ping    time.Duration // scontrol ping; without a controller, other Slurm commands take 9 to 59 s to fail
}

type session struct {
	options Options
	environ []string // environment of the commands
	root    string   // root of /proc and /sys: "/", or another folder in tests
	temp    string   // folder of compiled programs; the nodes see it if they see options.Dir
	now     func() time.Time
	limits  limits
	checks  []Check
}

func newSession(opt Options, root string) *session {
	return &session{
		options: opt, environ: quiet(opt.Environ), root: root, now: time.Now,
		limits: limits{ask: 10 * time.Second, compile: 60 * time.Second, launch: 20 * time.Second, ping: 3 * time.Second},
	}
}

func (x *session) begin(ctx context.Context) error {
	dir, err := filepath.Abs(x.options.Dir)
	if err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	x.options.Dir = dir
	if x.options.Campaign != nil {
		c := *x.options.Campaign
		c.Libraries = slices.Clone(c.Libraries)
		for i, lib := range c.Libraries {
			c.Libraries[i].Launcher = cmp.Or(lib.Launcher, c.Runner.DefaultLauncher(lib))
		}
		x.options.Campaign = &c
		x.prepare(ctx, c)
	}
	return nil
}

func (x *session) add(checks ...Check) { x.checks = append(x.checks, checks...) }

// examination is a session with checkers for sections of the report. Checkers use the results of the checkers before them.
// The examination itself checks the host and the campaign.
type examination struct {
	*session
	slurm     *slurmChecker
	libraries *libraryFinder
	launchers *launcherTester
	programs  *programTester
}

// Examine finds everything that a campaign needs, and tries each part once. It takes seconds, or minutes if
// many commands hang. It returns ctx.Err(), or an error if no temporary folder can be created.
func Examine(ctx context.Context, opt Options) (*Report, error) {
	return newExamination(opt, "/").examine(ctx)
}

func newExamination(opt Options, root string) *examination {
	s := newSession(opt, root)
	slurm := &slurmChecker{session: s}
	libraries := &libraryFinder{session: s}
	launchers := &launcherTester{session: s, slurm: &slurm.cluster, libraries: libraries}
	programs := &programTester{session: s, libraries: libraries, launchers: launchers}
	return &examination{s, slurm, libraries, launchers, programs}
}

func (x *examination) examine(ctx context.Context) (*Report, error) {
	folders, own := x.named()
	x.options.Folders, x.programs.own = slices.Concat(folders, x.options.Folders), own
	err := x.runAll(ctx, x.slurm.examine, x.libraries.examine, x.launchers.examine, x.programs.examine, x.examineHost, x.examineCampaign)
	if err != nil {
		return nil, err
	}
	return x.conclude(), nil
}

func (x *session) runAll(ctx context.Context, checkers ...func(context.Context)) error {
	if err := x.begin(ctx); err != nil {
		return err
	}
	if err := x.makeTemp(); err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	defer os.RemoveAll(x.temp)
	for _, examine := range checkers {
		if examine(ctx); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// makeTemp creates the folder for compiled programs, if possible in options.Dir, which nodes usually see.
func (x *session) makeTemp() error {
	temp, err := os.MkdirTemp(x.options.Dir, ".tutti-doctor-")
	if err != nil {
		temp, err = os.MkdirTemp("", "tutti-doctor-")
	}
	x.temp = temp
	return err
}
