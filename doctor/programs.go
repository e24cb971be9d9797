package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/native"
	"tutti/benchrunner/runners"
	"tutti/coll"
	"tutti/csource"
	"tutti/internal/config"
	"tutti/internal/infile"
	"tutti/mpi/libraries"
)

type program struct {
	kind    benchrunner.ProgramKind
	path    string
	library *Library // library that the program loads; nil if it was not found
	state   State
}

type programTester struct {
	*session
	libraries *libraryFinder
	launchers *launcherTester
	own       []string // paths of tutti's benchmark programs that the campaign names
	found     []program
}

func (x *programTester) examine(ctx context.Context) {
	x.examineNative(ctx)
	for _, kind := range runners.Programs() {
		if kind.Search.File != "" {
			x.examineSuite(ctx, kind)
		}
	}
}

func (x *programTester) examineSuite(ctx context.Context, kind benchrunner.ProgramKind) {
	search := kind.Search
	paths := x.findSuite(search)
	for _, path := range paths {
		p := program{kind: kind, path: path, library: x.libraries.of(ctx, path)}
		c := Check{Section: Programs, Name: search.Title, Fix: "try it by hand with two processes, or build it again with this MPI's mpicc"}
		x.examineProgram(ctx, p, c)
	}
	if len(paths) == 0 {
		x.add(Check{Programs, search.Title, Missing, []string{"optional; not on the PATH, nor in " + search.Home}, search.Install})
	}
}

// findSuite returns the paths of all copies of a suite's program. Links to the same file count once.
func (x *programTester) findSuite(s benchrunner.ProgramSearch) []string {
	var dirs []string
	for _, base := range append(slices.Clone(x.options.Folders), x.getenv(s.Home)) {
		if base == "" {
			continue
		}
		if abs, err := filepath.Abs(base); err == nil {
			for _, below := range s.Folders {
				dirs = append(dirs, filepath.Join(abs, below))
			}
		}
	}
	var out, seen []string
	for _, dir := range append(dirs, x.path()...) {
		if path := filepath.Join(dir, s.File); isProgram(path) && !slices.Contains(seen, infile.Resolve(path)) {
			seen = append(seen, infile.Resolve(path))
			out = append(out, path)
		}
	}
	return out
}

// examineProgram measures a broadcast with a benchmark program, if there is a launcher for the library that the
// program loads. It adds the result to the check c, and this check to the report.
func (x *programTester) examineProgram(ctx context.Context, p program, c Check) {
	switch start := x.launchers.starter(p.library); {
	case p.library == nil:
		c = c.with(Missing, "load the modules it was built with, or name that installation: --mpi PREFIX").
			withDetail("loads " + cmp.Or(x.loadedBy(ctx, p.path), noMPI) + ", which belongs to no library found here")
	case !x.options.Run:
		c = c.with(Found, "").withDetail(p.library.Name + ": not tried")
	case start == nil:
		c = c.with(Found, "").withDetail(p.library.Name + ": not tried, since no launcher of it works")
	default:
		c = x.measure(ctx, c, start, p, coll.Default)
	}
	x.addProgram(p, c)
}

func (x *programTester) addProgram(p program, c Check) {
	p.state = c.State
	c.Details = append(c.Details, p.path)
	if p.kind.Files != "" {
		c.Details = append(c.Details, others(p.path, p.kind.Files))
	}
	x.found = append(x.found, p)
	x.add(c)
}

// measure measures a broadcast on two processes with a benchmark program. It returns the check with the result.
// If `preload` is a command such as env, this command starts the program.
func (x *session) measure(ctx context.Context, c Check, start *trial, p program, alg coll.Algorithm, preload ...string) Check {
	nodes := max(1, len(start.hosts))
	point := coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: pairRanks / nodes, MsgBytes: 8}
	one := benchrunner.Case{Candidate: coll.Candidate{Point: point, Algorithm: alg}}
	if !alg.IsDefault() {
		one.LibtuttiAlgorithm = alg
	}
	launch := benchrunner.Launch{Layout: point.Layout(), Dir: x.temp, Cases: []benchrunner.Case{one}}
	prog, err := p.kind.New(p.kind.Path(p.path), p.kind.Trial)
	if err != nil {
		return c.with(Missing, c.Fix).withDetail(err.Error())
	}
	cmd, err := prog.Command(launch)
	for name, text := range cmd.Files {
		err = errors.Join(err, os.WriteFile(filepath.Join(launch.Dir, name), text, 0o644))
	}
	if err != nil {
		return c.with(Missing, c.Fix).withDetail(err.Error())
	}
	if len(preload) > 0 {
		preload = append(preload, benchrunner.AfterVariables(cmd.Args[:1])...)
		cmd.Args = cmd.Args[1:]
	}
	r := x.run(ctx, start.command(x, append(preload, cmd.Args...)...))
	reading := prog.Read(launch, benchrunner.Output{
		Stdout: []byte(r.Stdout), Stderr: []byte(r.Stderr), Exit: r.Code, Ended: !r.TimedOut, TimedOut: r.TimedOut, Wall: r.Took,
	})
	if reading.Release != "" {
		c.Name += " " + printable(reading.Release)
	}
	switch o := reading.Outcomes[0]; {
	case o.State == benchrunner.OutcomeDone && r.Err == nil:
		return c.with(OK, "").withDetail(fmt.Sprintf("%s: measures a broadcast, %.1f s", start.library.Name, r.Took.Seconds()))
	case r.TimedOut:
		return c.with(Missing, c.Fix).withDetail(fmt.Sprintf("%s: no end within %v", start.library.Name, r.Took.Round(time.Second)))
	default:
		return c.with(Missing, c.Fix).withDetail(start.library.Name + ": measures nothing: " + cmp.Or(printable(o.Error), r.message()))
	}
}

