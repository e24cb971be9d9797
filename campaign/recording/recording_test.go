package recording_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/campaign/recording"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi/libraries"
	"tutti/preprocess"
)

const osuText = `# OSU MPI Allreduce Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations        Validation
4                       1.00              0.90              1.10        1000       Pass
8                       1.00              0.90              1.10        1000       Fail
`

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		testutil.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		testutil.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	return dir
}

// TestImport checks a folder with right, wrong and foreign files: what is read, what is left out, and why.
func TestImport(t *testing.T) {
	tagged := strings.ReplaceAll(osuText, "\n", "\r\n[1,0]<stdout>:")
	dir := write(t, map[string]string{"a.txt": osuText, "b.txt": "[1,0]<stdout>:" + tagged, "c.log": "make: nothing to be done\n", "d.txt": osuText[:200]})
	ms, reports, err := recording.Import([]string{dir}, recording.Options{Known: recording.Run{Algorithm: "ring", Nodes: 2, PPN: 3}})
	testutil.NoError(t, err)
	if len(ms) != 2 {
		t.Fatalf("%d measurements: %v", len(ms), ms)
	}
	want := coll.Point{Collective: coll.Allreduce, Nodes: 2, PPN: 3, MsgBytes: 4}
	for _, m := range ms {
		if m.Point != want || m.Algorithm.Name != "ring" || m.Samples != 1000 || m.Seconds < 1.09e-6 || m.Seconds > 1.11e-6 {
			t.Errorf("%+v, want %v with the maximum", m, want)
		}
	}
	var got []string
	for _, r := range reports {
		got = append(got, fmt.Sprint(filepath.Base(r.File), " ", r.Format, " ", r.Read, " ", r.Left))
	}
	wantReports := []string{
		"a.txt OSU 7.4 1 map[OSU found wrong data in the result:1]", "b.txt OSU 7.4 1 map[OSU found wrong data in the result:1]",
		"c.log  0 map[no known format:1]", "d.txt OSU 7.4 0 map[a row without the columns of its header:1]",
	}
	if strings.Join(got, "\n") != strings.Join(wantReports, "\n") {
		t.Errorf("reports\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(wantReports, "\n"))
	}
	path := filepath.Join(t.TempDir(), "out.csv")
	f := testutil.Must(os.Create(path))(t)
	testutil.NoError(t, preprocess.WriteTable(f, ms))
	testutil.NoError(t, f.Close())
	if table := testutil.Must(preprocess.ReadTable(path))(t); len(table.Measurements()) != 1 {
		t.Errorf("%d candidates are read back, want 1", len(table.Measurements()))
	}
}

// TestImportLeavesOut checks that each row of a table that cannot be read is counted with its reason.
func TestImportLeavesOut(t *testing.T) {
	header := osuText[:strings.Index(osuText, "\n4 ")+1]
	repro := "#@nprocs=6\ntest nrep count runtime_sec\n"
	imb := "# Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n# Benchmarking Bcast\n# #processes = 6\n#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n8 1000 1.0 1.2 1.1\n"
	for name, tc := range map[string]struct{ text, want string }{
		"size":       {header + "8 1.00 0.90 1.10 1000 Pass\n-4 1.00 0.90 1.10 1000 Pass\n", `1 map[OSU printed Size "-4": want a decimal number:1]`},
		"no size":    {header + "8 1.00 0.90 1.10 1000 Pass\nnan 1.00 0.90 1.10 1000 Pass\n", `1 map[OSU printed Size "nan": want a decimal number:1]`},
		"cut row":    {header + "8 1.00 0.90 1.10 1000 Pass\n16 1.00\n32 1.0", "1 map[a row without the columns of its header:2]"},
		"IMB":        {imb + "-4 1000 1.0 1.2 1.1\n16 1000 1.0\n", `1 map[IMB printed #bytes "-4": want a decimal number:1 a row without the columns of its header:1]`},
		"ReproMPI":   {repro + "MPI_Bcast 0 8 1e-5\nMPI_Bcast 0 -4 1e-5\nMPI_Bcast 0 8\nBcast 0 8 1e-5\n", `1 map[a row without the columns of its header:1 a row without the name of a call:1 count "-4": want a number from 0:1]`},
		"nccl-tests": {fmt.Sprintf(ncclText, "all_reduce") + " -4 1 float sum -1 33.52 0.00 0.00 0 32.12 0.00 0.00 0\n", "2 map[a row without bytes and a time in microseconds:1 an empty message:1 wrong data (#wrong):1]"},
		"columns":    {"#Nranks  Message_size  ring  default\n6  8  1.0  2.0\n6  16  1.0\n6  -4  1.0  2.0\n6  32  0.0  2.0\n", "3 map[a message of -4 bytes:2 a row without the columns of its header:1 a time of 0 s: want 1e-09 to 2.592e+06 s:1]"},
	} {
		dir := write(t, map[string]string{"a.txt": tc.text})
		known := recording.Run{Collective: coll.Bcast, Algorithm: "ring", Nodes: 2, PPN: 3}
		if name == "nccl-tests" {
			known.Nodes, known.PPN = 2, 2
		}
		_, reports, err := recording.Import([]string{dir}, recording.Options{Known: known})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := fmt.Sprint(reports[0].Read, " ", reports[0].Left); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// TestImportErrors checks that errors name the file.
func TestImportErrors(t *testing.T) {
	dir := write(t, map[string]string{
		"osu.txt": osuText, "detail.out": "#Nnodes    Message_size 1      2\n2     x      1.0   2.0\n", "a.csv": "1,1,1,0,5\n1,1,1,9,5\n",
		"own.log": "t = 5 us\nt = 5..5 us\n", "sizes.log": "8 B: 5 us\n-4 B: 5 us\n", "b.csv": "1,1,1,0,5\n1,1,-4,1,5\n",
	})
	for _, tc := range []struct {
		file string
		opt  recording.Options
		want string
	}{
		{"osu.txt", recording.Options{Known: recording.Run{Algorithm: "ring", Nodes: 2}}, "number of processes per node"},
		{"osu.txt", recording.Options{Known: recording.Run{Nodes: 2, PPN: 1}}, "algorithm"},
		{"detail.out", recording.Options{Known: recording.Run{Collective: coll.Bcast, PPN: 1}}, "line 2: want numbers of ranks and bytes"},
		{"a.csv", recording.Options{Known: recording.Run{Collective: coll.Bcast}, Algorithms: []string{"ring", "binomial"}}, "line 2: algorithm 9: want 0 to 1"},
		{"own.log", recording.Options{Pattern: `t = (?P<us>\S+) us`, Known: recording.Run{Collective: coll.Bcast, Algorithm: "ring", Nodes: 1, PPN: 2}}, "line 2"},
		{"b.csv", recording.Options{Known: recording.Run{Collective: coll.Bcast}, Algorithms: []string{"ring", "binomial"}}, "line 2: \"-4\": want log2"},
		{"sizes.log", recording.Options{Pattern: `^(?P<bytes>\S+) B: (?P<us>\S+) us`}, `line 2: bytes "-4": want a whole number from 0`},
		{"sizes.log", recording.Options{Pattern: `(?P<bytes>\d+) B: (?P<us>\S+) us`}, `line 2: the pattern takes "4" out of "-4`},
		{"own.log", recording.Options{Pattern: `t = (\S+) us`}, "no time"},
		{"own.log", recording.Options{Pattern: `x = (?P<us>\S+) us`}, "no line matches"},
	} {
		path := filepath.Join(dir, tc.file)
		_, _, err := recording.Import([]string{path}, tc.opt)
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q with the file", tc.file, err, tc.want)
		}
	}
	if _, _, err := recording.Import([]string{filepath.Join(dir, "osu.txt")}, recording.Options{}); !errors.Is(err, recording.ErrUnknown) {
		t.Errorf("%v, want ErrUnknown", err)
	}
}

// TestImportOnce checks that a file is read once, although it is named several times.
func TestImportOnce(t *testing.T) {
	dir := write(t, map[string]string{"a.txt": osuText})
	path, link := filepath.Join(dir, "a.txt"), filepath.Join(t.TempDir(), "link.txt")
	testutil.NoError(t, os.Symlink(path, link))
	t.Chdir(dir)
	opt := recording.Options{Known: recording.Run{Algorithm: "ring", Nodes: 2, PPN: 3}}
	ms, reports, err := recording.Import([]string{path, dir, "a.txt", "./a.txt", link}, opt)
	if err != nil || len(ms) != 1 || len(reports) != 1 {
		t.Errorf("%d measurements, %d reports, %v: want one of each", len(ms), len(reports), err)
	}
}

// TestReadManifest checks the header of a manifest: a byte order mark, and columns that are unknown or given twice.
func TestReadManifest(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"\ufefffile,algorithm,nodes,ppn\r\na.txt,ring,2,3\r\n", ""},
		{"\ufeff\"file\",algorithm,nodes,ppn\na.txt,ring,2,3\n", ""},
		{"file,seed\na.txt,1\n", `:1: column "seed": want some of file`},
		{"file,algorithm,algorithm\na.txt,ring,binomial\n", `:1: column "algorithm" is given twice`},
	} {
		dir := write(t, map[string]string{"a.txt": osuText, "runs.csv": tc.text})
		m, err := recording.ReadManifest(filepath.Join(dir, "runs.csv"))
		if tc.want != "" {
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%q: %v, want %q", tc.text, err, tc.want)
			}
			continue
		}
		testutil.NoError(t, err)
		if ms, _, err := recording.Import([]string{filepath.Join(dir, "a.txt")}, recording.Options{Manifest: m}); err != nil || len(ms) != 1 {
			t.Errorf("%q: %d measurements, %v: want one", tc.text, len(ms), err)
		}
	}
}

