package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/benchrunner/local"
	"tutti/coll"
	"tutti/internal/infile"
	"tutti/internal/lazyregexp"
	"tutti/mpi"
	"tutti/mpi/libraries"
)

type launcher struct {
	path    string
	names   []string // names of the same file
	family  string   // family of the MPI libraries it belongs to; empty if unknown
	version string   // name and version
}

// parseLauncher parses the output of a launcher for --version. It returns the launcher's library family and
// version. The family is empty for unknown launchers.
func parseLauncher(text string) (family, version string) {
	for _, l := range libraries.All() {
		facts := l.Facts()
		if facts.Launcher.Answer == nil {
			continue
		}
		if m := facts.Launcher.Answer.FindStringSubmatch(text); m != nil {
			return facts.Family, facts.Launcher.Title + " " + printable(m[1])
		}
	}
	return "", ""
}

func launcherNames() []string {
	var out []string
	for _, l := range libraries.All() {
		out = append(out, l.Facts().Launcher.Names...)
	}
	return append(out, "mpirun", "mpiexec")
}

type launcherTester struct {
	*session
	slurm     *cluster
	libraries *libraryFinder
	found     []*launcher
	tried     []trial
}

// findLaunchers finds launchers in the folders of compilers and in PATH. It asks each launcher for its
// version.
func (x *launcherTester) findLaunchers(ctx context.Context) {
	var dirs []string
	for _, lib := range x.libraries.found {
		dirs = append(dirs, lib.bins()...)
	}
	byFile := map[string]*launcher{}
	for _, dir := range slices.Concat(dirs, x.path()) {
		for _, name := range launcherNames() {
			path := filepath.Join(dir, name)
			if !isProgram(path) {
				continue
			}
			if l := byFile[infile.Resolve(path)]; l != nil {
				if !slices.Contains(l.names, name) {
					l.names = append(l.names, name)
				}
				continue
			}
			l := &launcher{path: path, names: []string{name}}
			r := x.run(ctx, command{args: []string{path, "--version"}, limit: x.limits.ask})
			l.family, l.version = parseLauncher(r.Stdout + r.Stderr)
			byFile[infile.Resolve(path)] = l
			x.found = append(x.found, l)
			if l.family == "" {
				x.addUnknown(l, r)
			}
		}
	}
}

func (x *launcherTester) addUnknown(l *launcher, r result) {
	details := []string{"unknown launcher: " + r.message()}
	if r.TimedOut {
		details = []string{"does not answer --version"}
	}
	x.add(Check{Launchers, l.path, Warning, details, "do not use it; tutti knows Hydra, Open MPI's mpirun and srun"})
}

// of returns the launchers to try with a library: all launchers in the folders of its compilers or, if there
// are none, the first launcher in PATH.
func (x *launcherTester) of(lib *Library) []*launcher {
	var neighbours, elsewhere []*launcher
	for _, l := range x.found {
		switch {
		case lib.family == nil || l.family != lib.family.Facts().Family:
		case slices.Contains(lib.bins(), filepath.Dir(l.path)):
			neighbours = append(neighbours, l)
		default:
			elsewhere = append(elsewhere, l)
		}
	}
	if len(neighbours) > 0 {
		return neighbours
	}
	return elsewhere[:min(1, len(elsewhere))]
}

type trial struct {
	library  *Library
	launcher string   // name in campaigns and reports
	args     []string // arguments before the program
	env      []string
	drop     []string
	slurm    bool // the launcher is srun
	state    State
	hosts    []string // hosts of the two processes
}

func (t trial) command(x *session, prog ...string) command {
	return command{args: slices.Concat(t.args, prog), env: t.env, drop: t.drop, dir: x.temp, limit: x.limits.launch}
}

func (x *launcherTester) examine(ctx context.Context) {
	x.findLaunchers(ctx)
	for _, lib := range x.libraries.found {
		if !lib.launchable() {
			continue
		}
		own := x.of(lib)
		for _, l := range own {
			x.try(ctx, x.describeLauncher(l), trial{
				library: lib, launcher: l.names[0], env: x.launchEnv(lib), drop: benchrunner.Unset(lib.launcher().Kind),
				args: launchArgs(lib.launcher().Kind, benchrunner.LauncherOptions{Path: benchrunner.FollowLauncher(lib.launcher().Kind, l.path)}, x.launchEnv(lib)),
			})
		}
		if len(own) == 0 {
			x.addNoLauncher(lib)
		}
		if x.slurm.reachable {
			x.trySrun(ctx, lib)
		}
	}
}

