package csource

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// Program is the C source of a program, with the options and libraries to compile it.
type Program struct {
	Name  string
	Parts []Part
	Flags []string // options before the files
	Libs  []string // options after the files, such as -lm

	// Header is the name of a header that programs of users include. Build writes it into the folder of the
	// program. Empty: none.
	Header string
}

// Part is a group of C files and headers. All files of a program must have different names.
type Part struct {
	Files fs.FS
	Match string // pattern of the files' paths
}

//go:embed bench collectives conformance cvar pair pairs policy probe runtime workload
var files embed.FS

// Collectives holds the list of the collectives.
var Collectives = Part{files, "collectives/*"}

// Workload holds the files that call a collective in all forms, with test data, and check the result.
var Workload = Part{files, "workload/*"}

// Control holds the files that read and write MPI_T control variables.
var Control = Part{files, "cvar/*"}

// The programs that tutti compiles.
var (
	// Bench is the benchmark program. benchrunner/native measures collectives with it, and
	// topology/pairs measures pairs of ranks.
	Bench = Program{Name: "tutti-native", Parts: []Part{{files, "bench/*"}, {files, "pairs/*"}, Collectives, Workload, Control}, Flags: []string{"-std=c99", "-O2"}, Libs: []string{"-lm", "-ldl"}}

	// Pair is a program that sums a number over two processes. Its executable contains a text that names
	// the MPI library whose headers it was compiled with.
	Pair = Program{Name: "tutti-pair", Parts: []Part{{files, "pair/*"}}}

	// Probe is a program that detects which algorithm an MPI library runs.
	Probe = Program{Name: "tutti-probe", Parts: []Part{{files, "probe/*"}, Collectives, Control}, Flags: []string{"-O1"}, Libs: []string{"-ldl"}}

	// Policy is a program that makes the decisions of Runtime for a simulated job. It consists of those files
	// of Runtime that choose algorithms. A single process replaces MPI, so no MPI library is needed.
	Policy = Program{Name: "tutti-policy", Parts: []Part{
		{files, "policy/*"}, Collectives, {files, "runtime/*.h"}, {files, "cvar/*.h"}, {files, "runtime/budget.c"}, {files, "runtime/detector.c"}, {files, "runtime/draw.c"},
		{files, "runtime/elimination.c"}, {files, "runtime/explore.c"}, {files, "runtime/monitor.c"}, {files, "runtime/samples.c"},
	}, Flags: []string{"-std=c11", "-O2", "-I."}, Libs: []string{"-lm"}}

	// Runtime is libtutti, a shared object that is preloaded into applications or linked with them.
	Runtime = Program{Name: "libtutti.so", Parts: []Part{{files, "runtime/*"}, Collectives, Control}, Flags: []string{"-std=c11", "-O2", "-fPIC", "-shared"}, Libs: []string{"-lm", "-ldl"}, Header: userHeader}

	// Conformance is a program that checks the results of algorithms: those of Runtime, or those of users.
	Conformance = Program{Name: "tutti-conformance", Parts: append([]Part{{files, "conformance/*"}}, Runtime.Parts...), Flags: []string{"-std=c11", "-O1"}, Libs: Runtime.Libs}
)

const userHeader = "tutti_algorithm.h"

// UserHeader is the header that describes algorithms of users.
var UserHeader = Part{files, "runtime/" + userHeader}

// BenchFormat is the format version of Bench's plan and output.
const BenchFormat = 1

// file is one source file of a program.
type file struct {
	name string // without folder
	text []byte
}

// source returns the files of a program, sorted by name within each part.
func (p Program) source() []file {
	var out []file
	for _, part := range p.Parts {
		names, err := fs.Glob(part.Files, part.Match)
		if err != nil || len(names) == 0 {
			panic(fmt.Sprintf("csource: %s: no file %s: %v", p.Name, part.Match, err)) // the files are embedded
		}
		for _, name := range names {
			text, err := fs.ReadFile(part.Files, name)
			if err != nil {
				panic(err)
			}
			out = append(out, file{path.Base(name), text})
		}
	}
	return out
}