func ExampleImport() {
	_, _, err := recording.Import([]string{"none.txt"}, recording.Options{Known: recording.Run{Algorithm: "ring", Nodes: 8, PPN: 32}})
	fmt.Println(err)
	// Output: stat none.txt: no such file or directory
}

const ncclText = `# Collective test starting: %s_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
# Using devices
#  Rank  0 Group  0 Pid     16 on      n1 device  0 [0x19] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid     17 on      n1 device  1 [0x3a] NVIDIA H100 80GB HBM3
#  Rank  2 Group  0 Pid     16 on      n2 device  0 [0x19] NVIDIA H100 80GB HBM3
#  Rank  3 Group  0 Pid     17 on      n2 device  1 [0x3a] NVIDIA H100 80GB HBM3
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           0             0     float     sum      -1     6.36    0.00    0.00      0     6.40    0.00    0.00      0
          64            16     float     sum      -1    33.52    0.00    0.00      0    32.12    0.00    0.00      0
         128            32     float     sum      -1    34.00    0.00    0.00      3    32.12    0.00    0.00      0
         256            64     float     sum      -1    35.00    0.00    0.00    N/A    32.12    0.00    0.00    N/A
# Out of bounds values : 0 OK
`

// TestNCCL checks outputs of nccl-tests: sizes of one rank's part where tutti counts so, the layout, and rows that are
// left out.
func TestNCCL(t *testing.T) {
	dir := write(t, map[string]string{
		"a.txt": fmt.Sprintf(ncclText, "all_reduce"), "g.txt": "[1,0]<stdout>:" + strings.ReplaceAll(fmt.Sprintf(ncclText, "all_gather"), "\n", "\n[1,0]<stdout>:"),
	})
	_, cat, err := libraries.Release("nccl", "2.30")
	testutil.NoError(t, err)
	ms, reports, err := recording.Import([]string{dir}, recording.Options{Known: recording.Run{Algorithm: "ring(channels=8,proto=ll)"}, Catalogue: cat})
	testutil.NoError(t, err)
	var got []string
	for _, m := range ms {
		got = append(got, fmt.Sprintf("%v %v %.2f", m.Point, m.Algorithm, m.Seconds*1e6))
	}
	want := []string{
		"allreduce 2x2 64B ring(channels=8,proto=ll) 33.52", "allreduce 2x2 256B ring(channels=8,proto=ll) 35.00",
		"allgather 2x2 16B ring(channels=8,proto=ll) 33.52", "allgather 2x2 64B ring(channels=8,proto=ll) 35.00",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || fmt.Sprint(reports[0].Left) != "map[an empty message:1 wrong data (#wrong):1]" || reports[1].Format != "nccl-tests" {
		t.Errorf("%s\n%+v\nwant\n%s", strings.Join(got, "\n"), reports, strings.Join(want, "\n"))
	}
}

// TestNCCLOutputs checks outputs of other releases and of several runs: names, ranks, columns and numbers.
func TestNCCLOutputs(t *testing.T) {
	ranks := func(n int) (out string) {
		for i := range n {
			out += fmt.Sprintf("#  Rank  %d Group  0 Pid  16 on  n%d device  0 [0x19] H100\n", i, i)
		}
		return out
	}
	const (
		start = "# Collective test starting: "
		root  = "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n"
		plain = "#  size  count  type  redop  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n"
		older = "#  size  count  type  redop  time  algbw  busbw  error  time  algbw  busbw  error\n"
		row   = "64 16 float sum -1 %s 0.1 0.1 0 7 0.1 0.1 0\n"
	)
	for _, tc := range []ncclCase{
		{"two programs", start + "all_reduce_perf\n" + ranks(2) + root + fmt.Sprintf(row, "5") + start + "all_gather_perf\n" + ranks(2) + root + fmt.Sprintf(row, "6"), "allreduce 2x1 64B 5; allgather 2x1 32B 6", "map[]"},
		{"two commands", "$ ./all_reduce_perf_mpi -g 1\n" + ranks(2) + root + fmt.Sprintf(row, "5") + "$ ./all_gather_perf -g 1\n" + ranks(2) + root + fmt.Sprintf(row, "6"), "allreduce 2x1 64B 5; allgather 2x1 32B 6", "map[]"},
		{"commands before both", "./all_reduce_perf\n./all_gather_perf\n" + ranks(2) + root + fmt.Sprintf(row, "5"), "line 6: the lines above name all_reduce_perf and all_gather_perf", ""},
		{"unknown program", start + "all_reduce_perf\n" + ranks(2) + root + fmt.Sprintf(row, "5") + start + "sendrecv_perf\n" + ranks(2) + root + fmt.Sprintf(row, "6"), "allreduce 2x1 64B 5", "map[sendrecv_perf measures no collective that is known here:1]"},
		{"no second name", start + "all_reduce_perf\n" + ranks(2) + root + fmt.Sprintf(row, "5") + ranks(2) + root + fmt.Sprintf(row, "6"), "the collective cannot be found in the file", ""},
		{"two sizes of job", start + "all_reduce_perf\n" + ranks(2) + root + fmt.Sprintf(row, "5") + start + "all_reduce_perf\n" + ranks(4) + root + fmt.Sprintf(row, "6"), "allreduce 2x1 64B 5; allreduce 4x1 64B 6", "map[]"},
		{"no root", start + "alltoall_perf\n" + ranks(2) + plain + "33554432 8388608 float none 123456 0.87 1.63 0 N/A N/A N/A N/A\n", "alltoall 2x1 16MiB 123456", "map[]"},
		{"blank redop", start + "all_gather_perf\n" + ranks(2) + plain + "64 16 float 12 0.87 1.63 0 7 0.1 0.1 0\n", "allgather 2x1 32B 12", "map[]"},
		{"exponents", start + "all_reduce_perf\n" + ranks(2) + root + fmt.Sprintf(row, "1.2e+07"), "allreduce 2x1 64B 1.2e+07", "map[]"},
		{"unread rows", start + "all_reduce_perf\n" + ranks(2) + root + fmt.Sprintf(row, "5") + fmt.Sprintf(row, "5..5") + "64 16 float\n", "allreduce 2x1 64B 5", "map[a row without bytes and a time in microseconds:1 a row without the columns of its header:1]"},
		{"datatypes and reductions", start + "all_reduce_perf\n" + ranks(2) + root + "64 64 int8 sum -1 4 0.1 0.1 0 7 0.1 0.1 0\n" + fmt.Sprintf(row, "5") + "64 16 float prod -1 6 0.1 0.1 0 7 0.1 0.1 0\n", "allreduce 2x1 64B 5", "map[another datatype or reduction than float sum:2]"},
		{"one datatype", start + "broadcast_perf\n" + ranks(2) + root + "64 32 half none 0 4 0.1 0.1 0 7 0.1 0.1 0\n64 32 half none 1 6 0.1 0.1 0 7 0.1 0.1 0\n", "bcast 2x1 64B 4; bcast 2x1 64B 6", "map[]"},
		{"wrong in place", start + "all_reduce_perf\n" + ranks(2) + root + "64 16 float sum -1 4 0.1 0.1 0 7 0.1 0.1 2\n", "nothing that can be used", ""},
		{"failed without #wrong", "./all_reduce_perf\n" + ranks(2) + older + "64 16 float sum 5 0.87 1.63 2e-07 7 0.1 0.1 4\n# Out of bounds values : 1 FAILED\n" + older + "64 16 float sum 6 0.87 1.63 2e-07 7 0.1 0.1 0\n", "allreduce 2x1 64B 6", "map[wrong data (out of bounds values):1]"},
		{"groups of ranks", start + "all_reduce_perf\n" + ranks(2) + strings.ReplaceAll(ranks(2), "Group  0", "Group  1") + root + fmt.Sprintf(row, "5"), "nothing that can be used", ""},
		{"groups of calls", start + "all_reduce_perf\n# nThread 1 nGpus 1 iters: 20 agg iters: 4 validation: 1\n" + ranks(2) + root + fmt.Sprintf(row, "5") + "# nThread 1 nGpus 1 iters: 20 agg iters: 1\n" + fmt.Sprintf(row, "6"), "allreduce 2x1 64B 6", "map[4 calls in one group (agg iters), not one call:1]"},
		{"uneven nodes", start + "all_reduce_perf\n" + ranks(2) + ranks(1) + root + fmt.Sprintf(row, "5"), "nothing that can be used", ""},
		{"labels of srun", strings.ReplaceAll("\n"+start+"all_reduce_perf\n"+ranks(2)+root+fmt.Sprintf(row, "5"), "\n", "\n0: "), "allreduce 2x1 64B 5", "map[]"},
		{"timestamps", start + "all_reduce_perf\n" + ranks(2) + strings.TrimSuffix(root, "\n") + "  timestamp\n" + strings.TrimSuffix(fmt.Sprintf(row, "5"), "\n") + "  2026-11-30 01:02:03\n", "allreduce 2x1 64B 5", "map[]"},
		{"time of the processor", start + "all_reduce_perf\n" + ranks(2) + strings.ReplaceAll(root, " time", " cputime") + fmt.Sprintf(row, "5"), "nothing that can be used", ""},
		{"sizes with units", start + "all_reduce_perf\n" + ranks(2) + root + "1GiB" + fmt.Sprintf(row, "5")[2:] + fmt.Sprintf(row, "6"), "allreduce 2x1 64B 6", "map[a row without bytes and a time in microseconds:1]"},
		{"RCCL", "rccl-tests: Version develop:1d3a166\n# Using devices\n#   Rank  0 Pid   1 on  n0 device  0 [0000:c1:00.0] MI300X\n#   Rank  1 Pid   2 on  n0 device  1 [0000:c2:00.0] MI300X\n./all_reduce_perf -O 0\n#          in-place\n#  size  count  type  redop  root  time  algbw  busbw  #wrong\n64 16 float sum -1 5 0.1 0.1 0\n", "allreduce 1x2 64B 5", "map[]"},
		{"largest error", "./all_reduce_perf\n" + ranks(2) + older + "64 16 float sum 5 0.87 1.63 2e-07 7 0.1 0.1 2e-07\n", "allreduce 2x1 64B 5", "map[]"},
	} {
		tc.check(t, "a.txt", "library_default")
	}
}

// ncclCase is an output of nccl-tests with its measurements and the rows that are left out, or a part of the error.
type ncclCase struct{ name, text, want, left string }

// check imports the text as a file. It returns the notes of the report, and false if the file cannot be read.
func (tc ncclCase) check(t *testing.T, file, algorithm string) ([]string, bool) {
	t.Helper()
	path := filepath.Join(write(t, map[string]string{file: tc.text}), file)
	ms, reports, err := recording.Import([]string{path}, recording.Options{Known: recording.Run{Algorithm: algorithm}})
	if err != nil {
		if !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), tc.want) || tc.left != "" {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
		return nil, false
	}
	var got []string
	for _, m := range ms {
		got = append(got, fmt.Sprintf("%v %.6g", m.Point, m.Seconds*1e6))
	}
	if text, left := strings.Join(got, "; "), fmt.Sprint(reports[0].Left); text != tc.want || left != tc.left {
		t.Errorf("%s: %s, left out %s; want %s, %s", tc.name, text, left, tc.want, tc.left)
	}
	return reports[0].Notes, true
}

