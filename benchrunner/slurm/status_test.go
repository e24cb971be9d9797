package slurm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

// TestStatusOfThousand checks that one call of squeue returns the status of a thousand jobs.
func TestStatusOfThousand(t *testing.T) {
	s, dir := fake(t, map[string]string{"squeue": "cat $dir/queue"})
	jobs := map[string]benchrunner.Submission{}
	var queue strings.Builder
	for n := 1; n <= 1000; n++ {
		sub := benchrunner.Submission{Name: fmt.Sprintf("campaign.bcast.r1-%d", n), Dir: fmt.Sprintf("/scratch/%d", n)}
		id := fmt.Sprint(n)
		jobs[id] = sub
		queue.WriteString(columns(id, "PENDING", "1795268788", "N/A", "N/A", sub.Name, sub.Dir, "Priority"))
	}
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "queue"), []byte(queue.String()), 0o644))
	for round := 1; round <= 3; round++ {
		got, err := s.Status(t.Context(), jobs)
		if err != nil || len(got) != len(jobs) {
			t.Fatalf("Status = %d jobs, %v", len(got), err)
		}
		if all := calls(t, dir, "squeue"); len(all) != round {
			t.Errorf("%d commands after %d questions", len(all), round)
		}
	}
	if got, err := s.Status(t.Context(), nil); err != nil || len(got) != 0 || len(calls(t, dir, "squeue")) != 3 {
		t.Errorf("Status of no job = %v, %v", got, err)
	}
}

// write writes a file that the fake commands print.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

// TestLateAccounts checks that a job is unknown while the queue no longer shows it and the accounts do not show it
// yet.
func TestLateAccounts(t *testing.T) {
	s, dir := fake(t, map[string]string{"squeue": "cat $dir/queue", "sacct": "cat $dir/accounts"})
	sub := benchrunner.Submission{Name: "job", Dir: "/d"}
	ask := func() (benchrunner.Status, bool) {
		t.Helper()
		all := testutil.Must(s.Status(t.Context(), map[string]benchrunner.Submission{"7": sub}))(t)
		st, known := all["7"]
		return st, known
	}
	write(t, dir, "accounts", "")
	write(t, dir, "queue", columns("7", "RUNNING", "100", "110", "N/A", "job", "/d", "None"))
	if st, _ := ask(); st.Phase != benchrunner.JobRunning {
		t.Errorf("%+v", st)
	}
	write(t, dir, "queue", "")
	if st, known := ask(); known {
		t.Errorf("gone from the queue, no row yet: %+v", st)
	}
	write(t, dir, "accounts", columns("7", "RUNNING", "100", "110", "Unknown", "job", "/d", "0:0"))
	if st, known := ask(); known {
		t.Errorf("an old row in the accounts: %+v", st)
	}
	write(t, dir, "accounts", columns("7", "COMPLETED", "1", "2", "3", "other", "/d", "0:0")+
		columns("7", "OUT_OF_MEMORY", "100", "110", "120", "job", "/d", "0:125"))
	if st, _ := ask(); st.Outcome != coll.JobOutOfMemory || st.Ended != time.Unix(120, 0) {
		t.Errorf("the row has come: %+v", st)
	}
	got := calls(t, dir, "sacct")
	if len(got) != 3 || !strings.Contains(got[0], "--jobs=7") {
		t.Errorf("calls %q", got)
	}
	if text := strings.Join(got, "\n"); strings.Contains(text, "--json") { // the JSON output reports SUCCESS for failed jobs
		t.Errorf("calls %q", got)
	}
}

// TestPartOfAnswer checks that, while Slurm's accounting does not answer, Status returns an error in addition
// to the jobs that squeue shows.
func TestPartOfAnswer(t *testing.T) {
	s, dir := fake(t, map[string]string{
		"squeue": "cat $dir/queue",
		"sacct":  "echo 'sacct: error: Problem talking to the database: Connection refused' >&2; exit 1",
	})
	write(t, dir, "queue", columns("7", "RUNNING", "100", "110", "N/A", "job", "/d", "None"))
	got, err := s.Status(t.Context(), map[string]benchrunner.Submission{"7": {Name: "job", Dir: "/d"}, "8": {Name: "other", Dir: "/d"}})
	if len(got) != 1 || got["7"].Phase != benchrunner.JobRunning || !errors.Is(err, benchrunner.ErrUnavailable) {
		t.Errorf("Status = %+v, %v", got, err)
	}
}

