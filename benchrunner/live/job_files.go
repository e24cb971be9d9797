package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/infile"
)

// folder reads the files of a job. A missing file counts as empty. After any other error, the contents are not
// valid, and the caller reads them again: a network file system may have failed briefly.
type folder struct {
	dir string
	err error // the first error
}

// read calls the function `read` with the folder of a job. After an error it repeats the call until
// Options.Settle has passed.
func (m *Machine) read(ctx context.Context, name string, read func(*folder)) error {
	f := folder{dir: m.jobDir(name)}
	m.await(ctx, func() bool {
		f.err = nil
		read(&f)
		return f.err == nil
	})
	if f.err != nil {
		return fmt.Errorf("job %s: %w", name, f.err)
	}
	return nil
}

func (m *Machine) await(ctx context.Context, done func() bool) {
	began := time.Now()
	for pause := 5 * time.Millisecond; !done(); pause = min(2*pause, time.Second) {
		left := m.opt.Settle - time.Since(began)
		if left <= 0 || !sleep(ctx, min(pause, left)) {
			return
		}
	}
}

// missing reports whether reading a file failed. It stores the error in f.err unless the file does not
// exist.
func (f *folder) missing(err error) bool {
	if err != nil && !errors.Is(err, fs.ErrNotExist) && f.err == nil {
		f.err = err
	}
	return err != nil
}

// Limits of what is kept of a launch's output, in bytes. Programs may print without end. The standard output of
// ReproMPI, the longest, has 60 bytes for each timed call. The standard error has 40 bytes for each rank.
const (
	maxStdout = 16 << 20
	maxStderr = 4 << 20
	lastBytes = 64 << 10 // of the end of an output that is longer than its limit

	maxText = 64 << 20 // of any other file
)

// lastSuffix ends the name of the file with the end of an output that is longer than its limit.
const lastSuffix = ".last"

// outputNames are the files of a launch whose sizes its end file has.
var outputNames = []string{"stdout", "stderr", "stdout" + lastSuffix, "stderr" + lastSuffix}

func (f *folder) text(name string) []byte { return f.limitedText(name, maxText) }

func (f *folder) limitedText(name string, most int64) []byte {
	file, err := infile.Open(filepath.Join(f.dir, name), infile.NoLimit)
	if errors.Is(err, infile.ErrKind) || f.missing(err) { // a benchmark can put a named pipe or a folder there
		return nil
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most))
	if f.missing(err) {
		return nil
	}
	return text
}

// fields reads a file of "key value" lines that a script wrote. It returns false if the file is missing or
// incomplete.
func (f *folder) fields(name string) (fields, bool) { return parseFields(f.text(name)) }

// output returns an output of a launch. If the output was longer than `most` bytes, it is cut: its beginning and its
// end, each with whole lines only.
func (f *folder) output(name string, most int64) (text []byte, cut bool) {
	text = f.limitedText(name, most)
	if f.changed(name + lastSuffix).IsZero() {
		return text, false
	}
	last := f.text(name + lastSuffix)
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	_, last, _ = bytes.Cut(last, []byte("\n"))
	return append(text, last...), true
}

func (f *folder) json(name string, v any) bool {
	text := f.text(name)
	return len(text) > 0 && json.Unmarshal(text, v) == nil
}

// changed returns the time of the last write to any of several files, the zero time if none exists.
func (f *folder) changed(names ...string) time.Time {
	var last time.Time
	for _, name := range names {
		if stat, err := os.Stat(filepath.Join(f.dir, name)); !f.missing(err) && stat.ModTime().After(last) {
			last = stat.ModTime()
		}
	}
	return last
}

func (f *folder) plan() []launch {
	var p plan
	if !f.json(planFile, &p) {
		return nil
	}
	for _, s := range p.Launches {
		if len(s.Cases) != len(s.Requests) {
			return nil
		}
	}
	return p.Launches
}

func (f *folder) claimOwner() string {
	return strings.TrimSpace(string(f.text(filepath.Join("claim", "job"))))
}

func (f *folder) environment() *coll.Environment {
	env, ok := f.fields("environment")
	if !ok {
		return nil
	}
	e := &coll.Environment{
		Nodes: slices.Clone(env["node"]), Kernel: env.first("kernel"), CPU: env.first("cpu"),
		Governor: env.first("governor"), Checksum: env.first("checksum"), Program: env.first("program"),
	}
	if at, err := time.Parse(time.RFC3339, env.first("started")); err == nil {
		e.Started = at
	}
	return e
}

type launchFiles struct {
	benchrunner.Output
	begun   bool
	changed time.Time // time of the last write to one of the files
	run     string    // ID of the job run that ended the launch; a requeued job has a new one
	hosts   []string  // nodes of the launch, if it ran concurrently with others
	left    []string  // processes that the script could not end, as "PID NAME on HOST"
	lost    string    // what is missing of the outputs of an ended launch
}

