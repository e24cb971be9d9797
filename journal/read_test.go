package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tutti/coll"
	"tutti/internal/testutil"
)

const (
	headLine = `{"kind":"header","schema":3,"campaign":"c","version":"1","created":"2026-03-01T12:00:00Z","seed":1}` + "\n"
	stopLine = `{"kind":"stop","time":"2026-03-01T12:00:00Z","stop":"budget"}` + "\n"
)

func TestReadDamagedJournal(t *testing.T) {
	tests := []struct {
		name, text string
		records    int
		warnings   int
		wantErr    error
		want       string // in the error or the warning
	}{
		{"whole", headLine + stopLine, 1, 0, nil, ""},
		{"header alone", headLine, 0, 0, nil, ""},
		{"torn record", headLine + stopLine + stopLine[:20], 1, 1, nil, ":3: the last line is incomplete (20 bytes)"},
		{"only the newline is missing", headLine + stopLine[:len(stopLine)-1], 0, 1, nil, ":2: the last line"},
		{"tail of zero bytes", headLine + stopLine + "\x00\x00\x00", 1, 1, nil, ":3: the last line"},
		{"empty", "", 0, 0, ErrCorrupt, "nothing was recorded"},
		{"torn header", headLine[:30], 0, 0, ErrCorrupt, ":1: "},
		{"header missing", stopLine, 0, 0, ErrCorrupt, `:1: not a readable journal: the first line is of kind "stop"`},
		{"header twice", headLine + headLine, 0, 0, ErrCorrupt, `unknown object member name "schema"`},
		{"newer schema", strings.Replace(headLine, `"schema":3`, `"schema":4,"new":{}`, 1), 0, 0, ErrSchema, "schema 4, this tutti reads 3"},
		{"older schema", strings.Replace(headLine, `"schema":3`, `"schema":2`, 1), 0, 0, ErrSchema, "schema 2"},
		{"unknown field in the header", strings.Replace(headLine, `"seed"`, `"sed"`, 1), 0, 0, ErrCorrupt, `unknown object member name "sed"`},
		{"unknown field", headLine + stopLine + strings.Replace(stopLine, `"stop":"b`, `"stopp":"b`, 1), 0, 0, ErrCorrupt, `unknown object member name "stopp"`},
		{"unknown field inside", headLine + `{"kind":"trial","time":"2026-03-01T12:00:00Z","trial":{"secs":1}}` + "\n", 0, 0, ErrCorrupt, `unknown object member name "secs"`},
		{"wrong type", headLine + strings.Replace(stopLine, `"budget"`, `7`, 1), 0, 0, ErrCorrupt, "stop"},
		{"unknown kind", headLine + `{"kind":"noise","time":"2026-03-01T12:00:00Z"}` + "\n", 0, 0, ErrCorrupt, `:2: not a readable journal: kind "noise"`},
		{"kind and field differ", headLine + strings.Replace(stopLine, `"kind":"stop"`, `"kind":"hpo"`, 1), 0, 0, ErrCorrupt, `"hpo" is missing`},
		{"garbage in the middle", headLine + "garbage\n" + stopLine, 0, 0, ErrCorrupt, ":2: "},
		{"garbage as last whole line", headLine + stopLine + "garbage\n", 0, 0, ErrCorrupt, ":3: "},
		{"empty line", headLine + "\n" + stopLine, 0, 0, ErrCorrupt, ":2: "},
		{"two records on a line", headLine + stopLine[:len(stopLine)-1] + stopLine, 0, 0, ErrCorrupt, ":2: not a readable journal: jsontext: invalid character"},
		{"bad algorithm", headLine + `{"kind":"batch","time":"2026-03-01T12:00:00Z","batch":[{"algorithm":"a b"}]}` + "\n", 0, 0, ErrCorrupt, ":2: "},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, FileName)
			testutil.NoError(t, os.WriteFile(path, []byte(tc.text), 0o600))
			contents, err := Read(dir)
			if !errors.Is(err, tc.wantErr) {
				t.Fatalf("Read = %v, want %v", err, tc.wantErr)
			}
			said := fmt.Sprint(err)
			if err == nil {
				if contents.Records != tc.records || len(contents.Warnings) != tc.warnings {
					t.Errorf("%d records, warnings %q, want %d and %d", contents.Records, contents.Warnings, tc.records, tc.warnings)
				}
				said = strings.Join(contents.Warnings, "\n")
			}
			if !strings.Contains(said, tc.want) || tc.want != "" && !strings.Contains(said, path) {
				t.Errorf("says %q, want %q and the path", said, tc.want)
			}
			openDamaged(t, dir, contents, tc.wantErr)
		})
	}
}

// openDamaged opens a damaged journal. It checks that Open returns the same as Read, removes an incomplete
// last line, and accepts further records.
func openDamaged(t *testing.T, dir string, want *Contents, wantErr error) {
	t.Helper()
	j, contents, err := Open(dir)
	if !errors.Is(err, wantErr) {
		t.Fatalf("Open = %v, want %v", err, wantErr)
	}
	if err != nil {
		if _, err := os.Stat(filepath.Join(dir, LockName)); err == nil {
			t.Error("Open failed and left its lock")
		}
		return
	}
	defer j.Close()
	if diff := cmp.Diff(want, contents, cmpopts.IgnoreUnexported(Contents{})); diff != "" {
		t.Errorf("Open and Read differ (-Read +Open)\n%s", diff)
	}
	testutil.NoError(t, j.Append(stopRecord))
	again, err := Read(dir)
	if err != nil || again.Records != want.Records+1 || len(again.Warnings) != 0 {
		t.Errorf("after Append: %+v, %v, want one record more and no warnings", again, err)
	}
}

