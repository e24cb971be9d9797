package launch

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/mpi"
)

// The launchers.
const (
	Srun   = "srun"   // of Slurm
	Hydra  = "hydra"  // mpiexec.hydra of MPICH and its relatives
	Mpirun = "mpirun" // of Open MPI
)

// Names returns the known launchers.
func Names() []string { return []string{Srun, Hydra, Mpirun} }

// Options say how a launcher is called.
type Options struct {
	Path string   // of the launcher as the nodes see it; srun, mpiexec.hydra or mpirun when empty
	Args []string // of the site, as --overcommit: they stand before those of the layout
	MPI  string   // srun: value of --mpi, as pmi2 or pmix; Slurm's default when empty

	Order coll.Order // of the ranks over the nodes; block when empty
}

// launcher is one of them: what it is called and how a layout is said to it.
type launcher struct {
	name, path string
	site       []string
	layout     func(l coll.Layout, cmd benchrunner.Command) []string
	kind       kind
}

var _ benchrunner.Placer = (*launcher)(nil)

// kind is what is known of a launcher.
type kind struct {
	path   string
	layout func(o Options) func(coll.Layout, benchrunner.Command) []string
	taken  []string // options that the layout decides or that must never be given, with the reason below

	file   func(path string) []string // names a file of nodes
	suffix func(ppn int) string       // behind the name of each
	hosts  []string                   // options that name nodes
}

var kinds = map[string]kind{
	Srun: {path: "srun", layout: srunArgs, taken: []string{"-n", "--ntasks", "-N", "--nodes", "--ntasks-per-node", "--mpi", "-k", "--no-kill", "--multi-prog", "-i", "--input"},
		file: func(path string) []string { return []string{"--nodelist=" + path} }, suffix: func(int) string { return "" },
		hosts: []string{"-w", "--nodelist", "-x", "--exclude", "-r", "--relative", "-F", "--nodefile"}},
	Hydra: {path: "mpiexec.hydra", layout: hydraArgs, taken: []string{"-n", "-np", "-ppn", "-perhost", "-configfile"},
		file: func(path string) []string { return []string{"-f", path} }, suffix: func(ppn int) string { return ":" + strconv.Itoa(ppn) },
		hosts: []string{"-f", "-hostfile", "-machinefile", "-machine", "-machines", "-host", "-hosts", "-hostlist"}},
	Mpirun: {path: "mpirun", layout: mpirunArgs, taken: []string{"-n", "-np", "-c", "--np", "--n", "--map-by", "-map-by", "--npernode", "-npernode", "--ppr", "--rank-by", "-rank-by", "--app"},
		file: func(path string) []string { return []string{"--hostfile", path} }, suffix: func(ppn int) string { return " slots=" + strconv.Itoa(ppn) },
		hosts: []string{"-H", "--host", "-host", "--hostfile", "-hostfile", "--machinefile", "-machinefile", "--default-hostfile", "-default-hostfile"}},
}

// New returns a launcher. The error says which names or options are allowed.
func New(name string, o Options) (benchrunner.Launcher, error) {
	k, ok := kinds[name]
	if !ok {
		return nil, fmt.Errorf("launcher %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	if err := checkMPI(name, o.MPI); err != nil {
		return nil, err
	}
	if err := checkArgs(name, o.Args, k.taken); err != nil {
		return nil, err
	}
	path := o.Path
	if path == "" {
		path = k.path
	}
	if strings.HasPrefix(path, "-") {
		return nil, fmt.Errorf("launcher %s: path %q: want the path of a program", name, path)
	}
	if _, err := coll.ParseOrder(string(cmp.Or(o.Order, coll.Block))); err != nil {
		return nil, fmt.Errorf("launcher %s: %w", name, err)
	}
	return &launcher{name: name, path: path, site: slices.Clone(o.Args), layout: k.layout(o), kind: k}, nil
}

var mpiForm = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// checkMPI: with none every rank is a world of its own.
func checkMPI(name, mpi string) error {
	switch {
	case mpi == "":
		return nil
	case name != Srun:
		return fmt.Errorf("launcher %s: MPI type %q: only srun has one", name, mpi)
	case mpi == "none" || !mpiForm.MatchString(mpi):
		return fmt.Errorf("launcher srun: MPI type %q: want pmi2 for MPICH, pmix for Open MPI or another one that srun --mpi=list shows", mpi)
	}
	return nil
}

// checkArgs refuses words that would be the program, and options that change what
// the layout says. --no-kill is among them: with it a job that lost a node ends as
// if nothing had happened.
func checkArgs(name string, args, taken []string) error {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return fmt.Errorf("launcher %s: argument %q: want an option", name, args[0])
	}
	for _, a := range args {
		option, _, _ := strings.Cut(a, "=")
		if a == "--" || a == ":" {
			return fmt.Errorf("launcher %s: argument %q would end the options", name, a)
		}
		for _, t := range taken {
			if option == t || glued(a, t) {
				return fmt.Errorf("launcher %s: argument %q: %s is not for the site to set", name, a, t)
			}
		}
	}
	return nil
}

