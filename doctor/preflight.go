package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"tutti/benchrunner"
	"tutti/internal/config"
	"tutti/internal/lazyregexp"
	"tutti/mpi"
	"tutti/mpi/libraries"
)

// Preflight checks the programs and folders that a campaign names: benchmarks with their MPI libraries,
// launchers and the output folder. It starts no parallel program and does not call Slurm. It takes about a
// second.
//
// It returns the checks that are not OK. A benchmark program whose check has the state Missing cannot run.
func Preflight(ctx context.Context, opt Options) ([]Check, error) {
	x := &preflight{newSession(opt, "/")}
	if err := x.begin(ctx); err != nil {
		return nil, err
	}
	for _, want := range x.options.Campaign.Libraries {
		x.checkBenchmark(ctx, want)
		x.checkLauncher(want)
		x.checkRoot(want)
	}
	if opt.Campaign.Runner.Facts().Queue() {
		x.checkFolder()
	}
	return slices.DeleteFunc(x.checks, func(c Check) bool { return c.State == OK }), ctx.Err()
}

type preflight struct{ *session }

func (x *preflight) checkBenchmark(ctx context.Context, want config.Library) {
	name := want.Name + " benchmark"
	path, fault := x.benchmarkOf(want)
	if fault != "" {
		fix := "fix benchmark in the campaign file"
		if x.options.Campaign.Benchmark.Kind().BuiltIn {
			fix = "tutti build benchmark --mpicc MPICC -o " + want.Benchmark
		}
		x.add(need(name, Missing, fix, fault))
		return
	}
	r := x.run(ctx, command{
		args: []string{path}, env: append(slices.Clone(want.Env), "LD_TRACE_LOADED_OBJECTS=1"), dir: x.options.Dir, limit: x.limits.ask,
	})
	if absent := notFound(r.Stdout); len(absent) > 0 {
		state := Missing
		if x.options.Campaign.Runner.Facts().Queue() { // nodes may have other libraries
			state = Warning
		}
		x.add(need(name, state, "runner.modules, or LD_LIBRARY_PATH in the env of the library", path+" does not find "+several(absent)))
		return
	}
	loads := parseLoaded(r.Stdout)
	if loads == "" {
		return // linked statically, or a script
	}
	if id, err := libraries.Identify(loads); err == nil {
		x.checkLibrary(want, path, id.Version)
	}
}

// checkLibrary compares the campaign's library with the MPI library that a program loads, such as "MPICH
// 4.0.2".
func (x *preflight) checkLibrary(want config.Library, path, loads string) {
	family := familyOf(want.Name)
	if family == nil {
		x.checkBelow(want, path, loads)
		return
	}
	title := family.Facts().Title
	switch version, same := strings.CutPrefix(loads, title+" "); {
	case !same && knownTitle(loads):
		x.add(need(want.Name+" benchmark", Missing, "build it with the compiler of "+title, path+" loads "+loads))
	case same && !mpi.SameRelease(version, want.Version):
		x.add(need(want.Name+" benchmark", Missing, "version: "+version+" in the campaign file, if this version is intended", path+" loads "+loads+", the campaign is for "+want.Version))
	}
}

// Loaded returns the MPI library that a program would load in an environment. If the program loads none,
// the Path of the result is empty.
func Loaded(ctx context.Context, program string, environ []string) mpi.Identity {
	x := newSession(Options{Environ: environ, Dir: "/"}, "/")
	loads := x.loadedBy(ctx, program)
	if loads == "" {
		return mpi.Identity{}
	}
	id, err := libraries.Identify(loads)
	if err != nil {
		return mpi.Identity{Path: loads} // the path alone is known
	}
	return id
}

// BenchmarkFiles returns, for each benchmark program of a campaign, the file of the MPI library that the
// program loads in the environment of its jobs. A path is empty if the program loads no MPI library here.
func BenchmarkFiles(ctx context.Context, opt Options) ([]string, error) {
	x := &preflight{newSession(opt, "/")}
	if err := x.begin(ctx); err != nil {
		return nil, err
	}
	var out []string
	for _, want := range x.options.Campaign.Libraries {
		loads := ""
		if path, fault := x.benchmarkOf(want); fault == "" {
			loads = x.loadedBy(ctx, path)
		}
		out = append(out, loads)
	}
	return out, ctx.Err()
}

