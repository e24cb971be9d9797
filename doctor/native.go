package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tutti/csource"
)

const nativeTitle = "tutti-native"

// examineNative finds tutti's own program, built for whichever library, and says
// how to build it for the libraries that have none.
func (x *examiner) examineNative(ctx context.Context) {
	for _, path := range x.findNative() {
		x.examineOwn(ctx, path)
	}
	for _, lib := range x.libraries {
		built := slices.ContainsFunc(x.programs, func(p program) bool {
			return p.name == "native" && p.library == lib && p.state != Missing
		})
		if lib.launchable() && !built {
			x.add(Check{Programs, nativeTitle, Missing, []string{lib.Name + ": not built yet"}, x.buildNative(lib, "")})
		}
	}
}

// buildNative is the command that builds the program for a library; a program
// that is there is built anew.
func (x *examiner) buildNative(lib *Library, path string) string {
	if path == "" {
		path = nativeTitle + "-" + lib.Family
	}
	return fmt.Sprintf("tutti build benchmark --mpicc %s -o %s", x.short(lib.Compilers[0]), path)
}

// findNative returns the programs that a campaign names, and the files whose names
// begin like the program's: of folders that were given, of the working folder, of
// the PATH.
func (x *examiner) findNative() []string {
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

// examineOwn asks a program which source it was built from and lets it measure a
// broadcast.
func (x *examiner) examineOwn(ctx context.Context, path string) {
	p := program{name: "native", path: path, library: x.libraryOf(ctx, path), state: Missing}
	c := Check{Section: Programs, Name: nativeTitle, State: Missing, Cure: "tutti build benchmark --mpicc MPICC -o " + path}
	if p.library != nil {
		c.Cure = x.buildNative(p.library, path)
	}
	r := x.run(ctx, command{args: []string{path, "--version"}, dir: x.temp, limit: x.limits.ask})
	said := strings.TrimSpace(r.Stdout)
	start := x.starter(p.library)
	switch {
	case r.Err != nil || !strings.HasPrefix(said, nativeTitle+" "):
		c.Details = []string{"does not say that it is tutti's: " + r.said()}
	case !strings.HasSuffix(said, " "+csource.Bench.Checksum()):
		c.Details = []string{"built by another tutti"}
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
		c = x.tryNative(ctx, c, path, start)
		p.state = c.State
	}
	c.Details = append(c.Details, path)
	x.programs = append(x.programs, p)
	x.add(c)
}

// libraryOf returns the library that a program loads; nil when none of those
// found is it.
func (x *examiner) libraryOf(ctx context.Context, path string) *Library {
	loads := x.loadedBy(ctx, path)
	for _, lib := range x.libraries {
		if loads != "" && lib.File.Path == loads {
			return lib
		}
	}
	if loads == "" && len(x.libraries) == 1 { // linked statically, or a script in front
		return x.libraries[0]
	}
	return nil
}

// tryNative measures one broadcast on two processes.
func (x *examiner) tryNative(ctx context.Context, c Check, path string, start *trial) Check {
	plan := filepath.Join(x.temp, "plan")
	if err := os.WriteFile(plan, []byte(planOf(start, "")), 0o644); err != nil {
		c.Details = []string{err.Error()}
		return c
	}
	r := x.run(ctx, start.command(x, path, plan))
	measured, why := parseNative(r.Stdout)
	switch {
	case measured && r.Err == nil:
		c = c.with(OK, "")
		c.Details = []string{fmt.Sprintf("%s: measures a broadcast, %.1f s", start.library.Name, r.Took.Seconds())}
	case why != "":
		c.Details = []string{start.library.Name + ": " + why}
	case r.TimedOut:
		c.Details = []string{fmt.Sprintf("%s: no end within %v", start.library.Name, r.Took.Round(time.Second))}
	default:
		c.Details = []string{start.library.Name + ": measures nothing: " + r.said()}
	}
	return c
}

// parseNative looks for a result, and for the reason why there is none, in the
// lines of the program.
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
