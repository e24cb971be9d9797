package benchrunner

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
)

// The launchers of parallel programs.
//
// MPICH is started by mpiexec.hydra, inside Slurm jobs and outside, by srun --mpi=pmi2, and by mpiexec of PALS. Open MPI is started
// by mpirun and, if it was built with PMIx, by srun --mpi=pmix. Any other pair of library and launcher fails,
// or starts many MPI worlds of one rank each and ends with exit code 0. Programs detect such worlds in the
// output.
//
// All launchers fill the first nodes of the job with consecutive ranks, even if the job has more nodes than the
// layout. A concurrent launch gets its nodes from a file.
//
// If a node has fewer cores than ranks, the user adds srun's --overcommit, mpirun's --oversubscribe, or a
// variable: OMPI_MCA_rmaps_base_oversubscribe=1 before Open MPI 5,
// PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe in 5, PRTE_MCA_mapby in 6.
//
// A rank that fails ends the others. A launcher that receives SIGTERM ends its ranks first. After SIGKILL,
// ranks of srun and mpirun may run until the job ends. Under srun and mpirun, ranks get no input. Under hydra,
// a rank that reads its input waits forever.
const (
	Srun   = "srun"   // of Slurm
	Hydra  = "hydra"  // mpiexec.hydra of MPICH and its relatives
	Mpirun = "mpirun" // of Open MPI
	PALS   = "pals"   // mpiexec of HPE PALS, written from its documentation and not tried
)

// LauncherNames returns the names that NewLauncher accepts: the commands that start MPI programs.
func LauncherNames() []string { return []string{Srun, Hydra, Mpirun, PALS} }

// LauncherProgram returns the usual name of a launcher's program.
func LauncherProgram(launcher string) string { return launcherKinds[launcher].path }

// StartsAll reports whether a launcher belongs to the machine and starts programs of any MPI library.
func StartsAll(launcher string) bool { return launcherKinds[launcher].startsAll }

// Helpers returns the names of the programs that a launcher starts on the nodes of a job, in several releases. The
// launcher looks for them in the folder of its own path, and does not follow a symbolic link to the folder where it is
// installed.
func Helpers(launcher string) []string { return launcherKinds[launcher].helpers }

// Unset returns the names of environment variables that change what a launcher does, and which are not for a user's shell or
// a module to set: job scripts and doctor remove them before they start programs. Variables that place or bind ranks stay,
// except for srun, because users of the machine get them with every program.
func Unset(launcher string) []string { return strings.Fields(launcherKinds[launcher].unset) }

// Variables of mpiexec.hydra and mpirun that end launches after a time of their own, print other text or in another form,
// start a debugger, or start nothing. Sources: src/pm/hydra of MPICH 4.0 and 4.3, orte/runtime/orte_mca_params.c of Open MPI
// 4.1. PRRTE of Open MPI 5 has the same names with prte.
const (
	hydraVariables  = `MPIEXEC_TIMEOUT MPIEXEC_TIMEOUT_SIGNAL HYDRA_DEBUG HYDRA_TOPO_DEBUG HYDRA_CONFIG_FILE HYDRA_USE_DDD HYDRA_USE_STRACE HYDRA_USE_VALGRIND`
	mpirunVariables = `MPIEXEC_TIMEOUT
OMPI_MCA_orte_timestamp_output OMPI_MCA_orte_xml_output OMPI_MCA_orte_xml_file OMPI_MCA_orte_tag_output OMPI_MCA_orte_output_filename OMPI_MCA_orte_do_not_launch
PRTE_MCA_prte_timestamp_output PRTE_MCA_prte_xml_output PRTE_MCA_prte_xml_file PRTE_MCA_prte_tag_output PRTE_MCA_prte_output_filename PRTE_MCA_prte_do_not_launch`
)

func allHelpers() []string {
	var out []string
	for _, k := range launcherKinds {
		out = append(out, k.helpers...)
	}
	slices.Sort(out)
	return out
}

// FollowLauncher returns the path with which a launcher finds its helpers: the given one, or the first of its symbolic
// links' targets that has a helper in its folder. Job scripts do the same.
func FollowLauncher(launcher, path string) string {
	for at, links := path, 0; links < maxLinks; links++ {
		dir := filepath.Dir(at)
		if slices.ContainsFunc(Helpers(launcher), func(name string) bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }) {
			return at
		}
		target, err := os.Readlink(at)
		if err != nil {
			break
		}
		if at = target; !filepath.IsAbs(target) {
			at = filepath.Join(dir, target)
		}
	}
	return path
}

// maxLinks is the largest number of symbolic links in a row, as in Linux.
const maxLinks = 40