func TestNoAccounts(t *testing.T) {
	s, dir := fake(t, map[string]string{"squeue": "exit 0", "sacct": "echo 'Slurm accounting storage is disabled' >&2; exit 1"})
	sub := job(t, "job", "true")
	for range 3 {
		if _, found, err := s.Find(t.Context(), sub); found || err != nil {
			t.Errorf("Find = %v, %v", found, err)
		}
	}
	if got := calls(t, dir, "sacct"); len(got) != 1 {
		t.Errorf("sacct was called %d times", len(got))
	}
	s, _ = fake(t, map[string]string{"squeue": "exit 0"}) // sacct is not installed
	if _, found, err := s.Find(t.Context(), sub); found || err != nil {
		t.Errorf("Find without sacct = %v, %v", found, err)
	}
}

func TestFindInAccounts(t *testing.T) {
	s, dir := fake(t, map[string]string{"squeue": "exit 0", "sacct": "cat $dir/accounts"})
	sub := job(t, "job", "true")
	write(t, dir, "accounts", columns("5", "FAILED", "1", "2", "3", "job", "/elsewhere", "0:0")+
		columns("6", "FAILED", "1", "2", "3", "job", sub.Dir, "0:0")+columns("9", "COMPLETED", "4", "5", "6", "job", sub.Dir, "0:0"))
	if id, found, err := s.Find(t.Context(), sub); id != "9" || !found || err != nil {
		t.Errorf("Find = %q, %v, %v", id, found, err)
	}
	if got := calls(t, dir, "sacct")[0]; !strings.Contains(got, "--name=job") || !strings.Contains(got, "--starttime=2026-11-16") {
		t.Errorf("called as %s", got)
	}
}

// TestFindDoubled checks several jobs with the same name. Find must return the one that measures.
func TestFindDoubled(t *testing.T) {
	sub := job(t, "job", "true")
	r := func(id, state, submitted, started, ended string) string {
		return columns(id, state, submitted, started, ended, "job", sub.Dir, "None")
	}
	tests := []struct{ name, queue, want string }{
		{"older waits", r("8", "PENDING", "5", "N/A", "N/A") + r("7", "PENDING", "4", "N/A", "N/A"), "7"},
		{"newer runs", r("7", "PENDING", "4", "N/A", "N/A") + r("8", "RUNNING", "5", "6", "90"), "8"},
		{"older has run", r("8", "PENDING", "5", "N/A", "N/A") + r("7", "FAILED", "4", "5", "60"), "7"},
		{"older was refused", r("7", "FAILED", "4", "4", "4") + r("8", "PENDING", "5", "N/A", "N/A"), "8"},
		{"newer found the folder taken", r("8", "COMPLETED", "5", "6", "6") + r("7", "COMPLETED", "5", "6", "9"), "7"},
		{"same second", r("10", "PENDING", "5", "N/A", "N/A") + r("9", "PENDING", "5", "N/A", "N/A"), "9"},
	}
	for _, tc := range tests {
		s, dir := fake(t, map[string]string{"squeue": "cat $dir/queue"})
		write(t, dir, "queue", tc.queue)
		if id, found, err := s.Find(t.Context(), sub); id != tc.want || !found || err != nil {
			t.Errorf("%s: Find = %q, %v, %v; want %s", tc.name, id, found, err, tc.want)
		}
	}
}

// TestUnavailable checks that every request returns ErrUnavailable, with Slurm's message, while the controller
// does not answer.
func TestUnavailable(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	const down = "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1"
	s, _ := fake(t, map[string]string{"squeue": down, "scancel": down, "scontrol": down})
	sub := job(t, "job", "true")
	_, statusErr := s.Status(t.Context(), map[string]benchrunner.Submission{"7": sub})
	_, _, findErr := s.Find(t.Context(), sub)
	_, switchesErr := s.Switches(t.Context())
	_, capacityErr := s.Capacity(t.Context())
	for name, err := range map[string]error{"status": statusErr, "find": findErr, "switches": switchesErr, "capacity": capacityErr, "cancel": s.Cancel(t.Context(), "7", sub)} {
		golden(name, err, benchrunner.ErrUnavailable)
		if errors.Is(err, benchrunner.ErrRejected) {
			t.Errorf("%s: error %v matches %v", name, err, benchrunner.ErrRejected)
		}
	}
}

// TestNotice checks that Notice reports a command that does not answer.
func TestNotice(t *testing.T) {
	s, _ := fake(t, map[string]string{"scontrol": "/bin/sleep 0.5"})
	s.slow = 100 * time.Millisecond
	slow := make(chan error, 1)
	s.options.Notice = func(err error) { slow <- err }
	if _, err := s.Switches(t.Context()); err != nil {
		t.Fatal(err)
	}
	testutil.GoldenErrors(t)("slow command", <-slow)
}
