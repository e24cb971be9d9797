package csource

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
)

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
// atomically. The parameter `compiler` is a command that knows the location of MPI, such as mpicc. If the
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
	return renameio.WriteFile(out, text, mode, renameio.WithTempDir(filepath.Dir(out)), renameio.WithStaticPermissions(mode))
}

func versionOf(ctx context.Context, compiler string) string {
	text, err := exec.CommandContext(ctx, compiler, "--version").Output()
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(first)
}
