package preprocess_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/infile"
	"tutti/internal/testutil"
	"tutti/preprocess"
)

const header = "collective,algorithm,nodes,ppn,msg_bytes,time_us\n"

var compareAlgorithms = cmp.Comparer(func(a, b coll.Algorithm) bool { return a == b })

// write writes text to a file in a temporary folder and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.csv")
	testutil.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func readText(t *testing.T, text string) *preprocess.Table {
	t.Helper()
	return testutil.Must(preprocess.ReadTable(write(t, text)))(t)
}

func TestReadTableForms(t *testing.T) {
	plain := header + "bcast,binomial,2,4,8,1.5\nbcast,\"pipeline(k=2,segsize=8192)\",2,4,8,2.5\n"
	want := readText(t, plain).Measurements()
	tests := []struct{ name, text string }{
		{"windows line ends", strings.ReplaceAll(plain, "\n", "\r\n")},
		{"byte order mark", "\ufeff" + plain},
		{"byte order mark and quotes", "\ufeff" + strings.Replace(plain, "collective", `"collective"`, 1)},
		{"no newline at the end", strings.TrimSuffix(plain, "\n")},
		{"blank lines", strings.ReplaceAll(plain, "\n", "\n\n")},
		{"spaces around cells", strings.ReplaceAll(plain, "8,1.5", " 8 , 1.5 ")},
		{"quoted everywhere", strings.ReplaceAll(plain, "bcast,binomial,2", `"bcast","binomial","2"`)},
		{"other order of rows", header + "bcast,\"pipeline(segsize=8192,k=2)\",2,4,8,2.5\nbcast,binomial,2,4,8,1.5\n"},
		{"other order of columns", "time_us,msg_bytes,ppn,nodes,algorithm,collective\n1.5,8,4,2,binomial,bcast\n2.5,8,4,2,\"pipeline(k=2,segsize=8192)\",bcast\n"},
		{"exponents", strings.ReplaceAll(plain, "1.5", "15e-1")},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			table := readText(t, tc.text)
			if diff := cmp.Diff(want, table.Measurements(), compareAlgorithms); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if len(table.Warnings) != 0 {
				t.Errorf("warnings %v, want none", table.Warnings)
			}
		})
	}
}

func TestReadTableErrors(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	good := "bcast,binomial,2,4,8,1.5\n"
	tests := []struct{ name, text string }{
		{"empty", ""},
		{"only a byte order mark", "\ufeff"},
		{"header only", header},
		{"no header", good},
		{"one column missing", "collective,algorithm,nodes,ppn,time_us\n" + good},
		{"semicolons", strings.ReplaceAll(header+good, ",", ";")},
		{"milliseconds", strings.Replace(header, "time_us", "time_ms", 1) + good},
		{"seconds", strings.Replace(header, "time_us", "time_s", 1) + good},
		{"two units", strings.TrimSpace(header) + ",time_ms\nbcast,binomial,2,4,8,1.5,0.0015\n"},
		{"column twice", strings.TrimSpace(header) + ",nodes\nbcast,binomial,2,4,8,1.5,2\n"},
		{"nothing usable", header + "bcast,binomial,2,4,8,0\nbcast,binomial,2,4,8,x\n"},
		{"a number that no time has", header + "bcast,binomial,2,4,8,1e400\n"},
		{"binary", "\x7fELF\x02\x01\x01\x00\x00"},
		{"UTF-16", "c\x00o\x00l\x00"},
		{"not UTF-8", "\xff\xfe" + header + good},
		{"quote never closed", header + good + "bcast,\"binomial,2,4,8,1.5\n" + good},
	}
	for _, tc := range tests {
		_, err := preprocess.ReadTable(write(t, tc.text))
		golden(tc.name, err)
	}
}