const ncclJSON = `{"version":%s,"args":["/opt/bin/all_gather_perf","-J","a"],"env":["HOME=\\/root","NCCL_ALGO=Ring"],"nccl_version":22803,"config":{"nthreads":1,"ngpus":2,"aggregated_iterations":1,
"devices":[{"rank":0,"group":0,"hostname":"n1","device":0},{"rank":2,"group":0,"hostname":"n2","device":0}]},"results":[%s],"out_of_bounds":{"count":0,"okay":"true"}}`

// TestNCCLFiles checks files of option -J: all devices of a process count, the rows that are left out, and files that are not read.
func TestNCCLFiles(t *testing.T) {
	row := func(bytes int, out, in string) string {
		return fmt.Sprintf(`{"size":%d,"count":16,"type":"float","redop":"none","root":"    -1","out_of_place":%s,"in_place":%s,"actual_iterations":20}`, bytes, out, in)
	}
	const good, wrong, unchecked = `{"time":5.5,"alg_bw":0.1,"nwrong":0.000000}`, `{"time":5.5,"nwrong":2.000000}`, `{"time":7.250000,"nwrong":null}`
	const processor = `{"cpu_time":3.5,"nwrong":0}`
	const note = "the run had NCCL_ALGO=Ring"
	for _, tc := range []ncclCase{
		{"rows", fmt.Sprintf(ncclJSON, "2", row(64, good, unchecked)+","+row(128, "null", unchecked)), "allgather 2x2 16B 5.5; allgather 2x2 32B 7.25", "map[]"},
		{"left out", fmt.Sprintf(ncclJSON, "3", row(64, good, wrong)+","+row(64, `{"time":"nan","nwrong":0}`, good)+","+row(64, good, good)+","+row(64, processor, processor)),
			"allgather 2x2 16B 5.5", "map[a row without bytes and a time in microseconds:1 the time of the host's processor (-C):1 wrong data (#wrong):1]"},
		{"groups of calls", strings.Replace(fmt.Sprintf(ncclJSON, "1", row(64, good, good)), `iterations":1`, `iterations":4`, 1), "nothing that can be used", ""},
		{"killed run", fmt.Sprintf(ncclJSON, "2", row(64, good, good))[:500], "the file ends before its JSON object does", ""},
		{"no JSON", fmt.Sprintf(ncclJSON, "2", row(64, `{"time":inf}`, good)), "want JSON as nccl-tests write with -J: invalid character 'i'", ""},
		{"version", fmt.Sprintf(ncclJSON, "4", row(64, good, good)), "version 4 of the files of -J: want 1 to 3", ""},
		{"other JSON", `{"results":[]}`, "what nccl-tests or rccl-tests print or write with -J (not the files of -x)", ""},
	} {
		if notes, read := tc.check(t, "a.json", "ring(channels=8,proto=ll)"); read && notes[0] != note {
			t.Errorf("%s: notes %q, want %q", tc.name, notes, note)
		}
	}
}