// LauncherOptions configure the command line of a launcher.
type LauncherOptions struct {
	Path string   // of the launcher on the nodes; srun, mpiexec.hydra, mpirun or mpiexec when empty
	Args []string // of the site, such as --overcommit; they precede those of the layout
	MPI  string   // value of srun's --mpi, such as pmi2 or pmix; Slurm's default when empty; no effect on other launchers

	Order coll.Order // of the ranks over the nodes; block when empty

	Concurrent bool // launches get their nodes from files, so the site must not select nodes
}

type launcher struct {
	name string
	opt  LauncherOptions
	kind launcherKind
}

type launcherKind struct {
	path       string // see LauncherProgram
	startsAll  bool
	blockOnly  bool // it has no option for cyclic order
	layoutArgs func(o LauncherOptions, l coll.Layout, cmd Command) []string
	reserved   []string // options that a site must not give; see checkArgs
	helpers    []string // see Helpers
	unset      string   // see Unset

	hostFile    func(path string) []string // returns the option that names a file of nodes
	hostSuffix  func(ppn int) string       // follows the name of each node in that file
	hostOptions []string                   // options that select nodes
}

var launcherKinds = map[string]launcherKind{
	Srun: {path: "srun", startsAll: true, layoutArgs: srunArgs, unset: srunVariables, reserved: []string{"-n", "--ntasks", "-N", "--nodes", "--ntasks-per-node", "--mpi", "-k", "--no-kill", "--multi-prog", "-i", "--input", "--export", "--export-file"},
		hostFile: func(path string) []string { return []string{"--nodelist=" + path} }, hostSuffix: func(int) string { return "" },
		hostOptions: []string{"-w", "--nodelist", "-x", "--exclude", "-r", "--relative", "-F", "--nodefile"}},
	Hydra: {path: "mpiexec.hydra", layoutArgs: hydraArgs, unset: hydraVariables, reserved: []string{"-n", "-np", "-ppn", "-perhost", "-configfile", "-genvall", "-genvnone", "-genvlist"},
		helpers:  []string{"hydra_pmi_proxy", "hydra_bstrap_proxy", "pmi_proxy"},
		hostFile: func(path string) []string { return []string{"-f", path} }, hostSuffix: func(ppn int) string { return ":" + strconv.Itoa(ppn) },
		hostOptions: []string{"-f", "-hostfile", "-machinefile", "-machine", "-machines", "-host", "-hosts", "-hostlist"}},
	Mpirun: {path: "mpirun", layoutArgs: mpirunArgs, unset: mpirunVariables, reserved: []string{"-n", "-np", "-c", "--np", "--n", "--map-by", "-map-by", "--npernode", "-npernode", "--ppr", "--rank-by", "-rank-by", "--app"},
		helpers:  []string{"orted", "prted"},
		hostFile: func(path string) []string { return []string{"--hostfile", path} }, hostSuffix: func(ppn int) string { return " slots=" + strconv.Itoa(ppn) },
		hostOptions: []string{"-H", "--host", "-host", "--hostfile", "-hostfile", "--machinefile", "-machinefile", "--default-hostfile", "-default-hostfile"}},
	PALS: {path: "mpiexec", startsAll: true, blockOnly: true, layoutArgs: palsArgs, reserved: []string{"-n", "--n", "-np", "--np", "--ppn", "-ppn"},
		hostFile: func(path string) []string { return []string{"--hostfile", path} }, hostSuffix: func(int) string { return "" },
		hostOptions: []string{"--hostfile", "-hostfile", "--hosts", "-hosts", "--hostlist", "-hostlist"}},
}

// NewLauncher returns the launcher that runs the command with this name, for example srun.
func NewLauncher(name string, o LauncherOptions) (Launcher, error) {
	k, ok := launcherKinds[name]
	if !ok {
		return nil, fmt.Errorf("launcher %q: want one of %s", name, strings.Join(LauncherNames(), ", "))
	}
	if o.MPI != "" && name != Srun {
		return nil, fmt.Errorf("launcher %s: MPI type %q: only srun has one", name, o.MPI)
	}
	if o.Concurrent {
		k.reserved = slices.Concat(k.reserved, k.hostOptions)
	}
	if o.Order == coll.Cyclic && k.blockOnly {
		return nil, fmt.Errorf("launcher %s: order %s: it has no option for it", name, o.Order)
	}
	if err := checkArgs(name, o.Args, k.reserved); err != nil {
		return nil, err
	}
	o.Path, o.Order = cmp.Or(o.Path, k.path), cmp.Or(o.Order, coll.Block)
	return &launcher{name, o, k}, nil
}

