package online

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tutti/coll"
	"tutti/internal/testutil"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	testutil.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// TestReadFolder checks which files are left out, and that jobs are ordered by the times in their file names.
// If a name has no time, the file's modification time must be used.
func TestReadFolder(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"z-9-1000000000-0.samples": whole, "node-1-7-2000000000-0.samples": whole, "other.samples": whole, "tutti.table": whole, "empty-1-5-0.samples": "",
		"older.samples": strings.Replace(whole, "MPI 1.0", "MPI 1.0b", 1), "foreign.samples": strings.Replace(whole, "MPI 1", "MPI 2", 1),
		"zeros.samples": strings.Repeat("\x00", 1<<20), "cut.samples": whole[:4], "long.samples": whole + strings.Repeat("x", 1<<20),
	} {
		writeFile(t, filepath.Join(folder, name), text)
	}
	in := func(name string) string { return filepath.Join(folder, name) }
	testutil.NoError(t, errors.Join(syscall.Mkfifo(in("pipe.samples"), 0o600), os.Symlink("/dev/zero", in("link.samples")), os.Mkdir(in("folder.samples"), 0o700)))
	jobs, warnings, err := ReadFolder(folder, "MPI 1")
	if err != nil || len(jobs) != 4 {
		t.Fatalf("%d jobs, want 4: %v", len(jobs), err)
	}
	if jobs[0].Begun != time.Unix(1, 0) || jobs[1].Begun != time.Unix(2, 0) || jobs[3].Begun != jobs[3].Last || jobs[0].Count != 3 || len(jobs[0].Calls) != 3 {
		t.Errorf("%+v", jobs)
	}
	for name, want := range map[string]string{
		"older": "most files are of MPI 1.0", "foreign": "want those of MPI 1", "zeros": "line 1: want", "long": "at most 4096 bytes", "pipe": "regular", "link": "a link", "folder": "regular",
	} {
		if n := len(slices.DeleteFunc(slices.Clone(warnings), func(w string) bool {
			return !strings.Contains(w, in(name+".samples")) || !strings.Contains(w, want)
		})); n != 1 || len(warnings) != 7 {
			t.Errorf("%s: %d warnings, want one of 7 that says %s:\n%s", name, n, want, strings.Join(warnings, "\n"))
		}
	}
	golden := testutil.GoldenErrors(t)
	_, _, err = ReadFolder(folder, "MPI 3")
	golden("no file can be used", err)
	_, _, err = ReadFolder(in("none"), "")
	golden("a missing folder", err)
}

// TestThinned checks that frequent calls are thinned evenly, and that all rare calls are kept.
func TestThinned(t *testing.T) {
	var calls sampledCalls
	sample := func(name string, bytes int) Sample {
		return Sample{Candidate: coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: int64(bytes)}, Algorithm: coll.Algorithm{Name: name}}}
	}
	jobs := make([]Job, 100)
	for j := range jobs {
		for i := range maxCalls / 10 {
			calls.add(sample("ring", 1<<10+i%1000), j)
		}
		calls.add(sample("chain", 1), j)
	}
	calls.distribute(jobs)
	for j, job := range jobs {
		if n := len(job.Calls); n < maxCalls/200 || n > maxCalls/100+1 || job.Calls[n-1].Algorithm.Name != "chain" {
			t.Errorf("job %d keeps %d calls, the last of %s", j, n, job.Calls[n-1].Algorithm)
		}
	}
}

// TestSummarize checks that one summary replaces the files of old jobs. Reading it must give the same jobs and
// calls as before. A summarized file that reappears must not count twice.
func TestSummarize(t *testing.T) {
	folder, now := t.TempDir(), time.Now()
	for i, lines := range []int{maxCalls, 10, 10} {
		path := filepath.Join(folder, fmt.Sprintf("n-1-%d000000000-0.samples", i+1))
		writeFile(t, path, whole+strings.Repeat("bcast,2,4,100,\"ring(a=1,b=2)\",4e-05,1e-06\n", lines))
		if i < 2 {
			testutil.NoError(t, os.Chtimes(path, now, now.Add(-2*restTime)))
		}
	}
	read := func() []Job {
		jobs, warnings, err := ReadFolder(folder, "MPI 1")
		if err != nil || len(warnings) > 0 || len(jobs) != 3 || jobs[0].Count != maxCalls+3 || jobs[1].Count != 13 {
			t.Fatalf("%d jobs, %v, %v", len(jobs), warnings, err)
		}
		return jobs
	}
	before := read()
	testutil.NoError(t, Summarize(folder, before, now))
	if names := testutil.Must(filepath.Glob(filepath.Join(folder, "*")))(t); len(names) != 2 {
		t.Errorf("files %q, want the new job and the summary", names)
	}
	writeFile(t, filepath.Join(folder, "n-1-2000000000-0.samples"), whole)
	after := read()
	for i, j := range after {
		if !slices.EqualFunc(j.Calls, before[i].Calls, func(a, b Sample) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) && i < 2 || !j.Begun.Equal(before[i].Begun) {
			t.Errorf("job %d: %d calls of %v, want %d of %v", i, len(j.Calls), j.Begun, len(before[i].Calls), before[i].Begun)
		}
	}
	testutil.NoError(t, Summarize(folder, after, now)) // nothing to do
}