// glued reports whether a is the short option t with its number, as in -N4.
func glued(a, t string) bool {
	rest, ok := strings.CutPrefix(a, t)
	if !ok || len(t) != 2 || rest == "" {
		return false
	}
	_, err := strconv.Atoi(rest)
	return err == nil
}

// Name returns the launcher's name.
func (l *launcher) Name() string { return l.name }

// Args returns the launcher with its arguments, and the program with its own.
func (l *launcher) Args(layout coll.Layout, cmd benchrunner.Command) []string {
	return slices.Concat([]string{l.path}, l.site, l.layout(layout, cmd), cmd.Args)
}

// On is Args with the option of the launcher that names a file of nodes.
func (l *launcher) On(file string, layout coll.Layout, cmd benchrunner.Command) (args []string, suffix string, err error) {
	for _, a := range l.site {
		option, _, _ := strings.Cut(a, "=")
		if slices.Contains(l.kind.hosts, option) {
			return nil, "", fmt.Errorf("launcher %s: argument %q names nodes: starts side by side are told theirs", l.name, a)
		}
	}
	return slices.Concat([]string{l.path}, l.site, l.kind.file(file), l.layout(layout, cmd), cmd.Args), l.kind.suffix(layout.PPN), nil
}

// Env returns nothing: all launchers find what they need in their job.
func (l *launcher) Env() []mpi.Var { return nil }

// srunArgs: everything is said, since variables of the job (SLURM_NTASKS_PER_NODE,
// SLURM_EXPORT_ENV, SLURM_DISTRIBUTION) would decide otherwise.
func srunArgs(o Options) func(coll.Layout, benchrunner.Command) []string {
	return func(l coll.Layout, _ benchrunner.Command) []string {
		args := []string{
			"--nodes=" + strconv.Itoa(l.Nodes),
			"--ntasks=" + strconv.Itoa(l.Ranks()),
			"--ntasks-per-node=" + strconv.Itoa(l.PPN),
			"--distribution=" + string(cmp.Or(o.Order, coll.Block)),
			"--kill-on-bad-exit=1",
			"--export=ALL",
			"--input=none",
		}
		if o.MPI != "" {
			args = append([]string{"--mpi=" + o.MPI}, args...)
		}
		return args
	}
}

// hydraArgs: hydra passes its whole environment on, unless told otherwise by
// variables of its own; hence -genvall. It deals as many ranks as -ppn says to each node
// of its job in turn, and begins again with the first: in cyclic order the job must not
// have more nodes than the layout, or they must be named.
func hydraArgs(o Options) func(coll.Layout, benchrunner.Command) []string {
	return func(l coll.Layout, _ benchrunner.Command) []string {
		turn := l.PPN
		if o.Order == coll.Cyclic {
			turn = 1
		}
		return []string{"-genvall", "-n", strconv.Itoa(l.Ranks()), "-ppn", strconv.Itoa(turn)}
	}
}

// mpirunArgs: mpirun passes variables of its own (OMPI_...) on and no others.
func mpirunArgs(o Options) func(coll.Layout, benchrunner.Command) []string {
	by := "slot"
	if o.Order == coll.Cyclic {
		by = "node"
	}
	return func(l coll.Layout, cmd benchrunner.Command) []string {
		args := []string{"-n", strconv.Itoa(l.Ranks()), "--map-by", fmt.Sprintf("ppr:%d:node", l.PPN), "--rank-by", by}
		for _, v := range cmd.Env {
			if !strings.HasPrefix(v.Name, "OMPI_") {
				args = append(args, "-x", v.Name)
			}
		}
		return args
	}
}
