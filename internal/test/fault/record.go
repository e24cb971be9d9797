package fault

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"al.essio.dev/pkg/shellescape"

	"tutti/benchrunner"
	"tutti/internal/test/executable"
)

// record is fault.json in the folder of a job: its runs at the inner scheduler. Runs
// of one ID follow one another; only the last one is known.
type record struct{ Runs []run }

type run struct {
	ID   string
	Fate Kind // once it is ended
}

// of returns the index of the last run of an ID, negative for none.
func (r record) of(id string) int {
	for i := len(r.Runs) - 1; i >= 0; i-- {
		if r.Runs[i].ID == id {
			return i
		}
	}
	return -1
}

// last is the ID that was handed out last, "" for none.
func (r record) last() string {
	if len(r.Runs) == 0 {
		return ""
	}
	return r.Runs[len(r.Runs)-1].ID
}

// restarts counts the earlier runs under the ID of run i.
func (r record) restarts(i int) int {
	n := 0
	for _, o := range r.Runs[:i] {
		if o.ID == r.Runs[i].ID {
			n++
		}
	}
	return n
}

func readRecord(dir string) (record, error) {
	var r record
	text, err := os.ReadFile(filepath.Join(dir, "fault.json"))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

func (r record) write(dir string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "fault.json")
	if err := os.WriteFile(path+".new", text, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// innerOf is run i as the inner scheduler sees it: a job with a folder of its own
// inside that of the outer one.
func innerOf(sub benchrunner.Submission, i int) benchrunner.Submission {
	sub.Dir = filepath.Join(sub.Dir, "fault-"+strconv.Itoa(i+1))
	sub.Name = fmt.Sprintf("%s-%d", sub.Name, i+1)
	sub.Script = filepath.Join(sub.Dir, "run.sh")
	return sub
}

// held is how long a job that is to be struck waits for it at its end, in seconds.
const held = 60

// prepare makes the folder of the last run. Its script runs the job's under the
// outer ID, with commands of our own in front when the output is to be damaged. What is
// to be struck does not end before, however busy the machine is.
func (r record) prepare(sub benchrunner.Submission, kind Kind, delay time.Duration) (benchrunner.Submission, error) {
	i := len(r.Runs) - 1
	in := innerOf(sub, i)
	bin := filepath.Join(in.Dir, "bin")
	if err := os.MkdirAll(bin, 0o777); err != nil {
		return in, err
	}
	job := "exec bash " + shellescape.Quote(sub.Script)
	if kind.strikes() {
		job = fmt.Sprintf("bash %s; sleep %d", shellescape.Quote(sub.Script), held)
	}
	files := map[string]string{in.Script: fmt.Sprintf("#!/bin/bash\nexport TUTTI_JOB_ID=%s TUTTI_RESTART_COUNT=%d PATH=%s:$PATH\n%s\n",
		shellescape.Quote(r.Runs[i].ID), r.restarts(i), shellescape.Quote(bin), job)}
	switch body := damage(kind); {
	case kind == Late:
		files[filepath.Join(bin, "stat")] = fmt.Sprintf(late, delay.Seconds())
	case body != "":
		files[filepath.Join(bin, "timeout")] = "#!/bin/bash\nPATH=${PATH#*:}\n" + body
	}
	for path, text := range files {
		if err := executable.Write(path, text); err != nil {
			return in, err
		}
	}
	return in, nil
}

// late is stat(1), which job scripts call after each start: what it told the size of
// goes away for a while.
const late = `#!/bin/bash
PATH=${PATH#*:}
stat "$@" || exit
mv stdout .late
setsid bash -c 'sleep %g; mv .late stdout' >/dev/null 2>&1 </dev/null &
`

// damage returns what timeout(1), which job scripts run each start under, does with
// the output; "" for nothing.
func damage(kind Kind) string {
	switch kind {
	case Truncated:
		return `timeout "$@" >.whole
code=$?
head -c $((RANDOM % ($(stat -c %s .whole) + 1))) .whole
exit "$code"
`
	case Missing:
		return `timeout "$@"
code=$?
rm -f stdout
exit "$code"
`
	case Interleaved:
		return `timeout "$@" | awk 'NR % 2 { held = $0; next } { print substr(held, 1, 4) $0; print substr(held, 5) } END { if (NR % 2) print held }'
exit "${PIPESTATUS[0]}"
`
	case Prefixed:
		return `timeout "$@" | sed 's/^/[0] /'
exit "${PIPESTATUS[0]}"
`
	}
	return ""
}