// TestTruncatedJournal truncates a journal at each byte. Read must return the records before this byte, or
// an error.
func TestTruncatedJournal(t *testing.T) {
	text := headLine + stopLine + stopLine + stopLine
	for n := range len(text) {
		contents, err := read(strings.NewReader(text[:n]), "j")
		if n < len(headLine) {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%d bytes: %v, want %v", n, err, ErrCorrupt)
			}
			continue
		}
		records := (n - len(headLine)) / len(stopLine)
		if err != nil || contents.Records != records || contents.size != int64(len(headLine)+records*len(stopLine)) {
			t.Errorf("%d bytes: %+v, error %v, want %d records", n, contents, err, records)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestLineTooLong(t *testing.T) {
	testutil.SkipShort(t)
	_, err := read(zeros{}, "j")
	testutil.GoldenErrors(t)("endless line", err, ErrCorrupt)
}

func TestLargeJournal(t *testing.T) {
	testutil.SkipShort(t)
	const n, distinct = 100_000, 1000
	rng := rand.New(rand.NewPCG(1, 1))
	var text, part bytes.Buffer
	for i := range distinct {
		line, err := encode(Record{
			Kind: KindTrial, Time: time.Unix(int64(i), 0).UTC(), Problem: Problem{"mpich", coll.Bcast}, Round: i / 10,
			Trial: &coll.Trial{
				Measurement: coll.Measurement{
					Candidate: coll.Candidate{
						Point:     coll.Point{Collective: coll.Bcast, Nodes: 1 + rng.IntN(512), PPN: 64, MsgBytes: 1 << rng.IntN(21)},
						Algorithm: coll.Algorithm{Name: "scatter_ring_allgather"},
					},
					Seconds: rng.Float64(), Low: 0.1, High: 0.9, Samples: 1000, CostSeconds: rng.Float64(),
				},
				Attempt: 1, State: coll.TrialDone,
			},
		})
		testutil.NoError(t, err)
		part.Write(line)
	}
	text.WriteString(headLine)
	for range n / distinct {
		text.Write(part.Bytes())
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	contents, err := read(bytes.NewReader(text.Bytes()), "j")
	took := time.Since(start)
	testutil.NoError(t, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	kept := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d records, %d MB of text: %v, %d MB kept", n, text.Len()>>20, took, kept>>20)
	if contents.Records != n {
		t.Errorf("%d records, want %d", contents.Records, n)
	}
	if kept > 25*n {
		t.Errorf("%d bytes kept for %d records, want at most 25 each: trials stay in the file", kept, n)
	}
	runtime.KeepAlive(contents)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(headLine + stopLine))
	f.Add([]byte(headLine + stopLine + stopLine[:30]))
	f.Add([]byte(headLine + `{"kind":"batch","time":"2026-03-01T12:00:00Z","problem":{"library":"mpich","collective":"bcast"},"batch":[{"collective":"bcast","nodes":2,"ppn":1,"msg_bytes":8,"algorithm":"tree(k=2)"}]}` + "\n"))
	f.Add([]byte(headLine + `{"kind":"trial","time":"2026-03-01T12:00:00Z","trial":{"algorithm":"a","seconds":1e-6,"cost_seconds":0,"attempt":1,"state":"done"}}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		contents, err := read(bytes.NewReader(text), "j")
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrSchema) {
				t.Errorf("error %v matches neither ErrCorrupt nor ErrSchema", err)
			}
			return
		}
		if contents.size > int64(len(text)) || text[contents.size-1] != '\n' {
			t.Fatalf("%d whole bytes of %d", contents.size, len(text))
		}
		// The records can be written again. Reading them back must give the same records.
		out := testutil.Must(encode(headerLine{Kind: KindHeader, Header: contents.Header}))(t)
		for _, r := range recordsOf(t, bytes.NewReader(text)) {
			line := testutil.Must(encode(r))(t)
			out = append(out, line...)
		}
		again, err := read(bytes.NewReader(out), "j")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if again.Records != contents.Records {
			t.Errorf("%d records, want %d", again.Records, contents.Records)
		}
	})
}

// recordsIn reads the journal in a folder and returns its records, without the header.
func recordsIn(t *testing.T, dir string) (records []Record) {
	t.Helper()
	f := testutil.Must(os.Open(filepath.Join(dir, FileName)))(t)
	defer f.Close()
	return recordsOf(t, f)
}

// recordsOf reads a journal and returns its records, without the header.
func recordsOf(t *testing.T, r io.Reader) (records []Record) {
	t.Helper()
	b := block{in: bufio.NewReader(r)}
	testutil.Must(ReadLine(b.in, nil))(t) // the header
	for record, err := range b.all() {
		testutil.NoError(t, err)
		records = append(records, *record)
	}
	return records
}
