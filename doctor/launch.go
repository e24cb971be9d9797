package doctor

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// launcher is a program that starts parallel programs.
type launcher struct {
	path    string
	names   []string // under which it was found
	family  string   // of the libraries whose programs it starts
	version string   // as it says, with its name
}

var launcherForms = []struct {
	form   *regexp.Regexp
	family string
	name   string
}{
	{regexp.MustCompile(`(?s)HYDRA build details:.*?Version:\s+([0-9][0-9A-Za-z.]*)`), "mpich", "Hydra"},
	{regexp.MustCompile(`Intel\(R\) MPI Library.*?Version ([0-9][0-9A-Za-z.]*)`), "mpich", "Hydra of Intel MPI"},
	{regexp.MustCompile(`\((?:Open MPI|OpenRTE|PRRTE)\) v?([0-9][0-9A-Za-z.]*)`), "openmpi", "Open MPI"},
}

// parseLauncher tells from the answer to --version whose launcher it is; the
// family is empty when that is not known.
func parseLauncher(text string) (family, version string) {
	for _, l := range launcherForms {
		if m := l.form.FindStringSubmatch(text); m != nil {
			return l.family, l.name + " " + printable(m[1])
		}
	}
	return "", ""
}

// Names of launchers, those that say whose they are first.
var launcherNames = []string{"mpiexec.hydra", "mpiexec.mpich", "mpirun.mpich", "mpirun.openmpi", "mpiexec.openmpi", "mpirun", "mpiexec"}

// findLaunchers asks every launcher beside a compiler or on the PATH whose it is.
func (x *examiner) findLaunchers(ctx context.Context) {
	var dirs []string
	for _, lib := range x.libraries {
		dirs = append(dirs, lib.bins()...)
	}
	byFile := map[string]*launcher{}
	for _, dir := range slices.Concat(dirs, x.path()) {
		for _, name := range launcherNames {
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
				library: lib, launcher: l.names[0], env: launchEnv(lib),
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
	name, cure := "mpiexec.hydra", "apt-get install mpich, or put the folder of its mpiexec on the PATH"
	if lib.Family == "openmpi" {
		name, cure = "mpirun", "apt-get install openmpi-bin, or put the folder of its mpirun on the PATH"
	}
	x.add(Check{Launchers, name, Missing, []string{"no launcher of " + lib.Name}, cure})
}

// launchEnv is what a library's launcher needs for two processes on any machine,
// one core and root included.
func launchEnv(lib *Library) []string {
	if lib.Family != "openmpi" {
		return nil
	}
	env := []string{
		"OMPI_MCA_rmaps_base_oversubscribe=1", "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe",
		"OMPI_MCA_hwloc_base_binding_policy=none", "OMPI_MCA_mpi_yield_when_idle=1",
	}
	if os.Geteuid() == 0 {
		env = append(env, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	}
	return env
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
	v := judge(x.run(ctx, t.command(x, t.library.probe)))
	t.state, t.hosts = v.State, v.Hosts
	x.tried = append(x.tried, t)
	c.State = v.State
	c.Details = append([]string{t.library.Name + ": " + v.Text}, details...)
	if t.library.Family == "openmpi" && os.Geteuid() == 0 && v.State == OK && !t.slurm {
		c.Details = append(c.Details, "as root: OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	}
	c.Cure = x.cureOfLaunch(t, v)
	x.add(c)
}

// cureOfLaunch says what mends a launcher that did not start two processes.
func (x *examiner) cureOfLaunch(t trial, v verdict) string {
	switch {
	case v.State == OK:
		return ""
	case v.OneRank && t.slurm && t.library.Family == "mpich":
		return "srun --mpi=pmi2, or mpiexec.hydra inside the job"
	case v.OneRank && t.slurm:
		return "srun --mpi=pmix, or mpirun inside the job"
	case v.OneRank:
		return "this is not the launcher of " + t.library.Name + ": use the one in " + strings.Join(t.library.bins(), " or ")
	case t.slurm && strings.Contains(v.Text, "No such file"):
		return "go to a folder that the nodes see, too"
	case strings.Contains(v.Text, "MPI_Finalize"):
		return "a newer UCX or MPICH; UCX_TLS=sm,self within one node"
	}
	return "try it by hand: " + strings.Join(t.args, " ") + " hostname"
}
