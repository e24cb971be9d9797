package doctor

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/csource"
	"tutti/internal/config"
	"tutti/internal/infile"
	"tutti/internal/lazyregexp"
	"tutti/mpi"
	"tutti/mpi/libraries"
)

// Library is one MPI installation that the doctor found.
type Library struct {
	Name      string       `json:"name"`               // as in reports, for example "MPICH 4.0.2"
	Family    string       `json:"family"`             // mpich, openmpi, the name of a vendor's library such as intel, or other
	Version   string       `json:"version"`            // of that library
	Compilers []string     `json:"compilers"`          // compiler wrappers
	Headers   bool         `json:"headers"`            // a program was compiled
	File      mpi.Identity `json:"file"`               // file that programs load
	Device    string       `json:"device,omitzero"`    // network layer of MPICH
	Checks    string       `json:"checks,omitzero"`    // checks of arguments and assertions: on, off, or empty if unknown
	Catalogue string       `json:"catalogue,omitzero"` // release in tutti's catalogue of algorithms
	Absent    []string     `json:"absent,omitempty"`   // algorithms that the catalogue lists and the library does not have
	Unlisted  []string     `json:"unlisted,omitempty"` // algorithms that the library has and the catalogue does not list

	family mpi.Measurable // nil for an unknown family
	probe  string         // path of the compiled probe
	vendor string         // vendor of a library derived from the family's, otherwise empty
}

// launchable reports whether tutti can build and start programs of the library.
func (l *Library) launchable() bool { return l.Headers && l.family != nil }

func (l *Library) launcher() mpi.Launcher { return l.family.Facts().Launcher }

