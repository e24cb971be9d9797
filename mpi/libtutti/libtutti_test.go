package libtutti

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
)

func TestCatalogue(t *testing.T) {
	mpilibrarytest.Check(t, Library, `
1 allgather 6x1 8 recursive_doubling cannot
1 allgather 3x1 8 neighbor cannot
1 allgather 4x2 8 neighbor runs
1 allreduce 8x1 16 ring cannot            # four elements on eight ranks
1 allreduce 8x1 32 rabenseifner runs
1 bcast 8x1 8193 pipeline(segsize=8192) runs
1 bcast 8x1 8192 pipeline(segsize=8192) cannot   # one segment
1 bcast 8x1 8192 pipeline(segsize=2048) runs     # found by a search
1 bcast 8x1 1024 pipeline(segsize=0) unknown
1 bcast 8x1 1024 pipeline(segsize=08) unknown
1 allgather 8x1 1024 ring(segsize=8192) unknown
1 bcast 8x1 1073741823 pipeline(segsize=8192) runs
1 bcast 8x1 1073741824 pipeline(segsize=8192) cannot # 1 GiB
1 allgather 8x1 134217727 ring runs
1 allgather 8x1 134217728 ring cannot
1 alltoallv 8x1 1024 pairwise runs
1 alltoall 8x1 8 modified_bruck(radix=3) runs
1 alltoall 8x1 8 windows(window=16) cannot       # more than all
1 alltoall 8x1 8 pairwise_barrier(barriers=6) runs
1 alltoall 8x1 8 pairwise_barrier(barriers=7) cannot  # eight ranks have seven rounds
1 allreduce 8x1 8388608 allgather runs
1 allreduce 8x1 8388612 allgather cannot         # 64 MiB on each rank
1 exscan 8x1 8 ring unknown`)
}

// TestRanges checks that in every release only the parameters of libtutti's own algorithms have ranges.
func TestRanges(t *testing.T) {
	tests := []struct {
		collective coll.Collective
		algorithm  string
		want       string
	}{
		{coll.Bcast, "pipeline", "[{segsize 1024 1048576}]"},
		{coll.Bcast, "knomial(radix=4)", "[{radix 2 64}]"},
		{coll.Alltoall, "windows", "[{window 1 64}]"},
		{coll.Bcast, "basic_linear", "[]"},
		{coll.Alltoall, "pipeline", "[]"},
		{coll.Bcast, "library_default", "[]"},
	}
	for _, cat := range releases() {
		for _, tc := range tests {
			alg := testutil.Must(coll.ParseAlgorithm(tc.algorithm))(t)
			if got := fmt.Sprint(cat.Ranges(tc.collective, alg)); got != tc.want {
				t.Errorf("%s %s %s: %s, want %s", cat.Version, tc.collective, alg, got, tc.want)
			}
		}
	}
}

func TestSize(t *testing.T) {
	tests := []struct {
		collective coll.Collective
		bytes      int64
		want       int64
	}{
		{coll.Barrier, 0, 0},
		{coll.Allgather, 5, 5},
		{coll.Bcast, 0, 0},
		{coll.Alltoallv, 5, 0},           // each rank has another size
		{coll.Allreduce, 1, 4},           // one element
		{coll.ReduceScatter, 64, 48},     // two elements for each of six ranks
		{coll.ReduceScatterBlock, 4, 24}, // at least one for each
	}
	for _, tc := range tests {
		if got := size(coll.Point{Collective: tc.collective, Nodes: 3, PPN: 2, MsgBytes: tc.bytes}); got != tc.want {
			t.Errorf("size of %s, %d bytes on 6 ranks = %d, want %d", tc.collective, tc.bytes, got, tc.want)
		}
	}
}

// sampleTable returns a table that is fitted to the rows of mpilibrarytest, the tests that all MPI libraries share.
func sampleTable(t testing.TB) Table {
	t.Helper()
	b := Build{library: Library.(*library), cat: releases()[0]}
	sel := testutil.Must(b.Merge(mpilibrarytest.Rows(b.cat, 1, 0.6), 0.2))(t)
	table, _, err := b.table(sel.Trees)
	testutil.NoError(t, err)
	return table
}

func TestGolden(t *testing.T) {
	table := sampleTable(t)
	text := table.Bytes()
	testutil.CheckGolden(t, "tutti.table", text)
	back := testutil.Must(Parse(text))(t)
	if d := cmp.Diff(table, back, cmp.Comparer(func(a, b coll.Algorithm) bool { return a == b })); d != "" {
		t.Errorf("read back (-written +read):\n%s", d)
	}
}

