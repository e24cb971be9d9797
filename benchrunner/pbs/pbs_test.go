package pbs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

// transcript returns an answer that OpenPBS 23.06.06 gave.
func transcript(t *testing.T, name string) string {
	t.Helper()
	return string(testutil.Must(os.ReadFile(filepath.Join("testdata", name)))(t))
}

// TestForms checks that the JSON form and the text form of an answer have the same attributes.
func TestForms(t *testing.T) {
	fromJSON := testutil.Must(parseJSON(transcript(t, "E-mixed.json"), "Jobs"))(t)
	fromText := parseText(transcript(t, "E-text.txt"))
	if len(fromText) == 0 || len(fromJSON) != 2 {
		t.Fatalf("%d jobs from text, %d from JSON", len(fromText), len(fromJSON))
	}
	for id, job := range fromText {
		for _, name := range []string{"Job_Name", "job_state", "Output_Path", "substate", "Exit_status", "stime", "Resource_List.nodect"} {
			if got := fromJSON[id][name]; got != job[name] || got == "" {
				t.Errorf("job %s: %s is %q in JSON, %q in text", id, name, got, job[name])
			}
		}
	}
}

// TestWrappedText checks that a line that begins with a tab continues the value before it.
func TestWrappedText(t *testing.T) {
	got := parseText("Job Id: 7.pbs0\n    Job_Name = a\n    Output_Path = pbs0:/home/u1/\n\tw/pbs.out\n\n")
	if o := got["7.pbs0"]; o["Output_Path"] != "pbs0:/home/u1/w/pbs.out" || o["Job_Name"] != "a" {
		t.Errorf("%v", got)
	}
}

// TestOutcomes checks the outcomes of jobs that OpenPBS 23.06.06 reported.
func TestOutcomes(t *testing.T) {
	for name, tc := range map[string]struct {
		job  object
		want coll.JobOutcome
	}{
		"finished":            {object{"stime": "x", "substate": "92", "Exit_status": "0"}, coll.JobCompleted},
		"failed":              {object{"stime": "x", "substate": "93", "Exit_status": "3"}, coll.JobFailed},
		"killed by a signal":  {object{"stime": "x", "substate": "93", "Exit_status": "266"}, coll.JobFailed},
		"wall time":           {object{"stime": "x", "substate": "93", "Exit_status": "-29"}, coll.JobTimeout},
		"first node lost":     {object{"stime": "x", "substate": "93", "Exit_status": "-20"}, coll.JobNodeFail},
		"other node lost":     {object{"stime": "x", "substate": "93", "Exit_status": "-14"}, coll.JobNodeFail},
		"deleted":             {object{"stime": "x", "substate": "91", "Exit_status": "271"}, coll.JobCancelled},
		"deleted, TERM taken": {object{"stime": "x", "substate": "91", "Exit_status": "0"}, coll.JobCancelled},
		"deleted in queue":    {object{"substate": "91"}, coll.JobCancelled},
		"dependency failed":   {object{"substate": "92"}, coll.JobCancelled},
	} {
		if got := tc.job.outcome(); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// TestStates checks the status of jobs in transcripts, and of a job that PBS says can never run.
func TestStates(t *testing.T) {
	s := testutil.Must(New(Options{}))(t)
	at := time.Unix(1_800_000_000, 0)
	s.now = func() time.Time { return at }
	requeued := testutil.Must(parseJSON(transcript(t, "requeued-after-node-failure.json"), "Jobs"))(t)["74.pbs0"]
	if got := s.statusOf("74.pbs0", requeued); got.Phase != benchrunner.JobWaiting || got.NeverStarts || !got.Started.IsZero() {
		t.Errorf("requeued: %+v, want one that waits", got)
	}
	running := testutil.Must(parseJSON(transcript(t, "history-off-running.json"), "Jobs"))(t)["96.pbs0"]
	if got := s.statusOf("96.pbs0", running); got.Phase != benchrunner.JobRunning || !got.Started.Equal(time.Date(2026, 11, 28, 22, 56, 6, 0, time.UTC)) {
		t.Errorf("running: %+v", got)
	}
	if !s.statusOf("16.pbs0", object{"job_state": "H", "Hold_Types": "u"}).NeverStarts {
		t.Error("a held job starts")
	}
	blocked := object{"job_state": "Q", "comment": "Can Never Run: Not enough total nodes available"}
	if s.statusOf("23.pbs0", blocked).NeverStarts {
		t.Error("one answer decides that a job never starts")
	}
	at = at.Add(neverAfter)
	if !s.statusOf("23.pbs0", blocked).NeverStarts {
		t.Error("a job that can never run starts after all")
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{"90": 90 * time.Second, "02:30": 150 * time.Second, "168:00:00": 168 * time.Hour} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	if got, err := parseSize("24683652kb"); err != nil || got != 24683652<<10 {
		t.Errorf("24683652kb: %d, %v", got, err)
	}
	if got := jobLimit("[o:PBS_ALL=10],[u:PBS_GENERIC=3]"); got != 3 {
		t.Errorf("limit %d, want 3", got)
	}
	for _, text := range []string{"x", "", "1:2:3:4"} {
		if _, err := parseDuration(text); err == nil {
			t.Errorf("%q is a duration", text)
		}
	}
}

// TestRejects checks which failures of qsub are rejections.
func TestRejects(t *testing.T) {
	for _, tc := range []struct {
		code    int
		message string
		want    bool
	}{
		{170, "Unknown queue", true}, {188, "Job violates queue and/or server resource limits", true}, {2, "illegal -N value", true},
		{38, "would exceed queue generic's per-user limit", false}, {162, "cannot connect to server pbs0 (errno=15010)", false},
		{183, "Premature end of message", false}, {1, "pbs_iff: all reserved ports in use", false}, {-1, "no answer in time", false},
		{1, "the hook wants a project", true},
	} {
		if got := rejects(&failure{Code: tc.code, Message: tc.message}); got != tc.want {
			t.Errorf("code %d, %s: rejected %v, want %v", tc.code, tc.message, got, tc.want)
		}
	}
}

// TestCapacity checks the nodes and limits of transcripts.
func TestCapacity(t *testing.T) {
	dir := testutil.PBS(t)
	for name, from := range map[string]string{"nodes.json": "nodes-json.json", "server.json": "server-json.json", "queue.json": "queue-limits-json.json"} {
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(transcript(t, from)), 0o666))
	}
	s := testutil.Must(New(Options{Bin: dir, Queue: "lim", MaxJobs: 4}))(t)
	got := testutil.Must(s.Capacity(t.Context()))(t)
	want := benchrunner.Capacity{Nodes: 2, PPN: 8, Bytes: 24683652 << 10, Limit: 168 * time.Hour, Jobs: 3, SeparateNodes: true}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s = testutil.Must(New(Options{Bin: dir, Queue: "nosuch"}))(t)
	if _, err := s.Capacity(t.Context()); !errors.Is(err, benchrunner.ErrRejected) {
		t.Errorf("no such queue: %v", err)
	}
	testutil.PBSFault(t, dir, "down")
	if _, err := s.Capacity(t.Context()); !errors.Is(err, benchrunner.ErrUnavailable) {
		t.Errorf("server down: %v", err)
	}
}

func submission(t *testing.T, name, body string) benchrunner.Submission {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(dir, "job.sh")
	testutil.NoError(t, os.WriteFile(script, []byte("#!/bin/bash\n"+body+"\n"), 0o755))
	return benchrunner.Submission{Name: name, Dir: dir, Script: script, Nodes: 1, PPN: 2, Limit: 90 * time.Second}
}

// await asks for the status of a job until it is in the given phase.
func await(t *testing.T, s *Scheduler, id string, sub benchrunner.Submission, phase benchrunner.JobPhase) benchrunner.Status {
	t.Helper()
	for end := time.Now().Add(testutil.HangTimeout); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		answer := testutil.Must(s.Status(t.Context(), map[string]benchrunner.Submission{id: sub}))(t)
		if st, ok := answer[id]; ok && st.Phase == phase {
			return st
		}
	}
	t.Fatalf("job %s is never %s", id, phase)
	return benchrunner.Status{}
}