// TestReadTableNumbers checks which forms and sizes of times and costs are read.
func TestReadTableNumbers(t *testing.T) {
	for _, tc := range []struct {
		time, cost, warning string // the text of the only warning, "" without one
		seconds             float64
	}{
		{"7.25", "0.5", "", 7.25e-6},
		{`"7,25"`, "0.5", "", 7.25e-6},
		{`"1,234"`, "0.5", "the comma may separate decimals or thousands", 0},
		{"7,25", "0.5", "8 fields, want 7: write decimals with a point", 0},
		{"1_0", "0.5", "want a decimal number", 0},
		{"0x1p3", "0.5", "want a decimal number", 0},
		{"1e-300", "0.5", "a time of 1e-306 s", 0},
		{"1e300", "0.5", "a time of 1e+294 s", 0},
		{"7.25", "1e300", "cost_s", 7.25e-6},
		{"7.25", "0x10", "cost_s", 7.25e-6},
	} {
		good := "bcast,ring,2,4,8,1.5,0.1\n"
		table := readText(t, strings.TrimSpace(header)+",cost_s\n"+good+"bcast,binomial,2,4,8,"+tc.time+","+tc.cost+"\n")
		if n := len(table.Warnings); n > 1 || (n == 0) != (tc.warning == "") || n == 1 && !strings.Contains(table.Warnings[0].String(), tc.warning) {
			t.Errorf("%s, %s: warnings %q, want %q", tc.time, tc.cost, table.Warnings, tc.warning)
		}
		ms := table.Measurements()
		if (len(ms) == 2) != (tc.seconds > 0) || tc.seconds > 0 && ms[0].Seconds != tc.seconds {
			t.Errorf("%s: %+v, want %g s", tc.time, ms, tc.seconds)
		}
	}
}

func TestReadTableFiles(t *testing.T) {
	dir := t.TempDir()
	sparse := filepath.Join(dir, "sparse.csv")
	testutil.NoError(t, os.WriteFile(sparse, []byte(header), 0o600))
	if err := os.Truncate(sparse, 2<<30); err != nil {
		t.Fatal("no sparse files here: ", err)
	}
	if _, err := preprocess.ReadTable(filepath.Join(dir, "none.csv")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v, want %v", err, fs.ErrNotExist)
	}
	pipe := filepath.Join(dir, "pipe.csv")
	testutil.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{dir, pipe, "/dev/zero"} {
		if _, err := preprocess.ReadTable(path); !errors.Is(err, infile.ErrKind) {
			t.Errorf("%s: %v, want %v", path, err, infile.ErrKind)
		}
	}
	if _, err := preprocess.ReadTable(sparse); !errors.Is(err, infile.ErrSize) {
		t.Errorf("2 GiB: %v, want %v", err, infile.ErrSize)
	}
}

func TestReadTableWarnings(t *testing.T) {
	text := strings.TrimSpace(header) + ",cost_s\n" +
		"bcast,binomial,2,4,8,1.5,0.1\n" + // line 2: good
		"bcast,binomial,2,4\n" + // torn
		"gossip,binomial,2,4,8,1.5,0.1\n" +
		"bcast,bino mial,2,4,8,1.5,0.1\n" +
		"bcast,binomial,2,4,8,12.3ms,0.1\n" + // line 6: bad numbers
		"bcast,binomial,two,4,8,1.5,0.1\n" +
		"bcast,binomial,2,0,8,1.5,0.1\n" +
		"bcast,binomial,2,4,64KiB,1.5,0.1\n" +
		"bcast,binomial,2,4,-8,1.5,0.1\n" +
		"bcast,binomial,2,4,8,,0.1\n" +
		"bcast,binomial,2,4,8,-1,0.1\n" + // line 12: impossible times
		"bcast,binomial,2,4,8,0,0.1\n" +
		"bcast,binomial,2,4,8,NaN,0.1\n" +
		"bcast,binomial,2,4,8,Inf,0.1\n" +
		"bcast,binomial,4,4,8,1.5,nothing\n" + // line 16: cost ignored
		"bcast,binomial,2,4,8,1.5,0.1,9\n" + // line 17: too long
		"bcast,bin\"omial,2,4,8,1.5,0.1\n" + // line 18: quote out of place
		"bcast,binomial,2,4,8,2.5,0.1\n" + // line 19: repetition
		"bcast,binomial,8,4,8,\"1.5" // line 20: cut off inside a quote
	table := readText(t, text)
	want := []preprocess.Warning{
		{Kind: "torn", Count: 4, Line: 3},
		{Kind: "unknown collective", Count: 1, Line: 4},
		{Kind: "bad algorithm name", Count: 1, Line: 5},
		{Kind: "bad number", Count: 8, Line: 6},
		{Kind: "impossible time", Count: 2, Line: 12},
		{Kind: "optional value ignored", Count: 1, Line: 16},
		{Kind: "repeated candidate", Count: 1, Line: 19},
	}
	got := append([]preprocess.Warning(nil), table.Warnings...)
	for i := range got {
		if got[i].Detail == "" || !strings.Contains(got[i].String(), fmt.Sprint("line ", got[i].Line)) {
			t.Errorf("warning %q without detail or line", got[i])
		}
		got[i].Detail = ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings: (-want +got)\n%s", diff)
	}
	ms := table.Measurements()
	if len(ms) != 2 || ms[0].Seconds != 1.5e-6 || ms[1].CostSeconds != 1200*1.5e-6 {
		t.Errorf("measurements %+v, want the good row and the one with its cost ignored", ms)
	}
}

