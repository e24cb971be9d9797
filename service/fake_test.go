package service_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/renameio/v2"

	"tutti/activelearn"
	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
	"tutti/report"
)

// asTutti is an environment variable. If it is set, the test binary runs fakeTutti.
const asTutti = "FAKE_TUTTI=1"

func TestMain(m *testing.M) {
	switch {
	case slices.Contains(os.Environ(), asTutti):
		os.Exit(fakeTutti(os.Args[1:]))
	case slices.Contains(os.Environ(), asService):
		os.Exit(fakeService(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// fakeFile is a campaign file for fakeTutti: the number of trials, the time between trials and the exit
// code of tutti.
type fakeFile struct {
	Trials int           `json:"trials"`
	Every  time.Duration `json:"every"`
	Exit   int           `json:"exit"`
	Deaf   bool          `json:"deaf"`   // tutti ignores SIGTERM
	Change float64       `json:"change"` // change of times that a drift measurement reports
	Cost   float64       `json:"cost"`   // node-seconds of a trial; 0: 1
	Verify int           `json:"verify"` // exit code of a verification

	Libraries   []library `json:"libraries"`
	Collectives []string  `json:"collectives"`
}

type library struct {
	Name string `json:"name"`
}

// write writes a campaign file into a new folder and returns its path.
func (p fakeFile) write(t *testing.T, name string) string {
	t.Helper()
	p.Libraries, p.Collectives = []library{{"mpich"}}, []string{"bcast"}
	content, err := json.Marshal(p)
	path := filepath.Join(t.TempDir(), name)
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	testutil.NoError(t, err)
	return path
}

// fakeTutti acts as tutti in tests. It runs the commands tune, resume, cancel and verify --drift on a real
// journal, and the command online update. It appends its arguments to the file calls.txt next to the
// results.
func fakeTutti(args []string) int {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, syscall.SIGTERM)
	flag := func(name string) string {
		if i := slices.Index(args, name); i >= 0 {
			return args[i+1]
		}
		return ""
	}
	if args[0] == "online" {
		return fakeUpdate(args, flag("--campaign"))
	}
	dir := flag("--out")
	if args[0] != "tune" {
		dir = args[1]
	}
	note(filepath.Join(filepath.Dir(dir), "calls.txt"), strings.Join(args, " "))
	switch args[0] {
	case "tune":
		return fakeTune(flag("-c"), dir, interrupted)
	case "resume":
		return fakeResume(dir, interrupted)
	case "verify":
		if flag("--drift") == "" {
			return fakeVerify(dir, interrupted)
		}
		return fakeDrift(dir)
	}
	return 0
}

func fakeTune(file, dir string, interrupted <-chan os.Signal) int {
	content, err := os.ReadFile(file)
	if err != nil {
		return fail(3, err)
	}
	j, err := journal.Create(dir, journal.Header{Campaign: "fake", Spec: content})
	if errors.Is(err, journal.ErrExists) || errors.Is(err, journal.ErrLocked) {
		return fail(6, err)
	}
	if err != nil {
		return fail(1, err)
	}
	return fakeRun(j, dir, content, 0, interrupted)
}

func fakeResume(dir string, interrupted <-chan os.Signal) int {
	j, contents, err := journal.Open(dir)
	if errors.Is(err, journal.ErrLocked) {
		return fail(6, err)
	}
	if err != nil {
		return fail(3, err)
	}
	done := 0
	for _, r := range contents.State().Rounds {
		done += r.Done
	}
	return fakeRun(j, dir, contents.Header.Spec, done, interrupted)
}

func fakeDrift(dir string) int {
	contents, err := journal.Read(dir)
	if err != nil {
		return fail(3, err)
	}
	var p fakeFile
	if err := json.Unmarshal(contents.Header.Spec, &p); err != nil {
		return fail(3, err)
	}
	fmt.Printf(`{"candidates":8,"change":%g,"ratio":1,"node_seconds":%g}`, p.Change, 8*cmp.Or(p.Cost, 1))
	return 0
}

// fakeVerify verifies the files of a campaign with as many trials as the campaign had. It exits with the code
// fakeFile.Verify, and writes the report unless that is an error.
func fakeVerify(dir string, interrupted <-chan os.Signal) int {
	j, contents, err := journal.Open(dir)
	if err != nil {
		return fail(3, err)
	}
	defer j.Close()
	var p fakeFile
	if err := json.Unmarshal(contents.Header.Spec, &p); err != nil {
		return fail(3, err)
	}
	for i := range p.Trials {
		select {
		case <-interrupted:
			return 5
		case <-time.After(p.Every):
		}
		t := coll.Trial{Measurement: coll.Measurement{Candidate: fakeCandidate(i), Seconds: 1e-6, CostSeconds: cmp.Or(p.Cost, 1) / 2}, Attempt: 1, State: coll.TrialDone}
		if err := j.Append(journal.Record{Kind: journal.KindVerify, Verify: &journal.VerifyStep{Library: "mpich", Session: 1, Round: 1, Stage: 1, Trial: &t}}); err != nil {
			return fail(1, err)
		}
	}
	if p.Verify != 0 && p.Verify != 9 {
		return fail(p.Verify, errors.New("the compiler is missing"))
	}
	evidence := report.Verified
	if p.Verify == 9 {
		evidence = report.Measured
	}
	return writeReport(dir, p.Verify, evidence)
}

// writeReport writes a report with one verdict. It returns `code`, or the exit code of an error.
func writeReport(dir string, code int, evidence report.Evidence) int {
	f := report.Facts{Libraries: []report.LibraryFacts{{Library: "mpich", Verdict: &report.Verdict{
		Library: "mpich", Evidence: evidence, Gain: &report.Gain{Value: 0.1, Low: 0.05, High: 0.15}, Changed: 1,
		Next: report.NextStep{Why: "compare", Command: "tutti verify"}, Riskiest: []report.RiskyPoint{{Algorithm: "binomial"}},
	}}}}
	content, err := json.Marshal(f)
	if err == nil {
		err = renameio.WriteFile(filepath.Join(dir, export.ReportJSON), content, 0o600)
	}
	if err != nil {
		return fail(7, err)
	}
	return code
}

func fakeCandidate(i int) coll.Candidate {
	return coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: int64(i + 1)}, Algorithm: coll.Algorithm{Name: "binomial"}}
}

// fakeRun appends the remaining trials of a campaign to its journal and returns the exit code.
func fakeRun(j *journal.Journal, dir string, spec json.RawMessage, done int, interrupted <-chan os.Signal) int {
	defer j.Close()
	var p fakeFile
	if err := json.Unmarshal(spec, &p); err != nil {
		return fail(3, err)
	}
	if p.Deaf {
		interrupted = nil
	}
	problem := journal.Problem{Library: "mpich", Collective: coll.Bcast}
	var group []journal.Record
	for ; done < p.Trials; done++ {
		select {
		case <-interrupted:
			return 5
		case <-time.After(p.Every):
		}
		c := fakeCandidate(done)
		t := coll.Trial{Measurement: coll.Measurement{Candidate: c, Seconds: 1e-6, CostSeconds: cmp.Or(p.Cost, 1) / 2}, Attempt: 1, State: coll.TrialDone}
		group = append(group,
			journal.Record{Kind: journal.KindBatch, Problem: problem, Round: done + 1, Batch: []coll.Candidate{c}},
			journal.Record{Kind: journal.KindTrial, Problem: problem, Round: done + 1, Trial: &t},
			journal.Record{Kind: journal.KindEvaluation, Problem: problem, Round: done + 1, Evaluation: &activelearn.Evaluation{Round: done + 1, Slowdown: 1.5, Mistakes: 0.25}},
		)
		if p.Every == 0 && done+1 < p.Trials && len(group) < 300 {
			continue // append many records together, because each append waits for the disk
		}
		if err := j.Append(group...); err != nil {
			return fail(1, err)
		}
		group = nil
	}
	if p.Exit == 0 {
		if err := j.Append(journal.Record{Kind: journal.KindStop, Problem: problem, Stop: "converged"}); err != nil {
			return fail(1, err)
		}
		return writeReport(dir, 0, report.Predicted)
	}
	if p.Exit != 0 {
		fmt.Fprintln(os.Stderr, "tutti: something is wrong\nwhat was measured is kept")
	}
	return p.Exit
}

func note(path, line string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}

func fail(code int, err error) int {
	fmt.Fprintln(os.Stderr, "tutti:", err)
	return code
}

// calls returns the tutti commands that a service ran for a campaign.
func calls(t *testing.T, state, id string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(state, "campaigns", id, "calls.txt"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	testutil.NoError(t, err)
	var verbs []string
	for line := range strings.Lines(string(content)) {
		verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		verbs = append(verbs, verb)
	}
	return verbs
}

// checkTrials checks that a campaign has measured `want` candidates, and each of them exactly once.
func checkTrials(t *testing.T, state, id string, want int) {
	t.Helper()
	seen := map[int64]int{}
	for _, r := range campaigntest.Records(t, filepath.Join(state, "campaigns", id, "results")) {
		if r.Kind == journal.KindTrial {
			seen[r.Trial.MsgBytes]++
		}
	}
	for size := range int64(want) {
		if seen[size+1] != 1 {
			t.Errorf("trial %d of campaign %s was measured %d times, want once", size+1, id, seen[size+1])
		}
	}
	if len(seen) != want {
		t.Errorf("campaign %s measured %d candidates, want %d", id, len(seen), want)
	}
}
