package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tutti/coll"
	"tutti/csource"
	"tutti/internal/testutil"
	"tutti/journal"
	"tutti/mpi/libtutti"
	"tutti/online"
)

// updateFolder runs online update on a folder. It returns the new table and the output.
func updateFolder(t *testing.T, folder string, more ...string) (table libtutti.Table, stdout, stderr string) {
	t.Helper()
	stdout, stderr = mustTutti(t, codeDone, append([]string{"online", "update", folder}, more...)...)
	table, err := libtutti.Parse(readFile(t, tableIn(folder)))
	testutil.NoError(t, err)
	return table, stdout, stderr
}

// writeSamples writes the samples of one job that calls broadcast. The fastest algorithm in the samples is
// "binomial".
func writeSamples(t *testing.T, folder, name, library string) string {
	t.Helper()
	return writeSlowedSamples(t, folder, name, library, 1)
}

// writeSlowedSamples writes samples like writeSamples, but multiplies the times of the algorithm "binomial" by a
// factor.
func writeSlowedSamples(t *testing.T, folder, name, library string, factor float64) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "# tutti-samples 1 %s\ncollective,nodes,ppn,msg_bytes,algorithm,longest,shortest\n", library)
	for i := range 30 {
		for k, algorithm := range []string{"binomial", "library_default", "pipeline"} {
			took := float64(k+1) * 1e-5 * (1 + 0.01*float64(i%5))
			if k == 0 {
				took *= factor
			}
			fmt.Fprintf(&b, "bcast,2,4,1000,%s,%g,1e-6\n", algorithm, took)
		}
	}
	path := filepath.Join(folder, name+".samples")
	testutil.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

// TestOnlineAlltoallv checks that samples of alltoallv, which have no size, select an algorithm for all sizes.
func TestOnlineAlltoallv(t *testing.T) {
	folder := t.TempDir()
	text := "# tutti-samples 1 MPICH Version: 4.0.2\ncollective,nodes,ppn,msg_bytes,algorithm,longest,shortest\n"
	for range 30 {
		text += "alltoallv,2,4,0,greedy,1e-5,1e-6\nalltoallv,2,4,0,library_default,2e-5,1e-6\n"
	}
	testutil.NoError(t, os.WriteFile(filepath.Join(folder, "a.samples"), []byte(text), 0o600))
	table, _, _ := updateFolder(t, folder)
	for _, bytes := range []int64{0, 8, 1 << 30} {
		if got := table.Select(coll.Alltoallv, 8, 4, bytes).String(); got != "greedy" {
			t.Errorf("%d bytes: selected %s, want greedy", bytes, got)
		}
	}
	if m := table.Mixes[0]; m.Collective != coll.Alltoallv || m.Bytes != libtutti.Everywhere(coll.Alltoallv).Bytes || len(m.Choices) < 2 {
		t.Errorf("explored first: %+v, want several algorithms of alltoallv for all sizes", m)
	}
}