// sealed returns a table with its last line, which holds the checksum.
func sealed(text string) []byte { return []byte(text + lastLine(text)) }

// invalidTables returns the texts of invalid tables. Each key says what is wrong.
func invalidTables() map[string]string {
	const good = "tutti-table 1\nbcast ranks 2-4 ppn 1-1 bytes 0-8 binomial\n"
	out := map[string]string{
		"empty":                     "",
		"no checksum":               good,
		"half a checksum":           string(sealed(good)[:len(good)+20]),
		"a line after the checksum": string(sealed(good)) + "\n",
		"a checksum alone":          string(sealed("")),
		"another version":           string(sealed("tutti-table 2\n")),
		"a line without its end":    string(sealed("tutti-table 1")),
		"an empty line":             string(sealed("tutti-table 1\n\n")),
		"a carriage return":         string(sealed("tutti-table 1\r\n")),
		"a NUL byte":                string(sealed("tutti-table 1\n#\x00\n")),
	}
	for from, to := range map[string]string{
		"bcast": "bcasts", "ranks 2-4": "ranks 4-2", "ppn 1": "ppn 0", "0-8": "00-8", "bcast ranks": "ibcast ranks", "2-4": "2-2147483648", "bytes 0-8": "bytes 0-4611686018427387905",
		"binomial": "ring", "binomial\n": "binomial(segsize=0)\n", "binomial\n\n": "binomial \n", " ppn": "  ppn", "0-8 ": "0-8  ", "1-1": "+1-1",
		"binomial ": "binomial()", "bytes 0": "bytes 99999999999999999999",
	} {
		if text := strings.Replace(good, strings.TrimSuffix(from, " "), to, 1); text != good {
			out[fmt.Sprintf("%q for %q", to, from)] = string(sealed(text))
		}
	}
	for from, to := range map[string]string{
		"for MPI": "for ", "MPI 1.0\n": "MPI 1.0 \n", "MPI 1": "MPI \t1", "for MPI 1.0\n": "for MPI 1.0\nfor MPI 1.0\n", "algorithm bcast": "algorithm bcasts",
		"mpich.x": "mpich", "mpich.x(": ".x(", "mpich.x(a": "mpich.(a", "a=1,b=2": "b=2,a=1", "b=2": "a=2", "=1,": "=,", "2)": "2", "(a=1,b=2)": "()",
		"pow2,even": "even,", "even": "odd", "same": "other", "A=1": "A=", "A=-1": "A=--1", "A=1 B": "A=1  B", "B=2": "B-=2", "=1 B": "=1234567890 B",
		"0-8 mpich.x": "0-8 mpich.y", "order block": "order other", "order block ": "order block  ", "order cyclic ": "order ", "1-2 bytes": "1-2 order block bytes", "1-4 order": "1-4  order", "even same A=1 B=2": "even same",
		"explore bcast": "explore alltoallv", "explore": "explores", "99 budget": "99  budget", "budget 170": "budget 0", "budget 170 ": "budget ", "170 ": "1000001 ", "170": "1/7", " budget 170": " budget 170 budget 170", "0 30": "0  30", "30 mpich": "030 mpich", "7/2300": "0/2300", "2300": "0", "/2300": "/", "/2300 ": "/2300/1 ", "/1000000": "/1000001",
		"1000000": "1000001", "basic_linear 1": "basic_line 1", "1 library_default": "1", " 1 library_default": " ", "default": "default ",
		"0-99 ": "0-99 1 x ", "1-9 ppn": "1 ppn", "_default": "_default 1", "segsize=64": "segsize=064", "1-9": "0-9", "user.s": "users.s", "user.star": "user.", "star(s": "star(x", "cube_2": "cube-2", "star(segsize=64)": "star(segsize=64,window=2)",
	} {
		if text := strings.ReplaceAll(withActivations, from, to); text != withActivations {
			out[fmt.Sprintf("%q for each %q", to, from)] = string(sealed(text))
		}
	}
	return out
}

// withActivations is the text of a table that selects algorithms of the MPI library.
const withActivations = `tutti-table 1
for MPI 1.0
algorithm bcast mpich.x(a=1,b=2) pow2,even same A=1 B=2
algorithm barrier mpich.x(a=1,b=2) - new A=-1
bcast ranks 2-4 ppn 1-1 bytes 0-8 mpich.x(a=1,b=2)
bcast ranks 2-4 ppn 1-4 order block bytes 0-99 binomial
bcast ranks 2-4 ppn 1-4 order cyclic bytes 9-99 basic_linear
bcast ranks 2-4 ppn 1-4 bytes 9-99 user.star(segsize=64)
bcast ranks 2-4 ppn 1-5 bytes 9-99 user.cube_2
explore bcast ranks 1-9 ppn 1-2 bytes 0-99 budget 170 30 mpich.x(a=1,b=2) 7/2300 basic_linear 1000000/1000000 pipeline(segsize=64) 1 library_default
`