const noMPI = "a missing MPI library"

func (x *launcherTester) starter(lib *Library) *trial {
	var through *trial
	for i, t := range x.tried {
		switch {
		case t.library != lib || t.state != OK:
		case !t.slurm:
			return &x.tried[i]
		case through == nil:
			through = &x.tried[i]
		}
	}
	return through
}

// others describes how many programs for collectives are in the same folder as the given program. Their names match
// the pattern.
func others(path, pattern string) string {
	var absent []string
	blocking := coll.BlockingCollectives()
	for _, c := range blocking {
		if name := strings.Replace(pattern, "*", string(c), 1); !isProgram(filepath.Join(filepath.Dir(path), name)) {
			absent = append(absent, name)
		}
	}
	all := len(blocking)
	text := fmt.Sprintf("programs of %d of %d collectives", all-len(absent), all)
	if len(absent) > 0 {
		text += "; no " + several(absent)
	}
	return text
}

const nativeTitle = "tutti-native"

// examineNative tries tutti's own benchmark programs. For each library that has no such program, it adds a
// check that shows the command for building one.
func (x *programTester) examineNative(ctx context.Context) {
	for _, path := range x.findNative() {
		x.examineOwn(ctx, path)
	}
	for _, lib := range x.libraries.found {
		built := slices.ContainsFunc(x.found, func(p program) bool {
			return p.kind.BuiltIn && p.library == lib && p.state != Missing
		})
		if lib.launchable() && !built && x.inCampaign(lib) {
			x.add(Check{Programs, nativeTitle, Missing, []string{lib.Name + ": not built yet"}, x.buildCommand(lib, "")})
		}
	}
}

// inCampaign reports whether the campaign uses programs of a library. Without a campaign, every library is of use.
func (x *session) inCampaign(lib *Library) bool {
	c := x.options.Campaign
	return c == nil || slices.ContainsFunc(c.Libraries, func(want config.Library) bool {
		port, ok := libraries.Named(want.Name)
		return !ok || port.Facts().Preload || lib.Family == want.Name || lib.Family == port.Facts().Family
	})
}

func (x *session) buildCommand(lib *Library, path string) string {
	if path == "" {
		path = nativeTitle + "-" + lib.Family
	}
	return fmt.Sprintf("tutti build benchmark --mpicc %s -o %s", x.short(lib.Compilers[0]), path)
}

// findNative returns the paths of tutti's benchmark programs: those that a campaign names, and programs
// with the usual name in given folders, the working folder and PATH.
func (x *programTester) findNative() []string {
	var out, seen []string
	for _, path := range x.own {
		seen = append(seen, infile.Resolve(path))
		out = append(out, path)
	}
	for _, dir := range slices.Concat(x.options.Folders, []string{x.options.Dir}, x.path()) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if !strings.HasPrefix(e.Name(), nativeTitle) || !isProgram(path) || slices.Contains(seen, infile.Resolve(path)) {
				continue
			}
			seen = append(seen, infile.Resolve(path))
			if abs, err := filepath.Abs(path); err == nil {
				out = append(out, abs)
			}
		}
	}
	return out
}

// examineOwn checks that a program was built from the source of this version of tutti. It also measures a
// broadcast.
func (x *programTester) examineOwn(ctx context.Context, path string) {
	p := program{kind: native.Kind(), path: path, library: x.libraries.of(ctx, path)}
	c := Check{Section: Programs, Name: nativeTitle, State: Missing, Fix: "tutti build benchmark --mpicc MPICC -o " + path}
	if p.library != nil {
		c.Fix = x.buildCommand(p.library, path)
	}
	r := x.run(ctx, command{args: []string{path, "--version"}, dir: x.temp, limit: x.limits.ask})
	answer := strings.TrimSpace(r.Stdout)
	switch {
	case r.Err != nil || !strings.HasPrefix(answer, nativeTitle+" "):
		x.addProgram(p, c.withDetail("is not tutti's benchmark program: "+r.message()))
	case !strings.HasSuffix(answer, " "+csource.Bench.Checksum()):
		x.addProgram(p, c.withDetail("built by another version of tutti"))
	default:
		x.examineProgram(ctx, p, c)
	}
}

func (x *libraryFinder) of(ctx context.Context, path string) *Library {
	loads := x.loadedBy(ctx, path)
	for _, lib := range x.found {
		if loads != "" && lib.File.Path == loads {
			return lib
		}
	}
	if loads == "" && len(x.found) == 1 { // linked statically, or a script
		return x.found[0]
	}
	return nil
}