// describeLauncher returns texts with the version of a launcher and its other names, and its path if PATH does
// not lead to it.
func (x *launcherTester) describeLauncher(l *launcher) []string {
	text := l.version
	if more := l.names[1:]; len(more) > 0 {
		text += ", also called " + strings.Join(more, ", ")
	}
	if x.short(l.path) == l.path {
		return []string{text, l.path}
	}
	return []string{text}
}

func (x *launcherTester) addNoLauncher(lib *Library) {
	facts := lib.family.Facts()
	x.add(Check{Launchers, facts.Launcher.Program, Missing, []string{"no launcher of " + lib.Name}, launcherFix(facts)})
}

// launcherFix says how to get the launcher of a library.
func launcherFix(facts mpi.Facts) string {
	name, _, _ := strings.Cut(facts.Launcher.Program, ".") // where Hydra is the only launcher, it is called mpiexec
	fix := fmt.Sprintf("put the folder of its %s on the PATH", name)
	if facts.Install.Runtime != "" {
		fix = fmt.Sprintf("apt-get install %s, or %s", facts.Install.Runtime, fix)
	}
	return fix
}

// launchEnv returns the variables that a launcher needs to start two processes: on a machine of one core, those that let
// them share it. Campaigns start no more processes than cores. If the doctor runs as root, it adds the variables that
// the launcher then needs.
func launchEnv(l mpi.Launcher) []string {
	var env []string
	if local.Cores() < pairRanks {
		env = l.Env
	}
	if os.Geteuid() != 0 {
		return env
	}
	return slices.Concat(env, l.RootEnv)
}

func (x *launcherTester) launchEnv(lib *Library) []string {
	return slices.Concat(launchEnv(lib.launcher()), x.envOf(lib.Family))
}

// try starts two processes of a library's program. It tries several launch commands, until one works. It adds a
// check with the result, the details and the commands that failed.
func (x *launcherTester) try(ctx context.Context, details []string, trials ...trial) {
	if t := trials[0]; !x.options.Run {
		t.state = Found
		x.tried = append(x.tried, t)
		x.add(Check{Section: Launchers, Name: t.launcher, State: Found, Details: append([]string{t.library.Name + ": not tried"}, details...)})
		return
	}
	for i, t := range trials {
		v := pairingOf(x.run(ctx, t.command(x.session, t.library.probe)))
		if v.State != OK && i < len(trials)-1 {
			details = append(details, t.launcher+" "+v.Text)
			continue
		}
		t.state, t.hosts = v.State, v.Hosts
		x.tried = append(x.tried, t)
		x.add(x.launchCheck(t, v, details))
		return
	}
}

func (x *launcherTester) launchCheck(t trial, v pairing, details []string) Check {
	text := t.library.Name + ": " + v.Text
	if t.slurm && len(v.Hosts) > 0 {
		text += ", " + strings.Join(v.Hosts, ", ")
	}
	c := Check{Launchers, t.launcher, v.State, append([]string{text}, details...), x.fixOfLaunch(t, v)}
	if t.slurm && v.State == Missing && !v.OneRank { // the cluster may be faulty or busy
		c.State = Warning
	}
	if env := t.library.launcher().RootEnv; len(env) > 0 && os.Geteuid() == 0 && v.State == OK && !t.slurm {
		c.Details = append(c.Details, "as root: "+strings.Join(env, " "))
	}
	return c
}

func (x *launcherTester) fixOfLaunch(t trial, v pairing) string {
	switch own := t.library.launcher(); {
	case v.State == OK:
		return ""
	case v.OneRank && t.slurm:
		return fmt.Sprintf("srun --mpi=%s, or %s inside the job", own.PMI[0], own.Program)
	case v.OneRank:
		return "this is not the launcher of " + t.library.Name + ": use the one in " + strings.Join(t.library.bins(), " or ")
	case t.slurm && strings.Contains(v.Text, "No such file"):
		return "go to a folder that the nodes see, too"
	case t.slurm && v.State == Missing:
		return "start with the library's own launcher inside the job"
	case strings.Contains(v.Text, "not enough slots") && x.slurm.job != "":
		return "ask for as many tasks as processes (--ntasks-per-node), or start with srun"
	case strings.Contains(v.Text, "not enough slots"):
		return "take fewer processes; or, although processes that share cores make times meaningless: export " + strings.Join(own.Env, " ")
	case strings.Contains(v.Text, "MPI_Finalize"):
		return "a newer UCX or MPICH; UCX_TLS=sm,self within one node"
	}
	return "try it by hand: " + strings.Join(t.args, " ") + " hostname"
}

