package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tutti/mpi"
	"tutti/mpi/libraries"
)

// launcher is a program that starts parallel programs.
type launcher struct {
	path    string
	names   []string // under which it was found
	family  string   // of the libraries whose programs it starts
	version string   // as it says, with its name
}

// parseLauncher tells from the answer to --version whose launcher it is; the
// family is empty when that is not known.
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

// launcherNames returns the names of launchers, those that say whose they are first.
func launcherNames() []string {
	var out []string
	for _, l := range libraries.All() {
		out = append(out, l.Facts().Launcher.Names...)
	}
	return append(out, "mpirun", "mpiexec")
}

// findLaunchers asks every launcher beside a compiler or on the PATH whose it is.
func (x *examiner) findLaunchers(ctx context.Context) {
	var dirs []string
	for _, lib := range x.libraries {
		dirs = append(dirs, lib.bins()...)
	}
	byFile := map[string]*launcher{}
	for _, dir := range slices.Concat(dirs, x.path()) {
		for _, name := range launcherNames() {
			path := filepath.Join(dir, name)
			if !isProgram(path) {
				continue
			}
			if l := byFile[real(path)]; l != nil {
				if !slices.Contains(l.names, name) {
					l.names = append(l.names, name)
				}
				continue
			}
			l := &launcher{path: path, names: []string{name}}
			r := x.run(ctx, command{args: []string{path, "--version"}, limit: x.limits.ask})
			l.family, l.version = parseLauncher(r.Stdout + r.Stderr)
			byFile[real(path)] = l
			x.launchers = append(x.launchers, l)
			if l.family == "" {
				x.addUnknown(l, r)
			}
		}
	}
}

func (x *examiner) addUnknown(l *launcher, r result) {
	details := []string{"does not say whose launcher it is: " + r.said()}
	if r.TimedOut {
		details = []string{"does not answer --version"}
	}
	x.add(Check{Launchers, l.path, Warning, details, "do not use it; tutti knows Hydra, Open MPI's mpirun and srun"})
}

// of returns the launchers for a library: the ones beside its compilers, else
// the first on the PATH.
func (x *examiner) of(lib *Library) []*launcher {
	var beside, elsewhere []*launcher
	for _, l := range x.launchers {
		switch {
		case l.family != lib.Family:
		case slices.Contains(lib.bins(), filepath.Dir(l.path)):
			beside = append(beside, l)
		default:
			elsewhere = append(elsewhere, l)
		}
	}
	if len(beside) > 0 {
		return beside
	}
	return elsewhere[:min(1, len(elsewhere))]
}

// trial is one library's programs under one launcher.
type trial struct {
	library  *Library
	launcher string   // as campaigns and reports call it
	args     []string // before the program
	env      []string
	drop     []string
	slurm    bool // goes through Slurm
	state    State
	hosts    []string // where two processes ran
}

// command runs a program with two processes.
func (t trial) command(x *examiner, prog ...string) command {
	return command{args: slices.Concat(t.args, prog), env: t.env, drop: t.drop, dir: x.temp, limit: x.limits.launch}
}

func (x *examiner) examineLaunchers(ctx context.Context) {
	x.findLaunchers(ctx)
	for _, lib := range x.libraries {
		if !lib.launchable() {
			continue
		}
		own := x.of(lib)
		for _, l := range own {
			x.try(ctx, trial{
				library: lib, launcher: l.names[0], env: x.launchEnv(lib),
				args: []string{l.path, "-n", "2"},
			}, x.describeLauncher(l))
		}
		if len(own) == 0 {
			x.addNoLauncher(lib)
		}
		if x.slurm.reachable {
			x.trySrun(ctx, lib)
		}
	}
}

// describeLauncher tells what else a launcher is called: mpirun is Open MPI's on
// one machine and MPICH's on the next.
func (x *examiner) describeLauncher(l *launcher) []string {
	text := l.version
	if more := l.names[1:]; len(more) > 0 {
		text += ", also called " + strings.Join(more, ", ")
	}
	if x.short(l.path) == l.path {
		return []string{text, l.path}
	}
	return []string{text}
}

func (x *examiner) addNoLauncher(lib *Library) {
	facts := lib.family.Facts()
	name, _, _ := strings.Cut(facts.Launcher.Program, ".") // mpiexec.hydra is mpiexec where no other library is
	cure := fmt.Sprintf("apt-get install %s, or put the folder of its %s on the PATH", facts.Install.Runtime, name)
	x.add(Check{Launchers, facts.Launcher.Program, Missing, []string{"no launcher of " + lib.Name}, cure})
}

// launchEnv is what a library's launcher needs for two processes on any machine,
// one core and root included.
func launchEnv(l mpi.Launcher) []string {
	if os.Geteuid() != 0 {
		return l.Env
	}
	return slices.Concat(l.Env, l.RootEnv)
}

// launchEnv is that with the variables of the campaign in question.
func (x *examiner) launchEnv(lib *Library) []string {
	return slices.Concat(launchEnv(lib.launcher()), x.options.Needs.envOf(lib.Family))
}

// try starts two processes and adds the check.
func (x *examiner) try(ctx context.Context, t trial, details []string) {
	c := Check{Section: Launchers, Name: t.launcher}
	if !x.options.Run {
		t.state = Found
		x.tried = append(x.tried, t)
		c.State, c.Details = Found, append([]string{t.library.Name + ": not tried"}, details...)
		x.add(c)
		return
	}
	v := pairingOf(x.run(ctx, t.command(x, t.library.probe)))
	t.state, t.hosts = v.State, v.Hosts
	x.tried = append(x.tried, t)
	c.State = v.State
	c.Details = append([]string{t.library.Name + ": " + v.Text}, details...)
	if env := t.library.launcher().RootEnv; len(env) > 0 && os.Geteuid() == 0 && v.State == OK && !t.slurm {
		c.Details = append(c.Details, "as root: "+strings.Join(env, " "))
	}
	c.Cure = x.cureOfLaunch(t, v)
	x.add(c)
}

// cureOfLaunch says what mends a launcher that did not start two processes.
func (x *examiner) cureOfLaunch(t trial, v pairing) string {
	switch own := t.library.launcher(); {
	case v.State == OK:
		return ""
	case v.OneRank && t.slurm:
		return fmt.Sprintf("srun --mpi=%s, or %s inside the job", own.PMI[0], own.Program)
	case v.OneRank:
		return "this is not the launcher of " + t.library.Name + ": use the one in " + strings.Join(t.library.bins(), " or ")
	case t.slurm && strings.Contains(v.Text, "No such file"):
		return "go to a folder that the nodes see, too"
	case strings.Contains(v.Text, "MPI_Finalize"):
		return "a newer UCX or MPICH; UCX_TLS=sm,self within one node"
	}
	return "try it by hand: " + strings.Join(t.args, " ") + " hostname"
}