// checkArgs checks the arguments that a site adds to the launcher. It rejects an argument that the launcher
// would take for the program, and options that tutti sets itself. It also rejects --no-kill, because a job
// that lost a node would then end successfully.
func checkArgs(name string, args, reserved []string) error {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return fmt.Errorf("launcher %s: argument %q: want an option", name, args[0])
	}
	for _, a := range args {
		option, _, _ := strings.Cut(a, "=")
		if a == "--" || a == ":" {
			return fmt.Errorf("launcher %s: argument %q would end the options", name, a)
		}
		for _, t := range reserved {
			if option == t || hasNumber(a, t) {
				hint := ""
				if strings.Contains(t, "env") || strings.Contains(t, "export") {
					hint = ": variables of launches stand in libraries[].env"
				}
				return fmt.Errorf("launcher %s: argument %q: %s is not for the site to set%s", name, a, t, hint)
			}
		}
	}
	return nil
}

// hasNumber reports whether the argument `a` is the short option `t` directly followed by a number, as in -N4.
func hasNumber(a, t string) bool {
	rest, ok := strings.CutPrefix(a, t)
	if !ok || len(t) != 2 || rest == "" {
		return false
	}
	_, err := strconv.Atoi(rest)
	return err == nil
}

func (l *launcher) Name() string { return l.name }

func (l *launcher) Args(layout coll.Layout, cmd Command, hosts string) []string {
	var nodes []string
	if hosts != "" {
		nodes = l.kind.hostFile(hosts)
	}
	return slices.Concat([]string{l.opt.Path}, l.opt.Args, nodes, l.kind.layoutArgs(l.opt, layout, cmd), cmd.Args)
}

func (l *launcher) HostSuffix(layout coll.Layout) string { return l.kind.hostSuffix(layout.PPN) }

// srunArgs returns srun's arguments. It sets every option explicitly, because otherwise variables of the job,
// such as SLURM_NTASKS_PER_NODE, SLURM_EXPORT_ENV or SLURM_DISTRIBUTION, would set them.
func srunArgs(o LauncherOptions, l coll.Layout, _ Command) []string {
	args := []string{
		"--nodes=" + strconv.Itoa(l.Nodes),
		"--ntasks=" + strconv.Itoa(l.Ranks()),
		"--ntasks-per-node=" + strconv.Itoa(l.PPN),
		"--distribution=" + string(o.Order),
		"--kill-on-bad-exit=1",
		"--export=ALL",
		"--input=none",
	}
	if o.MPI != "" {
		args = append([]string{"--mpi=" + o.MPI}, args...)
	}
	return args
}

// hydraArgs returns hydra's arguments. With -genvall, ranks get the whole environment, whatever variables of
// hydra say. Hydra places -ppn ranks on each node of the job in turn, and begins again at the first node if ranks
// remain. Cyclic order therefore needs a job with exactly the nodes of the layout, or a list of the nodes.
func hydraArgs(o LauncherOptions, l coll.Layout, _ Command) []string {
	perTurn := l.PPN
	if o.Order == coll.Cyclic {
		perTurn = 1
	}
	return []string{"-genvall", "-n", strconv.Itoa(l.Ranks()), "-ppn", strconv.Itoa(perTurn)}
}

// palsArgs returns the arguments of PALS's mpiexec, which passes the environment to the ranks. Without --ppn, it would
// place ranks by core. Without --cpu-bind of the site, variables of the site could bind several ranks to a core.
func palsArgs(o LauncherOptions, l coll.Layout, _ Command) []string {
	args := []string{"-n", strconv.Itoa(l.Ranks()), "--ppn", strconv.Itoa(l.PPN)}
	if !slices.ContainsFunc(o.Args, func(a string) bool { return strings.HasPrefix(strings.TrimLeft(a, "-"), "cpu-bind") }) {
		args = append(args, "--cpu-bind", "core")
	}
	return args
}

// mpirunArgs returns mpirun's arguments. The option -x passes a variable to the ranks. Variables that begin
// with OMPI_ need no option, because mpirun always passes them.
func mpirunArgs(o LauncherOptions, l coll.Layout, cmd Command) []string {
	by := "slot"
	if o.Order == coll.Cyclic {
		by = "node"
	}
	args := []string{"-n", strconv.Itoa(l.Ranks()), "--map-by", fmt.Sprintf("ppr:%d:node", l.PPN), "--rank-by", by}
	for _, v := range cmd.Env {
		if !strings.HasPrefix(v.Name, "OMPI_") {
			args = append(args, "-x", v.Name)
		}
	}
	return args
}
