package runnertest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"al.essio.dev/pkg/shellescape"

	"tutti/benchrunner"
	"tutti/internal/testutil"
)

// record is the content of the file fault.json in the folder of a job: the job's runs at the inner
// scheduler. A requeued job has several runs with the same ID, of which the last one counts.
type record struct{ Runs []run }

type run struct {
	ID    string
	Fault Fault // that ended the run, "" for none
}

// indexOf returns the index of the last run with the given ID, or -1 if there is none.
func (r record) indexOf(id string) int {
	for i := len(r.Runs) - 1; i >= 0; i-- {
		if r.Runs[i].ID == id {
			return i
		}
	}
	return -1
}

// lastID returns the ID that was assigned last, or "" if there is none.
func (r record) lastID() string {
	if len(r.Runs) == 0 {
		return ""
	}
	return r.Runs[len(r.Runs)-1].ID
}

// restarts returns how many runs before run i have the same ID as run i.
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

// innerSubmission returns the submission of run i to the inner scheduler. The run's folder is inside the
// folder of the job.
func innerSubmission(sub benchrunner.Submission, i int) benchrunner.Submission {
	sub.Dir = filepath.Join(sub.Dir, "fault-"+strconv.Itoa(i+1))
	sub.Name = fmt.Sprintf("%s-%d", sub.Name, i+1)
	sub.Script = filepath.Join(sub.Dir, "run.sh")
	return sub
}

// endDelay is the number of seconds by which a run is extended if a fault ends it early. The extension
// ensures that the script has not ended before the fault occurs, even on a busy machine.
const endDelay = 60

// prepare creates the folder of the last run and returns the run's submission. The script of the run
// executes the job's script with the ID that FaultyScheduler assigned. For faults of the output, PATH
// begins with a folder that contains replaced commands.
func (r record) prepare(sub benchrunner.Submission, kind Fault, delay time.Duration) (benchrunner.Submission, error) {
	i := len(r.Runs) - 1
	in := innerSubmission(sub, i)
	bin := filepath.Join(in.Dir, "bin")
	if err := os.MkdirAll(bin, 0o777); err != nil {
		return in, err
	}
	job := "exec bash " + shellescape.Quote(sub.Script)
	if kind.endsJob() {
		job = fmt.Sprintf("bash %s; sleep %d", shellescape.Quote(sub.Script), endDelay)
	}
	files := map[string]string{in.Script: fmt.Sprintf("#!/bin/bash\nexport TUTTI_JOB_ID=%s TUTTI_RESTART_COUNT=%d PATH=%s:$PATH\n%s\n",
		shellescape.Quote(r.Runs[i].ID), r.restarts(i), shellescape.Quote(bin), job)}
	switch body := damagingTimeout(kind); {
	case kind == OutputLate:
		files[filepath.Join(bin, "stat")] = fmt.Sprintf(statHidingOutput, delay.Seconds())
	case body != "":
		files[filepath.Join(bin, "timeout")] = "#!/bin/bash\nPATH=${PATH#*:}\n" + body
	}
	for path, text := range files {
		if err := testutil.WriteExecutable(path, text); err != nil {
			return in, err
		}
	}
	return in, nil
}

// statHidingOutput replaces stat(1), which job scripts call after each launch. After the call it hides the
// file stdout for the given number of seconds.
const statHidingOutput = `#!/bin/bash
PATH=${PATH#*:}
stat "$@" || exit
mv stdout .late
setsid bash -c 'sleep %g; mv .late stdout' >/dev/null 2>&1 </dev/null &
`

// damagingTimeout returns a script that replaces timeout(1), with which job scripts run each launch. The
// script damages the launch's output according to the fault. For a fault that does not damage the output,
// the result is "".
func damagingTimeout(kind Fault) string {
	switch kind {
	case OutputTruncated:
		return `timeout "$@" >.whole
code=$?
head -c $((RANDOM % ($(stat -c %s .whole) + 1))) .whole
exit "$code"
`
	case OutputMissing:
		return `timeout "$@"
code=$?
rm -f stdout
exit "$code"
`
	case OutputInterleaved:
		return `timeout "$@" | awk 'NR % 2 { held = $0; next } { print substr(held, 1, 4) $0; print substr(held, 5) } END { if (NR % 2) print held }'
exit "${PIPESTATUS[0]}"
`
	case OutputPrefixed:
		return `timeout "$@" | sed 's/^/[0] /'
exit "${PIPESTATUS[0]}"
`
	}
	return ""
}