func TestOnlineUpdate(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "learned[1]")
	table, stdout, _ := updateFolder(t, folder)
	if stdout != "calls 0, jobs 0\n" || len(table.Rules) != 0 || len(table.Mixes) != len(coll.BlockingCollectives()) {
		t.Errorf("of nothing: %d rules, %d mixes, want none and one for each collective: %s", len(table.Rules), len(table.Mixes), stdout)
	}

	writeSamples(t, folder, "a", "MPICH Version: 4.0.2 and so on")
	table, stdout, stderr := updateFolder(t, folder)
	if !strings.HasPrefix(stdout, "calls 90, jobs 1\n") || stderr != "" {
		t.Errorf("%s%s", stdout, stderr)
	}
	if got := table.Select(coll.Bcast, 8, 4, 600).String(); got != "binomial" {
		t.Errorf("selected: %s", got)
	}
	m := table.Mixes[0]
	if m.Collective != coll.Bcast || m.Ranks != (libtutti.Range{Low: 8, High: 8}) || m.Bytes != (libtutti.Range{Low: 512, High: 1023}) {
		t.Errorf("explored first: %+v", m)
	}
	if !strings.Contains(stdout, "2.00 times as fast as library_default (1.98 to 2.02), by 30 and 30 calls") {
		t.Errorf("no reason in\n%s", stdout)
	}
	if again, _, _ := updateFolder(t, folder); string(again.Bytes()) != string(table.Bytes()) {
		t.Error("another table of the same samples")
	}
	if without, _, _ := updateFolder(t, folder, "--exclude", "binomial"); strings.Contains(string(without.Bytes()), " binomial ") || without.Select(coll.Bcast, 8, 4, 600).Name == "binomial" {
		t.Errorf("binomial is excluded:\n%s", without.Bytes())
	}

	// The file of a killed job may end within a line.
	torn := writeSamples(t, folder, "b", "MPICH Version: 4.0.2 and so on")
	testutil.NoError(t, os.Truncate(torn, int64(len(readFile(t, torn))-3)))
	_, stdout, stderr = updateFolder(t, folder, "--release", "1+mpich-4.0.2")
	if !strings.HasPrefix(stdout, "calls 179, jobs 2\n") || !strings.Contains(stderr, "b.samples: line 92 is cut off: dropped") {
		t.Errorf("%s%s", stdout, stderr)
	}

	// The new table has the rules of the base table for all calls except those for which an algorithm is
	// proved faster.
	base := filepath.Join(t.TempDir(), "base")
	text := libtutti.Table{Rules: []libtutti.Rule{{Scope: libtutti.Scope{Collective: coll.Bcast, Ranks: libtutti.Range{Low: 1, High: 99}, PPN: libtutti.Range{Low: 1, High: 9}, Bytes: libtutti.Range{High: 1 << 20}}, Algorithm: coll.Algorithm{Name: "basic_linear"}}}}.Bytes()
	testutil.NoError(t, os.WriteFile(base, text, 0o600))
	table, _, _ = updateFolder(t, folder, "--base", base)
	if far, near := table.Select(coll.Bcast, 16, 4, 600).String(), table.Select(coll.Bcast, 8, 4, 1000).String(); far != "basic_linear" || near != "binomial" {
		t.Errorf("selected elsewhere %s, here %s", far, near)
	}
	table, _, _ = updateFolder(t, folder, "--base", base, "--exclude", "basic_linear")
	if far := table.Select(coll.Bcast, 16, 4, 600); !far.IsDefault() || strings.Contains(string(table.Bytes()), " basic_linear") {
		t.Errorf("basic_linear of the base table is excluded, selected elsewhere %s:\n%s", far, table.Bytes())
	}
	for _, tc := range []struct{ name, want string }{
		{"binomal", "--exclude binomal: libtutti 1 has no such algorithm"},
		{"library_default", "--exclude library_default: the library's own choice"},
	} {
		if _, stderr := mustTutti(t, codeInput, "online", "update", folder, "--exclude", tc.name); !strings.Contains(stderr, tc.want) {
			t.Errorf("--exclude %s: %s, want %q", tc.name, stderr, tc.want)
		}
	}
}

// TestOnlineUpdateReport checks that the report has the cost of exploring, the changed selections with their
// reasons, and the drift from earlier measurements.
func TestOnlineUpdateReport(t *testing.T) {
	folder, measured := t.TempDir(), filepath.Join(t.TempDir(), "measured.csv")
	rows := "collective,algorithm,nodes,ppn,msg_bytes,time_us\nbcast,binomial,2,4,1000,10\nbcast,library_default,2,4,1000,10\nbcast,chain,2,4,1000,10\n"
	testutil.NoError(t, os.WriteFile(measured, []byte(rows), 0o600))
	before := time.Now().Add(-time.Hour)
	testutil.NoError(t, os.Chtimes(measured, before, before))
	report := func() (r online.Report) {
		t.Helper()
		stdout, _ := mustTutti(t, codeDone, "online", "update", folder, "--from", measured, "--format", "json")
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatalf("%v: %s", err, stdout)
		}
		return r
	}
	job := func(name string, factor float64) {
		t.Helper()
		writeSlowedSamples(t, folder, fmt.Sprintf("n1-%s-%d-0", name, time.Now().UnixNano()), "MPICH Version: 4.0.2", factor)
	}

	job("1", 1)
	r := report()
	c := r.Classes[0]
	if r.Calls != 90 || r.AllJobs != 1 || len(r.Classes) != 1 || c.Selected.Name != "binomial" || !c.Before.IsDefault() || c.Since.IsZero() ||
		c.FasterLow < 1.9 || c.FasterHigh > 2.1 {
		t.Errorf("%+v", r)
	}
	// The table selects the default, which a third of the calls ran. Another third took 1.5 times as long as
	// the default, and the last third half as long. On average exploring therefore cost nothing.
	if p := r.Price; p.Cost > 0.001 || p.OverDefault < 0.99 || p.OverDefault > 1.01 || p.Low > p.OverDefault || p.High < p.OverDefault {
		t.Errorf("price %+v, want none: what was explored took as long as the default", p)
	}
	if d := r.Drift; len(d) != 1 || d[0].Candidates != 2 || d[0].Change < 0.4 || d[0].Change > 0.6 {
		t.Errorf("drift %+v, want one time as it was and one twice that", d)
	}

	job("2", 1) // the job used the new table
	if r = report(); r.Price.OverDefault > 0.9 || len(r.TimeChanges) != 0 {
		t.Errorf("price %+v, time changes %+v: want less than the default and none", r.Price, r.TimeChanges)
	}
	job("3", 10)
	r = report()
	if len(r.TimeChanges) != 1 || r.TimeChanges[0].Algorithm.Name != "binomial" || r.TimeChanges[0].Factor < 9 || r.TimeChanges[0].Factor > 11 {
		t.Errorf("time changes %+v: want binomial ten times as slow", r.TimeChanges)
	}
	if c = r.Classes[0]; c.Selected.Name == "binomial" || c.Before.Name != "binomial" || !strings.Contains(c.Why, "binomial takes 10.0") {
		t.Errorf("selected %s, was %s: %s", c.Selected, c.Before, c.Why)
	}
	text, _ := mustTutti(t, codeDone, "online", "update", folder)
	if !strings.Contains(text, "since this job binomial takes 10.0") || strings.Count(string(readFile(t, filepath.Join(folder, "updates.jsonl"))), "\n") != 2 {
		t.Errorf("want the change of times, and two updates that changed something:\n%s", text)
	}
}

