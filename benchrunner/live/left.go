package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
)

// folder reads what a job left. A file that is not there is empty; any other error is
// kept, and what was read is worth nothing then: a network file system may have had a
// bad moment.
type folder struct {
	dir string
	err error // the first one
}

// read reads the folder of a job. What is denied is tried again, for as long as files
// are waited for; read may be called several times.
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

// await repeats done until it is true, for as long as files are waited for.
func (m *Machine) await(ctx context.Context, done func() bool) {
	began := time.Now()
	for pause := 5 * time.Millisecond; !done(); pause = min(2*pause, time.Second) {
		left := m.opt.Settle - time.Since(began)
		if left <= 0 || !sleep(ctx, min(pause, left)) {
			return
		}
	}
}

// missing reports whether an error was met, and keeps it unless it says that there is
// no such file.
func (f *folder) missing(err error) bool {
	if err != nil && !errors.Is(err, fs.ErrNotExist) && f.err == nil {
		f.err = err
	}
	return err != nil
}

// maxText bounds what is read of a program that does not stop to print.
const maxText = 64 << 20

// text returns the beginning of a file.
func (f *folder) text(name string) []byte {
	file, err := os.Open(filepath.Join(f.dir, name))
	if f.missing(err) {
		return nil
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxText))
	if f.missing(err) {
		return nil
	}
	return text
}

// fields reads a file that a script wrote and reports whether it is there and whole.
func (f *folder) fields(name string) (fields, bool) { return parseFields(f.text(name)) }

// json reads a file and reports whether it is there and whole. One that is damaged is
// as good as none: it is written anew, or the work it stood for is done again.
func (f *folder) json(name string, v any) bool {
	text := f.text(name)
	return len(text) > 0 && json.Unmarshal(text, v) == nil
}

// changed is when a file, of several the last, was written; zero when none is there.
func (f *folder) changed(names ...string) time.Time {
	var last time.Time
	for _, name := range names {
		if stat, err := os.Stat(filepath.Join(f.dir, name)); !f.missing(err) && stat.ModTime().After(last) {
			last = stat.ModTime()
		}
	}
	return last
}

// plan returns the starts of a job, none when its folder is gone.
func (f *folder) plan() []start {
	var p plan
	if !f.json(planFile, &p) {
		return nil
	}
	for _, s := range p.Starts {
		if len(s.Cases) != len(s.Requests) {
			return nil
		}
	}
	return p.Starts
}

// owner returns the ID of the job that claimed the folder, "" for none.
func (f *folder) owner() string {
	return strings.TrimSpace(string(f.text(filepath.Join("claim", "job"))))
}

// environment returns where a job ran, nil when it did not.
func (f *folder) environment() *coll.Environment {
	env, ok := f.fields("environment")
	if !ok {
		return nil
	}
	e := &coll.Environment{
		Nodes: slices.Clone(env["node"]), Kernel: env.first("kernel"), CPU: env.first("cpu"),
		Governor: env.first("governor"), Checksum: env.first("checksum"),
	}
	if at, err := time.Parse(time.RFC3339, env.first("started")); err == nil {
		e.Started = at
	}
	return e
}

// startFiles are what one start left.
type startFiles struct {
	benchrunner.Output
	begun   bool
	changed time.Time // when it wrote last
	run     string    // of the job, when it ended; another one after a requeue
	hosts   []string  // its nodes, when it ran beside others
}

// start returns what is there of a start.
func (f *folder) start(dir string, limit time.Duration) startFiles {
	in := func(name string) string { return filepath.Join(dir, name) }
	var s startFiles
	s.Stdout, s.Stderr, s.hosts = f.text(in("stdout")), f.text(in("stderr")), f.hosts(in("hosts"))
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
	s.Ended, s.run = true, end.first("run")
	s.Exit = int(end.int("exit"))
	s.Wall = time.Duration(end.since() * float64(time.Second))
	// timeout(1) returns 124, or 137 when it had to kill; the clock has 10 ms.
	s.TimedOut = (s.Exit == 124 || s.Exit == 137) && s.Wall > limit-50*time.Millisecond
	return s
}

// whole reports whether everything that a job wrote can be seen here: on parallel
// file systems it may come late.
func whole(dir string, starts []start) bool {
	if _, err := os.ReadDir(dir); err != nil { // makes network file systems look again
		return false
	}
	f := folder{dir: dir}
	if _, ok := f.fields("end"); !ok {
		return false
	}
	if _, err := os.Lstat(filepath.Join(dir, "stop")); err == nil {
		return true
	}
	for i := range starts {
		if !wholeStart(filepath.Join(dir, startDir(i))) {
			return false
		}
	}
	return true
}

func wholeStart(dir string) bool {
	if _, err := os.ReadDir(dir); err != nil {
		return false
	}
	f := folder{dir: dir}
	end, ok := f.fields("end")
	return ok && sizeOf(dir, "stdout") >= end.int("stdout") && sizeOf(dir, "stderr") >= end.int("stderr")
}

func sizeOf(dir, name string) int64 {
	stat, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		return -1
	}
	return stat.Size()
}
