package live

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

// numbers is a program that prints the size of each measured case.
type numbers struct{ sized }

func (numbers) Read(s benchrunner.Launch, out benchrunner.Output) benchrunner.Reading {
	said := strings.Fields(string(out.Stdout))
	return benchrunner.Reading{Outcomes: benchrunner.Outcomes(s, out, len(said) > 0, func(c benchrunner.Case) (benchrunner.Outcome, bool) {
		for _, w := range said {
			if w == fmt.Sprint(c.MsgBytes) {
				return benchrunner.Outcome{State: benchrunner.OutcomeDone, Seconds: 1e-6}, true
			}
		}
		return benchrunner.Outcome{}, false
	})}
}

// TestFailedCases checks which cases fail when a job ends early. A running case must fail only if it used up the
// job's time or memory.
func TestFailedCases(t *testing.T) {
	const (
		exit0  = "exit 0\nbegin 10\nend 11\nstdout 0\nstderr 0\nwhole\n"
		exit9  = "exit 9\nbegin 10\nend 11\nstdout 0\nstderr 0\nwhole\n"
		killed = "exit 143\nbegin 10\nend 11\nstdout 0\nstderr 0\nwhole\n"
		hung   = "exit 124\nbegin 10\nend 40\nstdout 0\nstderr 0\nwhole\n"
		parted = "srun: error: _server_read: fd 16 error reading header: Connection reset by peer\n" +
			"srun: error: step_launch_notify_io_failure: aborting, io error with slurmstepd on node 1\n"
		over = "begin 10\nend 40\nwhole\n"

		failed   = "srun: error: Node failure on n1\nsrun: error: Force Terminated StepId=1.0\n"
		expired  = "srun: error: Slurm job 12 has expired\n"
		missing  = "exit 127\nbegin 10\nend 11\nstdout 0\nstderr 0\nwhole\n"
		exit1    = "exit 1\nbegin 10\nend 11\nstdout 0\nstderr 0\nwhole\n"
		graceful = "exit 143\nbegin 10\nend 11\nstdout 0\nstderr 0\nwhole\n"
	)
	type files map[string]string // file contents by name; a suffix +10 means that the file is written ten seconds later
	tests := []struct {
		name    string
		files   files
		outcome coll.JobOutcome // outcome that the scheduler reports
		want    string          // trials of the cases: 1 and 2 of the first launch, 3 and 4 of the second
	}{
		{"all went well", files{"1/begin": "", "1/stdout": "1 2", "1/end": exit0, "2/begin": "", "2/stdout": "3 4", "2/end": exit0, "end": over},
			coll.JobCompleted, "done, done, done, done"},
		{"a crash in a job that went on", files{"1/begin": "", "1/stdout": "1", "1/end": exit9, "2/begin": "", "2/stdout": "3 4", "2/end": exit0, "end": over},
			coll.JobCompleted, "done, run: exit code 9: 1, done, done"},
		{"what a node printed never came", files{"1/begin": "", "1/stdout": "1", "1/stderr": parted, "1/end": exit0, "2/begin": "", "2/stdout": "3 4", "2/end": exit0, "end": over},
			coll.JobCompleted, "done, , done, done"},
		{"the output became shorter", files{"1/begin": "", "1/stdout": "1", "1/end": "stdout 3\n" + exit0, "2/begin": "", "2/stdout": "3 4", "2/end": exit0, "end": over},
			coll.JobCompleted, "done, , done, done"},
		{"a crash, and what a node printed never came", files{"1/begin": "", "1/stdout": "1", "1/stderr": parted, "1/end": exit9, "2/begin": "", "2/stdout": "3 4", "2/end": exit0, "end": over},
			coll.JobCompleted, "done, run: exit code 9: srun: error: step_launch_notify_io_failure: aborting, io error with slurmstepd on node 1, done, done"},
		{"a crash in the last start", files{"1/begin": "", "1/stdout": "1 2", "1/end": exit0, "2/begin": "", "2/stdout": "3", "2/end": exit9, "end": over},
			coll.JobCompleted, "done, done, done, run: exit code 9: 3"},
		{"killed with the job, the script a moment later", files{"1/begin": "", "1/stdout": "1", "1/end": killed}, coll.JobCancelled, "done, , , "},
		{"the same as its node went down", files{"1/begin": "", "1/stdout": "1 2", "1/end": exit0, "2/begin": "", "2/stdout": "3", "2/end": killed},
			coll.JobNodeFail, "done, done, done, "},
		{"the same at the limit of the job", files{"1/begin": "", "1/stdout": "1", "1/end": killed}, coll.JobTimeout, "done, , , "},
		{"a crash before the job was cancelled", files{"1/begin": "", "1/stdout": "1", "1/end": exit9, "2/begin": "", "2/stderr+10": "starting"}, coll.JobCancelled, "done, run: exit code 9: 1, , "},
		{"killed with the job, and the next start had begun", files{"1/begin": "", "1/stdout": "1", "1/end": killed, "2/begin": "", "2/end+1": killed}, coll.JobCancelled, "done, , , "},
		{"killed as the next start had begun", files{"1/begin": "", "1/stdout": "1", "1/end": killed, "2/begin": ""}, coll.JobCancelled, "done, , , "},
		{"killed with the job after a launch that went well", files{"1/begin": "", "1/stdout": "1", "1/end": exit0, "2/begin": "", "2/end": killed}, coll.JobCancelled, "done, , , "},
		{"a hang before the job was cancelled", files{"1/begin": "", "1/stdout": "1", "1/end": hung}, coll.JobCancelled, "done, run: not done after 30 s, , "},
		{"out of time with half the lines", files{"1/begin": "", "1/stdout": "1 2", "1/end": exit0, "2/begin": "", "2/stdout": "3"}, coll.JobTimeout, "done, done, done, "},
		{"out of memory at once", files{"1/begin": ""}, coll.JobOutOfMemory, "run: job j: out of memory, as Slurm says, , , "},
		{"out of time at once", files{"1/begin": ""}, coll.JobTimeout, "run: job j: timeout, as Slurm says, , , "},
		{"out of time in its set-up", files{"job.log": "loading modules\n"}, coll.JobTimeout, ", , , "},
		{"srun ends well after its node failed", files{"1/begin": "", "1/stdout": "1", "1/stderr": failed, "1/end": exit0, "2/begin": "", "2/stdout": "3 4", "2/end": exit0, "end": over},
			coll.JobCompleted, "done, , done, done"},
		{"srun crashes after its node failed", files{"1/begin": "", "1/stdout": "1", "1/stderr": failed, "1/end": exit9, "2/begin": "", "2/stdout": "3 4", "2/end": exit0, "end": over},
			coll.JobCompleted, "done, , done, done"},
		{"a node failed early in the job", files{"1/begin": "", "1/stdout": "1", "1/end": exit9, "2/begin": "", "2/end+60": exit0}, coll.JobNodeFail, "done, , , "},
		{"every launch without a step", files{"1/begin": "", "1/stderr": expired, "1/end": exit1, "2/begin": "", "2/stderr": expired, "2/end": exit1, "end": over}, coll.JobCompleted, ", , , "},
		{"the program is missing", files{"1/begin": "", "1/end": missing, "2/begin": "", "2/end": missing, "end": over}, coll.JobCompleted, ", , , "},
		{"ended from outside while the job went on", files{"1/begin": "", "1/stdout": "1", "1/end": graceful, "2/begin": "", "2/stdout": "3 4", "2/end": exit0, "end": over},
			coll.JobCompleted, "done, , done, done"},
		{"the script fails in its set-up", files{"job.log": "no licence\n"}, coll.JobFailed, ", , , "},
		{"cancelled before anything was measured", files{"1/begin": ""}, coll.JobCancelled, ", , , "},
		{"completed, but its disk was full", files{"1/begin": "", "1/stdout": "1"}, coll.JobCompleted, "done, , , "},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			dir, written := t.TempDir(), time.Now().Add(-time.Minute)
			m := &Machine{opt: Options{Dir: dir, Program: numbers{}}}
			j := job{Job: coll.Job{Name: "j", Requests: []int{0, 1, 2, 3}}, launches: []launch{twoCases(0), twoCases(2)}}
			for name := range maps.Clone(tc.files) { // a launch has both outputs from its begin on
				if launch, ok := strings.CutSuffix(name, "/begin"); ok {
					for _, output := range []string{launch + "/stdout", launch + "/stderr"} {
						if _, later := tc.files[output+"+10"]; !later {
							tc.files[output] += ""
						}
					}
				}
			}
			for name, text := range tc.files {
				name, later, _ := strings.Cut(name, "+")
				path := filepath.Join(m.jobDir("j"), name)
				testutil.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
				testutil.NoError(t, os.WriteFile(path, []byte(text), 0o666))
				at := written
				if later != "" {
					seconds := testutil.Must(strconv.Atoi(later))(t)
					at = at.Add(time.Duration(seconds) * time.Second)
				}
				testutil.NoError(t, os.Chtimes(path, at, at))
			}
			e := ending{status: benchrunner.Status{Phase: benchrunner.JobOver, Outcome: tc.outcome, Reason: "as Slurm says"}}
			s := testutil.Must(m.see(t.Context(), j, e))(t)
			res := s.result(make([]benchrunner.Request, 4), 0)
			var got []string
			for i := range 4 {
				tr := res.Trials[i]
				text := string(tr.State)
				if tr.State == coll.TrialFailed {
					text = tr.Phase + ": " + tr.Error
				}
				got = append(got, text)
			}
			if text := strings.Join(got, ", "); text != tc.want {
				t.Errorf("trials\n%s\nwant\n%s", text, tc.want)
			}
		})
	}
}

// twoCases returns a launch of the requests i and i+1 with a limit of 30 s.
func twoCases(i int) launch {
	s := launch{Requests: []int{i, i + 1}, Limit: 30 * time.Second}
	for _, r := range s.Requests {
		s.Cases = append(s.Cases, caseAt(r, 1, int64(r+1), "a").Case)
	}
	s.Layout = s.Cases[0].Layout()
	return s
}
