package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/campaign/export"
	"tutti/campaign/report"
)

// changedData copies recorded data with times multiplied by what factor says of a row.
func changedData(t *testing.T, file, to string, factor func(algorithm string, bytes int64) float64) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(readFile(t, filepath.Join(recordedData(t), file)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] { // collective,algorithm,nodes,ppn,msg_bytes, then times and the cost
		size, err := strconv.ParseInt(row[4], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		for i := 5; i < len(row); i++ {
			v, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				t.Fatal(err)
			}
			row[i] = fmt.Sprint(v * factor(row[1], size))
		}
	}
	var out bytes.Buffer
	if err := csv.NewWriter(&out).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// tuned runs a campaign on data in dir, results in a folder there, and returns what
// its report says of the only problem.
func tuned(t *testing.T, dir, name, data string, args ...string) report.ProblemFacts {
	t.Helper()
	file := filepath.Join(dir, name+".yaml")
	text := fmt.Sprintf(`name: %s
output: %s
libraries: [{name: openmpi, version: "4.1.4"}]
collectives: [bcast]
grid:
  nodes: [2, 4, 8, 16, 32]
  ppn: [1, 4, 16]
  sizes: [1, 16, 256, 2KiB, 8KiB, 32KiB, 64KiB, 128KiB, 256KiB, 1MiB]
runner: {data: [%s], names: %s, noise: 0.02}
hpo: {trials: 0}
`, name, name, data, filepath.Join(recordedData(t), "names.csv"))
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := tutti(append([]string{"tune", "-c", file}, args...)...)
	if code != codeDone {
		t.Fatalf("%s: exit code %d\n%s%s", name, code, stdout, stderr)
	}
	f, err := report.ReadJSON(bytes.NewReader(readFile(t, filepath.Join(dir, name, export.ReportJSON))))
	if err != nil {
		t.Fatal(err)
	}
	return f.Problems[0]
}

// TestFromAnEarlierCampaign tunes a machine again that is as it was, or where one
// algorithm or the network became slower.
func TestFromAnEarlierCampaign(t *testing.T) {
	if testing.Short() {
		t.Skip("four campaigns")
	}
	dir := t.TempDir()
	data := func(name string, factor func(string, int64) float64) string {
		path := filepath.Join(dir, name+".csv")
		changedData(t, "A_bcast.csv", path, factor)
		return path
	}
	same := data("same", func(string, int64) float64 { return 1 })
	first := tuned(t, dir, "first", same)
	from := []string{"--seed", "2", "--from", filepath.Join(dir, "first")}

	again := tuned(t, dir, "again", same, from...)
	if again.MachineSeconds > first.MachineSeconds/10 {
		t.Errorf("nothing changed: %.3g s after %.3g s, want at most a tenth", again.MachineSeconds, first.MachineSeconds)
	}
	for _, c := range append(again.Compared[0].Algorithms, again.Compared[0].Sizes...) {
		if c.Changed {
			t.Errorf("nothing changed, but %s by %.3f", c.Name, c.Factor.Value)
		}
	}

	const slow = "pipeline(segsize=8192)" // NTSL in the recorded data
	one := tuned(t, dir, "one", data("one", func(algorithm string, _ int64) float64 {
		if algorithm == "NTSL" {
			return 2
		}
		return 1
	}), from...)
	for _, c := range one.Compared[0].Algorithms {
		if c.Changed != (c.Name == slow) || c.Changed && (c.Factor.Low > 2.1 || c.Factor.High < 1.9) {
			t.Errorf("%s is twice as slow: %s changed: %t, %+v", slow, c.Name, c.Changed, c.Factor)
		}
	}

	network := tuned(t, dir, "network", data("network", func(_ string, bytes int64) float64 {
		if bytes >= 1<<16 {
			return 1.5
		}
		return 1
	}), from...)
	sizes := network.Compared[0].Sizes
	if !sizes[len(sizes)-1].Changed || sizes[0].Changed {
		t.Errorf("large messages take 1.5 times as long, the comparison says %+v", sizes)
	}
	for name, p := range map[string]report.ProblemFacts{"again": again, "one": one, "network": network} {
		s := p.Scores[0] // tuned, against the truth
		t.Logf("%s: %.3g s (%.0f %% of the first), slowdown %.4f, mistakes %.3f", name, p.MachineSeconds, 100*p.MachineSeconds/first.MachineSeconds, s.Slowdown, s.Mistakes)
		if s.Slowdown > 1.03 || s.Mistakes > 0.05 { // the criteria
			t.Errorf("%s: slowdown %.4f, mistakes %.3f: want at most 1.03 and 0.05", name, s.Slowdown, s.Mistakes)
		}
	}
}

// TestFromAndResumed resumes a campaign that began from an earlier one when that is
// gone: every file is the same.
func TestFromAndResumed(t *testing.T) {
	first := reference(t)
	dir := t.TempDir()
	smallCampaign(t, dir)
	_, _ = mustTutti(t, codeDone, "tune", "-c", filepath.Join(dir, "small.yaml"), "--seed", "5", "--from", first)
	want := filepath.Join(dir, "out")
	journal := readFile(t, filepath.Join(want, "journal.jsonl"))
	if err := os.RemoveAll(first); err != nil {
		t.Fatal(err)
	}
	header := bytes.IndexByte(journal, '\n') + 1
	rng := rand.New(rand.NewPCG(3, 3))
	for range 4 {
		end := header + rng.IntN(len(journal)-header)
		out := damaged(t, journal[:end])
		mustTutti(t, codeDone, "resume", out)
		compareFinal(t, want, out)
	}
	page := string(readFile(t, filepath.Join(want, export.ReportHTML)))
	if !strings.Contains(page, "Compared with the earlier campaign small") {
		t.Error("the report does not compare with the earlier campaign")
	}
}

func TestFromFaults(t *testing.T) {
	first := reference(t)
	dir := t.TempDir()
	smallCampaign(t, dir)
	empty := t.TempDir()
	header, _, _ := bytes.Cut(readFile(t, filepath.Join(first, "journal.jsonl")), []byte("\n"))
	if err := os.WriteFile(filepath.Join(empty, "journal.jsonl"), append(header, '\n'), 0o666); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		from []string
		want string
	}{
		{"no folder", []string{filepath.Join(dir, "none")}, "--from: no journal in "},
		{"nothing measured", []string{empty}, "nothing was measured there"},
		{"twice", []string{first, first}, "want each once"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			args := []string{"tune", "-c", filepath.Join(dir, "small.yaml")}
			for _, f := range tc.from {
				args = append(args, "--from", f)
			}
			if _, stderr := mustTutti(t, codeInput, args...); !strings.Contains(stderr, tc.want) {
				t.Errorf("stderr %q, want %q in it", stderr, tc.want)
			}
		})
	}
}