func TestReadTableDuplicates(t *testing.T) {
	row := func(us float64) string { return fmt.Sprintf("bcast,binomial,2,4,8,%g\n", us) }
	tests := []struct {
		name string
		us   []float64
		want float64
	}{
		{"one", []float64{5}, 5},
		{"two: the faster", []float64{5, 3}, 3},
		{"three: the median", []float64{9, 1, 4}, 4},
		{"four: the lower median", []float64{9, 1, 4, 5}, 4},
		{"all the same", []float64{2, 2, 2}, 2},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			text := header
			for _, us := range tc.us {
				text += row(us)
			}
			table := readText(t, text)
			ms := table.Measurements()
			if len(ms) != 1 || math.Abs(ms[0].Seconds*1e6-tc.want) > 1e-9 {
				t.Errorf("measurements %+v, want one of %g us", ms, tc.want)
			}
			extra := 0
			for _, w := range table.Warnings {
				extra += w.Count
			}
			if extra != len(tc.us)-1 {
				t.Errorf("warnings %v, want %d repetitions", table.Warnings, len(tc.us)-1)
			}
		})
	}
}

func TestReadTableCost(t *testing.T) {
	tests := []struct {
		row  string
		want float64
	}{
		{"bcast,binomial,2,4,8192,10", 1200 * 10e-6},
		{"bcast,binomial,2,4,8193,10", 110 * 10e-6},
		{"barrier,binomial,2,4,1,10", 1200 * 10e-6}, // a barrier has no size
	}
	for _, tc := range tests {
		got := readText(t, header+tc.row).Measurements()[0]
		if math.Abs(got.CostSeconds/tc.want-1) > 1e-12 || got.Collective == coll.Barrier && got.MsgBytes != 0 {
			t.Errorf("%s: %+v, want a cost of %g s", tc.row, got, tc.want)
		}
	}
}

func TestReadTableIgnoresRowOrder(t *testing.T) {
	text := testutil.Must(os.ReadFile("testdata/bcast.csv"))(t)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	lines = append(lines, strings.Replace(lines[1], "1.0893", "7.5", 1), strings.Replace(lines[1], "1.0893", "6.5", 1))
	want := readText(t, strings.Join(lines, "\n"))
	rng := rand.New(rand.NewPCG(5, 6))
	for range 10 {
		rows := lines[1:]
		rng.Shuffle(len(rows), func(i, k int) { rows[i], rows[k] = rows[k], rows[i] })
		got := readText(t, strings.Join(lines, "\n"))
		if diff := cmp.Diff(want.Measurements(), got.Measurements(), compareAlgorithms); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	}
}

func TestWriteTableRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	plain := someMeasurements(50, rng)
	spread := someMeasurements(50, rng)
	for i := range spread {
		spread[i].Low, spread[i].High = spread[i].Seconds*0.9, spread[i].Seconds*1.1
		spread[i].Samples = rng.IntN(1000)
		spread[i].Overall = spread[i].Seconds * 1.5
		spread[i].CostSeconds = rng.Float64()
	}
	alg := testutil.Must(coll.ParseAlgorithm("pipeline(k=2,segsize=8192)"))(t)
	spread[7].Algorithm = alg
	for _, ms := range [][]coll.Measurement{plain, spread} {
		var first, second, shuffled bytes.Buffer
		testutil.NoError(t, preprocess.WriteTable(&first, ms))
		got := readText(t, first.String()).Measurements()
		testutil.NoError(t, preprocess.WriteTable(&second, got))
		rng.Shuffle(len(ms), func(i, k int) { ms[i], ms[k] = ms[k], ms[i] })
		testutil.NoError(t, preprocess.WriteTable(&shuffled, ms))
		if first.String() != second.String() || first.String() != shuffled.String() {
			t.Error("WriteTable of the same measurements differs")
		}
		byCandidate := map[coll.Candidate]coll.Measurement{}
		for _, m := range ms {
			byCandidate[m.Candidate] = m
		}
		for _, m := range got {
			if diff := cmp.Diff(byCandidate[m.Candidate], m, compareAlgorithms); diff != "" {
				t.Errorf("%v: (-want +got)\n%s", m.Candidate, diff)
			}
		}
	}
	if err := preprocess.WriteTable(&bytes.Buffer{}, []coll.Measurement{measured(point(1, 1, 1), "chain", -1)}); err == nil {
		t.Error("WriteTable of a negative time = nil, want an error")
	}
}

