package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/local"
	"tutti/benchrunner/native"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/internal/infile"
	"tutti/mpi"
	"tutti/mpi/libraries"
)

func (x *examination) examineCampaign(ctx context.Context) {
	c := x.options.Campaign
	if c == nil {
		return
	}
	for _, want := range c.Libraries {
		lib := x.checkLibrary(ctx, want)
		x.checkLauncher(want, lib)
		x.checkRoot(want)
		x.checkBenchmark(want, lib)
	}
	for _, t := range x.options.Tried {
		if name := t.Library + " launch"; t.Err != nil {
			x.add(need(name, Missing, "correct the campaign file or the settings of the machine", append([]string{"the campaign's launch of " + t.Layout + " fails"}, strings.Split(t.Err.Error(), "\n")...)...))
		} else {
			x.add(need(name, OK, "", append([]string{"the campaign's launch of " + t.Layout + " works"}, t.Settings...)...))
		}
	}
	if hidden := x.options.Hidden; len(hidden) > 0 {
		x.add(need("settings", Warning, "", hidden...))
	}
	if refused := x.options.Refused; len(refused) > 0 {
		x.add(need("grid", Warning, "", refused...))
	}
	switch facts := c.Runner.Facts(); {
	case facts.Queue() && !facts.Srun:
		x.checkQueue(ctx, facts.Manager)
	case facts.Queue():
		x.checkPartition()
		x.checkSubmission(ctx)
	case facts.OneNode:
		x.checkProcessors()
	default:
		x.checkAllocation(ctx)
	}
}

func need(name string, state State, fix string, details ...string) Check {
	return Check{Campaign, name, state, details, fix}
}