// TestFromAnotherMachine goes on from a campaign on another machine, with another release
// of Open MPI and without alltoall. It is told so, counts what is known of allreduce, and
// tunes alltoall as a campaign does that knows of no other.
func TestFromAnotherMachine(t *testing.T) {
	first := reference(t)
	dir := t.TempDir()
	smallCampaign(t, dir)
	file := filepath.Join(dir, "small.yaml")
	text := bytes.Replace(readFile(t, file), []byte("4.1.4"), []byte("5.0.9"), 1)
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) (facts report.Facts, alltoall, stdout string) {
		out := filepath.Join(dir, name)
		stdout, _ = mustTutti(t, codeDone, append([]string{"tune", "-c", file, "--results", out, "--set", "machine=hilltop",
			"--set", "collectives=allreduce,alltoall", "--set", "runner.data=data/C_allreduce.csv,data/C_alltoall.csv"}, args...)...)
		facts, err := report.ReadJSON(bytes.NewReader(readFile(t, filepath.Join(out, export.ReportJSON))))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(readFile(t, filepath.Join(out, "selection.csv")))) {
			if strings.Contains(line, ",alltoall,") {
				alltoall += line
			}
		}
		return facts, alltoall, stdout
	}
	facts, alltoall, stdout := run("from", "--from", first)
	for _, want := range []string{
		`was on another machine, "" instead of "hilltop"`, "was with openmpi 4.1.4 instead of 5.0.9", "knows nothing of mpich alltoall: it begins anew",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout lacks %q:\n%s", want, stdout)
		}
	}
	for _, p := range facts.Problems {
		if known := len(p.Compared) > 0; known != (p.Collective == "allreduce") {
			t.Errorf("%s %s is compared with the earlier campaign: %v", p.Library, p.Collective, known)
		}
	}
	if _, anew, _ := run("anew"); anew != alltoall || anew == "" {
		t.Errorf("alltoall after an earlier campaign (-) and without one (+):\n%s", cmp.Diff(alltoall, anew))
	}
}
