package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/coll"
	"tutti/csource"
)

// program is a benchmark program.
type program struct {
	name    string // osu, imb, reprompi or native
	path    string
	library *Library // library that the program loads; nil if it was not found
	state   State
}

// suite describes a benchmark suite: how to find it, how to run its shortest measurement, and how to parse
// the output.
type suite struct {
	name    string
	title   string
	files   []string // names of its program for broadcasts
	home    string   // variable with the path of the installation
	folders []string // folders below the installation and below given folders
	args    []string // arguments that measure a few small broadcasts
	read    func(stdout string) (version string, processes int, measured bool)
	get     string // how to install the suite
}

func suites() []suite {
	return []suite{
		{
			name: "osu", title: "OSU", files: []string{"osu_bcast"}, home: "OSU_HOME",
			folders: []string{"", "bin", "mpi/collective", "libexec/osu-micro-benchmarks/mpi/collective", "c/mpi/collective", "libexec/osu-micro-benchmarks/mpi/collective/blocking"},
			args:    []string{"-m", "4:4", "-i", "10", "-x", "1"}, read: parseOSU,
			get: "build them with this MPI's mpicc and export OSU_HOME=PREFIX",
		},
		{
			name: "imb", title: "IMB", files: []string{"IMB-MPI1"}, home: "IMB_HOME", folders: []string{"", "bin"},
			args: []string{"-npmin", "2", "-iter", "3", "-msglog", "0:3", "Bcast"}, read: parseIMB,
			get: "make IMB-MPI1 CC=mpicc CXX=mpicxx, put it on the PATH",
		},
		{
			name: "reprompi", title: "ReproMPI", files: []string{"mpibenchmark"}, home: "REPROMPI_HOME", folders: []string{"", "bin"},
			args: []string{"--calls-list=MPI_Bcast", "--msizes-list=8", "--nrep=2"}, read: parseReproMPI,
			get: "build mpibenchmark with mpicc and put it on the PATH",
		},
	}
}

// programTester finds benchmark programs. It measures a broadcast on two processes with each program.
type programTester struct {
	*session
	libraries *libraryFinder
	launchers *launcherTester
	own       []string // paths of tutti's benchmark programs that the campaign names
	found     []program
}

func (x *programTester) examine(ctx context.Context) {
	x.examineNative(ctx)
	for _, s := range suites() {
		paths := x.findSuite(s)
		for _, path := range paths {
			x.examineSuite(ctx, s, path)
		}
		if len(paths) == 0 {
			x.add(Check{Programs, s.title, Missing, []string{"optional; not on the PATH, nor in " + s.home}, s.get})
		}
	}
}

// findSuite returns the paths of all copies of a suite's program. Links to the same file count once.
func (x *programTester) findSuite(s suite) []string {
	var dirs []string
	for _, base := range append(slices.Clone(x.options.Folders), x.getenv(s.home)) {
		if base == "" {
			continue
		}
		if abs, err := filepath.Abs(base); err == nil {
			for _, below := range s.folders {
				dirs = append(dirs, filepath.Join(abs, below))
			}
		}
	}
	var out, seen []string
	for _, dir := range append(dirs, x.path()...) {
		for _, name := range s.files {
			if path := filepath.Join(dir, name); isProgram(path) && !slices.Contains(seen, real(path)) {
				seen = append(seen, real(path))
				out = append(out, path)
			}
		}
	}
	return out
}

// examineSuite finds out which library a program loads, and measures a broadcast with the program.
func (x *programTester) examineSuite(ctx context.Context, s suite, path string) {
	p := program{name: s.name, path: path, state: Found}
	c := Check{Section: Programs, Name: s.title, State: Found}
	p.library = x.libraries.of(ctx, path)
	more := x.others(s, path)
	switch start := x.launchers.starter(p.library); {
	case p.library == nil:
		p.state = Missing
		c = c.with(Missing, "load the modules it was built with, or name that installation: --mpi PREFIX")
		c.Details = append(c.Details, "loads "+orNoMPI(x.loadedBy(ctx, path))+", which belongs to no library found here")
	case !x.options.Run:
		c.Details = append(c.Details, p.library.Name+": not tried")
	case start == nil:
		c.Details = append(c.Details, p.library.Name+": not tried, since no launcher of it works")
	default:
		r := x.run(ctx, start.command(x.session, append([]string{path}, s.args...)...))
		c = suiteCheck(c, s, r, p.library.Name)
		p.state = c.State
	}
	c.Details = append(c.Details, path)
	c.Details = append(c.Details, more...)
	x.found = append(x.found, p)
	x.add(c)
}