// checkLibrary checks that the campaign's MPI library is installed, and returns it. For a library that serves calls of
// another one it is the other one, of any release.
func (x *examination) checkLibrary(ctx context.Context, want config.Library) *Library {
	name, family, release := want.Name+" "+want.Version, want.Name, want.Version
	if port, ok := libraries.Named(want.Name); ok {
		switch facts := port.Facts(); {
		case facts.Preload:
			return x.checkPreloaded(ctx, want)
		case facts.Component != "":
			family, release = facts.Family, ""
		}
	}
	var found *Library
	for _, lib := range x.libraries.found {
		fits := lib.Family == family && (want.Path == "" || infile.Resolve(want.Path) == lib.File.Path)
		if fits && (found == nil || mpi.SameRelease(lib.Version, want.Version) && !mpi.SameRelease(found.Version, want.Version)) {
			found = lib
		}
	}
	hint := ""
	if mods := x.options.Campaign.Runner.Modules; len(mods) > 0 {
		hint = "; here as in the campaign: module load " + strings.Join(mods, " ")
	}
	switch {
	case found == nil && want.Path != "" && !exists(want.Path):
		x.add(need(name, Missing, "fix its path in the campaign file", "no file "+want.Path))
	case found == nil:
		x.add(need(name, Missing, "name its installation: --mpi PREFIX"+hint, "no such library was found here"))
	case release != "" && !mpi.SameRelease(found.Version, release):
		x.add(need(name, Missing, "version: "+found.Version+" in the campaign file"+hint, "here is "+found.Name+" in "+found.File.Path))
	default:
		x.add(need(name, OK, "", found.Name, cmp.Or(found.File.Path, noMPI)))
	}
	return found
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// checkLauncher checks that the campaign's launcher works. The doctor must have tried it before.
func (x *examination) checkLauncher(want config.Library, lib *Library) {
	name := want.Name + " launcher"
	if want.LauncherPath != "" && !isProgram(want.LauncherPath) {
		x.add(need(name, Warning, "check that it exists on the nodes", want.LauncherPath+" is not a program here"))
		return
	}
	if benchrunner.StartsAll(want.Launcher) && want.Launcher != benchrunner.Srun {
		x.add(need(name, Found, "", want.Launcher+": not tried"))
		return
	}
	if lib == nil {
		return
	}
	best := Missing
	detail := "no " + want.Launcher + " was found to start programs of " + lib.Name
	for _, t := range x.launchers.tried {
		if t.library != lib || !t.is(want) {
			continue
		}
		detail = t.launcher + ": " + string(t.state)
		best = t.state
		if t.state == OK {
			break
		}
	}
	fix := ""
	if best == Missing || best == Warning {
		fix = "see Launchers above; another launcher in the campaign file"
	}
	x.add(need(name, best, fix, detail))
}

func (t trial) is(want config.Library) bool {
	if want.Launcher == benchrunner.Srun {
		return t.slurm && (want.PMI == "" || t.launcher == "srun --mpi="+want.PMI)
	}
	return !t.slurm && want.Launcher == t.library.launcher().Kind
}

// checkRoot adds a warning if the launcher refuses to run as root and root starts it. There is no warning if the
// environment variables that make the launcher accept root are set.
func (x *session) checkRoot(want config.Library) {
	own := launcherFacts(want).Launcher
	if os.Geteuid() != 0 || want.Launcher != own.Kind || slices.Contains(want.LauncherArgs, "--allow-run-as-root") {
		return
	}
	runner := x.options.Campaign.Runner
	var absent []string
	for _, v := range own.RootEnv {
		name, _, _ := strings.Cut(v, "=")
		named := slices.ContainsFunc(slices.Concat(runner.Env, want.Env, runner.Setup), func(s string) bool { return strings.Contains(s, name+"=") })
		if inherited := runner.Facts().Attached && x.getenv(name) != ""; !named && !inherited {
			absent = append(absent, v)
		}
	}
	if len(absent) > 0 {
		x.add(need(want.Name+" as root", Warning, "work as another user, or set the library's env: ["+strings.Join(absent, ", ")+"]",
			want.Launcher+" refuses to start programs for root"))
	}
}

// checkBenchmark checks that the campaign's benchmark program works. The doctor must have tried it before.
func (x *examination) checkBenchmark(want config.Library, lib *Library) {
	name := want.Name + " benchmark"
	if !exists(want.Benchmark) {
		fix := "build it, or check that it exists on the nodes"
		if x.options.Campaign.Benchmark.Kind().BuiltIn && lib != nil {
			fix = x.buildCommand(lib, want.Benchmark)
		}
		x.add(need(name, Missing, fix, "no file "+want.Benchmark+" here"))
		return
	}
	if kind := x.options.Campaign.Benchmark.Kind(); !kind.BuiltIn && kind.Search.File == "" { // the doctor cannot try it
		x.add(need(name, Found, "", want.Benchmark))
		return
	}
	i := slices.IndexFunc(x.programs.found, func(p program) bool {
		inside := strings.HasPrefix(infile.Resolve(p.path), infile.Resolve(want.Benchmark)+string(filepath.Separator))
		return p.kind.Name == x.options.Campaign.Benchmark.Program && (infile.Resolve(p.path) == infile.Resolve(want.Benchmark) || inside)
	})
	switch {
	case i < 0:
		x.add(need(name, Missing, "fix benchmark in the campaign file", "no "+x.options.Campaign.Benchmark.Program+" program in "+want.Benchmark))
	case x.programs.found[i].library != lib:
		x.add(need(name, Missing, "build it with the compiler of that library", x.programs.found[i].path+" loads another library than the campaign's"))
	default:
		c := need(name, x.programs.found[i].state, "", x.programs.found[i].path)
		if c.State == Missing {
			c = c.with(Missing, "see Benchmark programs above").withDetail("does not measure")
		}
		x.add(c)
	}
}

// checkQueue checks that a workload manager answers and that its queue accepts the campaign's largest job.
func (x *examination) checkQueue(ctx context.Context, manager string) {
	ctx, cancel := context.WithTimeout(ctx, x.limits.compile)
	defer cancel()
	scheduler, err := x.options.Campaign.NewScheduler(x.environ, nil)
	if err != nil {
		x.add(need(manager, Missing, "put its commands on the PATH, or work on a machine of the cluster", printable(err.Error())))
		return
	}
	c, err := scheduler.Capacity(ctx)
	if err != nil {
		x.add(need(manager, Missing, "ask the operators; check the queue in the campaign file", printable(err.Error())))
		return
	}
	text := fmt.Sprintf("%s of %s", count(c.Nodes, "node", "nodes"), count(c.PPN, "core", "cores"))
	if c.Limit > 0 {
		text += ", limit " + c.Limit.String()
	}
	var faults []string
	if nodes := x.nodes(); nodes > c.Nodes {
		faults = append(faults, fmt.Sprintf("the grid has jobs of %d nodes", nodes))
	}
	if ppn := x.ppn(); c.PPN > 0 && ppn > c.PPN {
		faults = append(faults, fmt.Sprintf("the grid has %d processes on a node", ppn))
	}
	if len(faults) > 0 {
		x.add(need("queue", Missing, "a smaller grid, or another queue", append([]string{text}, faults...)...))
		return
	}
	x.add(need("queue", OK, "", text))
}

func (x *examination) checkPartition() {
	wanted, nodes, ppn := x.options.Campaign.Slurm.Partition, x.nodes(), x.ppn()
	if !x.slurm.reachable {
		x.add(need("Slurm", Missing, "see Slurm above", "the campaign submits jobs, and Slurm does not answer"))
		return
	}
	i := slices.IndexFunc(x.slurm.partitions, func(p partition) bool { return p.Name == wanted || wanted == "" && p.Default })
	if i < 0 {
		var names []string
		for _, p := range x.slurm.partitions {
			names = append(names, p.Name)
		}
		x.add(need("partition", Missing, "slurm.partition in the campaign file: one of "+several(names), "no partition "+cmp.Or(wanted, "is the default")))
		return
	}
	p := x.slurm.partitions[i]
	var faults []string
	if limit, err := strconv.Atoi(p.MaxNodes); p.Nodes < nodes || err == nil && limit < nodes {
		faults = append(faults, fmt.Sprintf("the grid has jobs of %d nodes", nodes))
	}
	if p.perNode() < ppn {
		faults = append(faults, fmt.Sprintf("the grid has %d processes on a node", ppn))
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

func (x *examination) checkSubmission(ctx context.Context) {
	c := x.options.Campaign
	script := filepath.Join(x.temp, "job.sh")
	path := x.look("sbatch")
	if !x.slurm.reachable || path == "" || !exists(script) {
		return
	}
	args := []string{path, "--test-only", "--job-name=tutti-doctor", fmt.Sprintf("--nodes=%d", x.nodes()), fmt.Sprintf("--ntasks-per-node=%d", x.ppn())}
	if c.Runner.JobTime > 0 {
		args = append(args, fmt.Sprintf("--time=%d", int((c.Runner.JobTime+time.Minute-1)/time.Minute)))
	}
	args = slices.Concat(args, c.Slurm.NamedArguments(), c.Slurm.Directives, []string{script})
	r := x.run(ctx, command{args: args, dir: x.temp, drop: benchrunner.Unset(benchrunner.Srun), limit: x.limits.ask})
	text := fmt.Sprintf("%s x %s", count(x.nodes(), "node", "nodes"), count(x.ppn(), "process", "processes"))
	if r.Err != nil {
		x.add(need("largest job", Missing, "a smaller grid, a shorter runner.job_time, or another partition, account or QOS", text+": sbatch --test-only refuses: "+r.message()))
		return
	}
	x.add(need("largest job", OK, "", text+": sbatch accepts it"+startsIn(r.Stderr+r.Stdout, x.now())))
}

func (x *examination) checkAllocation(ctx context.Context) {
	nodes, has := x.nodes(), 0
	scheduler, err := x.options.Campaign.NewScheduler(x.environ, nil)
	if err == nil {
		var capacity benchrunner.Capacity
		capacity, _ = scheduler.Capacity(ctx) // an unknown end matters later
		has = capacity.Nodes
	}
	switch {
	case errors.Is(err, benchrunner.ErrOutside):
		x.add(need("allocation", Missing, fmt.Sprintf("salloc --nodes=%d --ntasks-per-node=%d, and tutti inside of it; or runner.hosts", nodes, x.ppn()), "tutti is not inside of a job"))
	case err != nil:
		x.add(need("allocation", Missing, "fix what the message names", err.Error()))
	case has < nodes:
		x.add(need("allocation", Missing, fmt.Sprintf("a job of %s, or a smaller grid", count(nodes, "node", "nodes")), fmt.Sprintf("the job has %s, the grid %d", count(has, "node", "nodes"), nodes)))
	default:
		x.add(need("allocation", OK, "", fmt.Sprintf("the job has %s, the grid needs %d", count(has, "node", "nodes"), nodes)))
	}
}

func (x *examination) checkProcessors() {
	ppn, cores := x.ppn(), local.Cores()
	text := fmt.Sprintf("%s, the grid has %s on a node", count(cores, "core", "cores"), count(ppn, "process", "processes"))
	if ppn > cores {
		x.add(need("processors", Warning, "use fewer processes: those that share cores wait for each other", text))
		return
	}
	x.add(need("processors", OK, "", text))
}

// nodes returns the number of nodes of the campaign's largest job.
func (x *examination) nodes() int { return slices.Max(x.options.Campaign.Grid.Nodes) }

// ppn returns the campaign's largest number of processes on a node.
func (x *examination) ppn() int { return slices.Max(x.options.Campaign.Grid.PPN) }

// named returns two lists: the folders of the benchmark programs that a campaign names, and the paths of
// tutti's own programs.
func (x *session) named() (folders, own []string) {
	c := x.options.Campaign
	if c == nil {
		return nil, nil
	}
	for _, lib := range c.Libraries {
		info, err := os.Stat(lib.Benchmark)
		switch {
		case err != nil:
		case info.IsDir():
			folders = append(folders, lib.Benchmark)
		case c.Benchmark.Kind().BuiltIn:
			own = append(own, lib.Benchmark)
		default:
			folders = append(folders, filepath.Dir(lib.Benchmark))
		}
	}
	return folders, own
}

// checkPreloaded checks the file of libtutti, which programs load before the MPI library. With Options.Run, it
// measures one algorithm of libtutti. It returns the MPI library that the benchmark program loads, or nil.
func (x *examination) checkPreloaded(ctx context.Context, want config.Library) *Library {
	name := want.Name + " " + want.Version
	lib := x.libraries.of(ctx, want.Benchmark)
	fix := fmt.Sprintf("tutti build runtime --mpicc MPICC -o %s", want.Path)
	if lib != nil {
		fix = fmt.Sprintf("tutti build runtime --mpicc %s -o %s", x.short(lib.Compilers[0]), want.Path)
	}
	start := x.launchers.starter(lib)
	switch {
	case !exists(want.Path):
		x.add(need(name, Missing, fix, "no file "+want.Path))
	case lib == nil || start == nil || !x.options.Run || !exists(want.Benchmark):
		x.add(need(name, Found, "", want.Path+": not tried"))
	default:
		x.add(x.measure(ctx, need(name, Missing, fix, want.Path), start, program{kind: native.Kind(), path: want.Benchmark}, coll.Algorithm{Name: "binomial"}, "env", "LD_PRELOAD="+want.Path))
	}
	return lib
}
