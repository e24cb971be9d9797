package csource

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Program is the source of a program, and how it is compiled.
type Program struct {
	Name  string
	Files fs.FS
	Match string   // pattern of the C files and headers among Files
	Flags []string // of the compiler
	Libs  []string // after the files
}

//go:embed bench pair probe
var files embed.FS

// The programs.
var (
	// Bench measures; benchrunner/native speaks to it.
	Bench = Program{Name: "tutti-native", Files: files, Match: "bench/*", Flags: []string{"-std=c99", "-O2"}, Libs: []string{"-lm"}}

	// Pair sums a number over two processes. A text in it tells which library's headers
	// it was compiled with, so it is not optimised.
	Pair = Program{Name: "tutti-pair", Files: files, Match: "pair/*"}

	// Probe shows which algorithm a library enters.
	Probe = Program{Name: "tutti-probe", Files: files, Match: "probe/*", Flags: []string{"-O1"}}
)

// BenchFormat is the version of Bench's plan and output.
const BenchFormat = 1

// file is one of a program's source.
type file struct {
	name string // without folder
	text []byte
}

// source returns the files by name.
func (p Program) source() []file {
	names, err := fs.Glob(p.Files, p.Match)
	if err != nil || len(names) == 0 {
		panic(fmt.Sprintf("csource: %s: no file %s: %v", p.Name, p.Match, err)) // they are embedded
	}
	out := make([]file, len(names))
	for i, name := range names {
		text, err := fs.ReadFile(p.Files, name)
		if err != nil {
			panic(err)
		}
		out[i] = file{path.Base(name), text}
	}
	return out
}

// Checksum is the SHA-256 of the source: of each file's name, length and text. A
// program of another checksum was built by another tutti.
func (p Program) Checksum() string {
	sum := sha256.New()
	for _, f := range p.source() {
		fmt.Fprintf(sum, "%s %d\n%s", f.name, len(f.text), f.text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Unpack writes the source into a folder, and with it a header source.h that defines
// SOURCE as its checksum. It returns the arguments of a compiler that, called in that
// folder, makes the program out.
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