func (l *Library) bins() []string {
	var out []string
	for _, c := range l.Compilers {
		if dir := filepath.Dir(c); !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// libraryFinder finds MPI libraries by their compiler wrappers.
type libraryFinder struct {
	*session
	found []*Library
}

func (x *libraryFinder) examine(ctx context.Context) {
	given, _ := x.prefixes()
	found := x.findWrappers()
	for i, wrapper := range found {
		x.examineWrapper(ctx, wrapper, i)
	}
	for _, lib := range x.found {
		x.examineBuild(ctx, lib)
	}
	for _, p := range given {
		if !slices.ContainsFunc(found, func(w string) bool { return filepath.Dir(w) == filepath.Join(p, "bin") }) {
			x.add(Check{Libraries, p, Missing, []string{"no compiler wrapper (mpicc) in its bin folder"},
				"give --mpi the folder that has bin/mpicc below it"})
		}
	}
	if len(found) == 0 {
		x.addNoLibrary()
	}
}

func (x *libraryFinder) addNoLibrary() {
	details := []string{"no compiler wrapper (mpicc) on the PATH or where modules point"}
	for _, name := range tools() {
		if path := x.look(name); path != "" {
			details = append(details, path+" exists: the library is installed without its development files")
		}
	}
	first := libraries.All()[0].Facts().Install
	fix := fmt.Sprintf("apt-get install %s %s, or give --mpi PREFIX", first.Runtime, first.Headers)
	if x.getenv("MODULESHOME") != "" || x.getenv("LMOD_CMD") != "" {
		fix = "module avail mpi, then module load one of them; or give --mpi PREFIX"
	}
	x.add(Check{Libraries, "MPI", Missing, details, fix})
}

// tools returns the names of programs that every installation of a library contains.
func tools() []string {
	var out []string
	for _, l := range libraries.All() {
		if name := l.Facts().Install.Tool; name != "" {
			out = append(out, name)
		}
	}
	return append(out, "mpiexec")
}

func (x *libraryFinder) examineWrapper(ctx context.Context, wrapper string, number int) {
	prog := filepath.Join(x.temp, fmt.Sprintf("probe%d", number))
	args, err := csource.Pair.Unpack(x.temp, prog)
	if err != nil {
		x.add(Check{Libraries, wrapper, Missing, []string{err.Error()}, "free some space in " + filepath.Dir(x.temp)})
		return
	}
	r := x.run(ctx, command{args: append([]string{wrapper}, args...), dir: x.temp, limit: x.limits.compile})
	if r.Err != nil {
		x.add(x.cannotCompile(wrapper, r))
		return
	}
	text, err := os.ReadFile(prog)
	if err != nil {
		x.add(Check{Libraries, wrapper, Missing, []string{"compiles without an error, but creates no program"}, "try it by hand: " + wrapper + " -o a.out x.c"})
		return
	}
	mark, marked := parseMarker(text)
	if !marked {
		x.add(Check{Libraries, wrapper, Missing, []string{"the compiled program is not the expected one"}, "try it by hand: " + wrapper + " -o a.out x.c"})
		return
	}
	lib := &Library{Family: mark.family, Version: mark.version, Headers: true, probe: prog, vendor: mark.vendor, Name: mark.name(), family: familyOf(mark.family)}
	lib.takeVendor(mark)
	lib.File.Path = x.loadedBy(ctx, prog)
	for _, known := range x.found {
		if known.Name == lib.Name && known.File.Path == lib.File.Path {
			known.Compilers = append(known.Compilers, wrapper)
			return
		}
	}
	lib.Compilers = []string{wrapper}
	x.found = append(x.found, lib)
}

// takeVendor makes the library that of a vendor, if tutti knows it. Its version is that of the vendor then.
func (l *Library) takeVendor(mark marker) {
	for _, known := range libraries.All() {
		m, ok := known.(mpi.Measurable)
		if facts := known.Facts(); ok && mark.vendor != "" && facts.Title == mark.vendor && facts.Family == mark.family {
			l.family, l.Family, l.Version = m, facts.Name, strings.TrimSpace(mark.release)
		}
	}
}

// cannotCompile returns the check for a compiler wrapper that fails, with the package to install.
func (x *libraryFinder) cannotCompile(wrapper string, r result) Check {
	fault := func(detail, fix string) Check { return Check{Libraries, wrapper, Missing, []string{detail}, fix} }
	text := r.Stderr + r.Stdout
	switch {
	case r.TimedOut:
		return fault(fmt.Sprintf("compiling a short program takes longer than %v", x.limits.compile), "try it by hand; a licence server or file system may not answer")
	case strings.Contains(text, "mpi.h"):
		fix := getHeaders
		if name := headersOf(filepath.Base(wrapper)); name != "" {
			fix = "apt-get install " + name
		}
		return fault("the wrapper exists, but the headers (mpi.h) are missing", fix)
	case slices.ContainsFunc(benchrunner.DiskFullTexts, func(message string) bool { return strings.Contains(text, message) }):
		return fault("does not compile: "+r.message(), "free space there, or set TMPDIR to a folder with free space")
	case strings.Contains(text, "cannot find -l"), strings.Contains(text, "library not found"):
		return fault("compiles but does not link: "+r.message(), getHeaders)
	}
	return fault("does not compile: "+r.message(), "apt-get install gcc libc6-dev, or load the compiler's module")
}

const getHeaders = "install the development files of this MPI, or load the module that has them"

// headersOf returns the Debian package with the headers of the library that has the given compiler wrapper.
func headersOf(wrapper string) string {
	for _, l := range libraries.All() {
		if install := l.Facts().Install; install.Compilers[0] == wrapper {
			return install.Headers
		}
	}
	return ""
}

// marker describes the MPI headers with which a probe was compiled. The compiled probe contains it.
type marker struct{ family, version, vendor, release string }

func (m marker) name() string {
	if m.vendor != "" {
		return m.vendor + " " + m.release
	}
	if lib := familyOf(m.family); lib != nil {
		return lib.Facts().Title + " " + m.version
	}
	return "another MPI"
}

// familyOf returns the library with the given family name, or nil for an unknown family. It also returns
// nil for a library of another family, and for one that is preloaded in addition to an MPI library.
func familyOf(name string) mpi.Measurable {
	lib, _ := libraries.Named(name)
	family, ok := lib.(mpi.Measurable)
	if !ok || family.Facts().Preload || family.Facts().Family != name {
		return nil
	}
	return family
}

var markerForm = lazyregexp.New(`tutti-doctor;family=([a-z]+);version=([^;]{0,40});(?:vendor=([^;]{1,40});release=([^;]{0,40});)?end`)

func parseMarker(program []byte) (marker, bool) {
	m := markerForm.FindSubmatch(program)
	if m == nil {
		return marker{}, false
	}
	clean := func(b []byte) string {
		return printable(strings.Join(strings.Fields(string(bytes.Trim(b, `"`))), " "))
	}
	return marker{clean(m[1]), clean(m[2]), clean(m[3]), clean(m[4])}, true
}

// loadedBy returns the file of the MPI library that a program would load. It returns "" if it finds none.
func (x *session) loadedBy(ctx context.Context, prog string) string {
	args, env := []string{prog}, append(slices.Clone(x.envFor(prog)), "LD_TRACE_LOADED_OBJECTS=1")
	if isLibrary(prog) { // cannot be run, so another program preloads it
		args, env = []string{"true"}, append(env, "LD_PRELOAD="+prog)
	}
	return parseLoaded(x.run(ctx, command{args: args, env: env, dir: x.temp, limit: x.limits.ask}).Stdout)
}

// isLibrary reports whether a file is a shared library. Unlike a program, a shared library
// names no dynamic loader.
func isLibrary(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	loader := func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }
	return f.Type == elf.ET_DYN && !slices.ContainsFunc(f.Progs, loader)
}

var (
	loadedForm = lazyregexp.New(`^\s*(lib\S+) => (/\S.*) \(0x[0-9a-f]+\)$`)
	binding    = lazyregexp.New(`_(cxx|java|mpifh|usempi)`) // language bindings
	mpiFile    = lazyregexp.New(`^lib(mpi|mpich)(_[a-z0-9_]+)?\.so`)
)

func parseLoaded(list string) string {
	for line := range strings.Lines(list) {
		m := loadedForm.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m != nil && mpiFile.MatchString(m[1]) && !binding.MatchString(m[1]) {
			return infile.Resolve(m[2])
		}
	}
	return ""
}

func (x *libraryFinder) compilers(lib *Library) []string {
	var out []string
	for _, c := range lib.Compilers {
		out = append(out, x.short(c))
	}
	return out
}

func (x *libraryFinder) examineBuild(ctx context.Context, lib *Library) {
	c := ok(Libraries, lib.Name, "compiles with "+strings.Join(x.compilers(lib), ", "))
	var err error
	if lib.File.Path != "" {
		err = lib.identify()
	}
	switch {
	case lib.family == nil:
		c = c.with(Warning, "use MPICH 4.0 or newer, or Open MPI 4.1 or newer").
			withDetail("neither of MPICH's family nor Open MPI: its algorithms are unknown")
	case err != nil:
		c = c.with(Warning, "make the file readable").withDetail(err.Error())
	case lib.File.Path == "":
		c = c.with(Warning, "link with the shared library, so that the measured build can be identified").
			withDetail("the program loads no MPI library: linked statically, or LD_LIBRARY_PATH lacks its folder")
	}
	c.Name = lib.Name
	if lib.family != nil {
		x.inspect(ctx, lib, &c)
	}
	if loads := lib.File.Version; lib.vendor == "" && loads != "" && loads != lib.Name {
		c = c.with(Warning, "load one module of MPI only; look at LD_LIBRARY_PATH").withDetail("compiled for " + lib.Name + ", but the program loads " + loads)
	}
	if lib.File.SHA256 != "" {
		c.Details = append(c.Details, lib.File.Path, "sha256 "+lib.File.SHA256[:16]+"…")
	}
	x.add(c)
}

// identify reads the release from the library's file. The headers do not suffice: they may lack a suffix such
// as rc2, and the headers of the MPI ABI do not name a library at all.
func (l *Library) identify() error {
	file, err := libraries.Identify(l.File.Path)
	if err != nil && !errors.Is(err, mpi.ErrNoVersion) {
		return err
	}
	l.File = file
	for _, known := range libraries.All() {
		family := familyOf(known.Facts().Name)
		if family == nil || l.vendor != "" {
			continue
		}
		release, ok := strings.CutPrefix(file.Version, family.Facts().Title+" ")
		if ok && (l.family == nil || l.family == family && mpi.SameRelease(release, l.Version)) {
			l.family, l.Family, l.Name, l.Version = family, family.Facts().Name, file.Version, release
		}
	}
	return nil
}

// wrappers returns the names of the compiler wrappers of all libraries. The first name of every library
// precedes the alternative names.
func wrappers() []string {
	var first, others []string
	for _, l := range libraries.All() {
		names := l.Facts().Install.Compilers
		first, others = append(first, names[0]), append(others, names[1:]...)
	}
	var out []string
	for _, name := range slices.Concat(first, others) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func homes() []string {
	out := []string{"MPI_HOME", "MPI_ROOT", "MPI_DIR"}
	for _, l := range libraries.All() {
		out = append(out, l.Facts().Install.Homes...)
	}
	return out
}

// prefixes returns the folders of MPI installations, first those in the options, then those in environment
// variables.
func (x *session) prefixes() (given, fromModules []string) {
	for _, name := range homes() {
		if p := x.getenv(name); filepath.IsAbs(p) && !slices.Contains(fromModules, p) {
			fromModules = append(fromModules, p)
		}
	}
	for _, p := range x.options.Prefixes {
		if abs, err := filepath.Abs(p); err == nil {
			given = append(given, abs)
		}
	}
	return given, fromModules
}

// findWrappers returns the compiler wrappers in the folders of `prefixes` and in PATH, each only once. It
// includes Cray's wrapper cc only in Cray's environment.
func (x *session) findWrappers() []string {
	given, fromModules := x.prefixes()
	var dirs []string
	for _, p := range slices.Concat(given, fromModules) {
		dirs = append(dirs, filepath.Join(p, "bin"))
	}
	names := wrappers()
	if x.getenv("CRAYPE_VERSION") != "" || x.getenv("PE_ENV") != "" {
		names = append(names, "cc")
	}
	var out []string
	seen := map[string]bool{}
	for _, dir := range slices.Concat(dirs, x.path()) {
		for _, name := range names {
			path := filepath.Join(dir, name)
			key := filepath.Join(infile.Resolve(dir), name)
			if isProgram(path) && !seen[key] {
				seen[key] = true
				out = append(out, path)
			}
		}
	}
	return out
}

type toolsOf struct {
	x   *session
	lib *Library
}

func (t toolsOf) Find(name string) string {
	return lookIn(slices.Concat(t.lib.bins(), t.x.path()), name)
}

func (t toolsOf) Ask(ctx context.Context, path string, args ...string) string {
	return t.x.run(ctx, command{args: append([]string{path}, args...), limit: t.x.limits.ask}).Stdout
}

func (x *libraryFinder) inspect(ctx context.Context, lib *Library, c *Check) {
	i := lib.family.Inspect(ctx, mpi.Installed{Version: lib.Version, File: lib.File.Path, Environ: x.environ, Tools: toolsOf{x.session, lib}})
	lib.Device, lib.Checks, lib.Absent, lib.Unlisted = i.Device, i.Checks, i.Absent, i.Unlisted
	c.Details = append(c.Details, i.Build...)
	if i.Fault != "" {
		*c = c.with(Warning, i.Fix).withDetail(i.Fault)
	}
	if i.Catalogue != nil {
		lib.Catalogue = i.Catalogue.Listed
		lib.describe(i.Listed, c)
	}
	c.Details = append(c.Details, i.Above...)
	for _, s := range x.withSources(slices.Concat(i.Site, mpi.OtherSettings(x.environ, mpi.ShapesDefault)), lib.family.Facts().Name) {
		c.Details = append(c.Details, fmt.Sprintf("setting of this machine: %v: takes part in the choice of algorithms", s))
	}
}

// withSources returns settings of a library with the keys of the campaign that set them, if there is a campaign.
func (x *session) withSources(settings []mpi.SiteSetting, library string) []mpi.SiteSetting {
	c := x.options.Campaign
	if c == nil {
		return settings
	}
	lib := config.Library{}
	if i := slices.IndexFunc(c.Libraries, func(l config.Library) bool { return l.Name == library }); i >= 0 {
		lib = c.Libraries[i]
	}
	return c.WithSources(settings, lib, x.options.Environ, nil)
}

// describe adds to the check which algorithms of the catalogue are missing in the library, and other differences.
func (l *Library) describe(listed int, c *Check) {
	text := fmt.Sprintf("%d of %d algorithms of catalogue %s", listed-len(l.Absent), listed, l.Catalogue)
	if l.Catalogue != l.Version {
		text += ", the nearest"
	}
	c.Details = append(c.Details, text)
	if len(l.Unlisted) > 0 {
		c.Details = append(c.Details, fmt.Sprintf("%d more that tutti does not tune: %s", len(l.Unlisted), several(l.Unlisted)))
	}
	if len(l.Absent) > 0 {
		*c = c.with(Warning, "leave them out of the campaign: their trials would fail").withDetail("not in this build: " + several(l.Absent))
	}
}

func several(names []string) string {
	const most = 6
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
