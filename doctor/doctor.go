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

// session is what all checks share: the environment of commands, folders, time limits
// and the results so far.
type session struct {
	options Options
	environ []string // of commands
	root    string   // of /proc and /sys: "/", another folder in tests
	temp    string   // folder of compiled programs; visible to the nodes if options.Dir is
	now     func() time.Time
	limits  limits
	checks  []Check
}

func newSession(opt Options, root string) *session {
	return &session{options: opt, environ: quiet(opt.Environ), root: root, now: time.Now, limits: defaultLimits()}
}

// begin makes the folder absolute and sets up the environment of the campaign.
func (x *session) begin(ctx context.Context) error {
	dir, err := filepath.Abs(x.options.Dir)
	if err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	x.options.Dir = dir
	x.prepare(ctx)
	return nil
}

func (x *session) add(checks ...Check) { x.checks = append(x.checks, checks...) }

// examination is a session with one checker for each section of the report. Later
// checkers use what earlier ones found.
type examination struct {
	*session
	slurm     *slurmChecker
	libraries *libraryFinder
	launchers *launcherTester
	programs  *programTester
	host      *hostChecker
	campaign  *campaignChecker
}

// Examine looks for everything that a campaign needs and tries each once. It takes
// seconds; a machine where every command hangs takes minutes. The error is that of the
// context or of a folder that cannot be written.
func Examine(ctx context.Context, opt Options) (*Report, error) {
	return newExamination(opt, "/").examine(ctx)
}

func newExamination(opt Options, root string) *examination {
	s := newSession(opt, root)
	slurm := &slurmChecker{session: s}
	libraries := &libraryFinder{session: s}
	launchers := &launcherTester{session: s, slurm: &slurm.cluster, libraries: libraries}
	programs := &programTester{session: s, libraries: libraries, launchers: launchers}
	return &examination{
		session: s, slurm: slurm, libraries: libraries, launchers: launchers, programs: programs,
		host: &hostChecker{session: s, slurm: &slurm.cluster},
		campaign: &campaignChecker{
			session: s, slurm: &slurm.cluster, libraries: libraries, launchers: launchers, programs: programs,
		},
	}
}

func (x *examination) examine(ctx context.Context) (*Report, error) {
	if err := x.begin(ctx); err != nil {
		return nil, err
	}
	folders, own := x.options.Needs.named()
	x.options.Folders, x.programs.own = slices.Concat(folders, x.options.Folders), own
	if err := x.makeTemp(); err != nil {
		return nil, fmt.Errorf("doctor: %w", err)
	}
	defer os.RemoveAll(x.temp)
	for _, examine := range []func(context.Context){
		x.slurm.examine, x.libraries.examine, x.launchers.examine, x.programs.examine, x.host.examine, x.campaign.examine,
	} {
		examine(ctx)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return x.conclude(), nil
}

// makeTemp makes the folder of built programs in Dir, which nodes see if they see
// anything of ours, or where temporary files go when Dir cannot be written.
func (x *session) makeTemp() error {
	temp, err := os.MkdirTemp(x.options.Dir, ".tutti-doctor-")
	if err != nil {
		temp, err = os.MkdirTemp("", "tutti-doctor-")
	}
	x.temp = temp
	return err
}