func orNoMPI(path string) string {
	if path == "" {
		return "a missing MPI library"
	}
	return path
}

// suiteCheck returns a check with the result of a run of a suite's program.
func suiteCheck(c Check, s suite, r result, library string) Check {
	version, n, measured := s.read(r.Stdout)
	if version != "" {
		c.Name = s.title + " " + version
	}
	switch {
	case r.TimedOut:
		c = c.with(Missing, "try it by hand with two processes")
		c.Details = append(c.Details, fmt.Sprintf("%s: no end within %v", library, r.Took.Round(time.Second)))
	case n == 1:
		c = c.with(Missing, "build it again with this MPI's mpicc")
		c.Details = append(c.Details, library+": worlds of one process: it was built with another library")
	case !measured || r.Err != nil:
		c = c.with(Missing, "try it by hand with two processes")
		c.Details = append(c.Details, library+": measures nothing: "+r.message())
	default:
		c.State = OK
		c.Details = append(c.Details, fmt.Sprintf("%s: measures a broadcast, %.1f s", library, r.Took.Seconds()))
	}
	return c
}

// starter returns a working launcher of the library. It prefers launchers other than srun.
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

// others returns a text that says how many of OSU's programs for collectives are in the same folder.
func (x *programTester) others(s suite, path string) []string {
	if s.name != "osu" {
		return nil
	}
	var absent []string
	for _, c := range coll.Collectives() {
		if !isProgram(filepath.Join(filepath.Dir(path), "osu_"+string(c))) {
			absent = append(absent, "osu_"+string(c))
		}
	}
	all := len(coll.Collectives())
	text := fmt.Sprintf("programs of %d of %d collectives", all-len(absent), all)
	if len(absent) > 0 {
		text += "; no " + several(absent)
	}
	return []string{text}
}

var (
	osuForm = regexp.MustCompile(`(?m)# OSU MPI\S* .* Test v([0-9][0-9A-Za-z.+_-]{0,31})\s*$`)
	osuRow  = regexp.MustCompile(`(?m)^(?:\[\S+)? *[0-9]+ +[0-9]+\.[0-9]+`)
	imbForm = regexp.MustCompile(`Intel\(R\) MPI Benchmarks ([0-9][0-9A-Za-z.+_-]{0,31})`)
	imbSize = regexp.MustCompile(`# #processes = ([0-9]{1,6})`)
	imbRow  = regexp.MustCompile(`(?m)^ +[0-9]+ +[0-9]+ +[0-9]+\.[0-9]+`)
	rpSize  = regexp.MustCompile(`(?m)^#@nprocs=([0-9]{1,6})\s*$`)
	rpRow   = regexp.MustCompile(`(?m)^ *MPI_Bcast +[0-9]+ +[0-9]+ +[0-9]+\.[0-9]+`)
)

// parseOSU parses the output of osu_bcast. The output does not contain the number of processes. With a
// single process, it contains an error message.
func parseOSU(text string) (version string, processes int, measured bool) {
	if strings.Contains(text, "requires at least two processes") {
		processes = 1
	}
	if m := osuForm.FindStringSubmatch(text); m != nil {
		version = m[1]
	}
	return version, processes, version != "" && osuRow.MatchString(text)
}

// parseIMB parses the output of IMB-MPI1 Bcast.
func parseIMB(text string) (version string, processes int, measured bool) {
	if m := imbForm.FindStringSubmatch(text); m != nil {
		version = m[1]
	}
	if m := imbSize.FindStringSubmatch(text); m != nil {
		processes, _ = strconv.Atoi(m[1]) // the pattern allows digits only
	}
	return version, processes, processes >= 2 && imbRow.MatchString(text)
}

// parseReproMPI parses the output of mpibenchmark. The output does not contain a version, but the first
// line differs between releases.
func parseReproMPI(text string) (version string, processes int, measured bool) {
	switch {
	case strings.Contains(text, "#Command-line arguments:"):
		version = "1.x"
	case strings.Contains(text, "#Command-Line Arguments:"):
		version = "development version"
	}
	if m := rpSize.FindStringSubmatch(text); m != nil {
		processes, _ = strconv.Atoi(m[1]) // the pattern allows digits only
	}
	return version, processes, processes >= 2 && rpRow.MatchString(text)
}