// TestOnlineUpdateFromCampaign checks that --campaign adds the measurements of a campaign that tuned
// libtutti. The update also uses this campaign's table and release unless flags name others.
func TestOnlineUpdateFromCampaign(t *testing.T) {
	folder, tuned := t.TempDir(), filepath.Join(t.TempDir(), "tuned")
	campaignOf := func(dir, library string) {
		t.Helper()
		j := testutil.Must(journal.Create(dir, journal.Header{Campaign: "c", Spec: json.RawMessage(`{"machine":"m","libraries":[{"name":"` + library + `","version":"1+mpich-4.0.2"}]}`)}))(t)
		defer j.Close()
		problem := journal.Problem{Library: library, Collective: coll.Bcast}
		for i, name := range []string{"library_default", "binomial", "chain"} {
			alg := testutil.Must(coll.ParseAlgorithm(name))(t)
			c := coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 4, MsgBytes: 1000}, Algorithm: alg}
			trial := coll.Trial{Measurement: coll.Measurement{Candidate: c, Seconds: 1e-5 * float64(1+i), CostSeconds: 1}, Attempt: 1, State: coll.TrialDone}
			if err := j.Append(journal.Record{Kind: journal.KindBatch, Problem: problem, Round: i + 1, Batch: []coll.Candidate{c}},
				journal.Record{Kind: journal.KindTrial, Problem: problem, Round: i + 1, Trial: &trial}); err != nil {
				t.Fatal(err)
			}
		}
	}
	campaignOf(tuned, "libtutti")
	base := libtutti.Table{Rules: []libtutti.Rule{{Scope: libtutti.Scope{Collective: coll.Reduce, Ranks: libtutti.Range{Low: 1, High: 99}, PPN: libtutti.Range{Low: 1, High: 9}, Bytes: libtutti.Range{High: 1 << 20}}, Algorithm: coll.Algorithm{Name: "binomial"}}}}.Bytes()
	testutil.NoError(t, os.WriteFile(tableIn(tuned), base, 0o600))
	table, stdout, _ := updateFolder(t, folder, "--campaign", tuned)
	if table.For == "" || table.Select(coll.Reduce, 8, 4, 64).Name != "binomial" || !strings.Contains(stdout, "bcast 2x4 1000B") {
		t.Errorf("for %q, %s: want MPICH's release, the rule of the campaign's table and its point\n%s", table.For, table.Bytes(), stdout)
	}
	other := filepath.Join(t.TempDir(), "other")
	campaignOf(other, "mpich")
	if _, stderr := mustTutti(t, codeInput, "online", "update", folder, "--campaign", other); !strings.Contains(stderr, "has no measurements of libtutti") {
		t.Errorf("a campaign of another library: %s", stderr)
	}
}