const imbPreamble = "#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part\n# Calling sequence was:\n# %s Allreduce\n"

const imbTable = "# Benchmarking %s\n# %s\n#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n            4         1000         1.02         1.30         1.10\n"

// TestOtherMeaning checks outputs whose numbers mean something else than the time of a collective on the host's buffers.
func TestOtherMeaning(t *testing.T) {
	osu := func(title, columns, row string) string {
		return "# OSU " + title + " Test v7.5\n# Size " + columns + "\n" + row + "\n"
	}
	one := osu("MPI Allreduce Latency", "      Avg Latency(us)", "8   2.50")
	const onDevices = "the buffers are in the memory of accelerators (%s): a selection from these times is for programs whose buffers are there"
	multi := fmt.Sprintf(imbPreamble, "IMB-MPI1 -multi 0") + fmt.Sprintf(imbTable, "%s", "( 2 groups of 2 processes each running simultaneous )")
	grouped := strings.ReplaceAll(strings.ReplaceAll(fmt.Sprintf(imbTable, "Allreduce", "#processes = 4"), "#bytes", "Group #bytes"), "            4 ", "0    4 ")
	for _, tc := range []struct {
		name, text string
		read       int
		left       string // map of reasons
		memory     string
	}{
		{"host", one, 1, "map[]", ""},
		{"-d cuda", strings.Replace(one, "MPI", "MPI-CUDA", 1), 1, "map[]", "CUDA"},
		{"-d rocm", strings.Replace(one, "MPI", "MPI-ROCM", 1), 1, "map[]", "ROCM"},
		{"-d sycl", strings.Replace(one, "MPI", "MPI-SYCL", 1), 1, "map[]", "SYCL"},
		{"-d managed", strings.Replace(one, "MPI", "MPI-CUDA MANAGED", 1), 1, "map[]", "CUDA MANAGED"},
		{"then NCCL", one + osu("NCCL-CUDA Allreduce Latency", "      Avg Latency(us)", "8   1.50"), 1, "map[NCCL Allreduce Latency: no collective that tutti tunes:1]", ""},
		{"then bandwidth", one + osu("MPI Bandwidth", "     Bandwidth (MB/s)", "8   1.50"), 1, "map[Bandwidth: columns \"Size, Bandwidth (MB/s)\": want Avg Latency(us) or Pure Comm.(us) among them:1]", ""},
		{"then latency of pairs", one + osu("MPI Latency", "      Avg Latency(us)", "8   1.50"), 1, "map[Latency: no collective that tutti tunes:1]", ""},
		{"derived datatype", osu("MPI Allreduce Latency", "      Avg Latency(us)     Transmit Size", "8   2.50    4"), 0, "map[OSU left the size out: the data are of a derived datatype (option -D):1]", ""},
		{"IMB", fmt.Sprintf(imbPreamble, "IMB-MPI1") + fmt.Sprintf(imbTable, "Allreduce", "#processes = 4"), 1, "map[]", ""},
		{"-multi", fmt.Sprintf(multi, "Multi-Allreduce"), 0, "map[Multi-Allreduce: several groups of ranks measured at the same time:1]", ""},
		{"-multi of older releases", fmt.Sprintf(multi, "Allreduce"), 0, "map[Allreduce: several groups of ranks measured at the same time:1]", ""},
		{"-npmin", fmt.Sprintf(imbPreamble, "IMB-MPI1") + fmt.Sprintf(imbTable, "Allreduce", "#processes = 2\n# ( 2 additional processes waiting in MPI_Barrier)") + fmt.Sprintf(imbTable, "Allreduce", "#processes = 4"), 1, "map[2 ranks, not 2 nodes with 2 each:1]", ""},
		{"-npmin of release 2", fmt.Sprintf(imbPreamble, "IMB-MPI1") + fmt.Sprintf(imbTable, "Allreduce", "( #processes = 2 )\n# ( 2 additional processes waiting in MPI_Barrier)") + fmt.Sprintf(imbTable, "Allreduce", "( #processes = 4 )"), 1, "map[2 ranks, not 2 nodes with 2 each:1]", ""},
		{"IMB-NBC", strings.ReplaceAll(fmt.Sprintf(imbPreamble, "IMB-NBC"), "MPI-1", "MPI-NBC") + "# Benchmarking Iallreduce\n# #processes = 4\n#bytes #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]\n 4 1000 5.44 2.64 2.54 10.0\n" + fmt.Sprintf(imbTable, "Iallreduce_pure", "#processes = 4"), 2, "map[]", ""},
		{"-multi with one group", fmt.Sprintf(imbPreamble, "IMB-MPI1 -multi 1") + grouped, 1, "map[]", ""},
		{"defects", fmt.Sprintf(imbPreamble, "IMB-MPI1") + strings.ReplaceAll(strings.ReplaceAll(fmt.Sprintf(imbTable, "Allreduce", "#processes = 4"), "t_avg[usec]", "t_avg[usec] defects"), "1.10\n", "1.10 3.00\n"),
			0, "map[IMB found wrong data in the result:1]", ""},
		{"GPU", fmt.Sprintf(imbPreamble, "/opt/IMB-MPI1-GPU") + fmt.Sprintf(imbTable, "Allreduce", "#processes = 4"), 1, "map[]", "GPU"},
		{"GPU program on the host", fmt.Sprintf(imbPreamble, "IMB-MPI1-GPU -mem_alloc_type cpu") + fmt.Sprintf(imbTable, "Allreduce", "#processes = 4"), 1, "map[]", ""},
	} {
		dir := write(t, map[string]string{"a.txt": tc.text})
		_, reports, err := recording.Import([]string{dir}, recording.Options{Known: recording.Run{Algorithm: "ring", Nodes: 2, PPN: 2}})
		if len(reports) != 1 {
			t.Errorf("%s: error %v", tc.name, err)
			continue
		}
		r := reports[0]
		notes := "[times are means over the ranks: the listing has no maximum (OSU: option -f)]"
		if strings.Contains(tc.text, "t_max") || tc.read == 0 {
			notes = "[]"
		}
		if tc.memory != "" {
			notes = strings.ReplaceAll(strings.TrimSuffix(notes, "]")+" "+fmt.Sprintf(onDevices, tc.memory)+"]", "[ ", "[")
		}
		if r.Read != tc.read || fmt.Sprint(r.Left) != tc.left || r.Memory != tc.memory || fmt.Sprint(r.Notes) != notes {
			t.Errorf("%s: %+v, want %d read, left %s, memory %q, notes %s", tc.name, r, tc.read, tc.left, tc.memory, notes)
		}
	}
}

