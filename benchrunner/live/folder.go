package live

import (
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

	"tutti/benchrunner"
	"tutti/coll"
)

// plan is plan.json: what a job measures.
type plan struct {
	Starts []start
}

// makeFolder makes the folder of a job with everything in it, in one step. An
// error matching fs.ErrExist says that the name is taken.
func makeFolder(dir string, j job) error {
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%s: %w", dir, fs.ErrExist)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".new-")
	if err != nil {
		return err
	}
	err = fillFolder(temp, j)
	if err == nil {
		err = os.Rename(temp, dir)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	return nil
}

func fillFolder(dir string, j job) error {
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	for i := range j.starts {
		if err := os.Mkdir(filepath.Join(dir, startDir(i)), 0o777); err != nil {
			return err
		}
	}
	for name, content := range j.files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			return err
		}
	}
	return writeJSON(filepath.Join(dir, "plan.json"), plan{j.starts})
}

// writeJSON replaces a file in one step.
func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// readJSON reports whether the file is there and whole. One that is not is as good
// as none: it is written anew, or the work it stood for is done again.
func readJSON(path string, v any) bool {
	text, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(text, v) == nil
}

// readPlan returns the starts of a job, none when its folder is gone.
func readPlan(dir string) []start {
	var p plan
	if !readJSON(filepath.Join(dir, "plan.json"), &p) {
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
func owner(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "claim", "job"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// writeStop keeps the script of a job from starting anything more. A folder that is
// gone needs none.
func writeStop(dir string) error {
	err := os.WriteFile(filepath.Join(dir, "stop"), nil, 0o666)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// fields are the lines "key value" of a file that a script wrote.
type fields map[string][]string

// parseFields reads such a file; one that does not end in the line "whole" was cut
// short and is not there.
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

func readFields(path string) (fields, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	return parseFields(text)
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

// since returns end - begin in seconds, never negative. Both are written twice: by a
// coarse clock that never steps, and by a fine one that is taken when it agrees.
func (f fields) since() float64 {
	begin, end := clocks(f.first("begin")), clocks(f.first("end"))
	coarse, fine := end[0]-begin[0], end[1]-begin[1]
	const tick = 0.02 // of the coarse clock, both ends
	d := coarse
	if end[0] == 0 || end[1] != 0 && math.Abs(fine-coarse) <= tick {
		d = fine
	}
	if d > 0 && d < 1e10 {
		return d
	}
	return 0
}

// clocks reads two numbers; a locale may have written a comma.
func clocks(s string) [2]float64 {
	var out [2]float64
	for i, word := range strings.Fields(strings.ReplaceAll(s, ",", ".")) {
		if n, err := strconv.ParseFloat(word, 64); err == nil && i < len(out) {
			out[i] = clean(n)
		}
	}
	return out
}

// readEnvironment returns where a job ran, nil when it did not.
func readEnvironment(dir string) *coll.Environment {
	f, ok := readFields(filepath.Join(dir, "environment"))
	if !ok {
		return nil
	}
	e := &coll.Environment{
		Nodes: slices.Clone(f["node"]), Kernel: f.first("kernel"), CPU: f.first("cpu"),
		Governor: f.first("governor"), Checksum: f.first("checksum"),
	}
	if at, err := time.Parse(time.RFC3339, f.first("started")); err == nil {
		e.Started = at
	}
	return e
}

// whole reports whether everything that a job wrote can be seen here: on parallel
// file systems it may come late.
func whole(dir string, starts []start) bool {
	if _, err := os.ReadDir(dir); err != nil { // makes network file systems look again
		return false
	}
	if _, ok := readFields(filepath.Join(dir, "end")); !ok {
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
	f, ok := readFields(filepath.Join(dir, "end"))
	return ok && sizeOf(dir, "stdout") >= f.int("stdout") && sizeOf(dir, "stderr") >= f.int("stderr")
}

func sizeOf(dir, name string) int64 {
	stat, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		return -1
	}
	return stat.Size()
}

// startFiles are what one start left.
type startFiles struct {
	benchrunner.Output
	begun bool
	run   string // of the job, when it ended; another one after a requeue
}

// readStart returns what is there of a start.
func readStart(dir string, limit time.Duration) startFiles {
	var s startFiles
	s.Stdout = readText(filepath.Join(dir, "stdout"))
	s.Stderr = readText(filepath.Join(dir, "stderr"))
	begin, err := os.Stat(filepath.Join(dir, "begin"))
	end, ended := readFields(filepath.Join(dir, "end"))
	s.begun = err == nil || ended
	if !ended {
		if s.begun {
			s.Wall = min(lastChange(dir, begin.ModTime()).Sub(begin.ModTime()), limit)
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

// maxText bounds what is read of a program that does not stop to print.
const maxText = 64 << 20

// readText returns the beginning of a file; what cannot be read is not there.
func readText(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxText)) // what was read counts
	return text
}

// lastChange is when something was written last in a folder, not before at.
func lastChange(dir string, at time.Time) time.Time {
	for _, name := range []string{"begin", "stdout", "stderr", "end.new", "end"} {
		if stat, err := os.Stat(filepath.Join(dir, name)); err == nil && stat.ModTime().After(at) {
			at = stat.ModTime()
		}
	}
	return at
}

// tail returns the last lines of what a program said, in one line fit for a
// journal.
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