// Checksum returns the SHA-256 of the source: the name, length and text of each file. Programs with
// different checksums were built by different versions of tutti.
func (p Program) Checksum() string {
	sum := sha256.New()
	for _, f := range p.source() {
		fmt.Fprintf(sum, "%s %d\n%s", f.name, len(f.text), f.text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Unpack writes the source files into the folder `dir`, with a header source.h that defines SOURCE as the
// checksum. It returns the arguments with which the compiler builds the program at the path `out`.
func (p Program) Unpack(dir, out string) ([]string, error) {
	args := append([]string{"-o", out}, p.Flags...)
	for _, f := range p.source() {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.text, 0o600); err != nil {
			return nil, err
		}
		if path.Ext(f.name) == ".c" {
			args = append(args, f.name)
		}
	}
	header := fmt.Sprintf("#define SOURCE %q\n", p.Checksum())
	if err := os.WriteFile(filepath.Join(dir, "source.h"), []byte(header), 0o600); err != nil {
		return nil, err
	}
	return append(args, p.Libs...), nil
}

// Built describes a program that Build compiled.
type Built struct {
	Path     string `json:"path"`             // absolute
	Compiler string `json:"compiler"`         // the command
	Version  string `json:"version"`          // first line of the output of the compiler's --version; may be empty
	Checksum string `json:"checksum"`         // of the source
	Header   string `json:"header,omitempty"` // path of the program's header; empty: none
}

// ErrCompiler is the error for a compiler that is missing or fails; errors.Is recognizes it.
var ErrCompiler = errors.New("MPI compiler")

// Build compiles a program and writes the executable to the path `out`. It replaces an older file there
// atomically. `compiler` is a command that knows the location of MPI, such as mpicc. If the
// command fails, the error contains its output.
func Build(ctx context.Context, p Program, compiler, out string) (Built, error) {
	out, err := filepath.Abs(out)
	if err != nil {
		return Built{}, err
	}
	dir, err := os.MkdirTemp("", p.Name+"-")
	if err != nil {
		return Built{}, err
	}
	defer os.RemoveAll(dir)
	args, err := p.Unpack(dir, p.Name)
	if err != nil {
		return Built{}, err
	}
	if err := compile(ctx, dir, compiler, args); err != nil {
		return Built{}, err
	}
	b := Built{Path: out, Compiler: compiler, Version: versionOf(ctx, compiler), Checksum: p.Checksum()}
	if err := install(filepath.Join(dir, p.Name), out, 0o755); err != nil || p.Header == "" {
		return b, err
	}
	b.Header = filepath.Join(filepath.Dir(out), p.Header)
	return b, install(filepath.Join(dir, p.Header), b.Header, 0o644)
}

func compile(ctx context.Context, dir, compiler string, args []string) error {
	cmd := exec.CommandContext(ctx, compiler, args...)
	cmd.Dir = dir
	text, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w %s: not found: give the compiler of the site's MPI library", ErrCompiler, compiler)
	}
	return fmt.Errorf("%w %s: %w:\n%s", ErrCompiler, compiler, err, strings.TrimSpace(string(text)))
}

// install copies a file to the path `out` and replaces an older file there atomically.
func install(file, out string, mode fs.FileMode) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	name := fmt.Sprintf(".%s-%s", filepath.Base(out), rand.Text())
	f, err := os.OpenFile(filepath.Join(filepath.Dir(out), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // without effect after the replacement
	_ = f.Chmod(mode)         // whatever the umask is; a file system that refuses it has one mode for all files
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), out)
}

func versionOf(ctx context.Context, compiler string) string {
	text, err := exec.CommandContext(ctx, compiler, "--version").Output()
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(first)
}