// TestJob follows a job from its submission to its end, in both forms of answers.
func TestJob(t *testing.T) {
	for _, fault := range []string{"", "no-json"} {
		dir := testutil.PBS(t)
		if fault != "" {
			testutil.PBSFault(t, dir, fault)
		}
		s := testutil.Must(New(Options{Bin: dir, Queue: "workq", Account: "me", Chunk: "system=x", Resources: []string{"filesystems=home"}}))(t)
		sub := submission(t, "tutti-a-1", `echo "$TUTTI_JOB_ID $TUTTI_RESTART_COUNT ${OMP_NUM_THREADS:-none} $(wc -l <"$TUTTI_NODEFILE")" >seen`)
		id := testutil.Must(s.Submit(t.Context(), sub))(t)
		st := await(t, s, id, sub, benchrunner.JobOver)
		if st.Outcome != coll.JobCompleted || st.Started.IsZero() || st.Submitted.IsZero() {
			t.Errorf("%s: %+v, want a job that completed", fault, st)
		}
		seen := testutil.Must(os.ReadFile(filepath.Join(sub.Dir, "seen")))(t)
		if want := id + " 0 none 1\n"; string(seen) != want {
			t.Errorf("the script saw %q, want %q", seen, want)
		}
		if found, ok, err := s.Find(t.Context(), sub); !ok || err != nil || found != id {
			t.Errorf("found %s, %v, %v, want %s", found, ok, err, id)
		}
		other := sub
		other.Dir = t.TempDir()
		if _, ok, _ := s.Find(t.Context(), other); ok {
			t.Error("found a job of another folder")
		}
		testutil.NoError(t, s.Cancel(t.Context(), id, sub)) // it is over
		calls := string(testutil.Must(os.ReadFile(filepath.Join(dir, "calls")))(t))
		for _, want := range []string{"-l select=1:ncpus=2:mpiprocs=2:system=x -l place=scatter:excl -l walltime=90 -l filesystems=home -q workq -A me " + sub.Dir + "/pbs.sh", "-r n", "-k doe"} {
			if !strings.Contains(calls, want) {
				t.Errorf("calls %s\nwant %s", calls, want)
			}
		}
	}
}