const nativeTitle = "tutti-native"

// examineNative tries tutti's own benchmark programs. For each library without such a program, it adds a
// check with the command that builds one.
func (x *programTester) examineNative(ctx context.Context) {
	for _, path := range x.findNative() {
		x.examineOwn(ctx, path)
	}
	for _, lib := range x.libraries.found {
		built := slices.ContainsFunc(x.found, func(p program) bool {
			return p.name == "native" && p.library == lib && p.state != Missing
		})
		if lib.launchable() && !built {
			x.add(Check{Programs, nativeTitle, Missing, []string{lib.Name + ": not built yet"}, x.buildCommand(lib, "")})
		}
	}
}

// buildCommand returns the command that builds tutti's benchmark program for a library.
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
		seen = append(seen, real(path))
		out = append(out, path)
	}
	for _, dir := range slices.Concat(x.options.Folders, []string{x.options.Dir}, x.path()) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if !strings.HasPrefix(e.Name(), nativeTitle) || !isProgram(path) || slices.Contains(seen, real(path)) {
				continue
			}
			seen = append(seen, real(path))
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
	p := program{name: "native", path: path, library: x.libraries.of(ctx, path), state: Missing}
	c := Check{Section: Programs, Name: nativeTitle, State: Missing, Fix: "tutti build benchmark --mpicc MPICC -o " + path}
	if p.library != nil {
		c.Fix = x.buildCommand(p.library, path)
	}
	r := x.run(ctx, command{args: []string{path, "--version"}, dir: x.temp, limit: x.limits.ask})
	answer := strings.TrimSpace(r.Stdout)
	start := x.launchers.starter(p.library)
	switch {
	case r.Err != nil || !strings.HasPrefix(answer, nativeTitle+" "):
		c.Details = []string{"is not tutti's benchmark program: " + r.message()}
	case !strings.HasSuffix(answer, " "+csource.Bench.Checksum()):
		c.Details = []string{"built by another version of tutti"}
	case p.library == nil:
		c.Details = []string{"loads an MPI library that was not found here"}
	case !x.options.Run:
		p.state = Found
		c = c.with(Found, "")
		c.Details = []string{p.library.Name + ": not tried"}
	case start == nil:
		p.state = Found
		c = c.with(Found, "")
		c.Details = []string{p.library.Name + ": not tried, since no launcher of it works"}
	default:
		c = x.tryNative(ctx, c, start, "", path)
		p.state = c.State
	}
	c.Details = append(c.Details, path)
	x.found = append(x.found, p)
	x.add(c)
}

// of returns the library that a program loads. It returns nil if the doctor did not find this library.
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

// tryNative measures one broadcast on two processes with tutti's benchmark program. command is its command line
// without the plan. The parameter how is a text that the line of the broadcast in the plan ends with.
func (x *session) tryNative(ctx context.Context, c Check, start *trial, how string, command ...string) Check {
	plan := filepath.Join(x.temp, "plan")
	if err := os.WriteFile(plan, []byte(planOf(start, how)), 0o644); err != nil {
		c.Details = append(c.Details, err.Error())
		return c
	}
	r := x.run(ctx, start.command(x, append(command, plan)...))
	measured, text := parseNative(r.Stdout)
	switch {
	case measured && r.Err == nil:
		c = c.with(OK, "")
		text = fmt.Sprintf("measures a broadcast, %.1f s", r.Took.Seconds())
	case text != "": // why it measures nothing
	case r.TimedOut:
		text = fmt.Sprintf("no end within %v", r.Took.Round(time.Second))
	default:
		text = "measures nothing: " + r.message()
	}
	c.Details = append(c.Details, start.library.Name+": "+text)
	return c
}

// parseNative reports whether the output contains a result. If it does not, why is the reason that the
// program printed, "" if there is none.
func parseNative(text string) (measured bool, why string) {
	for line := range strings.Lines(text) {
		var e struct {
			Event  string  `json:"event"`
			Why    string  `json:"why"`
			Median float64 `json:"median"`
		}
		if json.Unmarshal([]byte(line), &e) != nil {
			continue
		}
		switch e.Event {
		case "result":
			measured = measured || e.Median > 0
		case "error", "refused", "hang":
			why = printable(e.Event + " " + e.Why)
		}
	}
	return measured, strings.TrimSpace(why)
}
