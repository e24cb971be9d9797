package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/mpi/libraries"
)

// Needs is what one campaign asks of the machine.
type Needs struct {
	Scheduler string // local, slurm or allocation
	Program   string // native, osu, reprompi or imb
	Nodes     int    // of its largest job
	PPN       int    // of its fullest node
	JobTime   time.Duration
	Partition string   // empty: the site's default
	Options   []string // of sbatch: account, QOS and the site's own
	Bin       string   // folder of Slurm's commands; empty: the PATH
	Env       []string // NAME=VALUE of every launch
	Modules   []string // that it loads
	Setup     []string // lines of bash that it runs behind them
	Refused   []string // what of its grid cannot be measured, and why
	Libraries []NeededLibrary
}

// NeededLibrary is one MPI build of a campaign. What is empty is left to choose.
type NeededLibrary struct {
	Name, Version string // as the catalogue has them
	Path          string // of the library's file
	Benchmark     string // program built with it, or the folder of several
	Launcher      string // srun, hydra or mpirun
	LauncherPath  string
	LauncherArgs  []string
	PMI           string   // of srun
	Env           []string // NAME=VALUE of its launches
}

// examineNeeds holds a campaign against what was found.
func (x *examiner) examineNeeds(ctx context.Context) {
	n := x.options.Needs
	if n == nil {
		return
	}
	for _, want := range n.Libraries {
		lib := x.needLibrary(ctx, want)
		x.needLauncher(want, lib)
		x.needRoot(want)
		x.needBenchmark(want, lib)
	}
	if len(n.Refused) > 0 {
		x.add(need("grid", Warning, "", n.Refused...))
	}
	switch n.Scheduler {
	case "slurm":
		x.needPartition()
		x.needSubmission(ctx)
	case "allocation":
		x.needAllocation()
	default:
		x.needProcessors()
	}
}

func need(name string, state State, cure string, details ...string) Check {
	return Check{Campaign, name, state, details, cure}
}