func (f *folder) launch(dir string, limit time.Duration) launchFiles {
	in := func(name string) string { return filepath.Join(dir, name) }
	var s launchFiles
	s.hosts = f.hosts(in("hosts"))
	s.changed = f.changed(in("begin"), in("stdout"), in("stderr"), in("end.new"), in("end"))
	begin := f.changed(in("begin"))
	end, ended := f.fields(in("end"))
	s.begun = !begin.IsZero() || ended
	if !ended {
		if s.begun {
			s.Wall = min(s.changed.Sub(begin), limit)
		}
		return s
	}
	s.Ended, s.run, s.left = true, end.first("run"), end["left"]
	s.Exit = int(end.int("exit"))
	s.Wall = time.Duration(end.since() * float64(time.Second))
	// timeout(1) returns 124, or 137 if it had to kill the program. The wall time may be up to 50 ms below
	// the limit, because the clock ticks every 10 ms.
	s.TimedOut = (s.Exit == 124 || s.Exit == 137) && s.Wall > limit-50*time.Millisecond
	s.lost = lostOutput(filepath.Join(f.dir, dir), end)
	return s
}

// lostOutput says which output of an ended launch is missing or shorter than its end file says, "" if none is.
func lostOutput(dir string, end fields) string {
	for _, name := range outputNames {
		size := sizeOf(dir, name)
		switch {
		case len(end[name]) == 0 && (size >= 0 || strings.HasSuffix(name, lastSuffix)): // a short output has no last part
		case size < 0:
			return "the file " + filepath.Join(dir, name) + " is missing"
		case size < end.int(name):
			return fmt.Sprintf("the file %s has %d of %d bytes", filepath.Join(dir, name), size, end.int(name))
		}
	}
	return ""
}

// outputs reads what a launch printed.
func (f *folder) outputs(dir string, s *launchFiles) {
	s.Stdout, s.StdoutCut = f.output(filepath.Join(dir, "stdout"), maxStdout)
	s.Stderr, s.StderrCut = f.output(filepath.Join(dir, "stderr"), maxStderr)
}

// cutNote says which outputs of a launch are not whole, "" if both are.
func (s launchFiles) cutNote() string {
	text := ""
	for _, one := range []struct {
		cut  bool
		name string
		most int
	}{{s.StdoutCut, "standard output", maxStdout}, {s.StderrCut, "standard error", maxStderr}} {
		if one.cut {
			text += fmt.Sprintf("; of its %s only the first %d MiB and the last %d KiB are kept", one.name, one.most>>20, lastBytes>>10)
		}
	}
	return text
}

// completeOutput reports whether everything that a job wrote is visible on this machine. Parallel file
// systems may show files late.
func completeOutput(dir string, launches []launch) bool {
	if _, err := os.ReadDir(dir); err != nil { // refreshes the cache of network file systems
		return false
	}
	f := folder{dir: dir}
	if _, ok := f.fields("end"); !ok {
		return false
	}
	if sizeOf(dir, "stop") >= 0 {
		return true
	}
	timeUp := sizeOf(dir, timeUpFile) >= 0
	for i := range launches {
		launch := filepath.Join(dir, launchDir(i))
		begun := sizeOf(launch, "begin") >= 0
		if !completeLaunch(launch) && (begun || !timeUp) {
			return false
		}
	}
	return true
}

func completeLaunch(dir string) bool {
	if _, err := os.ReadDir(dir); err != nil {
		return false
	}
	f := folder{dir: dir}
	end, ok := f.fields("end")
	return ok && lostOutput(dir, end) == ""
}

// sizeOf returns the size of a file in bytes, -1 without one.
func sizeOf(dir, name string) int64 {
	stat, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		return -1
	}
	return stat.Size()
}

// fields maps each key to its values, from the lines "key value" of a file that a script wrote.
type fields map[string][]string

// parseFields reads the lines of a file. It returns false for a truncated file, which does
// not end in the line "whole".
func parseFields(text []byte) (fields, bool) {
	body, ok := strings.CutSuffix(string(text), "whole\n")
	if !ok || body != "" && !strings.HasSuffix(body, "\n") {
		return nil, false
	}
	f := fields{}
	for line := range strings.Lines(body) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		f[key] = append(f[key], strings.ToValidUTF8(value, "?"))
	}
	return f, true
}

func (f fields) first(key string) string {
	if len(f[key]) == 0 {
		return ""
	}
	return f[key][0]
}

func (f fields) int(key string) int64 {
	n, err := strconv.ParseInt(f.first(key), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// since returns the seconds between the lines `begin` and `end` of a script's file. It returns 0 if they are
// invalid, for example because the machine booted in between.
func (f fields) since() float64 { return validSeconds(f.seconds("end") - f.seconds("begin")) }

// seconds returns a number of seconds. It returns NaN if there is none.
func (f fields) seconds(key string) float64 {
	n, err := strconv.ParseFloat(f.first(key), 64)
	if err != nil {
		return math.NaN()
	}
	return n
}

// oneLine replaces characters that could end a comment in a shell script.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

func tail(text []byte, lines int) string {
	const most = 600
	all := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(text), "?")), "\n")
	s := strings.Join(all[max(0, len(all)-lines):], " | ")
	s = strings.TrimSpace(oneLine(s))
	if len(s) > most {
		s = "… " + strings.ToValidUTF8(s[len(s)-most:], "")
	}
	return s
}