// TestPartsOfRuns checks runs on a part of the ranks (IMB -npmin) with one of --nodes and --ppn, and the times of a
// nonblocking collective.
func TestPartsOfRuns(t *testing.T) {
	text := fmt.Sprintf(imbPreamble, "IMB-MPI1")
	for _, processes := range []string{"2\n# ( 4 additional processes waiting in MPI_Barrier)", "4\n# ( 2 additional processes waiting in MPI_Barrier)", "6"} {
		text += fmt.Sprintf(imbTable, "Allreduce", "#processes = "+processes)
	}
	nbc := "#    Intel(R) MPI Benchmarks 2021.7, MPI-NBC part\n# Benchmarking Iallreduce\n# #processes = 6\n" +
		"#bytes #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]\n 4 1000 5.00 2.00 4.00 50.0\n"
	for _, tc := range []struct {
		text       string
		nodes, ppn int
		want, left string
	}{
		{text, 0, 2, "1x2 2x2 3x2", "map[]"},
		{text, 2, 0, "2x3", "map[a part of the ranks: give --ppn, to say on which nodes they are:2]"},
		{text, 0, 4, "1x4", "map[2 ranks are no multiple of 4 per node:1 6 ranks are no multiple of 4 per node:1]"},
		{nbc, 4, 0, "", ""},
		{nbc, 3, 0, "3x2 2us 3us", "map[]"},
	} {
		path := filepath.Join(write(t, map[string]string{"a.txt": tc.text}), "a.txt")
		ms, reports, err := recording.Import([]string{path}, recording.Options{Known: recording.Run{Algorithm: "ring", Nodes: tc.nodes, PPN: tc.ppn}})
		if tc.want == "" {
			if err == nil {
				t.Errorf("%d nodes: %v", tc.nodes, ms)
			}
			continue
		}
		testutil.NoError(t, err)
		var got []string
		for _, m := range ms {
			got = append(got, m.Layout().String())
			if m.Overall > 0 {
				got = append(got, fmt.Sprintf("%.0fus %.0fus", m.Seconds*1e6, m.Overall*1e6))
			}
		}
		if text, left := strings.Join(got, " "), fmt.Sprint(reports[0].Left); text != tc.want || left != tc.left {
			t.Errorf("%dx%d: %s, left out %s; want %s, %s", tc.nodes, tc.ppn, text, left, tc.want, tc.left)
		}
	}
}

// TestMixedMemory checks that times of buffers in different memory are not imported together, in one file or in two.
func TestMixedMemory(t *testing.T) {
	host := osuText[:strings.LastIndex(osuText, "8 ")]
	device := strings.Replace(host, "MPI", "MPI-CUDA", 1)
	for _, tc := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"a.txt": host, "b.txt": device}, "a.txt are in the memory of the host, those of "},
		{map[string]string{"a.txt": host + device}, "the buffers of some times are in the memory of the host, those of others in that of accelerators (CUDA)"},
	} {
		_, _, err := recording.Import([]string{write(t, tc.files)}, recording.Options{Known: recording.Run{Algorithm: "ring", Nodes: 2, PPN: 3}})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %s", err, tc.want)
		}
	}
}