// TestParseActivations checks that a table with algorithms of the MPI library can be parsed and written
// again. The control variables of algorithms that the table does not use must be omitted.
func TestParseActivations(t *testing.T) {
	table := testutil.Must(Parse(sealed(withActivations)))(t)
	unused := strings.Replace(withActivations, "algorithm barrier mpich.x(a=1,b=2) - new A=-1\n", "", 1)
	if got := string(table.Bytes()); got != string(sealed(unused)) {
		t.Errorf("written again:\n%swant\n%s", got, sealed(unused))
	}
	r := table.Rules[0]
	want := &Activation{Needs: []mpi.Requirement{mpi.PowerOfTwo, mpi.Even}, Switches: []mpi.Switch{{Name: "A", Value: 1}, {Name: "B", Value: 2}}}
	if d := cmp.Diff(want, r.Activation); d != "" || table.For != "MPI 1.0" {
		t.Errorf("for %q, activation (-want +got):\n%s", table.For, d)
	}
	if m := table.Mixes[0]; len(m.Choices) != 4 || m.Choices[0].Activation != r.Activation || m.Choices[2].Weight != 1_000_000 || m.Choices[1].Most != 2300 || m.Choices[0].Most != 0 || m.Budget != 170 || m.Bytes != (Range{0, 99}) {
		t.Errorf("explored: %+v", m)
	}
}

func TestParseDocumentErrors(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for name, text := range invalidTables() {
		_, err := Parse([]byte(text))
		golden(name, err, ErrTable)
	}
}