var pluginForm = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_]{0,31}$`)

// parsePlugins parses the output of srun --mpi=list. Each line contains one name. Older releases print
// "srun:" before it.
func parsePlugins(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "srun:"))
		if pluginForm.MatchString(line) && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

func (x *launcherTester) trySrun(ctx context.Context, lib *Library) {
	path := x.look("srun")
	if path == "" {
		return
	}
	own := lib.launcher()
	plugins := slices.DeleteFunc(slices.Clone(own.PMI), func(name string) bool { return !slices.Contains(x.slurm.plugins, name) })
	if len(plugins) == 0 {
		x.add(Check{Launchers, "srun", Missing,
			[]string{fmt.Sprintf("%s: srun has %s only", lib.Name, cmp.Or(strings.Join(x.slurm.plugins, ", "), "no plugin"))},
			"start with the library's own launcher inside the job"})
		return
	}
	var trials []trial
	for _, plugin := range plugins {
		trials = append(trials, trial{library: lib, launcher: "srun --mpi=" + plugin, args: x.srunArgs(path, plugin),
			env: append(x.launchEnv(lib), benchrunner.SrunOverlap), drop: benchrunner.Unset(benchrunner.Srun), slurm: true})
	}
	x.try(ctx, nil, trials...)
}

// srunArgs returns srun's arguments for two processes on one node, as a campaign starts them. Outside of an allocation,
// srun submits a job of one minute that waits only briefly for nodes.
func (x *launcherTester) srunArgs(path, plugin string) []string {
	var site []string
	if x.slurm.job == "" {
		site = []string{"--immediate=10", "--job-name=tutti-doctor", "--time=1"}
	}
	return launchArgs(benchrunner.Srun, benchrunner.LauncherOptions{Path: path, MPI: plugin, Args: site}, nil)
}

// launchArgs returns the arguments with which a campaign starts two processes on one node, without the program.
func launchArgs(kind string, o benchrunner.LauncherOptions, env []string) []string {
	l, err := benchrunner.NewLauncher(kind, o)
	if err != nil {
		panic(err) // the options are those of this package
	}
	var cmd benchrunner.Command
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		cmd.Env = append(cmd.Env, mpi.Var{Name: name, Value: value})
	}
	return l.Args(coll.Layout{Nodes: 1, PPN: pairRanks}, cmd, "")
}

// Launchable is a library, together with a launcher that can start programs of this library.
type Launchable struct {
	Library  Library
	Launcher string   // srun, hydra or mpirun
	Path     string   // path of the launcher; empty for srun
	PMI      string   // PMI plugin of srun
	Env      []string // NAME=VALUE, needed for every launch
}

// Launchables finds MPI libraries and starts two processes with each of their launchers. It returns the
// working ones in the order of the libraries. Inside an allocation, srun comes first. `unusable` has a text for each
// library or launcher that does not work, with the reason and what to do. The search takes seconds.
func Launchables(ctx context.Context, opt Options) (works []Launchable, unusable []string, err error) {
	x := newExamination(opt, "/")
	x.options.Run = true
	err = x.runAll(ctx, x.slurm.examine, x.libraries.examine, x.launchers.examine)
	return x.launchers.launchables(), x.launchers.unusable(), err
}

// unusable returns a text for each library and launcher that a campaign cannot use. Outside of an allocation it leaves out
// srun, which would have to wait for nodes.
func (x *launcherTester) unusable() []string {
	var out []string
	for _, c := range x.checks {
		unknown := slices.ContainsFunc(x.libraries.found, func(l *Library) bool { return l.Name == c.Name && l.Catalogue == "" })
		switch {
		case c.State == OK || c.State == Found:
		case c.Section == Libraries && c.State != Missing && !unknown:
		case c.Section == Launchers && strings.HasPrefix(c.Name, benchrunner.Srun) && x.slurm.job == "":
		case c.Section == Libraries || c.Section == Launchers:
			text := c.Name + ": " + strings.Join(c.Details, "; ")
			if c.Fix != "" {
				text += " -> " + c.Fix
			}
			out = append(out, text)
		}
	}
	return out
}

func (x *launcherTester) launchables() []Launchable {
	var out []Launchable
	for _, lib := range x.libraries.found {
		var own, bySlurm []Launchable
		for _, t := range x.tried {
			switch {
			case t.library != lib || t.state != OK || lib.Catalogue == "":
			case t.slurm && x.slurm.job != "":
				_, pmi, _ := strings.Cut(t.launcher, "--mpi=")
				bySlurm = append(bySlurm, Launchable{Library: *lib, Launcher: "srun", PMI: pmi})
			case !t.slurm:
				l := Launchable{Library: *lib, Launcher: lib.launcher().Kind, Path: t.args[0]}
				if os.Geteuid() == 0 {
					l.Env = lib.launcher().RootEnv
				}
				own = append(own, l)
			}
		}
		out = slices.Concat(out, bySlurm, own)
	}
	return out
}