// TestHistoryOff checks that a server without a history is asked without -x, and that an ended job is unknown.
func TestHistoryOff(t *testing.T) {
	dir := testutil.PBS(t)
	testutil.PBSFault(t, dir, "history-off")
	s := testutil.Must(New(Options{Bin: dir}))(t)
	sub := submission(t, "tutti-b-1", "while [ ! -e go ]; do sleep 0.05; done")
	id := testutil.Must(s.Submit(t.Context(), sub))(t)
	await(t, s, id, sub, benchrunner.JobRunning)
	if found, ok, err := s.Find(t.Context(), sub); !ok || err != nil || found != id {
		t.Errorf("found %s, %v, %v, want %s", found, ok, err, id)
	}
	testutil.NoError(t, os.WriteFile(filepath.Join(sub.Dir, "go"), nil, 0o666))
	for end := time.Now().Add(testutil.HangTimeout); ; time.Sleep(20 * time.Millisecond) {
		answer := testutil.Must(s.Status(t.Context(), map[string]benchrunner.Submission{id: sub}))(t)
		if len(answer) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the job never ends")
		}
	}
}

// TestCancel checks that a running job is cancelled, but not a job of another name with the same ID.
func TestCancel(t *testing.T) {
	dir := testutil.PBS(t)
	s := testutil.Must(New(Options{Bin: dir}))(t)
	sub := submission(t, "tutti-c-1", "exec sleep 1000")
	id := testutil.Must(s.Submit(t.Context(), sub))(t)
	await(t, s, id, sub, benchrunner.JobRunning)
	other := sub
	other.Name = "tutti-c-2"
	testutil.NoError(t, s.Cancel(t.Context(), id, other))
	if st := await(t, s, id, sub, benchrunner.JobRunning); st.Phase != benchrunner.JobRunning {
		t.Errorf("another job's name cancelled it: %+v", st)
	}
	testutil.NoError(t, s.Cancel(t.Context(), id, sub))
	if st := await(t, s, id, sub, benchrunner.JobOver); st.Outcome != coll.JobCancelled {
		t.Errorf("%+v, want cancelled", st)
	}
	testutil.NoError(t, s.Cancel(t.Context(), "99999.pbs0", sub))
}

// TestSubmitFaults checks the errors of Submit, and that a job whose ID was lost is found again.
func TestSubmitFaults(t *testing.T) {
	dir := testutil.PBS(t)
	s := testutil.Must(New(Options{Bin: dir}))(t)
	sub := submission(t, "tutti-d-1", "true")
	testutil.PBSFault(t, dir, "lost-answer")
	if _, err := s.Submit(t.Context(), sub); !errors.Is(err, benchrunner.ErrUnavailable) {
		t.Errorf("no answer: %v, want %v", err, benchrunner.ErrUnavailable)
	}
	if _, ok, err := s.Find(t.Context(), sub); !ok || err != nil {
		t.Errorf("the job is not found: %v", err)
	}
	testutil.PBSFault(t, dir, "drop")
	other := submission(t, "tutti-d-2", "true")
	id := testutil.Must(s.Submit(t.Context(), other))(t)
	if answer := testutil.Must(s.Status(t.Context(), map[string]benchrunner.Submission{id: other}))(t); len(answer) > 0 {
		t.Errorf("a job that vanished has a status: %v", answer)
	}
	testutil.PBSFault(t, dir, "refuse")
	if _, err := s.Submit(t.Context(), other); !errors.Is(err, benchrunner.ErrRejected) {
		t.Errorf("unknown queue: %v, want %v", err, benchrunner.ErrRejected)
	}
}

// TestServerHangs checks that a command that does not answer is killed.
func TestServerHangs(t *testing.T) {
	dir := t.TempDir()
	testutil.NoError(t, testutil.WriteExecutable(filepath.Join(dir, "pbsnodes"), "#!/bin/sh\nexec sleep 1000\n"))
	s := testutil.Must(New(Options{Bin: dir}))(t)
	s.limit = 50 * time.Millisecond
	if _, err := s.Nodes(t.Context()); !errors.Is(err, benchrunner.ErrUnavailable) || !strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("%v", err)
	}
}

// TestOptions checks values that would change the meaning of qsub's arguments.
func TestOptions(t *testing.T) {
	for _, o := range []Options{{Queue: "a b"}, {Resources: []string{"walltime=1"}}, {Resources: []string{"filesystems"}}, {Chunk: "a\nb"}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	if i := slices.IndexFunc((&Options{}).Keys(), func(k benchrunner.Key) bool { return k.Doc == "" || k.At == nil }); i >= 0 {
		t.Errorf("key %d has no meaning", i)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("Job Id: 7.pbs0\n    Job_Name = a\n\tb\n")
	f.Add(`{"Jobs":{"7":{"Job_Name":7}}}`)
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = parseJSON(text, "Jobs")
		parseText(text)
		_, _ = parseDuration(text)
		_, _ = parseSize(text)
	})
}