// TestReadRules checks what is found in tables, and what is selected where an algorithm cannot serve the ranks.
func TestReadRules(t *testing.T) {
	const rule = "bcast ranks 2-2 ppn 1-1 bytes 0-100 binomial\n"
	table := func(rules string) string { return string(sealed(firstLine + "\n" + rules)) }
	for name, tc := range map[string]struct{ text, want string }{
		"good":            {table(rule), ""},
		"carriage return": {strings.ReplaceAll(table(rule), "\n", "\r\n"), "1 error: a carriage return"},
		"byte order mark": {"\ufeff" + table(rule), "1 error: a byte order mark"},
		"zero":            {table("bcast\x00\n"), "2 error: a byte of value 0"},
		"cut":             {table(rule)[:40], "2 error: the table is cut off"},
		"no checksum":     {firstLine + "\n" + rule, "2 error: the table is cut off"},
		"edited":          {strings.Replace(table(rule), "100", "200", 1), "3 error: the table was changed"},
		"text after it":   {table(rule) + "\n", "3 error: the line with the checksum must be the last one"},
		"version":         {string(sealed("tutti-table 2\n" + rule)), "1 error: want tutti-table 1"},
		"algorithm":       {table(strings.Replace(rule, "binomial", "binomal", 1)), "2 error: libtutti 1 bcast binomal: not in the catalogue"},
		"twice":           {table(rule + rule), "3 unreachable: the rule at line 2 serves all calls"},
		"ranks":           {table("allgather ranks 3-3 ppn 1-1 bytes 0-9 recursive_doubling\n"), "2 unreachable: recursive_doubling needs a number of ranks that is a power of two"},
		"power of two":    {table("allgather ranks 3-4 ppn 1-1 bytes 0-9 recursive_doubling\n"), ""},
		"together":        {table("bcast ranks 2-8 ppn 1-2 bytes 0-50 binomial\nbcast ranks 2-8 ppn 1-1 bytes 40-100 binomial\nbcast ranks 2-8 ppn 2-2 bytes 51-200 binomial\nbcast ranks 4-4 ppn 1-2 bytes 0-100 binomial\n"), "5 unreachable: rules from line 2 to line 4 together serve all calls"},
		"not together":    {table("bcast ranks 2-8 ppn 1-2 bytes 0-50 binomial\nbcast ranks 2-8 ppn 1-1 bytes 52-100 binomial\nbcast ranks 4-4 ppn 1-1 bytes 0-100 binomial\n"), ""},
		"orders":          {table("bcast ranks 4-4 ppn 2-2 order block bytes 0-50 binomial\nbcast ranks 4-4 ppn 2-2 order cyclic bytes 0-50 binomial\nbcast ranks 4-4 ppn 2-2 bytes 0-50 binomial\n"), ""},
		"ranks of a node": {table(strings.Replace(rule, "ppn 1-1", "ppn 3-4", 1)), "2 unreachable: no communicator has more processes per node than ranks"},
	} {
		f, _ := (*library)(nil).ReadRules(releases()[0], "", []byte(tc.text))
		got := ""
		for _, x := range f.Findings {
			got += fmt.Sprintf("%d %s: %s", x.Line, x.Kind, x.Text)
		}
		if !strings.HasPrefix(got, tc.want) || (tc.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	for need, want := range map[mpi.Requirement]bool{mpi.Even: false, mpi.TwoRanks: true, mpi.Parent: false, mpi.OneNode: true, mpi.Commutative: false} {
		if got := (Scope{Ranks: Range{3, 8}, PPN: Range{1, 2}}).excludes(need); got != want {
			t.Errorf("3 to 8 ranks, 1 or 2 per node: excludes %s %v, want %v", need, got, want)
		}
	}
	f, _ := (*library)(nil).ReadRules(releases()[0], "", []byte(table("allgather ranks 3-4 ppn 1-1 bytes 0-9 recursive_doubling\n")))
	for nodes, want := range map[int]string{3: coll.Default.Name, 4: "recursive_doubling"} {
		if got := f.Choose(coll.Point{Collective: coll.Allgather, Nodes: nodes, PPN: 1, MsgBytes: 8}); got.Algorithm.Name != want || got.Line != 2 {
			t.Errorf("%d ranks: %+v, want %s", nodes, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sampleTable(f).Bytes())
	f.Add(sealed(withActivations))
	for _, text := range invalidTables() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, text := range [][]byte{text, sealed(string(text))} {
			table, err := Parse(text)
			if err != nil {
				continue
			}
			again, err := Parse(table.Bytes())
			if err != nil || !bytes.Equal(again.Bytes(), table.Bytes()) {
				t.Fatalf("%v\n%s", err, table.Bytes())
			}
		}
	})
}

// one returns a table that selects the named algorithm for all broadcasts.
func one(name string) Table {
	all := Range{1, math.MaxInt32}
	return Table{Rules: []Rule{{Scope: Scope{Collective: coll.Bcast, Ranks: all, PPN: all, Bytes: Range{0, maxBytes}}, Algorithm: coll.Algorithm{Name: name}}}}
}

// TestJoin checks a joined table. For each order of ranks it must select the same as the table of this order,
// and no algorithm for other orders. It must stay the same when it is formatted and parsed.
func TestJoin(t *testing.T) {
	joined := testutil.Must(Join(OrderTable{coll.Block, one("binomial")}, OrderTable{coll.Cyclic, one("two_level")}))(t)
	read := testutil.Must(Parse(joined.Bytes()))(t)
	for _, tc := range []struct {
		orders []coll.Order
		want   string
	}{
		{[]coll.Order{coll.Block}, "binomial"}, {[]coll.Order{coll.Cyclic}, "two_level"}, {coll.Orders(), "binomial"}, {nil, coll.Default.Name},
	} {
		if got := read.Select(coll.Bcast, 16, 4, 1024, tc.orders...); got.Name != tc.want {
			t.Errorf("ranks in order %v: %v, want %s", tc.orders, got, tc.want)
		}
	}
}

func TestParseTooLarge(t *testing.T) {
	_, err := Parse(make([]byte, MaxBytes+1))
	testutil.GoldenErrors(t)("a table above the limit", err, ErrTable)
}

func TestJoinRefuses(t *testing.T) {
	other, exploring := one("binomial"), one("binomial")
	other.For = "MPI 2"
	exploring.Mixes = []Mix{{Scope: Everywhere(coll.Bcast), Choices: []Choice{{Weight: 1, Algorithm: coll.Algorithm{Name: "binomial"}}}}}
	long := Table{Rules: slices.Repeat(one("binomial").Rules, maxLines/2)}
	joined := testutil.Must(Join(OrderTable{coll.Block, one("binomial")}))(t)
	for name, tables := range map[string][]OrderTable{
		"one order twice":     {{coll.Block, one("binomial")}, {coll.Block, one("two_level")}},
		"two MPI libraries":   {{coll.Block, one("binomial")}, {coll.Cyclic, other}},
		"an order of its own": {{coll.Cyclic, joined}},
		"exploring":           {{coll.Cyclic, exploring}},
		"too many lines":      {{coll.Block, long}, {coll.Cyclic, long}},
	} {
		if _, err := Join(tables...); !errors.Is(err, ErrTable) {
			t.Errorf("%s: %v, want ErrTable", name, err)
		}
	}
}