func TestUpdates(t *testing.T) {
	folder := t.TempDir()
	if got, err := ReadUpdates(folder); err != nil || got != nil {
		t.Errorf("%v, %v of a new folder", got, err)
	}
	class := coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 4, MsgBytes: 512}
	ring := coll.Algorithm{Name: "ring"}
	for k, u := range []Update{{}, {Time: time.Unix(1, 0).UTC(), Changes: []SelectionChange{{class, coll.Default, ring, "1.2 times as fast"}}}} {
		testutil.NoError(t, u.Write(folder))
		got, err := ReadUpdates(folder)
		if err != nil || len(got) != k || k == 1 && got[0].Changes[0] != u.Changes[0] {
			t.Errorf("%+v, %v: want %d updates", got, err, k)
		}
	}
	path := filepath.Join(folder, updatesName)
	line := testutil.Must(os.ReadFile(path))(t)
	writeFile(t, path, string(line)+`{"time":`)
	got, err := ReadUpdates(folder)
	if err != nil || len(got) != 1 {
		t.Errorf("%v, %v: want the updates before a line that is cut off", got, err)
	}
	if _, _, known := lastChange(got, class, time.Unix(0, 0)); known {
		t.Error("a change is known before it was made")
	}
	if change, at, known := lastChange(got, class, never); !known || change.To != ring || !at.Equal(time.Unix(1, 0)) {
		t.Errorf("%+v at %v", change, at)
	}
}

const whole = `# tutti-samples 1 MPI 1.0
collective,nodes,ppn,msg_bytes,algorithm,longest,shortest
allreduce,2,4,16,ring,2e-05,1e-05
bcast,2,4,100,"mpich.x(a=1,b=2)",4e-05,1e-06
barrier,1,2,0,library_default,3e-06,3e-06
`

// samples holds the results of a call of readSamples: the faults that it returned, and the samples that it gave
// to its callback.
type samples struct {
	calls  []Sample
	faults []string
}

func readText(text string) (s samples, err error) {
	s.faults, err = readSamples(strings.NewReader(text), func(c Sample) { s.calls = append(s.calls, c) }, func(Job) {})
	return s, err
}

func TestReadSamples(t *testing.T) {
	s, err := readText(whole)
	if err != nil || len(s.faults) != 0 || len(s.calls) != 3 {
		t.Fatalf("%+v, %v", s, err)
	}
	if c := s.calls[1]; c.Algorithm.String() != "mpich.x(a=1,b=2)" || c.MsgBytes != 100 || c.Longest != 4e-5 || c.Shortest != 1e-6 {
		t.Errorf("%+v", c)
	}
	// Ranks of an allreduce leave together, while ranks of a broadcast do not.
	if a, b := s.calls[0].Seconds(), s.calls[1].Seconds(); a != 1e-5 || b != 4e-5 {
		t.Errorf("allreduce %g s, want the shortest; bcast %g s, want the longest", a, b)
	}
}

// TestReadSamplesCutOff checks that a file can be read wherever it ends. An incomplete line must be reported as
// a fault.
func TestReadSamplesCutOff(t *testing.T) {
	head := strings.Index(whole, "allreduce")
	for n := range len(whole) {
		s, err := readText(whole[:n])
		if err != nil {
			t.Fatalf("cut off after %d bytes: %v", n, err)
		}
		torn := n > 0 && whole[n-1] != '\n'
		want := 0
		if n > head {
			want = strings.Count(whole[head:n], "\n")
		}
		if len(s.calls) != want || (len(s.faults) == 1) != torn {
			t.Errorf("cut off after %d bytes: %d calls, want %d; %q", n, len(s.calls), want, s.faults)
		}
	}
}

func TestReadSamplesFaults(t *testing.T) {
	for from, to := range map[string]string{
		"allreduce": "allreduced", "2,4,16": "0,4,16", "4,16": "0,16", ",16,": ",-1,", "2e-05,1e-05": "1e-05,2e-05", "05,1e-05\n": "05,0\n",
		"2e-05,1e-05\n": "2e-05,1e-300\n", "ring,2e-05,": "ring,1e300,",
		"2e-05": "NaN", "2e-05,": "+Inf,", "ring,2e-05,1e-05": "ring,2e-05", "ring": "ring(", "ring,2e": "\"ring,2e", "1e-05\n": "1e-05bcast,1\n",
	} {
		s, err := readText(strings.Replace(whole, from, to, 1))
		if err != nil || len(s.calls) != 2 || len(s.faults) != 1 || !strings.HasPrefix(s.faults[0], "line 3: ") {
			t.Errorf("%q for %q: %d calls, faults %q, %v", to, from, len(s.calls), s.faults, err)
		}
	}
	for _, text := range []string{"collective,nodes\n", "# tutti-samples 2 x\n", "# tutti-samples 1 x\ncollective\n"} {
		if _, err := readText(text); err == nil {
			t.Errorf("%q is no error", text)
		}
	}
}

func FuzzReadSamples(f *testing.F) {
	f.Add(whole)
	f.Add(whole[:200])
	f.Fuzz(func(t *testing.T, text string) {
		s, err := readText(text)
		if err == nil && len(s.calls)+len(s.faults) > strings.Count(text, "\n")+1 {
			t.Errorf("%d calls and %d faults of %q", len(s.calls), len(s.faults), text)
		}
		for _, c := range s.calls {
			if !(c.Seconds() > 0) || c.Seconds() > c.Longest {
				t.Errorf("%+v", c)
			}
		}
	})
}