func ExampleWriteTable() {
	m := measured(point(16, 4, 65536), "binomial", 12.5e-6)
	if err := preprocess.WriteTable(os.Stdout, []coll.Measurement{m}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// collective,algorithm,nodes,ppn,msg_bytes,time_us,cost_s
	// bcast,binomial,16,4,65536,12.5,1
}

func TestSummary(t *testing.T) {
	ms := []coll.Measurement{
		measured(point(2, 1, 8), "chain", 4e-6),
		measured(point(2, 1, 8), "binomial", 1e-6),
		measured(point(4, 1, 8), "binomial", 2e-6),
		measured(point(8, 1, 8), "binomial", 6e-6),
		measured(point(8, 1, 8), "binomial", 4e-6), // the same point again
	}
	// In both groups, the name of the collective followed by the name of the algorithm gives the same text.
	// The groups must stay separate.
	ms[0].Collective, ms[0].Algorithm.Name = coll.ReduceScatter, "block_chain"
	other := measured(point(2, 1, 8), "chain", 3e-6)
	other.Collective = coll.ReduceScatterBlock
	frame := preprocess.Summary(append(ms, other))
	if frame.Err != nil {
		t.Fatal(frame.Err)
	}
	want := [][]string{
		{"collective", "algorithm", "points", "min_us", "median_us", "max_us", "cost_s"},
		{"bcast", "binomial", "3", "1.000000", "3.000000", "6.000000", "4.000000"},
		{"reduce_scatter", "block_chain", "1", "4.000000", "4.000000", "4.000000", "1.000000"},
		{"reduce_scatter_block", "chain", "1", "3.000000", "3.000000", "3.000000", "1.000000"},
	}
	if diff := cmp.Diff(want, frame.Records()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if empty := preprocess.Summary(nil); empty.Err != nil || empty.Nrow() != 0 {
		t.Errorf("Summary(nil) has %d rows, error %v", empty.Nrow(), empty.Err)
	}
}

// TestReadTableRepetitions checks that rows that differ in the column rep are repetitions and cause no
// warning. Measurements must return the row with the median time, and Repetitions all rows.
func TestReadTableRepetitions(t *testing.T) {
	const header = "collective,algorithm,nodes,ppn,msg_bytes,rep,time_us,cost_s\n"
	table := readText(t, header+
		"bcast,binomial,2,4,8,3,9,0.3\n"+
		"bcast,binomial,2,4,8,1,4,0.1\n"+
		"bcast,ring,2,4,8,1,2,0.5\n"+
		"bcast,binomial,2,4,8,2,5,0.2\n")
	if len(table.Warnings) > 0 {
		t.Errorf("warnings %v, want none", table.Warnings)
	}
	ms := table.Measurements()
	if len(ms) != 2 || ms[0].Seconds != 5e-6 || ms[0].CostSeconds != 0.2 || ms[0].Rep != 0 || ms[1].Seconds != 2e-6 {
		t.Errorf("measurements %+v, want the median of binomial and ring", ms)
	}
	var reps []int
	for _, m := range table.Repetitions() {
		reps = append(reps, m.Rep)
	}
	if !slices.Equal(reps, []int{1, 2, 3, 1}) {
		t.Errorf("repetitions %v, want 1, 2, 3 of binomial and 1 of ring", reps)
	}

	table = readText(t, header+
		"bcast,binomial,2,4,8,1,4,0.1\n"+
		"bcast,binomial,2,4,8,1,5,0.1\n"+
		"bcast,binomial,2,4,8,zwei,5,0.1\n"+
		"bcast,binomial,2,4,8,0,5,0.1\n")
	if len(table.Repetitions()) != 1 || len(table.Warnings) != 2 ||
		table.Warnings[0].Kind != "bad number" || table.Warnings[0].Count != 2 || !strings.Contains(table.Warnings[0].Detail, `rep "zwei"`) ||
		table.Warnings[1].Kind != "repeated candidate" {
		t.Errorf("warnings %v of %d repetitions, want two bad numbers and one that is there twice", table.Warnings, len(table.Repetitions()))
	}
}
