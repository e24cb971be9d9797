package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tutti/campaign/export"
)

const oneRow = "allreduce,rdb,4,1,16,127.8,127.8,127.8,0.16\n"

// TestRecordedData shows the program what recorded data look like in the wild.
func TestRecordedData(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(recordedData(t), "C_allreduce.csv"))
	if err != nil {
		t.Fatal(err)
	}
	clean := string(content)
	header, rows, _ := strings.Cut(clean, "\n")
	wantReport := readFile(t, filepath.Join(runOn(t, clean), "out", export.ReportJSON))
	with := func(row string) string { return clean + row + "\n" }
	tests := []struct {
		name, text string
		code       exitCode
		want       string // a warning of the report, or the error
	}{
		{"other order of rows", header + "\n" + shuffled(rows), codeDone, ""},
		{"Windows line ends", strings.ReplaceAll(clean, "\n", "\r\n"), codeDone, ""},
		{"byte order mark", "\ufeff" + clean, codeDone, ""},
		{"torn in the middle", strings.Replace(clean, oneRowOf(rows, 7), "allreduce,lr,4\n", 1), codeDone, `^1 x torn, first at line 9: .*3 fields, want 9`},
		{"torn at the end", clean + "allreduce,lr", codeDone, `^1 x torn, first at line 476`},
		{"rows twice", clean + oneRowOf(rows, 0) + oneRowOf(rows, 1), codeDone, `^2 x repeated candidate, first at line 476: .* is at line 2 too`},
		{"negative time", with("allreduce,rdb,4,1,16,-5,1,1,1"), codeDone, `^1 x impossible time, first at line 476: .*want a positive finite number`},
		{"no time at all", with("allreduce,rdb,4,1,16,0,1,1,1"), codeDone, `^1 x impossible time`},
		{"not a number", with("allreduce,rdb,4,1,16,NaN,1,1,1"), codeDone, `^1 x impossible time`},
		{"endless", with("allreduce,rdb,4,1,16,Inf,1,1,1") + "allreduce,rdb,4,1,16,-Inf,1,1,1\n", codeDone, `^2 x impossible time`},
		{"time with a unit", with("allreduce,rdb,4,1,16,5 ms,1,1,1"), codeDone, `^1 x bad number, .*want microseconds without a unit`},
		{"half a node", with("allreduce,rdb,4.5,1,16,5,1,1,1"), codeDone, `^1 x bad number, .*nodes "4.5"`},
		{"unknown collective", with("allredcue,rdb,4,1,16,5,1,1,1"), codeDone, `^1 x unknown collective, .*"allredcue": want one of`},
		{"unknown algorithm", with("allreduce,rbd,4,1,16,5,1,1,1"), codeDone, `names.csv: 1 recorded rows left out, no row names their algorithms: allreduce rbd$`},
		{"time in another unit", strings.Replace(clean, "time_us", "time_ms", 1), codeInput, `in.csv: .*"time_ms": want the time in microseconds as time_us`},
		{"two units", strings.Replace(clean, "avg_us", "time_s", 1), codeInput, `in.csv: .*"time_s": want the time in microseconds`},
		{"no rows", header + "\n", codeInput, `in.csv: a header row and no data rows`},
		{"no usable row", header + "\nallreduce,rdb,4,1,16,0,1,1,1\n", codeInput, `in.csv: none of 1 rows is usable`},
		{"empty", "", codeInput, `in.csv: empty, want a header row`},
		{"no header", rows, codeInput, `in.csv: header row: column "385.2450" is there twice`},
		{"binary", "\x7fELF\x00\x00", codeInput, `in.csv: binary, want CSV text`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			code, stdout, stderr := tuneOn(t, dir, tc.text)
			if code != tc.code {
				t.Fatalf("exit code %d, want %d\n%s%s", code, tc.code, stdout, stderr)
			}
			want := regexp.MustCompile(tc.want)
			if code == codeInput {
				if !want.MatchString(stderr) {
					t.Errorf("stderr %q, want %q", stderr, tc.want)
				}
				return
			}
			got := readFile(t, filepath.Join(dir, "out", export.ReportJSON))
			if tc.want == "" {
				if string(got) != string(wantReport) {
					t.Errorf("the report is another than that of the clean data")
				}
				return
			}
			if w := theWarning(t, got); !want.MatchString(strings.TrimPrefix(w, "in.csv: ")) {
				t.Errorf("warning %q, want %q", w, tc.want)
			} else if !strings.Contains(stdout, "warning: "+w+"\n") {
				t.Errorf("the terminal does not show the warning:\n%s", stdout)
			}
		})
	}
}