// needLibrary finds the build that a campaign names; nil when it is not here.
func (x *examiner) needLibrary(ctx context.Context, want NeededLibrary) *Library {
	if port, ok := libraries.Named(want.Name); ok && port.Facts().Preload {
		return x.needPreloaded(ctx, want)
	}
	name := want.Name + " " + want.Version
	var found *Library
	for _, lib := range x.libraries {
		fits := lib.Family == want.Name && (want.Path == "" || real(want.Path) == lib.File.Path)
		if fits && (found == nil || lib.Version == want.Version && found.Version != want.Version) {
			found = lib
		}
	}
	hint := ""
	if mods := x.options.Needs.Modules; len(mods) > 0 {
		hint = "; here as in the campaign: module load " + strings.Join(mods, " ")
	}
	switch {
	case found == nil && want.Path != "" && !exists(want.Path):
		x.add(need(name, Missing, "mend its path in the campaign file", "no file "+want.Path))
	case found == nil:
		x.add(need(name, Missing, "tell the doctor where it is: --mpi PREFIX"+hint, "no such library was found here"))
	case found.Version != want.Version && found.Catalogue != want.Version:
		x.add(need(name, Warning, "version: "+cmp.Or(found.Catalogue, found.Version)+" in the campaign file"+hint, "here is "+found.Name+" in "+found.File.Path))
	default:
		x.add(need(name, OK, "", found.Name, orNoMPI(found.File.Path)))
	}
	return found
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// needLauncher looks for a launcher of the kind that was seen to work.
func (x *examiner) needLauncher(want NeededLibrary, lib *Library) {
	name := want.Name + " launcher"
	if want.LauncherPath != "" && !isProgram(want.LauncherPath) {
		x.add(need(name, Warning, "look whether it is on the nodes", want.LauncherPath+" is not a program here"))
		return
	}
	if lib == nil {
		return
	}
	best := Missing
	said := "no " + want.Launcher + " was found to start programs of " + lib.Name
	for _, t := range x.tried {
		if t.library != lib || !t.is(want) {
			continue
		}
		said = t.launcher + ": " + string(t.state)
		best = t.state
		if t.state == OK {
			break
		}
	}
	cure := ""
	if best == Missing || best == Warning {
		cure = "see Launchers above; another launcher in the campaign file"
	}
	x.add(need(name, best, cure, said))
}

// is reports whether the launcher is the one that a campaign names.
func (t trial) is(want NeededLibrary) bool {
	if want.Launcher == "srun" {
		return t.slurm && (want.PMI == "" || t.launcher == "srun --mpi="+want.PMI)
	}
	return !t.slurm && want.Launcher == t.library.launcher().Kind
}

// needRoot tells of a launcher that starts nothing for root unless it is allowed to.
func (x *examiner) needRoot(want NeededLibrary) {
	family := familyOf(want.Name)
	if family == nil || os.Geteuid() != 0 {
		return
	}
	own := family.Facts().Launcher
	if want.Launcher != own.Kind || slices.Contains(want.LauncherArgs, "--allow-run-as-root") {
		return
	}
	n := x.options.Needs
	var absent []string
	for _, v := range own.RootEnv {
		name, _, _ := strings.Cut(v, "=")
		named := slices.ContainsFunc(slices.Concat(n.Env, want.Env, n.Setup), func(s string) bool { return strings.Contains(s, name+"=") })
		if inherited := n.Scheduler != "slurm" && x.getenv(name) != ""; !named && !inherited {
			absent = append(absent, v)
		}
	}
	if len(absent) > 0 {
		x.add(need(want.Name+" as root", Warning, "work as another user, or give the library env: ["+strings.Join(absent, ", ")+"]",
			want.Launcher+" starts nothing for root unless it is told to"))
	}
}

// needBenchmark looks for the program among those that were tried.
func (x *examiner) needBenchmark(want NeededLibrary, lib *Library) {
	name := want.Name + " benchmark"
	if !exists(want.Benchmark) {
		cure := "build it, or look whether it is on the nodes"
		if x.options.Needs.Program == "native" && lib != nil {
			cure = x.buildNative(lib, want.Benchmark)
		}
		x.add(need(name, Missing, cure, "no file "+want.Benchmark+" here"))
		return
	}
	i := slices.IndexFunc(x.programs, func(p program) bool {
		inside := strings.HasPrefix(real(p.path), real(want.Benchmark)+string(filepath.Separator))
		return p.name == x.options.Needs.Program && (real(p.path) == real(want.Benchmark) || inside)
	})
	switch {
	case i < 0:
		x.add(need(name, Missing, "mend benchmark in the campaign file", "no "+x.options.Needs.Program+" program in "+want.Benchmark))
	case x.programs[i].library != lib:
		x.add(need(name, Missing, "build it with the compiler of that library", x.programs[i].path+" loads another library than the campaign's"))
	default:
		c := need(name, x.programs[i].state, "", x.programs[i].path)
		if c.State == Missing {
			c = c.with(Missing, "see Benchmark programs above")
			c.Details = append(c.Details, "does not measure")
		}
		x.add(c)
	}
}

// needPartition holds the largest job against the limits of the partition.
func (x *examiner) needPartition() {
	n := x.options.Needs
	if !x.slurm.reachable {
		x.add(need("Slurm", Missing, "see Slurm above", "the campaign submits jobs, and Slurm does not answer"))
		return
	}
	i := slices.IndexFunc(x.slurm.partitions, func(p partition) bool { return p.Name == n.Partition || n.Partition == "" && p.Default })
	if i < 0 {
		var names []string
		for _, p := range x.slurm.partitions {
			names = append(names, p.Name)
		}
		x.add(need("partition", Missing, "slurm.partition in the campaign file: one of "+several(names), "no partition "+cmp.Or(n.Partition, "is the default")))
		return
	}
	p := x.slurm.partitions[i]
	var faults []string
	if limit, err := strconv.Atoi(p.MaxNodes); p.Nodes < n.Nodes || err == nil && limit < n.Nodes {
		faults = append(faults, fmt.Sprintf("the grid has jobs of %d nodes", n.Nodes))
	}
	if p.perNode() < n.PPN {
		faults = append(faults, fmt.Sprintf("the grid has %d processes on a node", n.PPN))
	}
	if p.State != "UP" {
		faults = append(faults, "it is "+p.State)
	}
	if len(faults) > 0 {
		x.add(need("partition", Missing, "a smaller grid, or another partition", append([]string{p.String()}, faults...)...))
		return
	}
	x.add(need("partition", OK, "", p.String()))
}

// needSubmission asks Slurm whether it would take the largest job.
func (x *examiner) needSubmission(ctx context.Context) {
	n := x.options.Needs
	script := filepath.Join(x.temp, "job.sh")
	path := x.look("sbatch")
	if !x.slurm.reachable || path == "" || !exists(script) {
		return
	}
	args := []string{path, "--test-only", "--job-name=tutti-doctor", fmt.Sprintf("--nodes=%d", n.Nodes), fmt.Sprintf("--ntasks-per-node=%d", n.PPN)}
	if n.JobTime > 0 {
		args = append(args, fmt.Sprintf("--time=%d", int((n.JobTime+time.Minute-1)/time.Minute)))
	}
	if n.Partition != "" {
		args = append(args, "--partition="+n.Partition)
	}
	args = slices.Concat(args, n.Options, []string{script})
	r := x.run(ctx, command{args: args, dir: x.temp, drop: inherited, limit: x.limits.ask})
	text := fmt.Sprintf("%s x %s", count(n.Nodes, "node", "nodes"), count(n.PPN, "process", "processes"))
	if r.Err != nil {
		x.add(need("largest job", Missing, "a smaller grid, a shorter runner.job_time, or another partition, account or QOS", text+": sbatch --test-only refuses: "+r.said()))
		return
	}
	x.add(need("largest job", OK, "", text+": sbatch takes it"+startsIn(r.Stderr+r.Stdout, x.now())))
}

func (x *examiner) needAllocation() {
	n := x.options.Needs
	switch {
	case x.slurm.job == "":
		x.add(need("allocation", Missing, fmt.Sprintf("salloc --nodes=%d --ntasks-per-node=%d, and tutti inside of it", n.Nodes, n.PPN), "tutti is not inside of a job"))
	case x.slurm.jobNodes < n.Nodes:
		x.add(need("allocation", Missing, fmt.Sprintf("salloc --nodes=%d, or a smaller grid", n.Nodes), fmt.Sprintf("the job has %s, the grid %d", count(x.slurm.jobNodes, "node", "nodes"), n.Nodes)))
	default:
		x.add(need("allocation", OK, "", fmt.Sprintf("the job has %s, the grid needs %d", count(x.slurm.jobNodes, "node", "nodes"), n.Nodes)))
	}
}

func (x *examiner) needProcessors() {
	n, cores := x.options.Needs, runtime.NumCPU()
	text := fmt.Sprintf("%s, the grid has %s on a node", count(cores, "core", "cores"), count(n.PPN, "process", "processes"))
	if n.PPN > cores {
		x.add(need("processors", Warning, "a grid with fewer processes: times of more are those of waiting", text))
		return
	}
	x.add(need("processors", OK, "", text))
}

// named returns the folders of the programs that a campaign names, and the
// programs of tutti's own among them.
func (n *Needs) named() (folders, own []string) {
	if n == nil {
		return nil, nil
	}
	for _, lib := range n.Libraries {
		info, err := os.Stat(lib.Benchmark)
		switch {
		case err != nil:
		case info.IsDir():
			folders = append(folders, lib.Benchmark)
		case n.Program == "native":
			own = append(own, lib.Benchmark)
		default:
			folders = append(folders, filepath.Dir(lib.Benchmark))
		}
	}
	return folders, own
}
