package libtutti

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/csource"
	"tutti/internal/testutil"
	"tutti/mpi"
)

// reader compiles testdata/select.c, which reads tables with the C files of libtutti. In full test runs (see
// testutil.AllCases) it is built with sanitizers.
func reader(t *testing.T) string {
	t.Helper()
	testutil.BuildProgram(t, testutil.MPICH, csource.Pair) // skips where the library is missing
	flags := "-O0"
	if testutil.AllCases() {
		flags = "-fsanitize=address,undefined"
	}
	dir := t.TempDir()
	args := testutil.Must(csource.Runtime.Unpack(dir, "select"))(t)
	args[slices.Index(args, "-shared")] = filepath.Join(testutil.Must(os.Getwd())(t), "testdata", "select.c")
	cmd := exec.Command(testutil.MPICH.Compiler, append(args, "-I.", flags)...)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", testutil.MPICH.Compiler, err, said)
	}
	return filepath.Join(dir, "select")
}

// answers passes statements to the program and returns the lines of its output.
func answers(t *testing.T, program string, statements []byte) []string {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0")
	cmd.Stdin = bytes.NewReader(statements)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	var lines []string
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

// TestLiveReader checks that tables have the same meaning for the C code of libtutti and for this package.
func TestLiveReader(t *testing.T) {
	program := reader(t)
	t.Run("algorithms", func(t *testing.T) { testAlgorithms(t, program) })
	t.Run("points", func(t *testing.T) { testPoints(t, program) })
	t.Run("texts", func(t *testing.T) { testTexts(t, program) })
}

// testAlgorithms compares the list of algorithms in C with the catalogue.
func testAlgorithms(t *testing.T, program string) {
	var want []string
	for _, c := range coll.Collectives() {
		for _, e := range releases()[0].Entries(c) {
			var needs []string
			for _, r := range e.Requires {
				needs = append(needs, string(r))
			}
			want = append(want, fmt.Sprintf("%s,%s,%s,%s", c, e.Name, strings.Join(e.Params, ";"), strings.Join(needs, ";")))
		}
	}
	if got := answers(t, program, []byte("list\n")); !slices.Equal(got[:len(got)-1], want) {
		t.Errorf("the repository has\n%s\nthe catalogue\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// testPoints checks that the readers in C and in Go select the same algorithm, for each order of ranks on nodes. It
// tests the bounds of every rule and the numbers next to them. Calls must run the selected algorithm, or the MPI
// library's own if the selected one cannot run on this number of ranks. A third of the rules is for block order, a
// third for cyclic order, and a third for any order.
func testPoints(t *testing.T, program string) {
	table := sampleTable(t)
	for i := range table.Rules {
		table.Rules[i].Order = []coll.Order{"", coll.Block, coll.Cyclic}[i%3]
	}
	orders := [][]coll.Order{nil, {coll.Block}, {coll.Cyclic}, {coll.Block, coll.Cyclic}} // by the bits of tutti.h
	statements := fmt.Appendf(nil, "text %d\n%s", len(table.Bytes()), table.Bytes())
	want := []string{"taken"}
	for _, r := range table.Rules {
		for _, ranks := range []int64{r.Ranks.Low - 1, r.Ranks.Low, r.Ranks.High, r.Ranks.High + 1} {
			for _, ppn := range []int64{r.PPN.Low, r.PPN.High + 1} {
				for _, b := range []int64{r.Bytes.Low - 1, r.Bytes.Low, r.Bytes.High, r.Bytes.High + 1} {
					if ranks < 1 || b < 0 {
						continue
					}
					bits := len(want) * 7 / 4 % len(orders)
					statements = fmt.Appendf(statements, "ask %s %d %d %d %d\n", r.Collective, ranks, ppn, bits, b)
					alg := table.Select(r.Collective, int(ranks), int(ppn), b, orders[bits]...)
					want = append(want, fmt.Sprintf("%s %s", alg, runs(t, r.Collective, alg, int(ranks))))
				}
			}
		}
	}
	got := answers(t, program, statements)
	if len(got) != len(want) {
		t.Fatalf("%d answers, want %d", len(got), len(want))
	}
	asked := strings.Split(string(statements[bytes.Index(statements, []byte("ask ")):]), "\n")
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: the library selects and runs %s, want %s", asked[max(0, i-1)], got[i], want[i])
		}
	}
}

func runs(t *testing.T, c coll.Collective, alg coll.Algorithm, ranks int) coll.Algorithm {
	t.Helper()
	if alg.IsDefault() {
		return alg
	}
	e := testutil.Must(releases()[0].Lookup(c, alg))(t)
	p := coll.Point{Collective: c, Nodes: ranks, PPN: 1}
	for _, r := range []mpi.Requirement{mpi.PowerOfTwo, mpi.Even} {
		if e.Has(r) && !r.Holds(p) {
			return coll.Default
		}
	}
	return alg
}

// testTexts checks that the readers in C and in Go accept the same texts. It tries invalid tables, and a thousand
// texts that have random changes but the right checksum.
func testTexts(t *testing.T, program string) {
	var texts [][]byte
	for _, text := range invalidTables() {
		texts = append(texts, []byte(text))
	}
	rng := rand.New(rand.NewPCG(1, 1))
	const letters = " \n#-()=.,0123456789abcdefghijklmnopqrstuvwxyz_\x00"
	lines := strings.SplitAfterN(string(sampleTable(t).Bytes()), "\n", 8)
	for i := range 1000 {
		text := []byte(strings.Join(lines[:2+rng.IntN(6)], ""))
		if i%2 == 0 {
			text = []byte(withActivations)
		}
		for range 1 + rng.IntN(3) {
			text[rng.IntN(len(text))] = letters[rng.IntN(len(letters))]
		}
		texts = append(texts, sealed(string(text)))
	}
	var statements []byte
	for _, text := range texts {
		statements = fmt.Appendf(statements, "text %d\n%s", len(text), text)
	}
	got := answers(t, program, statements)
	if len(got) != len(texts) {
		t.Fatalf("%d answers, want %d", len(got), len(texts))
	}
	for i, text := range texts {
		if _, err := Parse(text); (err == nil) != (got[i] == "taken") {
			t.Errorf("%q: Parse: %v; the library: %s", text, err, got[i])
		}
	}
}