// checkBelow checks, for a library that is loaded before an MPI library, that the campaign's launcher starts programs of
// the MPI library below.
func (x *preflight) checkBelow(want config.Library, path, loads string) {
	for _, l := range libraries.All() {
		facts := l.Facts()
		own := facts.Launcher
		if facts.Preload || !strings.HasPrefix(loads, facts.Title+" ") || want.Launcher == own.Kind || benchrunner.StartsAll(want.Launcher) {
			continue
		}
		x.add(need(want.Name+" launcher", Missing, "launcher: "+own.Kind+" in the campaign file, or a benchmark program of another MPI library",
			fmt.Sprintf("%s loads %s, whose programs %s does not start", path, loads, want.Launcher)))
	}
}

func knownTitle(loads string) bool {
	for _, l := range libraries.All() {
		if family := familyOf(l.Facts().Family); family != nil && strings.HasPrefix(loads, family.Facts().Title+" ") {
			return true
		}
	}
	return false
}

// benchmarkOf returns the path of the benchmark program for a library. If the campaign names several
// programs, it returns the first one. If there is none, it returns a description of the fault.
func (x *preflight) benchmarkOf(want config.Library) (path, fault string) {
	kind := x.options.Campaign.Benchmark.Kind()
	if path = kind.File(want.Benchmark); path == "" {
		return "", "no " + kind.Search.Title + " program in " + want.Benchmark
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return "", "no file " + path + " here"
	case info.IsDir():
		return "", path + " is a folder: want the program"
	case !isProgram(path):
		return "", path + " cannot be executed: chmod +x"
	}
	return path, ""
}

var notFoundForm = lazyregexp.New(`(?m)^\s*(lib\S+) => not found$`)

func notFound(list string) []string {
	var out []string
	for _, m := range notFoundForm.FindAllStringSubmatch(list, -1) {
		out = append(out, m[1])
	}
	return out
}

// checkLauncher checks that the launcher exists. It does nothing for jobs of a queue, whose nodes may have
// other programs than this machine.
func (x *preflight) checkLauncher(want config.Library) {
	if x.options.Campaign.Runner.Facts().Queue() {
		return // the launcher runs on the nodes
	}
	program, fix := want.LauncherPath, "correct launcher_path in the campaign file"
	if program == "" {
		program, fix = benchrunner.LauncherProgram(want.Launcher), "put its folder on the PATH, or set launcher_path in the campaign file"
		if facts := launcherFacts(want); !benchrunner.StartsAll(want.Launcher) && facts.Launcher.Program != "" {
			program, fix = facts.Launcher.Program, launcherFix(facts)+", or set launcher_path in the campaign file"
		}
		program = cmp.Or(x.look(program), program)
	}
	if !isProgram(program) {
		x.add(need(want.Name+" launcher", Missing, fix, "no program "+program))
	}
}

// launcherFacts returns the facts of the library whose launcher starts programs of a library. Libraries that are preloaded,
// such as libtutti, have the launcher of the MPI library below, which their key launcher names.
func launcherFacts(want config.Library) mpi.Facts {
	if family := familyOf(want.Name); family != nil {
		return family.Facts()
	}
	for _, l := range libraries.All() {
		if facts := l.Facts(); facts.Launcher.Kind == want.Launcher && facts.Launcher.Program != "" {
			return facts
		}
	}
	return mpi.Facts{}
}

func (x *preflight) checkFolder() {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(x.options.Dir, &fs); err != nil {
		return
	}
	if kind, known := fileSystems[uint32(fs.Type)]; known && !kind.shared {
		x.add(need("output", Warning, shareFix, fmt.Sprintf("%s is on %s, which is local to this machine", x.options.Dir, kind.name)))
	}
}