// TestOnePoint measures everything there is: the selection is as good as the
// measurements are.
func TestOnePoint(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(recordedData(t), "C_allreduce.csv"))
	if err != nil {
		t.Fatal(err)
	}
	header, _, _ := strings.Cut(string(content), "\n")
	code, stdout, stderr := tuneOn(t, t.TempDir(), header+"\n"+oneRow)
	if code != codeDone || strings.Count(stdout, "│ converged │    100 % │") != 2 {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

// TestHugeFile wants an answer about a file that is no table before it is read.
func TestHugeFile(t *testing.T) {
	dir := t.TempDir()
	smallCampaign(t, dir)
	path := filepath.Join(dir, "in.csv")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 2<<30); err != nil {
		t.Skip("no sparse files: ", err)
	}
	began := time.Now()
	_, stderr := mustTutti(t, codeInput, "tune", "-c", filepath.Join(dir, "small.yaml"), "--set", "runner.data=in.csv")
	if !strings.Contains(stderr, "in.csv: larger than 256MiB") {
		t.Errorf("stderr %q", stderr)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

// tuneOn runs the small campaign for MPICH in dir on other recorded data.
func tuneOn(t *testing.T, dir, text string) (code exitCode, stdout, stderr string) {
	t.Helper()
	smallCampaign(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "in.csv"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return tutti("tune", "-c", filepath.Join(dir, "small.yaml"), "--set", "runner.data=in.csv")
}

func runOn(t *testing.T, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if code, stdout, stderr := tuneOn(t, dir, text); code != codeDone {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	return dir
}

// theWarning returns the warning of a report beside the one that MPICH has no ring.
func theWarning(t *testing.T, text []byte) string {
	t.Helper()
	var facts struct {
		Warnings []string `json:"warnings"`
	}
	if err := json.Unmarshal(text, &facts); err != nil {
		t.Fatal(err)
	}
	var others []string
	for _, w := range facts.Warnings {
		if !strings.Contains(w, "has no allreduce algorithm ring") {
			others = append(others, w)
		}
	}
	if len(others) != 1 {
		t.Fatalf("warnings %q, want one", others)
	}
	return others[0]
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func oneRowOf(rows string, i int) string { return strings.SplitAfter(rows, "\n")[i] }

func shuffled(rows string) string {
	lines := strings.SplitAfter(rows, "\n")
	lines = lines[:len(lines)-1] // what follows the last line end
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return strings.Join(lines, "")
}

// TestFilesAboutSomebodyElse wants an error where a file of names or defaults
// knows nothing of what is tuned: every row would be left out otherwise.
func TestFilesAboutSomebodyElse(t *testing.T) {
	dir := t.TempDir()
	smallCampaign(t, dir)
	for name, text := range map[string]string{
		"names.csv":    "collective,recorded,library,algorithm\nallreduce,rdb,openmpi,recursive_doubling\n",
		"defaults.csv": "machine,collective,nodes,ppn,msg_bytes,openmpi\nC,allreduce,4,1,16,rdb\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		set  []string
		want string
	}{
		{[]string{"runner.names=names.csv"}, `names.csv: no row for the library "mpich": it has openmpi`},
		{[]string{"runner.defaults=defaults.csv", "runner.recorded=C"}, `defaults.csv: no row for the library "mpich": it has openmpi`},
		{[]string{"runner.defaults=data/defaults.csv", "runner.recorded=Z"}, `defaults.csv: no row for the machine "Z": it has A, C`},
	} {
		args := []string{"tune", "-c", filepath.Join(dir, "small.yaml")}
		for _, set := range tc.set {
			args = append(args, "--set", set)
		}
		if _, stderr := mustTutti(t, codeInput, args...); !strings.Contains(stderr, tc.want) {
			t.Errorf("tutti %q: stderr %q, want %q", args, stderr, tc.want)
		}
	}
}