// TestServeUpdatesTables checks that a service makes a table from the folder of samples that its service
// file names.
func TestServeUpdatesTables(t *testing.T) {
	dir := t.TempDir()
	learned := filepath.Join(dir, "learned")
	smallService(t, dir, "online:\n  - {name: app, folder: learned, release: 1+mpich-4.0.2, exclude: [\"pipeline(segsize=8192)\"]}\n")
	once := []string{"serve", "-c", "service.yaml", "--once"}
	if _, output := mustEnd(t, dir, []exitCode{codeDone}, once...); !strings.Contains(output, "create it with tutti online update "+learned) {
		t.Errorf("without the folder:\n%s", output)
	}
	testutil.NoError(t, os.Mkdir(learned, 0o700))
	writeSamples(t, learned, "a", "MPICH Version: 4.0.2 and so on")
	if _, output := mustEnd(t, dir, []exitCode{codeDone}, once...); strings.Contains(output, "no new table") {
		t.Errorf("with samples:\n%s", output)
	}
	table, err := libtutti.Parse(readFile(t, filepath.Join(dir, "state", "online", "app", "tutti.table")))
	if err != nil || table.Select(coll.Bcast, 8, 4, 600).Name != "binomial" {
		t.Errorf("%v: %s", err, table.Bytes())
	}
	if strings.Contains(string(table.Bytes()), " pipeline(segsize=8192) ") {
		t.Error("what the file excludes is in the table")
	}
}

// TestLiveLearn makes a table from the samples of real jobs. It checks that many jobs can use the table at the same time.
func TestLiveLearn(t *testing.T) {
	testutil.NeedAllCases(t)
	t.Parallel()
	tc := testutil.MPICH
	loop := testutil.BuildProgram(t, tc, testutil.LoopProgram)
	library := testutil.BuildProgram(t, tc, csource.Runtime)
	folder := filepath.Join(t.TempDir(), "learned")
	updateFolder(t, folder)

	env := []string{"LD_PRELOAD=" + testutil.BuildProgram(t, tc, testutil.YieldLibrary)}
	code, stdout, stderr := runInside(t, env, "run", "--library", library, "--learn", folder, "--", tc.Launcher, "-n", "2", loop, "300")
	if code != codeDone || !strings.Contains(stdout, "right 1500") || stderr != "" {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	table, stdout, _ := updateFolder(t, folder)
	for _, want := range []string{"allreduce 1x2 16B", "allgather 1x2 8KiB", "bcast 1x2 8KiB", "reduce 1x2 4B", "barrier 1x2 0B"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %s in\n%s", want, stdout)
		}
	}
	if len(table.Rules) != 8 || len(table.Mixes) != 8+len(coll.BlockingCollectives()) {
		t.Errorf("%d rules, %d mixes", len(table.Rules), len(table.Mixes))
	}

	jobs := cases(4, 50)
	env = append(os.Environ(), "LD_PRELOAD="+library, "TUTTI_SAMPLES="+folder, "TUTTI_TABLE="+tableIn(folder), "TUTTI_SEED=1", "TUTTI_EXPLORE_SHARE=1", "TUTTI_BUDGET=1e9")
	var running sync.WaitGroup
	for range jobs {
		running.Go(func() {
			cmd := exec.CommandContext(t.Context(), loop, "100")
			cmd.Env = env
			if output, err := cmd.CombinedOutput(); err != nil || string(output) != "right 500\n" {
				t.Errorf("%v: %s", err, output)
			}
		})
	}
	running.Wait()
	_, stdout, stderr = updateFolder(t, folder)
	if !strings.Contains(stdout, "allreduce 1x1 16B") || stderr != "" {
		t.Errorf("%s%s", stdout, stderr)
	}
	found := map[string]int{}
	paths, err := filepath.Glob(filepath.Join(folder, "*.samples"))
	if err != nil || len(paths) != jobs+1 {
		t.Fatalf("%d files, want one for each of %d jobs: %v", len(paths), jobs+1, err)
	}
	for _, path := range paths {
		var b strings.Builder // without times
		for line := range strings.Lines(string(readFile(t, path))) {
			cells := strings.Split(line, ",")
			b.WriteString(strings.Join(cells[:min(5, len(cells))], ",") + "\n")
		}
		found[b.String()]++
	}
	for _, n := range found {
		if n != 1 && n != jobs {
			t.Errorf("%d jobs have left the same, want all %d", n, jobs)
		}
	}
}
